"""The list of tasks, sorted and indented by priority [Baerlocher 2001, 7.2.6]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from nicegui import ui

from poise.engine.wanted import amount
from poise.errors import PoiseError
from poise.studio.session import Session
from poise.studio.task_dialogs import add_dialog
from poise.tasks.task import Task

INDENT, MOST_INDENT = 12, 60
"""How far a level is moved to the right, and how far at most [pixels]."""
HIGHEST_PRIORITY, LARGEST_WEIGHT = 99, 1e6


class TaskList:
    """The panel of tasks; it follows the session and changes it."""

    def __init__(self, session: Session) -> None:
        """Make an empty panel where the caller is building."""
        self.session = session
        self.shown: object = None
        self.errors: list[tuple[int, ui.label]] = []
        self.dragged: int | None = None
        self.choose: Callable[[int], object] | None = None
        with ui.row().classes("w-full items-center no-wrap q-px-md q-pt-sm"):
            ui.label("Tasks").classes("text-subtitle2")
            ui.space()
            with ui.button(icon="add", on_click=lambda: add_dialog(session)).props("flat round dense").mark("add task"):
                ui.tooltip("Add a task")
        self.area = ui.scroll_area().style("height: calc(100vh - 130px)").classes("poise-panel")

    def on_choose(self, choose: Callable[[int], object]) -> None:
        """Call `choose` with the number of a task whose name is clicked."""
        self.choose = choose

    def follow(self) -> None:
        """Show the session's tasks as they are now."""
        tasks = self.session.state.scene.tasks
        key = tuple((task.label, task.priority, str(task.weight), task.active) for task in tasks)
        if key != self.shown:
            self.shown = key
            self._build(tasks)
        self._show_errors(tasks)

    def _build(self, tasks: tuple[Task, ...]) -> None:
        self.area.clear()
        self.errors = []
        levels = sorted({task.priority for task in tasks})
        with self.area:
            if not tasks:
                ui.label("Nothing is asked. Double-click a point to pin it, or add a task.").classes(
                    "text-caption text-grey-6 q-pa-sm"
                )
            for depth, level in enumerate(levels):
                indent = min(depth * INDENT, MOST_INDENT)
                with ui.column().classes("w-full gap-1 q-mb-sm").style(f"padding-left: {indent}px") as group:
                    ui.label(f"Priority {level}").classes("text-caption text-weight-medium text-orange-8")
                    for number, task in enumerate(tasks):
                        if task.priority == level:
                            self._row(number, task)
                self._takes_drops(group, level)
            if tasks:
                last = ui.label("drop here for the lowest priority").classes("poise-drop text-caption text-grey-6")
                self._takes_drops(last, levels[-1] + 1)

    def _row(self, number: int, task: Task) -> None:
        with ui.column().classes("poise-task w-full gap-0").props("draggable=true").mark(f"task {number}") as row:
            with ui.row().classes("w-full items-center no-wrap gap-1"):
                ui.checkbox(value=task.active, on_change=lambda event: self._change(number, active=event.value)).props(
                    "dense size=xs"
                ).tooltip("Whether it is asked")
                name = ui.label(task.label).classes("text-body2 ellipsis col cursor-pointer").tooltip(task.label)
                name.on("click", lambda: self.choose(number) if self.choose is not None else None)
                self.errors.append((number, ui.label().classes("text-caption poise-number no-wrap")))
            with ui.row().classes("w-full items-center no-wrap gap-2"):
                self._number("priority", task.priority, lambda value: self._change(number, priority=round(value)))
                if np.ndim(task.weight) == 0:
                    weight = float(np.asarray(task.weight))
                    self._number("weight", weight, lambda value: self._change(number, weight=value))
                ui.space()
                _small("tune", "Properties", lambda: self.choose(number) if self.choose is not None else None)
                _small("delete", "Remove", lambda: self._try(lambda: self.session.remove(number)))
        row.on("dragstart", lambda: self._drag(number))

    def _number(self, label: str, value: float, change: Callable[[float], None]) -> None:
        low, high = (1.0, float(HIGHEST_PRIORITY)) if label == "priority" else (0.0, LARGEST_WEIGHT)
        field = ui.number(label, value=value, min=low, max=high, step=1.0 if label == "priority" else 0.1)
        field.props("dense borderless debounce=300").classes("poise-field")

        def entered() -> None:
            if field.value is not None:
                change(min(max(float(field.value), low), high))

        field.on_value_change(entered)

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
        self._try(lambda: self.session.change(number, **fields))

    def _try(self, act: Callable[[], None]) -> None:
        try:
            act()
        except PoiseError as problem:
            ui.notify(str(problem), type="negative", position="top", multi_line=True)
        self.follow()

    def _show_errors(self, tasks: tuple[Task, ...]) -> None:
        verdicts = self.session.state.outcome.verdicts
        for number, label in self.errors:
            verdict = verdicts.get(tasks[number])
            if verdict is None:
                label.set_text("" if tasks[number].active else "off")
                continue
            label.set_text("met" if verdict.met else amount(verdict.error, tasks[number].unit()))
            label.classes(
                replace=f"text-caption poise-number no-wrap {'text-green-7' if verdict.met else 'text-red-6'}"
            )


def _small(icon: str, tip: str, action: Callable[[], object]) -> None:
    ui.button(icon=icon, on_click=lambda: action()).props("flat round dense size=sm color=grey-6").tooltip(tip)
