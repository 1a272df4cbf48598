"""New tasks; each asks for the figure's present state, so that adding it moves nothing."""

from __future__ import annotations

from dataclasses import replace

from poise.errors import TaskError
from poise.figure.model.figure import Figure
from poise.studio.session.edits.scene import with_tasks
from poise.studio.session.pulls import lowest_priority
from poise.studio.session.state import State, with_scene
from poise.tasks.form import MenuEntry
from poise.tasks.kinds import all_kinds
from poise.tasks.place import Frame, Position
from poise.tasks.task import Task

HANDLE_ROLES = ("left_ankle", "right_ankle", "pelvis", "head", "left_wrist", "right_wrist")
"""Parts that get a target with the handles of a figure, by their anatomical role."""
FEET = ("left_ankle", "right_ankle")
"""Roles whose targets hold the rotation too."""


def task_menu() -> dict[str, MenuEntry]:
    """The menu of new tasks by label, those about a site first."""
    entries = {entry.label: entry for kind in all_kinds(Task).values() for entry in vars(kind).get("menu", ())}
    return dict(sorted(entries.items(), key=lambda item: (not item[1].needs_site, item[0])))


def new_task(state: State, label: str, site: str) -> Task:
    """A new task, with a priority below all others, from the label of its entry in the menu."""
    return replace(task_menu()[label].make(state.posture, site), priority=lowest_priority(state.scene.tasks))


def with_handles(state: State) -> State:
    """The state with a target for hands, feet, head and pelvis, where they are; those that have one are left out.

    All new ones have one priority, below the scene's tasks. Raises `TaskError` if the figure has no such part.
    """
    figure, tasks = state.figure, state.scene.tasks
    parts = {role: figure.roles[role].part for role in HANDLE_ROLES if role in figure.roles}
    if not parts:
        raise TaskError(
            f"figure {figure.name!r} has no hands, feet, head or pelvis that poise knows: add tasks by hand."
        )
    held = {_body_of(figure, task.site) for task in tasks if isinstance(task, Position | Frame)}
    free = {role: part for role, part in parts.items() if _body_of(figure, part) not in held}
    if not free:
        return state
    level = lowest_priority(tasks)
    new = [_handle(state, role, part, level) for role, part in free.items()]
    return with_scene(state, with_tasks(state.scene, [*tasks, *new]))


def _handle(state: State, role: str, part: str, priority: int) -> Task:
    pose = state.figure.pose_of(part, state.posture)
    name = role.replace("ankle", "foot").replace("wrist", "hand").replace("_", " ")
    if role in FEET:
        return Frame(part, pose, name=name, priority=priority)
    return Position(part, pose.position, name=name, priority=priority)


def _body_of(figure: Figure, part: str) -> str:
    """The body of a site, or the body itself."""
    return figure.sites[part].body if part in figure.sites else part
