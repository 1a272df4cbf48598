"""The fields of a task on a page, and its entry in the menu of new tasks, without any user interface."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from poise.errors import TaskError
from poise.figure.model.pose import FloatArray, Pose, to_matrix, turn, vector
from poise.tasks.task import Task, axes_of

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure
    from poise.figure.model.posture import Posture
    from poise.tasks.obstacles import Obstacle, Plane

Control = Literal["number", "vector", "point", "axes", "choice", "choices"]
"""Controls: a number; three numbers; a point of the site in its own axes, which can also be clicked on the figure;
a box for each of x, y and z; one option; any number of options."""

WORLD_OPTION = "World"
"""Option of a task that is relative to no part."""
GIMBAL_LOCK_COSINE = 1e-6
"""Cosine of the second Euler angle below which the first and third rotation are about the same axis."""


class Setting(NamedTuple):
    """The present posture and the obstacles, on which options depend."""

    posture: Posture
    obstacles: Sequence[Obstacle | Plane] = ()


@dataclass(frozen=True, kw_only=True)
class FormField:
    """One field of a form: it shows a value of a task, and makes the task with another value."""

    label: str
    """Name, with the unit."""
    control: Control
    get: Callable[[Any], Any]
    """The value of a task: a number, three numbers, letters, an option, or a list of options."""
    put: Callable[[Any, Any, Setting], Task]
    """The task with another value."""
    options: Callable[[Setting], list[str]] = lambda setting: []
    """Options of a choice."""
    low: float = -math.inf
    """Least value of a number."""
    step: float = 0.05
    """Amount by which the arrow keys change a number."""
    digits: int = 4
    """Number of decimals shown."""
    applies: Callable[[Any], bool] = lambda task: True
    """Whether a task has this field."""


class MenuEntry(NamedTuple):
    """An entry of the menu of new tasks."""

    label: str
    make: Callable[[Posture, str], Task]
    """A task that asks for the present state, from a posture and the name of a site or body."""
    needs_site: bool = False
    """Whether the task is about a site or body."""


def field(name: str, label: str, control: Control = "number", **details: Any) -> FormField:
    """The form field of an attribute of a task."""
    return FormField(
        label=label,
        control=control,
        get=lambda task: getattr(task, name),
        put=lambda task, value, setting: replace(task, **{name: value}),
        **details,
    )


def vector_field(name: str, label: str, **details: Any) -> FormField:
    """The form field of a vector, which may also be a word such as "y"; absent while it is None."""
    return replace(
        field(name, label, "vector", applies=lambda task: getattr(task, name) is not None, **details),
        get=lambda task: vector(getattr(task, name)),
    )


def rotation_field(get: Callable[[Any], FloatArray], put: Callable[[Any, FloatArray], Task]) -> FormField:
    """The form field of a rotation, as angles about x, y and z."""
    return FormField(
        label="Rotation [°]",
        control="vector",
        get=lambda task: angles_of(get(task)),
        put=lambda task, angles, setting: put(task, rotation_by(angles)),
        step=5.0,
        digits=1,
    )


def parts_of(figure: Figure) -> list[str]:
    """Names a task can refer to: all sites, then the bodies that have no site of the same name."""
    return list(dict.fromkeys((*figure.sites.names, *(body.name for body in figure.bodies))))


def _letters(task: Any) -> str:
    """The axes of a task as letters; axes in other directions are left out."""
    rows = axes_of(task.axes, task.label)
    return "".join("xyz"[k] for k in range(3) if any((row == np.eye(3)[k]).all() for row in rows))


def _with_axes(task: Any, letters: str, setting: Setting) -> Task:
    """The task with other axes, and with equal weights if it has one for each of the former axes."""
    if not letters:
        raise TaskError(f"{task.label}: at least one axis is needed; switch the task off instead.")
    fits = np.size(task.weight) in (1, len(letters))
    changed: Task = replace(task, axes=letters, weight=task.weight if fits else 1.0)
    return changed


def _relative_to(task: Any, part: str | None, posture: Posture) -> Task:
    """The task measured from another part; its target stays where it is in the world."""
    moved: Task = replace(task, relative_to=part)
    target = task.target_in(posture)
    return moved if target is None else moved.dragged(posture, Pose(target.wanted, target.rotation))


SITE = field("site", "Site or body", "choice", options=lambda setting: parts_of(setting.posture.figure))
"""The site or body that a task is about."""
AXES = FormField(label="Axes", control="axes", get=_letters, put=_with_axes)
"""The axes that count."""
RELATIVE_TO = FormField(
    label="Relative to",
    control="choice",
    get=lambda task: task.relative_to or WORLD_OPTION,
    put=lambda task, part, setting: _relative_to(task, None if part == WORLD_OPTION else part, setting.posture),
    options=lambda setting: [WORLD_OPTION, *parts_of(setting.posture.figure)],
)
"""The part in whose frame the target is given."""
OUTER_AXES, OWN_AXES = "World, or the part it is relative to", "Site"
"""Options of whose axes a rotation is measured along."""
AXES_OF = FormField(
    label="Axes of",
    control="choice",
    get=lambda task: OWN_AXES if task.own_axes else OUTER_AXES,
    put=lambda task, word, setting: replace(task, own_axes=word == OWN_AXES),
    options=lambda setting: [OUTER_AXES, OWN_AXES],
)
"""Whose axes a rotation is measured along."""
TARGET = vector_field("at", "Target [m]")
"""The wanted position."""
AXIS = vector_field("axis", "Axis", step=0.1)
"""The axis that a task is about."""
MARGIN = field("margin", "Margin [m]", low=0.0, step=0.005)
"""The distance to keep."""


def angles_of(rotation: FloatArray) -> list[float]:
    """Euler angles about the fixed axes x, then y, then z; z is 0 in gimbal lock [°]."""
    m = to_matrix(rotation)
    cosine = math.hypot(m[0, 0], m[1, 0])
    y = math.atan2(-m[2, 0], cosine)
    if cosine > GIMBAL_LOCK_COSINE:
        x, z = math.atan2(m[2, 1], m[2, 2]), math.atan2(m[1, 0], m[0, 0])
    else:
        x, z = math.atan2(-m[1, 2], m[1, 1]), 0.0
    return [math.degrees(angle) for angle in (x, y, z)]


def rotation_by(angles: Sequence[float]) -> FloatArray:
    """(4,) the quaternion of Euler angles about the fixed axes x, then y, then z [°]."""
    about_x, about_y, about_z = (Pose(rotation=turn(axis, angle)) for axis, angle in zip("xyz", angles, strict=True))
    return (about_z @ about_y @ about_x).rotation
