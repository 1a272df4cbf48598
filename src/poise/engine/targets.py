"""Gives a task another target while its rows stay where they are."""

from __future__ import annotations

from numpy.typing import ArrayLike

from poise.engine.goal_arrays import Asked
from poise.errors import TaskError
from poise.figure.figure import Figure
from poise.kernels.goals import AIM, HOLD, INERTIA, STAND, TURN_TO, Goals
from poise.tasks.equilibrium import Equilibrium
from poise.tasks.mass import inertia_of
from poise.tasks.place import direction_of, pose_of, rotation_of
from poise.tasks.task import finite_vector


def set_target(figure: Figure, goals: Goals, asked: Asked, value: ArrayLike) -> None:
    """Change what a task wants: a place, a rotation, a pose, a direction, a posture or a moment of inertia."""
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
