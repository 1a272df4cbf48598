"""A point of a body that somebody drags: a temporary task below all others [Baerlocher 2001, 7.2.4]."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from poise.errors import TaskError
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray, Pose, vector
from poise.figure.model.posture import Posture
from poise.tasks.place import Position
from poise.tasks.posture import Hold
from poise.tasks.task import Task

FARTHEST = 1e4
"""Places beyond this are no places a pointer can mean [m]."""


@dataclass(frozen=True, eq=False)
class Pull:
    """Who drags which point where, or turns which joint how far."""

    owner: object
    task: Position | Hold
    at: FloatArray
    """(3,) where the point should be [m], or (nq,) the posture that has the joint as it should be."""

    def moved(self, at: ArrayLike) -> Pull:
        """The same point dragged elsewhere."""
        return replace(self, at=place(at))

    def twisted(self, number: int, angle: float) -> Pull:
        """The same joint, one of whose freedoms is moved from where it was taken hold of [rad or m]."""
        assert isinstance(self.task, Hold)
        start = self.task.posture
        assert isinstance(start, Posture)
        figure = start.figure
        v = np.zeros(figure.nv)
        v[number] = angle
        return replace(self, at=np.array(figure.clamp(figure.integrate(start, v), previous=start).q))


def joint_task(posture: Posture, number: int, *, priority: int) -> Hold:
    """The task that keeps the joint of a freedom as it is."""
    figure = posture.figure
    if not 0 <= number < figure.nv:
        raise TaskError(f"figure {figure.name!r} has no freedom number {number}; it has {figure.nv}.")
    joint = next(name for name, place in figure.compiled.v_slices.items() if place.start <= number < place.stop)
    return Hold(posture, joints=(joint,), priority=priority, name=f"the turn of the {joint.replace('_', ' ')}")


def place(at: ArrayLike) -> FloatArray:
    """Three numbers that a pointer can mean; raises `TaskError` for others."""
    found = np.array(vector(at, "a place"))
    if np.abs(found).max() > FARTHEST:
        raise TaskError(f"a place must be within {FARTHEST:g} m, not {found.tolist()}.")
    return found


def point_task(posture: Posture, body: int, point: ArrayLike, *, priority: int, **fields: Any) -> Position:
    """The task that keeps a point of a body where it is; `point` is in the body's own axes [m]."""
    figure = posture.figure
    if not 0 <= body < len(figure.bodies):
        raise TaskError(f"figure {figure.name!r} has no body number {body}; it has {len(figure.bodies)}.")
    at = point_of(posture, body, point)
    holder = figure.bodies[body].name
    # A site may have the body's name, and then it is the site's axes that count.
    offset = figure.pose_of(holder, posture).inverse().apply(at)
    return Position(holder, at, offset=offset, priority=priority, **fields)


def point_of(posture: Posture, body: int, point: ArrayLike) -> FloatArray:
    """(3,) where a point given in a body's own axes is in the world [m]."""
    frames = posture.figure.frames(posture)
    return np.array(Pose(frames.position[body], frames.rotation[body]).apply(place(point)))


def lowest(tasks: Iterable[Task]) -> int:
    """The priority below all tasks."""
    return 1 + max((task.priority for task in tasks), default=0)


def words_for(figure: Figure, body: int) -> str:
    """What a pull is called in sentences."""
    return f"the pull on the {figure.bodies[body].name.replace('_', ' ')}"
