"""Criteria: what the figure does with the freedom that tasks leave, each with a gain [Baerlocher 2001, 7.2.5]."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from nicegui import ui

from poise.engine.scene import Scene
from poise.studio.panels.fields import Choice, Number, Switch
from poise.studio.session.edits import with_parts
from poise.studio.session.session import Session
from poise.studio.session.state import State
from poise.tasks.criteria import Comfort, Criterion, Extend, Flex, LeastTorque, NearPosture

AS_IT_IS = "as it is now"
MOST = 1000.0

CRITERION_KINDS: dict[str, tuple[type[Criterion], Callable[[State], Criterion]]] = {
    "stay near a posture": (NearPosture, lambda state: NearPosture(state.posture)),
    "comfort: middle of the ranges": (Comfort, lambda state: Comfort()),
    "flex": (Flex, lambda state: Flex()),
    "extend": (Extend, lambda state: Extend()),
    "least joint torques": (LeastTorque, lambda state: LeastTorque()),
}
"""What can be wished for, and how it begins."""


class CriteriaPanel:
    """A switch and a gain for every criterion; the gain of one that is off is kept."""

    def __init__(self, session: Session) -> None:
        """Make the panel where the caller is building."""
        self.session = session
        self.gains = dict.fromkeys(CRITERION_KINDS, 1.0)
        self.rows: dict[str, tuple[Switch, Number]] = {}
        self.figure = -1
        with ui.scroll_area().classes("poise-side"), ui.column().classes("w-full gap-1"):
            ui.label("What to do with the freedom that all tasks leave; gains are summed.").classes(
                "text-caption text-grey-6"
            )
            for word in CRITERION_KINDS:
                with ui.column().classes("poise-task w-full gap-0"):
                    self._row(word)

    def _row(self, word: str) -> None:
        switch = Switch(word, lambda value: self._turn(word, value))
        gain = Number("gain", lambda value: self._gain(word, value), low=0.0, high=MOST)
        gain.box.mark(f"gain {word}")
        if CRITERION_KINDS[word][0] is NearPosture:
            self.posture = Choice("which posture", [AS_IT_IS], lambda value: self._near(word, value))
        self.rows[word] = switch, gain

    def follow(self) -> None:
        """Show the criteria as they are now."""
        state = self.session.state
        if state.figure_number != self.figure:
            self.figure = state.figure_number
            self.posture.box.set_options([AS_IT_IS, *state.figure.posture_names], value=self.posture.box.value)
        for word, (switch, gain) in self.rows.items():
            found = _of_kind(state.scene, word)
            switch.show(found is not None)
            gain.show(self.gains[word] if found is None else found.weight)
            if isinstance(found, NearPosture):
                self.posture.show(found.posture if isinstance(found.posture, str) else AS_IT_IS)

    def _turn(self, word: str, on: bool) -> None:
        kind, make = CRITERION_KINDS[word]
        fresh: Any = make(self.session.state)
        wish = replace(fresh, weight=self.gains[word])
        self.session.ask(lambda scene: with_criterion(scene, kind, wish if on else None))

    def _gain(self, word: str, value: float) -> None:
        self.gains[word] = value
        found = _of_kind(self.session.state.scene, word)
        if found is not None:
            kind, wish = CRITERION_KINDS[word][0], replace(found, weight=value)
            self.session.ask(lambda scene: with_criterion(scene, kind, wish))

    def _near(self, word: str, value: str) -> None:
        state = self.session.state
        wish = NearPosture(state.posture if value == AS_IT_IS else value, weight=self.gains[word])
        self.session.ask(lambda scene: with_criterion(scene, NearPosture, wish))


def with_criterion(scene: Scene, kind: type[Criterion], wish: Criterion | None) -> Scene:
    """The scene with one criterion of a kind, or with none."""
    others = [each for each in scene.criteria if type(each) is not kind]
    return with_parts(scene, criteria=others if wish is None else [*others, wish])


def _of_kind(scene: Scene, word: str) -> Any:
    kind = CRITERION_KINDS[word][0]
    return next((each for each in scene.criteria if type(each) is kind), None)
