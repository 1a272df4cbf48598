"""Gives a compiled task another target, in place."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from poise.engine.goal_arrays import TaskRows
from poise.errors import TaskError
from poise.figure.model.figure import Figure, PostureLike
from poise.figure.model.pose import Pose
from poise.figure.model.posture import Posture
from poise.kernels.goals.goals import (
    AIM_GOAL,
    CENTER_GOAL,
    HOLD_GOAL,
    INERTIA_GOAL,
    POINT_GOAL,
    STAND_GOAL,
    TURN_GOAL,
    Goals,
)
from poise.tasks.custom import Custom
from poise.tasks.equilibrium import Equilibrium
from poise.tasks.mass import CenterOfMass, MomentOfInertia, inertia_of
from poise.tasks.place import Frame, LookAt, Orientation, Position, direction_of, pose_of, rotation_of
from poise.tasks.steady import Slow, Still
from poise.tasks.task import Task, finite_vector

TargetLike: TypeAlias = "Pose | PostureLike"
"""The target of some task: a position, rotation, direction, pose, posture or number."""


def set_target(figure: Figure, goals: Goals, rows: TaskRows, value: TargetLike) -> None:
    """Set the target of a task: a position, rotation, pose, direction, posture or moment of inertia."""
    if _set_quickly(goals, rows, value):
        return
    g, label = rows.first_goal, rows.task.label
    kind = goals.kind[g]
    _refuse_without_target(rows.task, kind)
    if kind == HOLD_GOAL:
        goals.postures[goals.posture[g]] = posture_for(figure, value, label)._q
    elif len(rows.goals) == 2:
        set_target(figure, goals, rows, pose_of(value, label))
    elif kind == TURN_GOAL:
        goals.rotation[g] = rotation_of(_numbers(value, label), label)
    elif kind == INERTIA_GOAL:
        goals.value[g] = inertia_of(_numbers(value, label), label)
    elif kind == AIM_GOAL and goals.value[g] == 1.0:
        goals.position[g] = direction_of(_numbers(value, label), label)
    else:
        goals.position[g] = finite_vector(_numbers(value, label), f"{label}: a target")


def _refuse_without_target(task: Task, kind: int) -> None:
    """Raise `TaskError` if a task has no target."""
    if isinstance(task, Custom):
        raise TaskError(f"{task.label} has no target; let its function read one that you change.")
    if isinstance(task, Equilibrium):
        raise TaskError(f"{task.label} has no target to change; make another solver for other forces.")
    if isinstance(task, Still | Slow):
        raise TaskError(f"{task.label} has no target of its own: its target is the posture that a solve starts from.")
    if kind == STAND_GOAL:
        raise TaskError(f"{task.label} stays over its support and has no target; use CenterOfMass(at=…) instead.")


def with_target(figure: Figure, goals: Goals, rows: TaskRows) -> Task:
    """A copy of a task with its current target."""
    task, g = rows.task, rows.first_goal
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
    """The target posture of a `Hold` task; raises `TaskError` for a pose."""
    if isinstance(value, Pose):
        raise TaskError(f"{label} holds a posture: a name, joint values, or {figure.nq} numbers, not {value!r}.")
    return figure.posture(value)


def _numbers(value: TargetLike, label: str) -> ArrayLike:
    """The target of a task that takes numbers; raises `TaskError` for a pose or a posture."""
    if isinstance(value, Pose):
        raise TaskError(f"{label} takes only the position or the rotation of a pose, not {value!r}.")
    if isinstance(value, Posture | Mapping):
        raise TaskError(f"{label} takes numbers, not {value!r}; a posture is for Hold.")
    return value


def _set_quickly(goals: Goals, rows: TaskRows, value: TargetLike) -> bool:
    """Set a valid position, rotation or pose without further checks, for live targets; returns whether it was one."""
    if type(value) is Pose and len(rows.goals) == 2:
        goals.position[rows.first_goal] = value.position
        goals.rotation[rows.first_goal + 1] = value.rotation
        return True
    if type(value) is not np.ndarray or len(rows.goals) != 1 or value.dtype.char != "d":
        return False
    kind = rows.goals[0].kind
    if kind in (POINT_GOAL, CENTER_GOAL) and value.shape == (3,) and math.isfinite(sum(value.tolist())):
        goals.position[rows.first_goal] = value
        return True
    if kind == TURN_GOAL and value.shape == (4,) and 0.5 < (size := math.hypot(*value.tolist())) < 2.0:
        goals.rotation[rows.first_goal] = value / size
        return True
    return False
