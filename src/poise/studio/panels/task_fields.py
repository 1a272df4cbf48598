"""What each kind of task can be asked besides what all have: how it is shown, and the task with another value."""

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

WORLD, NOW, AS_IT_IS = "the world", "as it is now", "a posture of its own"
DEGREES = ("x °", "y °", "z °")
LOCKED = 1e-6
"""Cosine below which two of three turns are about the same axis."""
LEVEL = {"as it must be": None, "across gravity only": True, "all three": False}
Make = Callable[[Session, Entered], Field]


@dataclass(frozen=True)
class Row:
    """One line of a form."""

    label: str
    make: Make
    get: Callable[[Any], Any]
    put: Callable[[Any, Any], Task]
    applies: Callable[[Any], bool] = lambda task: True


def weights(text: str) -> float | tuple[float, ...]:
    """One weight, or one per axis, from a text; raises `TaskError`."""
    try:
        numbers = tuple(float(word) for word in text.replace(",", " ").split())
    except ValueError:
        raise TaskError(f"a weight is one number or one per axis, such as 1 1 0.5, not {text!r}.") from None
    if not numbers:
        raise TaskError("a weight is one number or one per axis, such as 1 1 0.5.")
    return numbers[0] if len(numbers) == 1 else numbers


def all_joints(state: State) -> list[str]:
    """Joints that can be recruited."""
    return list(state.figure.moving_joints)


def no_axes(task: Task) -> bool:
    """Whether a task recruits no joints."""
    return isinstance(task, Avoid | Custom)


def angles_of(rotation: FloatArray) -> list[float]:
    """Turns about x, then y, then z of the world [°]; none about z where that is the same as about x."""
    m = to_matrix(rotation)
    cosine = math.hypot(m[0, 0], m[1, 0])
    y = math.atan2(-m[2, 0], cosine)
    x, z = (math.atan2(m[2, 1], m[2, 2]), math.atan2(m[1, 0], m[0, 0])) if cosine > LOCKED else (_about_x(m), 0.0)
    return [math.degrees(angle) for angle in (x, y, z)]


def _about_x(m: FloatArray) -> float:
    return math.atan2(-m[1, 2], m[1, 1])


def rotation_by(angles: list[float]) -> FloatArray:
    """(4,) the rotation by such turns."""
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
    """Axes as letters; those of other directions as none."""
    rows = axes_of(task.axes, task.label)
    return "".join("xyz"[k] for k in range(3) if any((row == np.eye(3)[k]).all() for row in rows))


def _with_axes(task: Any, value: str) -> Task:
    if not value:
        raise TaskError(f"{task.label}: one axis must matter; switch the task off instead.")
    fits = np.size(task.weight) in (1, len(value))
    return changed(task, axes=value, weight=task.weight if fits else 1.0)


SITE = Row("of", _parts("of"), *_field("site"))
AXES = Row("axes", lambda session, entered: Flags("axes that matter", "xyz", entered), _letters, _with_axes)
BASE = Row(
    "seen from",
    lambda session, entered: Choice("seen from", [WORLD, *parts_to_choose(session.state)], entered),
    lambda task: task.relative_to or WORLD,
    lambda task, value: replace(task, relative_to=None if value == WORLD else value),
)
OFFSET = Row(
    "point of the site",
    _numbers("point of the site [m]", step=0.01),
    lambda task: (0.0, 0.0, 0.0) if task.offset is None else vector(task.offset),
    lambda task, value: replace(task, offset=value if any(value) else None),
)
AT = Row(
    "at",
    _numbers("at [m]"),
    lambda task: vector(task.at),
    lambda task, value: replace(task, at=value),
    lambda task: task.at is not None,
)
DIRECTION = Row(
    "direction",
    _numbers("direction", step=0.1),
    lambda task: vector(task.direction),
    lambda task, value: replace(task, direction=value),
    lambda task: task.direction is not None,
)
TURNED = Row(
    "turned",
    _numbers("turned about", step=5.0, names=DEGREES, digits=1),
    lambda task: angles_of(rotation_of(task.rotation, task.label)),
    lambda task, value: replace(task, rotation=rotation_by(value)),
)
PLACE = Row(
    "at",
    _numbers("at [m]"),
    lambda task: pose_of(task.pose, task.label).position,
    lambda task, value: replace(task, pose=Pose(value, pose_of(task.pose, task.label).rotation)),
)
POSE_TURNED = Row(
    "turned",
    _numbers("turned about", step=5.0, names=DEGREES, digits=1),
    lambda task: angles_of(pose_of(task.pose, task.label).rotation),
    lambda task, value: replace(task, pose=Pose(pose_of(task.pose, task.label).position, rotation_by(value))),
)
AXIS = Row("axis", _numbers("axis", step=0.1), lambda task: vector(task.axis), lambda task, v: replace(task, axis=v))
MARGIN = Row("margin", _number("margin [m]", low=0.0, step=0.005), *_field("margin"))


