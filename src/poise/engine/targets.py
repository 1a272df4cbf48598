"""Gives a compiled task another target, in place."""

from __future__ import annotations

import math

import numpy as np

from poise.engine.goal_arrays import TaskRows
from poise.errors import TaskError
from poise.figure.model.figure import Figure
from poise.figure.model.pose import Pose
from poise.kernels.goals.goals import AIM_GOAL, CENTER_GOAL, POINT_GOAL, TURN_GOAL, Goals
from poise.tasks.target import TargetLike
from poise.tasks.task import Task


def set_target(figure: Figure, goals: Goals, rows: TaskRows, value: TargetLike | Task) -> None:
    """Set the target of a task to a value, or to the target of another task of its kind."""
    if not isinstance(value, Task):
        if _set_quickly(goals, rows, value):
            return
        value = rows.task.with_target(value)
    if type(value) is not type(rows.task):
        raise TaskError(f"{rows.task.label} cannot have the target of {value.label}, a task of another kind.")
    for g, goal in enumerate(value.goals(figure), start=rows.first_goal):
        goals.position[g], goals.rotation[g], goals.value[g] = goal.position, goal.rotation, goal.value
        if goal.posture is not None:
            goals.postures[goals.posture[g]] = goal.posture


def _set_quickly(goals: Goals, rows: TaskRows, value: TargetLike) -> bool:
    """Set a valid position, rotation or pose without further checks, for live targets; returns whether it was one."""
    if not rows.task.takes_arrays:
        return False
    if type(value) is Pose and len(rows.goals) == 2:
        goals.position[rows.first_goal] = value.position
        goals.rotation[rows.first_goal + 1] = value.rotation
        return True
    if isinstance(value, tuple | list) and all(type(number) in (float, int) for number in value):
        value = np.array(value, dtype=np.float64)
    if type(value) is not np.ndarray or len(rows.goals) != 1 or value.dtype.char != "d":
        return False
    goal = rows.goals[0]
    is_place = goal.kind in (POINT_GOAL, CENTER_GOAL) or (goal.kind == AIM_GOAL and goal.value == 0.0)
    if is_place and value.shape == (3,) and math.isfinite(sum(value.tolist())):
        goals.position[rows.first_goal] = value
        return True
    if goal.kind == TURN_GOAL and value.shape == (4,) and 0.5 < (size := math.hypot(*value.tolist())) < 2.0:
        goals.rotation[rows.first_goal] = value / size
        return True
    return False
