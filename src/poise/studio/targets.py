"""Where tasks want parts of the figure to be, as points that can be drawn and dragged."""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from poise.engine.wanted import seen_from
from poise.figure.pose import FloatArray, Pose, vector
from poise.figure.posture import Posture
from poise.tasks.mass import CenterOfMass
from poise.tasks.place import Frame, LookAt, Position, pose_of
from poise.tasks.task import Task, axes_of


class Places(NamedTuple):
    """Two points of the world."""

    wanted: FloatArray
    """(3,) where it should be [m]."""
    got: FloatArray
    """(3,) where it is [m]."""


@singledispatch
def places(task: Task, posture: Posture) -> Places | None:
    """Where a task wants something and where that is; None for a task that has no place."""
    return None


@places.register(Position)
def _(task: Position, posture: Posture) -> Places:
    point = np.zeros(3) if task.offset is None else vector(task.offset)
    got = posture.figure.pose_of(task.site, posture).apply(point)
    base_from_world = seen_from(posture, task.relative_to)
    here, directions = base_from_world.apply(got), axes_of(task.axes, task.label)
    # Along axes that do not matter the target is wherever the point is.
    wanted = here + np.linalg.pinv(directions) @ (directions @ (vector(task.at) - here))
    return Places(base_from_world.inverse().apply(wanted), got)


@places.register(Frame)
def _(task: Frame, posture: Posture) -> Places:
    world_from_base = seen_from(posture, task.relative_to).inverse()
    wanted = world_from_base.apply(pose_of(task.pose, task.label).position)
    return Places(wanted, posture.figure.pose_of(task.site, posture).position)


@places.register(LookAt)
def _(task: LookAt, posture: Posture) -> Places | None:
    if task.at is None:
        return None
    wanted = seen_from(posture, task.relative_to).inverse().apply(vector(task.at))
    return Places(wanted, posture.figure.pose_of(task.site, posture).position)


@places.register(CenterOfMass)
def _(task: CenterOfMass, posture: Posture) -> Places | None:
    if task.at is None:
        return None
    return Places(np.array(vector(task.at)), posture.figure.center_of_mass(posture))


def carried(task: Task, at: ArrayLike, posture: Posture) -> Task:
    """The task with its target at a point of the world [m]; a task without one as it was."""
    there = seen_from(posture, getattr(task, "relative_to", None)).apply(vector(at))
    if isinstance(task, Frame):
        return replace(task, pose=Pose(there, pose_of(task.pose, task.label).rotation))
    if isinstance(task, Position | LookAt | CenterOfMass) and task.at is not None:
        return replace(task, at=there)
    return task


def wanted_value(task: Task) -> Any:
    """What `Solver.target` takes for a task that has a place."""
    if isinstance(task, Frame):
        return pose_of(task.pose, task.label)
    return np.array(vector(task.at))  # type: ignore[attr-defined]