BODIES = Row(
    "bodies",
    lambda session, entered: Choices("only these bodies", [body.name for body in session.state.figure.bodies], entered),
    lambda task: [] if task.bodies is None else [task.bodies] if isinstance(task.bodies, str) else list(task.bodies),
    lambda task, value: replace(task, bodies=tuple(value) or None),
)


def _look_kind(session: Session, entered: Entered) -> Field:
    return Choice("looks", ["at a point", "in a direction"], lambda value: entered((value, session.state)))


def _look_otherwise(task: LookAt, value: tuple[str, State]) -> Task:
    """The same gaze told as a point or as a direction."""
    word, state = value
    eye = state.figure.pose_of(task.site, state.posture).position
    if word == "in a direction" and task.at is not None:
        way = part_from_world(state.posture, task.relative_to).inverse().apply(vector(task.at)) - eye
        return replace(task, at=None, direction=way, relative_to=None)
    if word == "at a point" and task.direction is not None:
        way = vector(task.direction)
        return replace(task, at=eye + DIRECTION_MARK_DISTANCE * way / np.linalg.norm(way), direction=None)
    return task


def _holds(session: Session, entered: Entered) -> Field:
    def chosen(value: str) -> None:
        if value != AS_IT_IS:
            entered(session.state.posture if value == NOW else value)

    return Choice("posture", [NOW, AS_IT_IS, *session.state.figure.posture_names], chosen)


def _avoided(session: Session, entered: Entered) -> Field:
    def chosen(names: tuple[str, ...]) -> None:
        by_name = hazards_of(session.state)
        entered([by_name[name] for name in names])

    return Choices("what", list(hazards_of(session.state)), chosen)


def hazards_of(state: State) -> dict[str, Any]:
    """What there is to keep clear of, by what it is called."""
    named = {obstacle.name or f"obstacle {k + 1}": obstacle for k, obstacle in enumerate(state.scene.obstacles)}
    return {"itself": SELF, **named}


def _avoid(task: Avoid, value: list[Any]) -> Task:
    if not value:
        raise TaskError(f"{task.label}: say what to keep clear of, or remove the task.")
    return replace(task, what=value)


def _hazard_names(task: Avoid) -> list[str]:
    return ["itself" if hazard == SELF else getattr(hazard, "name", "") for hazard in task.hazards]


OWN_FIELDS: dict[type, tuple[Row, ...]] = {
    Position: (SITE, OFFSET, AT, AXES, BASE),
    Orientation: (SITE, TURNED, AXES, BASE),
    Frame: (SITE, PLACE, POSE_TURNED, BASE),
    LookAt: (
        SITE,
        Row("looks", _look_kind, lambda t: "at a point" if t.at is not None else "in a direction", _look_otherwise),
        AT,
        DIRECTION,
        AXIS,
        Row(BASE.label, BASE.make, BASE.get, BASE.put, lambda task: task.at is not None),
    ),
    CenterOfMass: (
        AT,
        Row(AXES.label, AXES.make, AXES.get, AXES.put, lambda task: task.at is not None),
        Row(
            "over",
            lambda session, entered: Choices("over", parts_to_choose(session.state), entered),
            lambda task: list(task.supports),
            lambda task, value: replace(task, over=value),
            lambda task: task.over is not None,
        ),
        Row(MARGIN.label, MARGIN.make, MARGIN.get, MARGIN.put, lambda task: task.over is not None),
    ),
    MomentOfInertia: (AXIS, Row("value", _number("wanted [kg m²]", low=0.0, step=0.5), *_field("value"))),
    Hold: (
        Row(
            "posture",
            _holds,
            lambda task: task.posture if isinstance(task.posture, str) else AS_IT_IS,
            lambda task, value: replace(task, posture=value),
        ),
    ),
    Equilibrium: (
        MARGIN,
        Row(
            "moments",
            lambda session, entered: Choice("moments", list(LEVEL), entered),
            lambda task: next(word for word, value in LEVEL.items() if value is task.level),
            lambda task, value: replace(task, level=LEVEL[value]),
        ),
    ),
    Still: (BODIES,),
    Slow: (BODIES, Row("speed", _number("faster than [rad/s]", low=0.01, step=0.5), *_field("speed"))),
    Avoid: (
        Row("what", _avoided, _hazard_names, _avoid),
        MARGIN,
        Row("reach", _number("noticed from [m]", low=0.02, step=0.02), *_field("reach")),
    ),
}
"""What can be asked of each kind of task."""
