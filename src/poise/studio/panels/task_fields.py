"""The fields that are specific to each kind of task: how a value is shown, and the task with another value."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from poise.engine.wanted import part_from_world
from poise.errors import TaskError
from poise.figure.model.pose import FloatArray, Pose, to_matrix, vector
from poise.studio.panels.fields import Choice, Choices, Entered, Field, Flags, Number, Numbers
from poise.studio.session.edits import changed
from poise.studio.session.new_tasks import parts_to_choose
from poise.studio.session.session import Session
from poise.studio.session.state import State
from poise.studio.session.targets import DIRECTION_MARK_DISTANCE
from poise.tasks.avoid import SELF, Avoid
from poise.tasks.custom import Custom
from poise.tasks.equilibrium import Equilibrium
from poise.tasks.mass import CenterOfMass, MomentOfInertia
from poise.tasks.place import Frame, LookAt, Orientation, Position, pose_of, rotation_of
from poise.tasks.posture import Hold
from poise.tasks.steady import Slow, Still
from poise.tasks.task import Task, axes_of

WORLD_OPTION, PRESENT_POSTURE_OPTION, STORED_POSTURE_OPTION = "World", "Present posture", "Stored posture"
"""Options of choices: relative to the world; hold the present posture; hold the posture stored in the task."""
GIMBAL_LOCK_COSINE = 1e-6
"""Cosine of the second Euler angle below which the first and third rotation are about the same axis."""
MOMENT_AXES = {"Automatic": None, "Horizontal axes": True, "All three axes": False}
"""Axes about which an equilibrium task balances moments, by option."""
Make = Callable[[Session, Entered], Field]


@dataclass(frozen=True)
class Row:
    """One field of a form."""

    label: str
    """Name of the field."""
    make: Make
    """Builds the field."""
    get: Callable[[Any], Any]
    """The value of a task that the field shows."""
    put: Callable[[Any, Any], Task]
    """The task with another value."""
    applies: Callable[[Any], bool] = lambda task: True
    """Whether a task has this field."""


def weights(text: str) -> float | tuple[float, ...]:
    """One weight, or one for each axis, from a text; raises `TaskError` if it is neither."""
    try:
        numbers = tuple(float(word) for word in text.replace(",", " ").split())
    except ValueError:
        raise TaskError(f"a weight is one number or one per axis, such as 1 1 0.5, not {text!r}.") from None
    if not numbers:
        raise TaskError("a weight is one number or one per axis, such as 1 1 0.5.")
    return numbers[0] if len(numbers) == 1 else numbers


def all_joints(state: State) -> list[str]:
    """The names of all joints that a task may move."""
    return list(state.figure.moving_joints)


def moves_no_joints(task: Task) -> bool:
    """Whether the joints of a task cannot be chosen."""
    return isinstance(task, Avoid | Custom)


def angles_of(rotation: FloatArray) -> list[float]:
    """Euler angles about the fixed axes x, then y, then z; z is 0 in gimbal lock [°]."""
    m = to_matrix(rotation)
    cosine = math.hypot(m[0, 0], m[1, 0])
    y = math.atan2(-m[2, 0], cosine)
    x, z = (
        (math.atan2(m[2, 1], m[2, 2]), math.atan2(m[1, 0], m[0, 0]))
        if cosine > GIMBAL_LOCK_COSINE
        else (_about_x(m), 0.0)
    )
    return [math.degrees(angle) for angle in (x, y, z)]


def _about_x(m: FloatArray) -> float:
    return math.atan2(-m[1, 2], m[1, 1])


def rotation_by(angles: list[float]) -> FloatArray:
    """(4,) the quaternion of Euler angles about the fixed axes x, then y, then z [°]."""
    found: FloatArray = np.roll(Rotation.from_euler("xyz", angles, degrees=True).as_quat(), 1)
    return found


def _parts(label: str) -> Make:
    return lambda session, entered: Choice(label, parts_to_choose(session.state), entered)


def _numbers(label: str, **options: Any) -> Make:
    return lambda session, entered: Numbers(label, entered, **options)


def _number(label: str, **options: Any) -> Make:
    return lambda session, entered: Number(label, entered, **options)


def _field(name: str) -> tuple[Callable[[Any], Any], Callable[[Any, Any], Task]]:
    return lambda task: getattr(task, name), lambda task, value: replace(task, **{name: value})


def _letters(task: Any) -> str:
    """The axes of a task as letters; axes in other directions are left out."""
    rows = axes_of(task.axes, task.label)
    return "".join("xyz"[k] for k in range(3) if any((row == np.eye(3)[k]).all() for row in rows))


def _with_axes(task: Any, value: str) -> Task:
    if not value:
        raise TaskError(f"{task.label}: at least one axis is needed; switch the task off instead.")
    fits = np.size(task.weight) in (1, len(value))
    return changed(task, axes=value, weight=task.weight if fits else 1.0)


SITE_ROW = Row("site", _parts("Site or body"), *_field("site"))
AXES_ROW = Row("axes", lambda session, entered: Flags("Axes", "xyz", entered), _letters, _with_axes)
BASE_ROW = Row(
    "relative to",
    lambda session, entered: Choice("Relative to", [WORLD_OPTION, *parts_to_choose(session.state)], entered),
    lambda task: task.relative_to or WORLD_OPTION,
    lambda task, value: replace(task, relative_to=None if value == WORLD_OPTION else value),
)
OFFSET_ROW = Row(
    "offset",
    _numbers("Offset from the site [m]", step=0.01),
    lambda task: (0.0, 0.0, 0.0) if task.offset is None else vector(task.offset),
    lambda task, value: replace(task, offset=value if any(value) else None),
)
TARGET_ROW = Row(
    "target",
    _numbers("Target [m]"),
    lambda task: vector(task.at),
    lambda task, value: replace(task, at=value),
    lambda task: task.at is not None,
)
DIRECTION_ROW = Row(
    "direction",
    _numbers("Direction", step=0.1),
    lambda task: vector(task.direction),
    lambda task, value: replace(task, direction=value),
    lambda task: task.direction is not None,
)
ROTATION_ROW = Row(
    "rotation",
    _numbers("Rotation [°]", step=5.0, digits=1),
    lambda task: angles_of(rotation_of(task.rotation, task.label)),
    lambda task, value: replace(task, rotation=rotation_by(value)),
)
POSE_POSITION_ROW = Row(
    "target",
    _numbers("Target [m]"),
    lambda task: pose_of(task.pose, task.label).position,
    lambda task, value: replace(task, pose=Pose(value, pose_of(task.pose, task.label).rotation)),
)
POSE_ROTATION_ROW = Row(
    "rotation",
    _numbers("Rotation [°]", step=5.0, digits=1),
    lambda task: angles_of(pose_of(task.pose, task.label).rotation),
    lambda task, value: replace(task, pose=Pose(pose_of(task.pose, task.label).position, rotation_by(value))),
)
AXIS_ROW = Row(
    "axis", _numbers("Axis", step=0.1), lambda task: vector(task.axis), lambda task, v: replace(task, axis=v)
)
MARGIN_ROW = Row("margin", _number("Margin [m]", low=0.0, step=0.005), *_field("margin"))


BODIES_ROW = Row(
    "bodies",
    lambda session, entered: Choices("Only these bodies", [body.name for body in session.state.figure.bodies], entered),
    lambda task: [] if task.bodies is None else [task.bodies] if isinstance(task.bodies, str) else list(task.bodies),
    lambda task, value: replace(task, bodies=tuple(value) or None),
)


def _look_kind(session: Session, entered: Entered) -> Field:
    return Choice("Look", ["at a point", "in a direction"], lambda value: entered((value, session.state)))


def _with_look_kind(task: LookAt, value: tuple[str, State]) -> Task:
    """The task with the same gaze, given by a point or by a direction."""
    word, state = value
    eye = state.figure.pose_of(task.site, state.posture).position
    if word == "in a direction" and task.at is not None:
        direction = part_from_world(state.posture, task.relative_to).inverse().apply(vector(task.at)) - eye
        return replace(task, at=None, direction=direction, relative_to=None)
    if word == "at a point" and task.direction is not None:
        direction = vector(task.direction)
        return replace(task, at=eye + DIRECTION_MARK_DISTANCE * direction / np.linalg.norm(direction), direction=None)
    return task


def _posture_choice(session: Session, entered: Entered) -> Field:
    def chosen(value: str) -> None:
        if value != STORED_POSTURE_OPTION:
            entered(session.state.posture if value == PRESENT_POSTURE_OPTION else value)

    return Choice(
        "Posture", [PRESENT_POSTURE_OPTION, STORED_POSTURE_OPTION, *session.state.figure.posture_names], chosen
    )


def _avoid_choice(session: Session, entered: Entered) -> Field:
    def chosen(names: tuple[str, ...]) -> None:
        by_name = hazards_of(session.state)
        entered([by_name[name] for name in names])

    return Choices("Keep clear of", list(hazards_of(session.state)), chosen)


def hazards_of(state: State) -> dict[str, Any]:
    """Everything that the figure can avoid, by name: itself and the obstacles."""
    named = {obstacle.name or f"obstacle {k + 1}": obstacle for k, obstacle in enumerate(state.scene.obstacles)}
    return {"itself": SELF, **named}


def _with_avoided(task: Avoid, value: list[Any]) -> Task:
    if not value:
        raise TaskError(f"{task.label}: choose what to keep clear of, or remove the task.")
    return replace(task, what=value)


def _hazard_names(task: Avoid) -> list[str]:
    return ["itself" if hazard == SELF else getattr(hazard, "name", "") for hazard in task.hazards]


TASK_ROWS: dict[type, tuple[Row, ...]] = {
    Position: (SITE_ROW, OFFSET_ROW, TARGET_ROW, AXES_ROW, BASE_ROW),
    Orientation: (SITE_ROW, ROTATION_ROW, AXES_ROW, BASE_ROW),
    Frame: (SITE_ROW, POSE_POSITION_ROW, POSE_ROTATION_ROW, BASE_ROW),
    LookAt: (
        SITE_ROW,
        Row("look", _look_kind, lambda t: "at a point" if t.at is not None else "in a direction", _with_look_kind),
        TARGET_ROW,
        DIRECTION_ROW,
        AXIS_ROW,
        Row(BASE_ROW.label, BASE_ROW.make, BASE_ROW.get, BASE_ROW.put, lambda task: task.at is not None),
    ),
    CenterOfMass: (
        TARGET_ROW,
        Row(AXES_ROW.label, AXES_ROW.make, AXES_ROW.get, AXES_ROW.put, lambda task: task.at is not None),
        Row(
            "over",
            lambda session, entered: Choices("Supports", parts_to_choose(session.state), entered),
            lambda task: list(task.supports),
            lambda task, value: replace(task, over=value),
            lambda task: task.over is not None,
        ),
        Row(MARGIN_ROW.label, MARGIN_ROW.make, MARGIN_ROW.get, MARGIN_ROW.put, lambda task: task.over is not None),
    ),
    MomentOfInertia: (AXIS_ROW, Row("value", _number("Target [kg m²]", low=0.0, step=0.5), *_field("value"))),
    Hold: (
        Row(
            "posture",
            _posture_choice,
            lambda task: task.posture if isinstance(task.posture, str) else STORED_POSTURE_OPTION,
            lambda task, value: replace(task, posture=value),
        ),
    ),
    Equilibrium: (
        MARGIN_ROW,
        Row(
            "moments",
            lambda session, entered: Choice("Balance moments about", list(MOMENT_AXES), entered),
            lambda task: next(word for word, value in MOMENT_AXES.items() if value is task.level),
            lambda task, value: replace(task, level=MOMENT_AXES[value]),
        ),
    ),
    Still: (BODIES_ROW,),
    Slow: (BODIES_ROW, Row("speed", _number("Speed limit [rad/s]", low=0.01, step=0.5), *_field("speed"))),
    Avoid: (
        Row("what", _avoid_choice, _hazard_names, _with_avoided),
        MARGIN_ROW,
        Row("reach", _number("Detection distance [m]", low=0.02, step=0.02), *_field("reach")),
    ),
}
"""The fields of each kind of task."""
