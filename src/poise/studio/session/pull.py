"""A pull: a point or joint that a pointer drags, a temporary task below all others [Baerlocher 2001, 7.2.4]."""

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

LARGEST_COORDINATE = 1e4
"""Largest coordinate that is accepted from a pointer [m]."""


@dataclass(frozen=True, eq=False)
class Pull:
    """A point of a body dragged to a target, or a joint turned to a value."""

    owner: object
    """The connection whose pointer drags."""
    task: Position | Hold
    """The temporary task: a position for a point, a held joint for a joint."""
    at: FloatArray
    """(3,) target of the point [m], or (nq,) posture with the wanted joint value."""

    def moved(self, at: ArrayLike) -> Pull:
        """The pull with another target of its point."""
        return replace(self, at=checked_point(at))

    def twisted(self, number: int, angle: float) -> Pull:
        """The pull of a joint with degree of freedom `number` moved by `angle` from its start value [rad or m]."""
        assert isinstance(self.task, Hold)
        start = self.task.posture
        assert isinstance(start, Posture)
        figure = start.figure
        v = np.zeros(figure.nv)
        v[number] = angle
        return replace(self, at=np.array(figure.clamp(figure.integrate(start, v), previous=start).q))


def joint_task(posture: Posture, number: int, *, priority: int) -> Hold:
    """The task that holds the joint of a degree of freedom at its present value."""
    figure = posture.figure
    if not 0 <= number < figure.nv:
        raise TaskError(f"figure {figure.name!r} has no degree of freedom {number}; it has {figure.nv}.")
    joint = next(name for name, rows in figure.compiled.v_slices.items() if rows.start <= number < rows.stop)
    return Hold(posture, joints=(joint,), priority=priority, name=f"turning the {joint.replace('_', ' ')}")


def checked_point(at: ArrayLike) -> FloatArray:
    """A point sent by a page, as an array; raises `TaskError` unless it is three numbers of reasonable size."""
    found = np.array(vector(at, "a point"))
    if np.abs(found).max() > LARGEST_COORDINATE:
        raise TaskError(f"a point must have coordinates within {LARGEST_COORDINATE:g} m, not {found.tolist()}.")
    return found


def point_task(posture: Posture, body: int, point: ArrayLike, *, priority: int, **fields: Any) -> Position:
    """The task that keeps a point of a body where it is; `point` is in the body's frame [m]."""
    figure = posture.figure
    if not 0 <= body < len(figure.bodies):
        raise TaskError(f"figure {figure.name!r} has no body number {body}; it has {len(figure.bodies)}.")
    at = point_of(posture, body, point)
    holder = figure.bodies[body].name
    # If a site has the body's name, the task refers to the site, and the offset is in the site's frame.
    offset = figure.pose_of(holder, posture).inverse().apply(at)
    return Position(holder, at, offset=offset, priority=priority, **fields)


def point_of(posture: Posture, body: int, point: ArrayLike) -> FloatArray:
    """(3,) world position of a point given in a body's frame [m]."""
    frames = posture.figure.frames(posture)
    return np.array(Pose(frames.position[body], frames.rotation[body]).apply(checked_point(point)))


def lowest_priority(tasks: Iterable[Task]) -> int:
    """The priority one below all tasks."""
    return 1 + max((task.priority for task in tasks), default=0)


def pull_name(figure: Figure, body: int) -> str:
    """The name of a pull's task in sentences."""
    return f"the pull on the {figure.bodies[body].name.replace('_', ' ')}"
