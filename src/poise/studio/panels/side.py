"""The tabs on the right: joints, the selected task, forces, criteria, the body."""

from __future__ import annotations

import contextlib
from typing import Any

from nicegui import ui

from poise.errors import NotReadyError
from poise.studio.panels.body import BodyPanel
from poise.studio.panels.body_menu import BodyMenu
from poise.studio.panels.criteria import CriteriaPanel
from poise.studio.panels.fields import attempt
from poise.studio.panels.forces import ForcesPanel
from poise.studio.panels.notices import say
from poise.studio.panels.sliders import Sliders
from poise.studio.panels.tasks.form import TaskForm
from poise.studio.panels.viewport import Viewport
from poise.studio.session.changes import scene_change
from poise.studio.session.edits.scene import with_changed_task
from poise.studio.session.pulls import point_task
from poise.studio.session.session import Session

TABS = {"joints": "Joints", "task": "Task", "forces": "Forces", "criteria": "Preferences", "body": "Body"}


class Side:
    """The tabs; only the visible one is updated."""

    def __init__(self, session: Session) -> None:
        """Build the tabs inside the current NiceGUI element; `attach` connects them to the viewport."""
        self.session = session
        self.viewport: Viewport | None = None
        with ui.tabs().props("dense no-caps align=justify").classes("w-full poise-tabs") as self.tabs:
            for name, words in TABS.items():
                ui.tab(name, words).mark(f"tab {name}")
        with ui.tab_panels(self.tabs, value="joints", animated=False, keep_alive=True).classes("w-full poise-panels"):
            with ui.tab_panel("joints").classes("q-pa-none"):
                self.sliders = Sliders(session)
            with ui.tab_panel("task").classes("q-pa-none"):
                self.form = TaskForm(session, self._pick)
            with ui.tab_panel("forces").classes("q-pa-none"):
                self.forces = ForcesPanel(session)
            with ui.tab_panel("criteria").classes("q-pa-none"):
                self.criteria = CriteriaPanel(session)
            with ui.tab_panel("body").classes("q-pa-none"):
                self.body = BodyPanel(session, self._viewport)
        self.tabs.on_value_change(lambda event: self._show())

    def attach(self, viewport: Viewport) -> None:
        """Listen to the viewport's events; call it outside all drawers, because the menu opens anywhere on the page."""
        self.viewport = viewport
        self.menu = BodyMenu(self.session, self.edit_body)
        viewport.on("menu", lambda event: self.menu.open(**event.args))
        viewport.on("selected", lambda event: self.select(event.args))
        viewport.on("picked", lambda event: attempt(lambda: self._picked(**event.args)))

    def _viewport(self) -> Viewport:
        assert self.viewport is not None
        return self.viewport

    def build(self) -> None:
        """Build the sliders of another figure."""
        self.sliders.build()
        self.sliders.follow()

    def _show(self) -> None:
        with contextlib.suppress(NotReadyError):  # the page updates it in a moment
            self.follow()
        self.follow_joints()

    def follow(self) -> None:
        """Update the visible tab to the session's state."""
        panels = {"task": self.form, "forces": self.forces, "criteria": self.criteria, "body": self.body}
        if self.tabs.value in panels:
            panels[self.tabs.value].follow()  # type: ignore[attr-defined]

    def follow_joints(self) -> None:
        """Update the sliders to the session's state if they are visible."""
        if self.tabs.value == "joints":
            with contextlib.suppress(NotReadyError):  # asked again in a moment
                self.sliders.follow()

    def select(self, what: dict[str, Any]) -> None:
        """Show the properties of the thing that was clicked, if it is a task's target."""
        if "task" in what:
            self._show_form(int(what["task"]))

    def show_task(self, number: int) -> None:
        """Show the properties of a task and the handles of its target."""
        self._show_form(number)
        self._viewport().choose(task=number)

    def _show_form(self, number: int) -> None:
        self.form.choose(number)
        self.tabs.set_value("task")

    def edit_body(self, body: str) -> None:
        """Open the editor of a body part."""
        self.tabs.set_value("body")
        self.body.choose(body)

    def _pick(self) -> None:
        self._viewport().pick()
        say("Click a point of the figure.")

    def _picked(self, body: int, point: Any, **_: Any) -> None:
        """Make the selected task be about the point that was picked."""
        task, number, state = self.form.task, self.form.number, self.session.state
        if number is not None and any(field.control == "point" for field in getattr(task, "form", ())):
            found = point_task(state.posture, body, point, priority=1)
            change = scene_change(with_changed_task, number, site=found.site, offset=found.offset)
            self.session.update(change)
