"""The panel of the body: optional drawings, obstacles, and fields that edit a body part, its joint and its sites."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from nicegui import ui

from poise.figure.model.body import Site
from poise.figure.model.figure import Figure
from poise.figure.model.limits import Ellipse
from poise.studio.panels.downloads import download
from poise.studio.panels.fields import Choice, Field, Number, Numbers, Switch, attempt, small_button
from poise.studio.panels.inspect import parts_window
from poise.studio.panels.obstacles import ObstaclesPanel
from poise.studio.panels.tasks.dialogs import figure_dialog
from poise.studio.panels.viewport import Viewport
from poise.studio.session.changes import with_drawing, with_figure
from poise.studio.session.edits.body import (
    MOVING_KINDS,
    joint_of,
    length_of,
    site_at,
    with_kind,
    with_length,
    with_limits,
    with_mass,
    with_site,
    with_swing,
    with_twist,
    without_site,
)
from poise.studio.session.edits.topology import (
    hanging_on,
    is_floating,
    with_base,
    with_new_body,
    with_parent,
    without_body,
)
from poise.studio.session.freedoms import HALF_TURN
from poise.studio.session.session import Session

SHORTEST_EDITED_LENGTH, SMALLEST_MASS = 0.001, 0.0
"""Smallest length [m] and mass [kg] that can be entered."""
LARGEST_SWING = 179.0
"""Largest swing limit that can be entered [degrees]."""
OPTIONAL_DRAWINGS = {
    "limits": "Joint limits",
    "collision": "Collision shapes",
    "trace": "Trace of dragged points",
    "frames": "Frames of all parts",
    "names": "Names under the pointer",
}
"""Drawings that the viewport can show, and the labels of their switches."""


class BodyPanel:
    """The panel of the body."""

    def __init__(self, session: Session, viewport: Callable[[], Viewport]) -> None:
        """Build the panel inside the current NiceGUI element."""
        self.session, self.viewport = session, viewport
        self.chosen: str | None = None
        self.built: object = None
        self.fields: list[tuple[Field, Callable[[Figure], Any]]] = []
        with ui.scroll_area().classes("poise-side"), ui.column().classes("w-full gap-1"):
            ui.label("Show").classes("text-subtitle2")
            self._drawing_switches()
            self.obstacles = ObstaclesPanel(session, lambda number: viewport().choose(obstacle=number))
            self.base = Switch("Floating base: the root moves freely", self._set_base)
            ui.button(
                "Parts, limits, distances …",
                icon="account_tree",
                on_click=lambda: parts_window(session, viewport(), self.choose),
            ).props("flat dense no-caps size=sm").mark("parts window")
            ui.label("Edit body part").classes("text-subtitle2 q-mt-sm")
            self.part = Choice("Body part", [], self.choose)
            self.area = ui.column().classes("w-full gap-1")
            ui.button("Edit the figure as text", icon="edit", on_click=lambda: figure_dialog(session)).props(
                "flat dense no-caps size=sm"
            ).mark("figure as text")
            ui.button("Save as .figure.toml", icon="save", on_click=lambda: download("figure.toml")).props(
                "flat dense no-caps size=sm"
            )

    def _drawing_switches(self) -> None:
        for what, words in OPTIONAL_DRAWINGS.items():
            Switch(words, partial(self._draw, what))
        self.inertia = Switch("Moment of inertia", self._show_inertia)

    def _show_inertia(self, shown: bool) -> None:
        self.session.update(lambda state: with_drawing(state, "inertia", shown), undoable=False, wake=False)

    def _draw(self, what: str, shown: bool) -> None:
        self.viewport().show_more(what, shown)

    def _set_base(self, floating: bool) -> None:
        posture = self.session.state.posture
        self._shape(with_base, floating, posture)

    def choose(self, body: str) -> None:
        """Edit another body part."""
        self.chosen = body
        self.follow()

    def follow(self) -> None:
        """Update the panel to the session's state."""
        state = self.session.state
        figure = state.figure
        names = [body.name for body in figure.bodies]
        if self.chosen not in names:
            self.chosen = names[0]
        if list(self.part.box.options) != names:
            self.part.box.set_options(names, value=self.chosen)
        self.part.show(self.chosen)
        self.inertia.show("inertia" in state.shown)
        self.base.show(is_floating(figure))
        self.obstacles.follow()
        joint = joint_of(figure, self.chosen)
        key = (self.chosen, figure.name, joint and (joint.name, joint.kind), figure.sites.names, figure.bodies.names)
        if key != self.built:
            self.built = key
            self._build(figure, self.chosen)
        for field, value_of in self.fields:
            field.show(value_of(figure))

    def _build(self, figure: Figure, body: str) -> None:
        self.area.clear()
        self.fields = []
        with self.area:
            with ui.row().classes("no-wrap gap-2"):
                if length_of(figure, body) > SHORTEST_EDITED_LENGTH:
                    self._field(
                        Number(
                            "Length [m]",
                            lambda v: self._shape(with_length, body, v),
                            low=SHORTEST_EDITED_LENGTH,
                            step=0.01,
                        ),
                        lambda f: length_of(f, body),
                    )
                self._field(
                    Number("Mass [kg]", lambda v: self._shape(with_mass, body, v), low=SMALLEST_MASS),
                    lambda f: f.bodies[body].mass.mass,
                )
            self._structure(figure, body)
            self._joint(figure, body)
            self._sites(figure, body)

    def _structure(self, figure: Figure, body: str) -> None:
        """The body's parent, which can be changed, and buttons that add and remove bodies."""
        joint = joint_of(figure, body)
        if joint is not None and joint.parent is not None:
            own = set(hanging_on(figure, body))
            others = [each.name for each in figure.bodies if each.name not in own]
            enter = lambda parent: self._shape(with_parent, body, parent, self.session.state.posture)  # noqa: E731
            self._field(Choice("Hangs on", others, enter), lambda f: getattr(joint_of(f, body), "parent", None))
        with ui.row().classes("w-full items-center no-wrap gap-1"):
            self.new_body = ui.input("New body here").props("dense").classes("col").mark("new body")
            small_button(
                "add", "Add body", lambda: self._try(with_new_body, body, str(self.new_body.value or "").strip())
            )
            small_button("delete", "Delete body and all that hangs on it", lambda: self._try(without_body, body))

    def _joint(self, figure: Figure, body: str) -> None:
        joint = joint_of(figure, body)
        if joint is None or joint.kind == "free":
            return
        name = joint.name
        kinds = ["fixed", *MOVING_KINDS]
        self._field(
            Choice(f"Kind of joint {name.replace('_', ' ')}", kinds, lambda kind: self._shape(with_kind, name, kind)),
            lambda f: f.joints[name].kind,
        )
        if joint.kind == "ball":
            self._ball(name, joint.ball_limits)
        for k, (word, kind) in enumerate(zip(joint.coordinates, joint.scalars, strict=False)):
            if joint.scalars:
                self._range(name, k, word, 1.0 if kind == "slide" else math.degrees(1.0))

    def _range(self, joint: str, k: int, word: str, unit: float) -> None:
        """Fields for the limits of one coordinate; `unit` converts them to what is shown."""
        most = HALF_TURN if unit > 1.0 else 10.0

        def bound(value: float) -> float:
            return value * unit if math.isfinite(value) else math.copysign(2.0 * most, value)

        def enter(values: list[float]) -> None:
            low, high = (math.copysign(math.inf, v) if abs(v) > most else v / unit for v in values)
            self._shape(with_limits, joint, k, low, high)

        field = Numbers(
            f"{word.capitalize()} limits [{'°' if unit > 1.0 else 'm'}]",
            enter,
            step=5.0,
            names=("lower", "upper"),
            digits=2,
        )
        self._field(field, lambda f: (bound(f.joints[joint].lower[k]), bound(f.joints[joint].upper[k])))

    def _ball(self, joint: str, limits: Any) -> None:
        """Fields for the swing and twist limits of a ball joint."""
        if limits is None or limits.swing is None or isinstance(limits.swing, Ellipse):
            field = Numbers(
                "Swing limits about x, y [°]",
                lambda v: self._shape(with_swing, joint, *(math.radians(min(max(a, 1.0), LARGEST_SWING)) for a in v)),
                step=5.0,
                names=("x", "y"),
                digits=1,
            )
            self._field(field, lambda f: _swing(f, joint))
        twist = Numbers(
            "Twist limits [°]",
            lambda v: self._shape(with_twist, joint, *(math.radians(a) for a in v)),
            step=5.0,
            names=("lower", "upper"),
            digits=1,
        )
        self._field(twist, lambda f: _twist(f, joint))

    def _sites(self, figure: Figure, body: str) -> None:
        ui.label("Sites").classes("text-caption poise-quiet")
        for site in figure.sites:
            if site.body != body:
                continue
            with ui.row().classes("w-full items-center no-wrap gap-1"):
                ui.label(site.name.replace("_", " ")).classes("text-caption ellipsis col")
                small_button("delete", "Remove", partial(self._try, without_site, site.name))
            place = Numbers("", partial(self._shape, site_at, site.name), step=0.01)
            self._field(place, partial(_place_of, site.name))
        with ui.row().classes("w-full items-center no-wrap gap-1"):
            self.new_site = ui.input("New site").props("dense").classes("col").mark("new site")
            small_button("add", "Add site", lambda: attempt(lambda: self._add_site(body)))

    def _add_site(self, body: str) -> None:
        self._shape(with_site, Site(str(self.new_site.value or "").strip(), body))

    def _field(self, field: Field, value_of: Callable[[Figure], Any]) -> None:
        self.fields.append((field, value_of))

    def _shape(self, change: Callable[..., Figure], *values: Any) -> None:
        self.session.update(lambda state: with_figure(state, change(state.figure, *values)))

    def _try(self, change: Callable[..., Figure], *values: Any) -> None:
        attempt(lambda: self._shape(change, *values))


def _place_of(site: str, figure: Figure) -> Any:
    return figure.sites[site].pose.position


def _swing(figure: Figure, joint: str) -> tuple[float, float]:
    limits = figure.joints[joint].ball_limits
    swing = None if limits is None else limits.swing
    return (
        (math.degrees(swing.x), math.degrees(swing.y)) if isinstance(swing, Ellipse) else (LARGEST_SWING, LARGEST_SWING)
    )


def _twist(figure: Figure, joint: str) -> tuple[float, float]:
    limits = figure.joints[joint].ball_limits
    if limits is None or limits.twist is None:
        return -HALF_TURN, HALF_TURN
    return math.degrees(limits.twist.lower[0]), math.degrees(limits.twist.upper[0])
