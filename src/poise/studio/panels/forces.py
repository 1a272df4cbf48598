"""The panel of forces, torques and supports, with a sentence that says whether the figure is in equilibrium."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from nicegui import ui

from poise.engine.scene import Scene
from poise.errors import PoiseError
from poise.forces.balance import Balance, balance
from poise.forces.loads import Force, Support
from poise.studio.panels.fields import Choice, Entered, Field, Number, Numbers, Switch, attempt, small_button
from poise.studio.session.changes import scene_change, with_drawing
from poise.studio.session.edits.loads import (
    balance_sites_without_support,
    load_share,
    new_force,
    reactions_of,
    supports_of,
    with_changed_load,
    with_free_shares,
    with_load,
    with_present_shares,
    with_share,
    without_load,
)
from poise.studio.session.session import Session
from poise.studio.session.state import State
from poise.tasks.form import parts_of

LARGEST_FRICTION = 10.0
"""Largest friction coefficient that can be entered."""
FORCE_AXES = ("world", "site")


class ForcesPanel:
    """The panel of forces."""

    def __init__(self, session: Session) -> None:
        """Build the panel inside the current NiceGUI element."""
        self.session = session
        self.built: object = None
        self.judged = -1
        self.fields: list[tuple[Field, int, str]] = []
        self.share_labels: list[tuple[int, ui.label]] = []
        with ui.column().classes("w-full gap-1 q-pa-sm"):
            self.site = (
                ui.select([], label="Applied to").props("dense options-dense").classes("w-full").mark("force site")
            )
            with ui.row().classes("w-full gap-1"):
                for kind, word in (("force", "Add force"), ("torque", "Add torque"), ("support", "Use as support")):
                    ui.button(word, icon="add", on_click=lambda kind=kind: attempt(lambda: self._add(kind))).props(
                        "flat dense no-caps size=sm"
                    ).mark(f"add {kind}")
            self.support_feet = ui.button("Use the feet as supports", on_click=lambda: attempt(self._support_feet))
            self.support_feet.props("flat dense no-caps size=sm")
            self.computes = Switch("Compute ground forces", self._compute)
            self.torques = Switch("Show joint torques", self._show_torques)
            self.verdict = ui.label().classes("text-body2").mark("balance")
        self.area = ui.scroll_area().classes("poise-side poise-side-short")

    def follow(self) -> None:
        """Update the panel to the session's state."""
        state = self.session.state
        key = (state.figure_number, [(type(load), getattr(load, "site", None)) for load in state.scene.forces])
        if key != self.built:
            self.built = key
            self._build(state)
        for field, number, name in self.fields:
            value = getattr(state.scene.forces[number], name)
            if value is not None:
                field.show(value)
        supports = supports_of(state.scene)
        self.computes.show(bool(supports) and all(s.share is None and s.brace is None for s in supports))
        self.computes.box.set_visibility(bool(supports))
        self.torques.show("torques" in state.shown)
        self.support_feet.set_visibility(bool(balance_sites_without_support(state.scene)))
        self._judge(state)

    def _judge(self, state: State) -> None:
        if state.step == self.judged:
            return
        self.judged = state.step
        self.verdict.set_text(balance_sentence(state))
        found = reactions_of(state.posture, state.scene.forces)
        for number, label in self.share_labels:
            support = state.scene.forces[number]
            if found is not None and isinstance(support, Support):
                share, push = load_share(found, support.site, state.figure), found.supports[support.site]
                label.set_text(f"Carries {100 * share:.0f} %, {math.hypot(*push):.0f} N")
                self._show_found(number, support, share)

    def _show_found(self, number: int, support: Support, share: float) -> None:
        """Show the computed share of a support whose share is not fixed."""
        for field, of, name in self.fields:
            if (of, name) == (number, "share") and support.share is None:
                field.show(round(share, 2))

    def _build(self, state: State) -> None:
        parts = parts_of(state.figure)
        self.site.set_options(parts, value=self.site.value if self.site.value in parts else parts[0])
        self.area.clear()
        self.fields, self.share_labels = [], []
        with self.area, ui.column().classes("w-full gap-2"):
            for number, load in enumerate(state.scene.forces):
                if isinstance(load, Force | Support):
                    with ui.column().classes("poise-task w-full gap-1"):
                        self._load(number, load)

    def _load(self, number: int, load: Force | Support) -> None:
        what = "Support" if isinstance(load, Support) else "Force"
        with ui.row().classes("w-full items-center no-wrap"):
            ui.label(f"{what} at {load.site.replace('_', ' ')}").classes("text-body2 ellipsis col")
            small_button("delete", "Remove", lambda: attempt(lambda: self._remove(number)))
        if isinstance(load, Force):
            self._field(number, "force", lambda entered: Numbers("Force [N]", entered, step=10.0, digits=1))
            self._field(number, "torque", lambda entered: Numbers("Torque [N m]", entered, step=1.0, digits=1))
            self._field(number, "axes", lambda entered: Choice("Axes of", FORCE_AXES, entered))
            return
        with ui.row().classes("no-wrap gap-2"):
            self._field(number, "share", lambda entered: Number("Share of weight", entered, step=0.05))
            self._field(
                number,
                "friction",
                lambda entered: Number("Friction", entered, low=0.0, high=LARGEST_FRICTION, step=0.05),
            )
        self.share_labels.append((number, ui.label().classes("text-caption poise-quiet")))

    def _field(self, number: int, name: str, make: Callable[[Entered], Field]) -> None:
        def changed(scene: Scene, value: Any) -> Scene:
            if name == "share":
                return with_share(scene, number, value)
            return with_changed_load(scene, number, **{name: value})

        field = make(lambda value: self.session.update(scene_change(changed, value)))
        self.fields.append((field, number, name))

    def _add(self, kind: str) -> None:
        state, site = self.session.state, str(self.site.value)
        load = Support(site) if kind == "support" else new_force(state.figure, site, kind, state.look.extent)
        self.session.update(scene_change(with_load, load))

    def _support_feet(self) -> None:
        self.session.update(scene_change(with_feet_supports))

    def _compute(self, on: bool) -> None:
        posture = self.session.state.posture
        self.session.update(scene_change(with_free_shares) if on else scene_change(with_present_shares, posture))

    def _remove(self, number: int) -> None:
        self.session.update(scene_change(without_load, number))

    def _show_torques(self, shown: bool) -> None:
        self.session.update(lambda state: with_drawing(state, "torques", shown), undoable=False, wake=False)


