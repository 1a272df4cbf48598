"""The menu that opens with a right click on a body."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from nicegui import ui

from poise.figure.model.body import Site
from poise.figure.model.pose import Pose, vector
from poise.forces.loads import Support
from poise.studio.panels.fields import attempt
from poise.studio.panels.tasks.recruiting import recruit_dialog
from poise.studio.session.changes import scene_change, with_figure, with_root
from poise.studio.session.edits.body import with_site
from poise.studio.session.edits.loads import new_force, with_load
from poise.studio.session.edits.scene import with_new_task
from poise.studio.session.new_tasks import new_task, task_menu
from poise.studio.session.pulls import with_pin
from poise.studio.session.session import Session

LOADS = {"force": "Add force here", "torque": "Add torque here", "support": "Use as support"}
"""What acts on a body, and the item that adds it."""


class BodyMenu:
    """The menu of a body, which opens at the pointer."""

    def __init__(self, session: Session, edit: Callable[[str], object]) -> None:
        """Build the closed menu inside the current NiceGUI element; `edit` opens the editor of a body part."""
        self.session, self.edit = session, edit
        with ui.element("div").classes("poise-anchor") as self.anchor:
            self.menu = ui.menu().props("no-parent-event").classes("poise-menu").mark("body menu")

    def open(self, body: int, point: Any, x: float, y: float) -> None:
        """Open the menu of a body at a point of the page [pixels]; `point` was clicked, in the body's frame [m]."""
        figure = self.session.state.figure
        if not 0 <= body < len(figure.bodies):
            return
        name, place = figure.bodies[body].name, vector(point)
        self.anchor.style(f"left: {x:.0f}px; top: {y:.0f}px")
        self.menu.clear()
        with self.menu:
            ui.item_label(name.replace("_", " ")).props("header").classes("text-weight-medium q-pa-sm")
            self._item("Pin this point", lambda: self.session.update(lambda state: with_pin(state, body, place)))
            for kind, entry in task_menu().items():
                if entry.needs_site:
                    self._item(f"Add task: {kind.lower()}", partial(self._add, kind, name))
            ui.separator()
            self._item("Set as root", lambda: self.session.update(lambda state: with_root(state, name)))
            self._item("Choose movable joints …", lambda: recruit_dialog(self.session, name))
            ui.separator()
            for kind, words in LOADS.items():
                self._item(words, partial(self._add_load, kind, name))
            self._item("Add site here", lambda: self._add_site(body, place))
            self._item("Edit body part …", lambda: self.edit(name))
        self.menu.open()

    def _item(self, words: str, act: Callable[[], object]) -> None:
        ui.menu_item(words, on_click=lambda: attempt(act)).props("dense role=menuitem").mark(words)

    def _add(self, kind: str, name: str) -> None:
        self.session.update(scene_change(with_new_task, new_task(self.session.state, kind, name)))

    def _add_load(self, kind: str, name: str) -> None:
        state = self.session.state
        load = Support(name) if kind == "support" else new_force(state.figure, name, kind, state.look.extent)
        self.session.update(scene_change(with_load, load))

    def _add_site(self, body: int, place: Any) -> None:
        figure = self.session.state.figure
        holder = figure.bodies[body].name
        names = (f"{holder}_site_{k}" for k in range(1, 1000))
        name = next(name for name in names if name not in figure.sites.names)
        new = with_site(figure, Site(name, holder, Pose(place)))
        self.session.update(lambda state: with_figure(state, new))
