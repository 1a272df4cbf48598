"""The panel of criteria, which use the freedom that all tasks leave; each has a gain [Baerlocher 2001, 7.2.5]."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from nicegui import ui

from poise.engine.scene import Scene
from poise.studio.panels.fields import Choice, Number, Switch
from poise.studio.session.changes import scene_change
from poise.studio.session.edits.scene import with_parts
from poise.studio.session.session import Session
from poise.tasks.criteria import Criterion, NearPosture
from poise.tasks.kinds import all_kinds

ABOUT = "Preferences choose among the postures in which all tasks are met; a higher gain counts more."
PRESENT_POSTURE = "Present posture"
LARGEST_GAIN = 1000.0
"""Largest gain that can be entered."""

CRITERION_KINDS = {kind.menu: kind for kind in all_kinds(Criterion).values() if kind.menu}
"""The class of each criterion, by label."""


class CriteriaPanel:
    """A switch and a gain for every criterion; the gain of a criterion that is off is remembered."""

    def __init__(self, session: Session) -> None:
        """Build the panel inside the current NiceGUI element."""
        self.session = session
        self.gains = {word: kind.first_weight for word, kind in CRITERION_KINDS.items()}
        self.rows: dict[str, tuple[Switch, Number]] = {}
        self.figure = -1
        with ui.scroll_area().classes("poise-side"), ui.column().classes("w-full gap-1"):
            ui.label(ABOUT).classes("text-caption poise-quiet")
            for word in CRITERION_KINDS:
                with ui.column().classes("poise-task w-full gap-0"):
                    self._row(word)

    def _row(self, word: str) -> None:
        switch = Switch(word, lambda value: self._turn(word, value))
        gain = Number("Gain", lambda value: self._gain(word, value), low=0.0, high=LARGEST_GAIN, step=self.gains[word])
        gain.box.mark(f"gain {word.lower()}")
        if CRITERION_KINDS[word] is NearPosture:
            self.posture = Choice("Posture to stay near", [PRESENT_POSTURE], lambda value: self._near(word, value))
        self.rows[word] = switch, gain

    def follow(self) -> None:
        """Update the panel to the session's state."""
        state = self.session.state
        if state.figure_number != self.figure:
            self.figure = state.figure_number
            self.posture.box.set_options([PRESENT_POSTURE, *state.figure.posture_names], value=self.posture.box.value)
        for word, (switch, gain) in self.rows.items():
            found = _criterion_of(state.scene, word)
            switch.show(found is not None)
            gain.show(self.gains[word] if found is None else found.weight)
            if isinstance(found, NearPosture):
                self.posture.show(found.posture if isinstance(found.posture, str) else PRESENT_POSTURE)

    def _turn(self, word: str, on: bool) -> None:
        kind = CRITERION_KINDS[word]
        fresh: Any = kind.made(self.session.state.posture)
        criterion = replace(fresh, weight=self.gains[word])
        self.session.update(scene_change(with_criterion, kind, criterion if on else None))

    def _gain(self, word: str, value: float) -> None:
        self.gains[word] = value
        found = _criterion_of(self.session.state.scene, word)
        if found is not None:
            kind, criterion = CRITERION_KINDS[word], replace(found, weight=value)
            self.session.update(scene_change(with_criterion, kind, criterion))

    def _near(self, word: str, value: str) -> None:
        state = self.session.state
        criterion = NearPosture(state.posture if value == PRESENT_POSTURE else value, weight=self.gains[word])
        self.session.update(scene_change(with_criterion, NearPosture, criterion))


def with_criterion(scene: Scene, kind: type[Criterion], criterion: Criterion | None) -> Scene:
    """The scene with one criterion of a kind, or without one."""
    others = [each for each in scene.criteria if type(each) is not kind]
    return with_parts(scene, criteria=others if criterion is None else [*others, criterion])


def _criterion_of(scene: Scene, word: str) -> Any:
    kind = CRITERION_KINDS[word]
    return next((each for each in scene.criteria if type(each) is kind), None)