def with_feet_supports(scene: Scene) -> Scene:
    """The scene with a support for every site that its balance tasks stand on."""
    for site in balance_sites_without_support(scene):
        scene = with_load(scene, Support(site))
    return scene


def balance_sentence(state: State) -> str:
    """A sentence that says whether the forces on the figure can be in equilibrium."""
    if state.figure.mass <= 0.0:
        return "The figure has no mass, so there is nothing to balance."
    if not supports_of(state.scene):
        return "No supports yet."
    try:
        found = balance(state.figure, state.posture, state.scene.forces)
    except PoiseError as problem:
        return str(problem)
    return _balanced_sentence(state, found) if found.balanced else _unbalanced_sentence(found)


def _balanced_sentence(state: State, found: Balance) -> str:
    reactions = reactions_of(state.posture, state.scene.forces)
    if reactions is not None and not reactions.balanced:
        return "Not in equilibrium: with the centre of mass here, the supports cannot carry these shares."
    spare = "any distance" if math.isinf(found.margin) else f"{1000 * found.margin:.0f} mm"
    return f"In equilibrium: the centre of mass may move by {spare}."


def _unbalanced_sentence(found: Balance) -> str:
    if math.isinf(found.margin):
        return "Not in equilibrium for any centre of mass: add friction or supports."
    return f"Not in equilibrium: the centre of mass is {-1000 * found.margin:.0f} mm outside the support region."
