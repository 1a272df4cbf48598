"""The list of tasks on the left, sorted and indented by priority [Baerlocher 2001, 7.2.6]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from nicegui import ui

from poise.studio.panels.fields import Number, attempt, small_button
from poise.studio.panels.tasks.dialogs import add_dialog
from poise.studio.panels.tasks.form import LARGEST_PRIORITY_NUMBER
from poise.studio.session.changes import scene_change
from poise.studio.session.edits.scene import with_changed_task, without_task
from poise.studio.session.session import Session
from poise.studio.session.state import State
from poise.tasks.task import Task

LEVEL_INDENT, LARGEST_INDENT = 12, 60
"""Indentation of each level, and the largest indentation [pixels]."""
LARGEST_WEIGHT = 1e6
"""Largest weight that can be entered."""
WEIGHT_DECIMALS = 6
"""Decimals of a weight that are shown."""


class Row(NamedTuple):
    """The elements of one task's row; they are updated in place, so that a field keeps the focus while one types."""

    active: ui.checkbox
    name: ui.label
    whole_name: ui.tooltip
    error: ui.label
    weight: Number | None
    """None for a task with a weight for each axis."""


class TaskList:
    """The panel of tasks."""

    def __init__(self, session: Session) -> None:
        """Build an empty list inside the current NiceGUI element."""
        self.session = session
        self.shown: object = None
        self.rows: dict[int, Row] = {}
        self.dragged: int | None = None
        self.choose: Callable[[int], object] | None = None
        with ui.row().classes("w-full items-center no-wrap q-px-md q-pt-sm"):
            ui.label("Tasks").classes("text-subtitle2")
            ui.space()
            add = ui.button(icon="add", on_click=lambda: add_dialog(session))
            with add.props('flat round dense aria-label="Add a task"').mark("add task"):
                ui.tooltip("Add a task")
        self.area = ui.scroll_area().style("height: calc(100vh - 130px)").classes("poise-panel")

    def on_choose(self, choose: Callable[[int], object]) -> None:
        """Call `choose` with the number of a task when its name is clicked."""
        self.choose = choose

    def follow(self) -> None:
        """Update the list to the session's state."""
        tasks = self.session.state.scene.tasks
        key = [(task.priority, np.ndim(task.weight)) for task in tasks]
        if key != self.shown:
            self.shown = key
            self._build(tasks)
        for number, row in self.rows.items():
            self._show(tasks[number], row)

    def _build(self, tasks: tuple[Task, ...]) -> None:
        self.area.clear()
        self.rows = {}
        levels = sorted({task.priority for task in tasks})
        with self.area:
            if not tasks:
                ui.label("No tasks. Double-click a point to pin it, or add a task.").classes(
                    "text-caption poise-quiet q-pa-sm"
                )
            for depth, level in enumerate(levels):
                indent = min(depth * LEVEL_INDENT, LARGEST_INDENT)
                with ui.column().classes("w-full gap-1 q-mb-sm").style(f"padding-left: {indent}px") as group:
                    ui.label(f"Priority {level}").classes("text-caption text-weight-medium poise-level")
                    for number, task in enumerate(tasks):
                        if task.priority == level:
                            self._row(number, task)
                self._takes_drops(group, level)
            if tasks:
                last = ui.label("Drop here for the lowest priority").classes("poise-drop text-caption poise-quiet")
                self._takes_drops(last, levels[-1] + 1)

    def _row(self, number: int, task: Task) -> None:
        with ui.column().classes("poise-task w-full gap-0").props("draggable=true").mark(f"task {number}") as row:
            with ui.row().classes("w-full items-center no-wrap gap-1"):
                active = ui.checkbox(value=task.active, on_change=lambda event: self._switch(number, event.value))
                active.props("dense size=xs").tooltip("Active")
                active._props["aria-label"] = f"Active: {task.label}"
                name = ui.label(task.label).classes("text-body2 ellipsis col cursor-pointer")
                with name:
                    whole_name = ui.tooltip(task.label)
                name.props("role=button tabindex=0")
                for event in ("click", "keydown.enter"):
                    name.on(event, lambda: self.choose(number) if self.choose is not None else None)
                error = ui.label().classes("text-caption poise-number no-wrap")
            with ui.row().classes("w-full items-center no-wrap gap-2"):
                weight = self._numbers(number, task)
                ui.space()
                small_button("tune", "Properties", lambda: self.choose(number) if self.choose is not None else None)
                remove = small_button("delete", "Remove", lambda: self._try(scene_change(without_task, number)))
                remove.mark(f"remove task {number}")
        row.on("dragstart", lambda: self._drag(number))
        self.rows[number] = Row(active, name, whole_name, error, weight)

    def _numbers(self, number: int, task: Task) -> Number | None:
        """Build the fields of the priority, and of the weight if one weight applies to all axes."""
        level = Number(
            "Priority",
            lambda v: self._change(number, priority=round(v)),
            low=1.0,
            high=LARGEST_PRIORITY_NUMBER,
            step=1.0,
        )
        level.box.mark(f"priority of task {number}")
        level.show(task.priority)
        if np.ndim(task.weight) > 0:
            return None
        weight = Number(
            "Weight", lambda v: self._change(number, weight=v), low=0.0, high=LARGEST_WEIGHT, digits=WEIGHT_DECIMALS
        )
        weight.box.mark(f"weight of task {number}")
        return weight

    def _switch(self, number: int, active: bool) -> None:
        if active != self.session.state.scene.tasks[number].active:
            self._change(number, active=active)

    def _drag(self, number: int) -> None:
        self.dragged = number

    def _takes_drops(self, element: Any, level: int) -> None:
        element.on("dragover.prevent", js_handler="() => {}")
        element.on("drop", lambda: self._drop(level))

    def _drop(self, level: int) -> None:
        if self.dragged is not None:
            self._change(self.dragged, priority=level)
        self.dragged = None

    def _change(self, number: int, **fields: Any) -> None:
        self._try(scene_change(with_changed_task, number, **fields))

    def _try(self, change: Callable[[State], State]) -> None:
        attempt(lambda: self.session.update(change))
        self.follow()

    def _show(self, task: Task, row: Row) -> None:
        row.active.set_value(task.active)
        row.name.set_text(task.label)
        row.whole_name.set_text(task.label)
        if row.weight is not None:
            row.weight.show(np.asarray(task.weight))
        verdict = self.session.state.outcome.verdicts.get(task)
        if verdict is None:
            row.error.set_text("" if task.active else "off")
            row.error.classes(replace="text-caption poise-number no-wrap poise-quiet")
            return
        row.error.set_text("met" if verdict.met else task.error_words(self.session.state.posture, verdict.error))
        tone = "poise-good" if verdict.met else "poise-bad"
        row.error.classes(replace=f"text-caption poise-number no-wrap {tone}")
