"""Pulls: points and joints that pointers drag, temporary tasks below all others [Baerlocher 2001, 7.2.4].

On a figure that moves naturally, the pull on a point is soft: a pointer out of reach does not contort the figure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from poise.errors import TaskError
from poise.figure.model.pose import FloatArray, Pose, vector
from poise.figure.model.posture import Posture
from poise.studio.session.edits.scene import with_new_task
from poise.studio.session.state import State, with_scene
from poise.tasks.criteria import Natural
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

    def twisted(self, number: int, angle: float) -> Pull:
        """The pull of a joint with degree of freedom `number` moved by `angle` from its start value [rad or m]."""
        assert isinstance(self.task, Hold)
        start = self.task.posture
        assert isinstance(start, Posture)
        figure = start.figure
        v = np.zeros(figure.nv)
        v[number] = angle
        return replace(self, at=np.array(figure.clamp(figure.integrate(start, v), previous=start).q))


def pressed(state: State, owner: object, body: int, point: ArrayLike) -> State:
    """The state in which an owner drags a point of a body, given in the body's frame, and nothing else [m]."""
    name = f"the pull on the {state.figure.bodies[body].name.replace('_', ' ')}"
    soft = any(isinstance(criterion, Natural) for criterion in state.scene.criteria)
    task = replace(_point_task_of(state, body, point, name), soft=soft)
    return _with_pull(state, Pull(owner, task, checked_point(task.at)))


def gripped(state: State, owner: object, number: int) -> State:
    """The state in which an owner turns the joint of a degree of freedom, and drags nothing else."""
    task = joint_task(state.posture, number, priority=lowest_priority(state.scene.tasks))
    return _with_pull(state, Pull(owner, task, state.posture.q))


def _with_pull(state: State, pull: Pull) -> State:
    if state.mode.drives:
        return state
    return replace(state, pulls=(*(other for other in state.pulls if other.owner != pull.owner), pull))


def pull_of(state: State, owner: object) -> Pull | None:
    """What an owner drags; None for nothing."""
    return next((pull for pull in state.pulls if pull.owner == owner), None)


def dragged(state: State, owner: object, at: ArrayLike) -> State:
    """The state with the owner's point dragged to a world position; the same state if the owner drags no point [m]."""
    there = checked_point(at)
    return _with_changed_pull(state, owner, Position, lambda pull: replace(pull, at=there))


def twisted(state: State, owner: object, number: int, amount: float) -> State:
    """The state with a degree of freedom of the owner's joint moved by an amount from its value at the grip [rad or m].

    It is the same state if the owner turns no joint.
    """
    return _with_changed_pull(state, owner, Hold, lambda pull: pull.twisted(number, amount))


def _with_changed_pull(state: State, owner: object, kind: type[Task], change: Callable[[Pull], Pull]) -> State:
    held = pull_of(state, owner)
    if held is None or not isinstance(held.task, kind):
        return state
    return replace(state, pulls=tuple(change(held) if pull is held else pull for pull in state.pulls))


def released(state: State, owner: object) -> State:
    """The state without the owner's drag, if there is one."""
    left = tuple(pull for pull in state.pulls if pull.owner != owner)
    return state if len(left) == len(state.pulls) else replace(state, pulls=left)


def with_pin(state: State, body: int, point: ArrayLike) -> State:
    """The state with a task that keeps a point of a body, given in the body's frame, where it is [m]."""
    name = f"pinned {state.figure.bodies[body].name.replace('_', ' ')}"
    return with_scene(state, with_new_task(state.scene, _point_task_of(state, body, point, name)))


def _point_task_of(state: State, body: int, point: ArrayLike, name: str) -> Position:
    priority, joints = lowest_priority(state.scene.tasks), state.recruits_for(body)
    return point_task(state.posture, body, point, priority=priority, name=name, joints=joints)


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
