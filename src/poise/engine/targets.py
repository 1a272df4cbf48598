"""Gives a task another target while its rows stay where they are."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from poise.engine.goal_arrays import Asked
from poise.errors import TaskError
from poise.figure.figure import Figure
from poise.kernels.goals import AIM, CENTER, HOLD, INERTIA, POINT, STAND, TURN_TO, Goals
from poise.tasks.equilibrium import Equilibrium
from poise.tasks.mass import inertia_of
from poise.tasks.place import direction_of, pose_of, rotation_of
from poise.tasks.task import finite_vector


def set_target(figure: Figure, goals: Goals, asked: Asked, value: ArrayLike) -> None:
    """Change what a task wants: a place, a rotation, a pose, a direction, a posture or a moment of inertia."""
    if _set_quickly(goals, asked, value):
        return
    g, label = asked.first_goal, asked.task.label
    kind = goals.kind[g]
    if isinstance(asked.task, Equilibrium):
        raise TaskError(f"{label} has no target to change; other forces are another solver.")
    if kind == STAND:
        raise TaskError(f"{label} stays over its support and has no target; ask for CenterOfMass(at=…) instead.")
    if kind == HOLD:
        goals.postures[goals.posture[g]] = figure.posture(value)._q
    elif kind == TURN_TO:
        goals.rotation[g] = rotation_of(value, label)
    elif kind == INERTIA:
        goals.value[g] = inertia_of(value, label)
    elif len(asked.goals) == 2:
        pose = pose_of(value, label)
        goals.position[g], goals.rotation[g + 1] = pose.position, pose.rotation
    elif kind == AIM and goals.value[g] == 1.0:
        goals.position[g] = direction_of(value, label)
    else:
        goals.position[g] = finite_vector(value, f"{label}: a target")


def _set_quickly(goals: Goals, asked: Asked, value: ArrayLike) -> bool:
    """Places and rotations that are arrays with nothing wrong: what a live target changes in every frame."""
    if not isinstance(value, np.ndarray) or len(asked.goals) != 1 or value.dtype != np.float64:
        return False
    kind = asked.goals[0].kind
    if kind in (POINT, CENTER) and value.shape == (3,):
        if not math.isfinite(value[0] + value[1] + value[2]):
            return False
        goals.position[asked.first_goal] = value
        return True
    if kind == TURN_TO and value.shape == (4,):
        size = math.hypot(*value.tolist())
        if not 0.5 < size < 2.0:
            return False
        goals.rotation[asked.first_goal] = value / size
        return True
    return False
