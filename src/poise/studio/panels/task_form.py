"""The properties of one task, each of which can be changed while the figure moves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui

from poise.studio.panels.fields import Choice, Choices, Field, Number, Switch, Words, attempt
from poise.studio.panels.task_dialogs import edit_dialog
from poise.studio.panels.task_fields import OWN_FIELDS, Row, all_joints, hazards_of, no_axes, weights
from poise.studio.session.edits import changed
from poise.studio.session.session import Session
from poise.tasks.posture import Hold
from poise.tasks.task import NEAREST_BRANCH, Task

ALL, BRANCH, CHOSEN = "all", "those of its limb", "chosen ones"
HIGHEST_PRIORITY = 99
MOST_GAIN, LEAST_GAIN = 1.0, 0.01


class TaskForm:
    """The panel of one task's properties."""

    def __init__(self, session: Session, pick: Callable[[], object]) -> None:
        """Make an empty panel where the caller is building; `pick` asks for a point of the figure."""
        self.session, self.pick = session, pick
        self.number: int | None = None
        self.built: object = None
        self.fields: list[tuple[Field, Callable[[Task], Any]]] = []
        self.area = ui.scroll_area().classes("poise-side").mark("task form")

    def choose(self, number: int | None) -> None:
        """Show another task."""
        self.number = number
        self.follow()

    @property
    def task(self) -> Task | None:
        """The task that is shown."""
        tasks = self.session.state.scene.tasks
        return tasks[self.number] if self.number is not None and self.number < len(tasks) else None

    def follow(self) -> None:
        """Show the task as it is now."""
        task, figure = self.task, self.session.state.figure_number
        form = [row.label for row in OWN_FIELDS.get(type(task), ()) if task is not None and row.applies(task)]
        hazards = list(hazards_of(self.session.state))
        key = (self.number, type(task), hazards, figure, form)
        if key != self.built:
            self.built = key
            self._build(task)
        for field, value_of in self.fields:
            if task is not None:
                field.show(value_of(task))

    def _build(self, task: Task | None) -> None:
        self.area.clear()
        self.fields = []
        with self.area, ui.column().classes("w-full gap-1"):
            if task is None:
                ui.label("Choose a task on the left, or click a target.").classes("text-caption text-grey-6")
                return
            ui.label(type(task).__name__).classes("text-caption text-weight-medium text-orange-8")
            self._common(task)
            for row in OWN_FIELDS.get(type(task), ()):
                if row.applies(task):
                    self._own(row)
            self._recruits(task)
            with ui.row().classes("w-full"):
                ui.button("as text", icon="edit", on_click=self._as_text).props("flat dense no-caps size=sm")

    def _common(self, task: Task) -> None:
        self._add(Words("name", lambda value: self._change(name=value or None)), lambda t: t.name or "")
        with ui.row().classes("w-full no-wrap gap-2"):
            level = Number("priority", lambda v: self._change(priority=round(v)), low=1, high=HIGHEST_PRIORITY, step=1)
            self._add(level, lambda t: t.priority)
            gain = Number("gain", lambda v: self._change(gain=v), low=LEAST_GAIN, high=MOST_GAIN, step=0.05)
            self._add(gain, lambda t: t.gain)
        self._add(Words("weight, or one per axis", lambda v: self._change(weight=weights(v))), _weight_text)
        self._add(Switch("active", lambda value: self._change(active=value)), lambda t: t.active)

    def _own(self, row: Row) -> None:
        self._add(row.make(self.session, lambda value: self._put(row.put(self._now(), value))), row.get)
        if row.label == "point of the site":
            pick = ui.button("pick a point", icon="ads_click", on_click=lambda: self.pick())
            pick.props("flat dense no-caps size=sm")

    def _recruits(self, task: Task) -> None:
        if no_axes(task):
            return
        modes = [ALL, CHOSEN] if isinstance(task, Hold) or not hasattr(task, "site") else [ALL, BRANCH, CHOSEN]
        self._add(Choice("joints that may move", modes, self._recruit), _recruit_mode)
        names = all_joints(self.session.state)
        chosen = Choices("which joints", names, lambda value: self._change(joints=value or None))
        chosen.box.bind_visibility_from(self.fields[-1][0].box, "value", lambda value: value == CHOSEN)  # type: ignore[attr-defined]
        self._add(chosen, lambda t: _chosen_joints(t))

    def _recruit(self, mode: str) -> None:
        start = all_joints(self.session.state)[:1]
        self._change(joints={ALL: None, BRANCH: NEAREST_BRANCH, CHOSEN: tuple(start)}[mode])

    def _add(self, field: Field, value_of: Callable[[Task], Any]) -> None:
        self.fields.append((field, value_of))

    def _now(self) -> Task:
        task = self.task
        assert task is not None
        return task

    def _change(self, **fields: Any) -> None:
        self._put(changed(self._now(), **fields))

    def _put(self, task: Task) -> None:
        assert self.number is not None
        self.session.put(self.number, task)

    def _as_text(self) -> None:
        if self.number is not None and self.task is not None:
            number = self.number
            attempt(lambda: edit_dialog(self.session, number))


def _weight_text(task: Task) -> str:
    given = task.weight
    return f"{given:g}" if isinstance(given, int | float) else " ".join(f"{float(value):g}" for value in given)


def _recruit_mode(task: Task) -> str:
    if task.joints is None:
        return ALL
    return BRANCH if task.joints == NEAREST_BRANCH else CHOSEN


def _chosen_joints(task: Task) -> list[str]:
    if task.joints is None or task.joints == NEAREST_BRANCH:
        return []
    return [task.joints] if isinstance(task.joints, str) else list(task.joints)
