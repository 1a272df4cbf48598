"""The panel of one task's properties, which can be changed while the figure moves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from nicegui import ui

from poise.errors import TaskError
from poise.figure.model.figure import Figure
from poise.studio.panels.fields import Choice, Choices, Entered, Field, Flags, Number, Numbers, Switch, Words, attempt
from poise.studio.panels.tasks.dialogs import edit_dialog
from poise.studio.session.changes import scene_change, with_foot_beside, with_target_at
from poise.studio.session.edits.scene import with_task
from poise.studio.session.mirror import partner_name
from poise.studio.session.session import Session
from poise.tasks.form import FormField, Setting
from poise.tasks.task import NEAREST_BRANCH, Task, name_list

ALL_JOINTS, LIMB_JOINTS, CHOSEN_JOINTS = "All joints", "Joints of its limb", "Chosen joints"
"""Options for the joints that a task may move."""
BESIDE_OTHER_FOOT = "beside the other foot"
"""Option for the target of a foot."""
LARGEST_PRIORITY_NUMBER = 99
"""Largest number, which is the lowest priority, that can be entered."""
LARGEST_TASK_GAIN, SMALLEST_TASK_GAIN = 1.0, 0.01
"""Range of a task's gain."""


class TaskForm:
    """The panel of one task's properties."""

    def __init__(self, session: Session, pick: Callable[[], object]) -> None:
        """Build an empty panel inside the current NiceGUI element; `pick` lets the user click a point of the figure."""
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
        """The task whose properties are shown."""
        tasks = self.session.state.scene.tasks
        return tasks[self.number] if self.number is not None and self.number < len(tasks) else None

    def follow(self) -> None:
        """Update the panel to the session's state."""
        task, figure = self.task, self.session.state.figure_number
        form = [] if task is None else [(field.label, field.options(self._setting)) for field in form_of(task)]
        key = (self.number, type(task), figure, form)
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
                ui.label("Click a task on the left, or a target, to see its properties.").classes(
                    "text-caption poise-quiet"
                )
                return
            ui.label(title_of(task)).classes("text-caption text-weight-medium poise-level")
            self._common(task)
            for field in form_of(task):
                self._own(field)
            self._recruits(task)
            self._snaps(task)
            with ui.row().classes("w-full"):
                ui.button("Edit as text", icon="edit", on_click=self._as_text).props("flat dense no-caps size=sm")

    def _common(self, task: Task) -> None:
        self._add(Words("Name", lambda value: self._change(name=value or None)), lambda t: t.name or "")
        with ui.row().classes("w-full no-wrap gap-2"):
            level = Number(
                "Priority", lambda v: self._change(priority=round(v)), low=1, high=LARGEST_PRIORITY_NUMBER, step=1
            )
            self._add(level, lambda t: t.priority)
            gain = Number(
                "Gain", lambda v: self._change(gain=v), low=SMALLEST_TASK_GAIN, high=LARGEST_TASK_GAIN, step=0.05
            )
            self._add(gain, lambda t: t.gain)
        self._add(Words("Weight, or one per axis", lambda v: self._change(weight=weights(v))), _weight_text)
        self._add(Switch("Active", lambda value: self._change(active=value)), lambda t: t.active)

    @property
    def _setting(self) -> Setting:
        state = self.session.state
        return Setting(state.posture, state.scene.obstacles)

    def _own(self, field: FormField) -> None:
        def entered(value: Any) -> None:
            task = self._now()
            new = field.put(task, value, self._setting)
            if new is not task:
                self._put(new)

        self._add(made_field(field, field.options(self._setting), entered), field.get)
        if field.control == "point":
            pick = ui.button("Pick a point", icon="ads_click", on_click=lambda: self.pick())
            pick.props("flat dense no-caps size=sm")

    def _recruits(self, task: Task) -> None:
        if not task.chooses_joints:
            return
        modes = [ALL_JOINTS, *([LIMB_JOINTS] if hasattr(task, "site") else []), CHOSEN_JOINTS]
        self._add(Choice("Joints that may move", modes, self._recruit), _recruit_mode)
        names = self.session.state.figure.moving_joints
        chosen = Choices("Chosen joints", names, lambda value: self._change(joints=value or None))
        chosen.box.bind_visibility_from(self.fields[-1][0].box, "value", lambda value: value == CHOSEN_JOINTS)  # type: ignore[attr-defined]
        self._add(chosen, lambda t: _chosen_joints(t))

    def _snaps(self, task: Task) -> None:
        """Places to which a button can move the target: sites and bodies of the figure, or beside the other foot."""
        state = self.session.state
        if not task.target_fields or task.target_in(state.posture) is None:
            return
        places = [*state.figure.sites.names, *state.figure.bodies.names]
        other = other_foot(state.figure, getattr(task, "site", ""))
        words = [BESIDE_OTHER_FOOT, *places] if other else places
        box = ui.select(words, label="Snap the target to", with_input=True, clearable=False)
        box.props("dense options-dense").classes("w-full").mark("snap the target to")

        def chosen() -> None:
            if box.value is not None:
                place, box.value = str(box.value), None
                attempt(lambda: self._snap(place, other))

        box.on_value_change(chosen)

    def _snap(self, place: str, other: str | None) -> None:
        assert self.number is not None
        if place == BESIDE_OTHER_FOOT and other is not None:
            self.session.update(partial(with_foot_beside, number=self.number, other=other))
        else:
            self.session.update(partial(with_target_at, number=self.number, site=place))

    def _recruit(self, mode: str) -> None:
        start = self.session.state.figure.moving_joints[:1]
        self._change(joints={ALL_JOINTS: None, LIMB_JOINTS: NEAREST_BRANCH, CHOSEN_JOINTS: tuple(start)}[mode])

    def _add(self, field: Field, value_of: Callable[[Task], Any]) -> None:
        self.fields.append((field, value_of))

    def _now(self) -> Task:
        assert self.task is not None
        return self.task

    def _change(self, **fields: Any) -> None:
        self._put(replace(self._now(), **fields))

    def _put(self, task: Task) -> None:
        assert self.number is not None
        self.session.update(scene_change(with_task, self.number, task))

    def _as_text(self) -> None:
        if self.number is not None and self.task is not None:
            number = self.number
            attempt(lambda: edit_dialog(self.session, number))


