"""Gives a task another target while its rows stay where they are."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from poise.engine.goal_arrays import Asked
from poise.errors import TaskError
from poise.figure.model.figure import Figure, PostureLike
from poise.figure.model.pose import Pose
from poise.figure.model.posture import Posture
from poise.kernels.goals.goals import AIM, CENTER, HOLD, INERTIA, POINT, STAND, TURN_TO, Goals
from poise.tasks.custom import Custom
from poise.tasks.equilibrium import Equilibrium
from poise.tasks.mass import CenterOfMass, MomentOfInertia, inertia_of
from poise.tasks.place import Frame, LookAt, Orientation, Position, direction_of, pose_of, rotation_of
from poise.tasks.steady import Slow, Still
from poise.tasks.task import Task, finite_vector

TargetLike: TypeAlias = "Pose | PostureLike"
"""What some task can be given as its target: a place, a rotation, a direction, a pose, a posture, a number."""


def set_target(figure: Figure, goals: Goals, asked: Asked, value: TargetLike) -> None:
    """Change what a task wants: a place, a rotation, a pose, a direction, a posture or a moment of inertia."""
    if _set_quickly(goals, asked, value):
        return
    g, label = asked.first_goal, asked.task.label
    kind = goals.kind[g]
    _refuse_without_target(asked.task, kind)
    if kind == HOLD:
        goals.postures[goals.posture[g]] = posture_for(figure, value, label)._q
    elif len(asked.goals) == 2:
        set_target(figure, goals, asked, pose_of(value, label))
    elif kind == TURN_TO:
        goals.rotation[g] = rotation_of(_numbers(value, label), label)
    elif kind == INERTIA:
        goals.value[g] = inertia_of(_numbers(value, label), label)
    elif kind == AIM and goals.value[g] == 1.0:
        goals.position[g] = direction_of(_numbers(value, label), label)
    else:
        goals.position[g] = finite_vector(_numbers(value, label), f"{label}: a target")


def _refuse_without_target(task: Task, kind: int) -> None:
    """Say so if a task has no target."""
    if isinstance(task, Custom):
        raise TaskError(f"{task.label} has no target; let its function read one that you change.")
    if isinstance(task, Equilibrium):
        raise TaskError(f"{task.label} has no target to change; other forces are another solver.")
    if isinstance(task, Still | Slow):
        raise TaskError(f"{task.label} is about where a solve starts and has no target.")
    if kind == STAND:
        raise TaskError(f"{task.label} stays over its support and has no target; ask for CenterOfMass(at=…) instead.")


def with_target(figure: Figure, goals: Goals, asked: Asked) -> Task:
    """A task with the target that it has now."""
    task, g = asked.task, asked.first_goal
    place = goals.position[g].copy()
    if isinstance(task, Position | CenterOfMass | LookAt):
        given = "direction" if isinstance(task, LookAt) and goals.value[g] == 1.0 else "at"
        return replace(task, **{given: place})
    if isinstance(task, Orientation):
        return replace(task, rotation=goals.rotation[g].copy())
    if isinstance(task, Frame):
        return replace(task, pose=Pose(place, goals.rotation[g + 1].copy()))
    if isinstance(task, MomentOfInertia):
        return replace(task, value=float(goals.value[g]))
    return replace(task, posture=Posture(figure, goals.postures[goals.posture[g]].copy()))  # type: ignore[call-arg]


def posture_for(figure: Figure, value: TargetLike, label: str) -> Posture:
    """The posture that a task is to hold."""
    if isinstance(value, Pose):
        raise TaskError(f"{label} holds a posture: a name, joint values, or {figure.nq} numbers, not {value!r}.")
    return figure.posture(value)


def _numbers(value: TargetLike, label: str) -> ArrayLike:
    """The target of a task that takes numbers."""
    if isinstance(value, Pose):
        raise TaskError(f"{label} takes only the position or the rotation of a pose, not {value!r}.")
    if isinstance(value, Posture | Mapping):
        raise TaskError(f"{label} takes numbers, not {value!r}; a posture is for Hold.")
    return value


def _set_quickly(goals: Goals, asked: Asked, value: TargetLike) -> bool:
    """Places, rotations and poses with nothing wrong: what a live target changes in every frame."""
    if type(value) is Pose and len(asked.goals) == 2:
        goals.position[asked.first_goal] = value.position
        goals.rotation[asked.first_goal + 1] = value.rotation
        return True
    if type(value) is not np.ndarray or len(asked.goals) != 1 or value.dtype.char != "d":
        return False
    kind = asked.goals[0].kind
    if kind in (POINT, CENTER) and value.shape == (3,) and math.isfinite(sum(value.tolist())):
        goals.position[asked.first_goal] = value
        return True
    if kind == TURN_TO and value.shape == (4,) and 0.5 < (size := math.hypot(*value.tolist())) < 2.0:
        goals.rotation[asked.first_goal] = value / size
        return True
    return False
