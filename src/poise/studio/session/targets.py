"""The targets of tasks as poses in the world that the page can draw, drag and rotate."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache, singledispatch
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from poise.engine.wanted import part_from_world
from poise.figure.model.frames import Frames
from poise.figure.model.pose import FloatArray, Pose, unit_quaternion, vector
from poise.figure.model.posture import Posture
from poise.tasks.mass import CenterOfMass
from poise.tasks.place import Frame, LookAt, Orientation, Position, pose_of, rotation_of
from poise.tasks.task import Task, axes_of

DIRECTION_MARK_DISTANCE = 0.5
"""Distance from the eye at which the target of a look direction is drawn [m]."""
_NO_ROTATION = np.array([1.0, 0.0, 0.0, 0.0])
_WORLD = Pose()


class Places(NamedTuple):
    """The target of a task, and the point of the figure that should be there."""

    wanted: FloatArray
    """(3,) position of the target [m]."""
    got: FloatArray
    """(3,) present position of the figure's point [m]."""
    rotation: FloatArray = _NO_ROTATION
    """(4,) orientation of the target in the world, (w, x, y, z)."""
    moves: bool = True
    """Whether the target can be moved."""
    turns: bool = False
    """Whether the target can be rotated."""


@lru_cache(maxsize=8)
def _frames(posture: Posture) -> Frames:
    """All frames of a posture; cached, because several targets use them."""
    return posture.figure.frames(posture)


def _world_from_base(posture: Posture, base: str | None) -> Pose:
    """The pose of the frame that a task's target is relative to."""
    return _WORLD if base is None else part_from_world(posture, base).inverse()


@singledispatch
def places(task: Task, posture: Posture) -> Places | None:
    """The target of a task and the present position of its point; None for a task without a target in space."""
    return None


@places.register(Position)
def _(task: Position, posture: Posture) -> Places:
    site = _frames(posture)[task.site]
    got = site.position if task.offset is None else site.apply(vector(task.offset))
    world_from_base = _world_from_base(posture, task.relative_to)
    if task.axes == "xyz":
        return Places(world_from_base.apply(vector(task.at)), got, world_from_base.rotation)
    here, directions = world_from_base.inverse().apply(got), axes_of(task.axes, task.label)
    # Along axes that the task ignores, the target is drawn at the point's present coordinate.
    wanted = here + np.linalg.pinv(directions) @ (directions @ (vector(task.at) - here))
    return Places(world_from_base.apply(wanted), got, world_from_base.rotation)


@places.register(Frame)
def _(task: Frame, posture: Posture) -> Places:
    wanted = pose_of(task.pose, task.label)
    if task.relative_to is not None:
        wanted = _world_from_base(posture, task.relative_to) @ wanted
    return Places(wanted.position, _frames(posture)[task.site].position, wanted.rotation, turns=True)


@places.register(Orientation)
def _(task: Orientation, posture: Posture) -> Places:
    wanted = _world_from_base(posture, task.relative_to) @ Pose(rotation=rotation_of(task.rotation, task.label))
    got = _frames(posture)[task.site].position
    return Places(got, got, wanted.rotation, moves=False, turns=True)


@places.register(LookAt)
def _(task: LookAt, posture: Posture) -> Places:
    eye = _frames(posture)[task.site].position
    if task.at is None:
        direction = vector(task.direction if task.direction is not None else ())
        return Places(eye + DIRECTION_MARK_DISTANCE * direction / np.linalg.norm(direction), eye)
    return Places(_world_from_base(posture, task.relative_to).apply(vector(task.at)), eye)


@places.register(CenterOfMass)
def _(task: CenterOfMass, posture: Posture) -> Places | None:
    if task.at is None:
        return None
    return Places(np.array(vector(task.at)), posture.figure.center_of_mass(posture))


def with_target_at(task: Task, at: ArrayLike, posture: Posture, rotation: ArrayLike | None = None) -> Task:
    """The task with its target moved to a world position, and rotated if `rotation` is given [m].

    A task without a target is returned unchanged.
    """
    base_from_world = part_from_world(posture, getattr(task, "relative_to", None))
    there = base_from_world.apply(vector(at))
    turned = None if rotation is None else (base_from_world @ Pose(rotation=unit_quaternion(rotation))).rotation
    if isinstance(task, Frame):
        old = pose_of(task.pose, task.label)
        return replace(task, pose=Pose(there, old.rotation if turned is None else turned))
    if isinstance(task, Orientation):
        return task if turned is None else replace(task, rotation=turned)
    if isinstance(task, LookAt) and task.at is None:
        return replace(task, direction=vector(at) - posture.figure.pose_of(task.site, posture).position)
    if isinstance(task, Position | LookAt | CenterOfMass) and task.at is not None:
        return replace(task, at=there)
    return task


def target_value(task: Task) -> Any:
    """The value that `Solver.target` expects for the target of a task."""
    if isinstance(task, Frame):
        return pose_of(task.pose, task.label)
    if isinstance(task, Orientation):
        return rotation_of(task.rotation, task.label)
    if isinstance(task, LookAt) and task.at is None:
        return np.array(vector(task.direction if task.direction is not None else ()))
    return np.array(vector(task.at))  # type: ignore[attr-defined]
