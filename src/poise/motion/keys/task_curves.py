"""Tasks whose targets move from key to key.

Tasks of several keys are one task if they have the same kind and label, and differ in their targets only. Where a whole
key does not have the task, its target there is computed from that key's posture, so that a hand sets out from where it
is and goes to the target of the next key.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any

import numpy as np

from poise.engine.animation import Key
from poise.engine.scene import comparable
from poise.figure.model.figure import Figure
from poise.figure.model.pose import Pose, unit_vector, vector
from poise.figure.model.posture import Posture
from poise.motion.clip.clip import Clip
from poise.motion.keys.curves import NUMBERS, POSE_MANIFOLD, ROTATIONS, Curve, Manifold, postures
from poise.tasks.look_at import LookAt
from poise.tasks.mass import CenterOfMass
from poise.tasks.place import Frame, Orientation, Position, rotation_of
from poise.tasks.posture import Hold
from poise.tasks.target import world_from_part
from poise.tasks.task import Task


@dataclass(frozen=True, eq=False)
class TaskCurve:
    """A task, and the curve of its target; None if it has no target that could move."""

    task: Task
    curve: Curve | None
    since: float
    """Time from which on the task holds [s]."""
    until: float
    """Time until which it holds [s]."""
    gaps: tuple[tuple[float, float], ...] = ()
    """Times between which it does not hold [s]."""
    clip: Clip | None = None
    """The clip that its target follows in place of the curve."""

    def holds_in(self, start: float, end: float) -> bool:
        """Whether the task holds between two times [s]."""
        missing = any(start < gap_end and gap_start < end for gap_start, gap_end in self.gaps)
        return self.since <= start and end <= self.until and not missing

    def task_at(self, time: float) -> Task:
        """The task with its target at a time [s]."""
        target = self.target_at(time)
        return self.task if target is None else self.task.with_target(target)

    def target_at(self, time: float) -> Any:
        """Its target at a time; None if it has none [s]."""
        if self.clip is not None:
            return target_of(as_it_is(self.task, self.clip.at(time)), self.clip.figure)
        return None if self.curve is None else self.curve.at(time)


def task_curves(figure: Figure, keys: Sequence[Key], *, loop: bool) -> list[TaskCurve]:
    """The tasks of all keys, in the order in which they first appear; the keys are sorted by time."""
    found: dict[Hashable, dict[int, Task]] = {}
    for k, key in enumerate(keys):
        counts: dict[Hashable, int] = {}
        for task in key.tasks:
            if task.active:
                what = _identity(task, figure)
                counts[what] = counts.get(what, 0) + 1
                found.setdefault((what, counts[what]), {})[k] = task
    return [_task_curve(figure, keys, by_key, loop) for by_key in found.values()]


def _task_curve(figure: Figure, keys: Sequence[Key], by_key: dict[int, Task], loop: bool) -> TaskCurve:
    task = next(iter(by_key.values()))
    first, last = min(by_key), max(by_key)
    whole = [k for k, key in enumerate(keys) if key.is_whole]
    before = max((k for k in whole if k < first), default=None)
    after = min((k for k in whole if k > last), default=None)
    if target_of(task, figure) is None:
        around = [k for k in whole if first <= k <= last]
        gaps = [(a, b) for a, b in pairwise(around) if a not in by_key or b not in by_key]
        since, until = (0.0 if before is None else keys[first].time), (math.inf if after is None else keys[last].time)
        return TaskCurve(task, None, since, until, tuple((keys[a].time, keys[b].time) for a, b in gaps))
    low, high = first if before is None else before, last if after is None else after
    used = [k for k in range(low, high + 1) if k in by_key or keys[k].is_whole]
    values = [target_of(by_key.get(k) or _found(figure, keys[k], _nearest(by_key, k)), figure) for k in used]
    goes_round = loop and used[0] == 0 and used[-1] == len(keys) - 1
    times, eases = [keys[k].time for k in used], [keys[k].ease for k in used]
    curve = Curve(_space(task, figure), times, values, eases, loop=goes_round)
    return TaskCurve(task, curve, 0.0 if before is None else times[0], math.inf if after is None else times[-1])


def _found(figure: Figure, key: Key, task: Task) -> Task:
    """The task with the target that it meets in the posture of a whole key."""
    assert key.posture is not None
    return as_it_is(task, figure.posture(key.posture))


def _nearest(by_key: dict[int, Task], k: int) -> Task:
    return by_key[min(by_key, key=lambda other: abs(other - k))]


def _identity(task: Task, figure: Figure) -> Hashable:
    """The key that two tasks must share to count as one task whose target moves."""
    moving = (
        "posture"
        if isinstance(task, Hold)
        else next((name for name in task.target_fields if getattr(task, name) is not None), None)
    )
    own = tuple(
        (each.name, comparable(getattr(task, each.name), figure)) for each in fields(task) if each.name != moving
    )
    return (type(task), task.label, moving, repr(own))


def target_of(task: Task, figure: Figure) -> Any:
    """The target of a task as a value that can be interpolated; None if it has none."""
    if isinstance(task, Frame):
        return task.wanted
    if isinstance(task, Hold):
        return figure.posture(task.posture)
    if isinstance(task, Orientation):
        return rotation_of(task.rotation, task.label)
    name = next((name for name in task.target_fields if getattr(task, name) is not None), None)
    if name is None:
        return None
    value = getattr(task, name)
    return (
        unit_vector(value)
        if name == "direction"
        else vector(value)
        if np.ndim(value) or isinstance(value, str)
        else float(value)
    )


def _space(task: Task, figure: Figure) -> Manifold:
    if isinstance(task, Frame):
        return POSE_MANIFOLD
    if isinstance(task, Hold):
        return postures(figure)
    return ROTATIONS if isinstance(task, Orientation) else NUMBERS


def as_it_is(task: Task, posture: Posture) -> Task:
    """The task with the target that it meets in a posture, if its kind allows that."""
    if isinstance(task, Position):
        return task.dragged(posture, Pose(task.point_in(posture)))
    if isinstance(task, Frame | Orientation):
        return task.dragged(posture, world_from_part(posture, task.site))
    if isinstance(task, LookAt):
        eye = world_from_part(posture, task.site)
        sight = eye.matrix[:3, :3] @ task.axis_on(posture.figure)
        far = float(np.linalg.norm(task.target_in(posture).wanted - eye.position))
        return task.dragged(posture, Pose(eye.position + far * sight))
    if isinstance(task, CenterOfMass) and task.at is not None:
        return task.with_target(posture.figure.center_of_mass(posture))
    return task.with_target(posture) if isinstance(task, Hold) else task