def other_foot(figure: Figure, site: str) -> str | None:
    """The part on the other side, if a site or body is a foot."""
    feet = {role: figure.roles[role].part for role in ("left_ankle", "right_ankle") if role in figure.roles}
    other = partner_name(site)
    is_foot = site in feet.values() or "foot" in site
    known = other in figure.sites.names or other in figure.bodies.names
    return other if is_foot and known and other != site else None


def form_of(task: Task) -> list[FormField]:
    """The fields of its kind that a task has."""
    return [field for field in task.form if field.applies(task)]


def made_field(field: FormField, options: list[str], entered: Entered) -> Field:
    """Build the control of a form field inside the current NiceGUI element."""
    if field.control == "number":
        return Number(field.label, entered, low=field.low, step=field.step, digits=field.digits)
    if field.control == "axes":
        return Flags(field.label, "xyz", entered)
    if field.control in ("choice", "choices"):
        return (Choice if field.control == "choice" else Choices)(field.label, options, entered)
    return Numbers(field.label, entered, step=field.step, digits=field.digits)


def weights(text: str) -> float | tuple[float, ...]:
    """One weight, or one for each axis, from a text; raises `TaskError` if it is neither."""
    try:
        numbers = tuple(float(word) for word in text.replace(",", " ").split())
    except ValueError:
        numbers = ()
    if not numbers:
        raise TaskError(f"a weight is one number or one per axis, such as 1 1 0.5, not {text!r}.")
    return numbers[0] if len(numbers) == 1 else numbers


def title_of(task: Task) -> str:
    """The kind of a task as in the menu of new tasks, if that has one entry of it for a site, else in words."""
    entries = vars(type(task)).get("menu", ())
    if len(entries) == 1 and entries[0].needs_site:
        return str(entries[0].label)
    return (task.kind or type(task).__name__).replace("center", "centre").replace("_", " ").capitalize()


def _weight_text(task: Task) -> str:
    given = task.weight
    return f"{given:g}" if isinstance(given, int | float) else " ".join(f"{float(value):g}" for value in given)


def _recruit_mode(task: Task) -> str:
    if task.joints is None:
        return ALL_JOINTS
    return LIMB_JOINTS if task.joints == NEAREST_BRANCH else CHOSEN_JOINTS


def _chosen_joints(task: Task) -> list[str]:
    return [] if task.joints is None or task.joints == NEAREST_BRANCH else name_list(task.joints)
