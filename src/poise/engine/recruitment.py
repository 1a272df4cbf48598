"""Which joints each part of a problem may move: what `joints=` of a task means for the other tasks.

A task with `joints=` has a say over those joints only. So the other tasks are solved first, as if it were not there;
then its own joints move, with all others where they are, and the tasks of higher priority keep their best with those
joints alone. A problem thus becomes a sequence of parts, each with the tasks of the part before and some more. Only the
joints of the new tasks are free in a part.

Tasks without `joints=` that have a lower priority may move everything, but must not worsen such a task. Steps of a
figure that moves solve them together with it, and its rows are masked (`kernels.engine.engine`: MASKED levels). A solve
first tries them in the first part, and solves them together only where some task is then not met. A `Hold` task below
all others is like a criterion: it is always in the first part.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.tasks.avoid import Avoid
from poise.tasks.posture import Hold
from poise.tasks.task import Task, recruited


class Part(NamedTuple):
    """A part of a problem."""

    tasks: tuple[Task, ...]
    """All tasks that are solved so far."""
    free: FloatArray | None
    """(nv,) 1 for the velocities that may change, else 0; None for all."""


def parts_of(figure: Figure, tasks: Iterable[Task], *, in_order: bool) -> list[Part]:
    """The parts of a problem, the first one with all joints free.

    Args:
        figure: The figure.
        tasks: The tasks.
        in_order: Whether tasks stay in the first part that have a lower priority than one with `joints=` there.
    """
    given = tuple(tasks)
    masks = {task: recruited(figure, task) for task in given if task.active and not isinstance(task, Avoid)}
    holds = last_holds(given)
    last = max((task.rank for task, mask in masks.items() if mask is None and task not in holds), default=-1)
    later = {task: mask for task, mask in masks.items() if mask is not None and (task.rank >= last or not in_order)}
    solved = set(given) - set(later)
    parts = [Part(_in_order(given, solved), None)]
    for rank in sorted({task.rank for task in later}):
        for group in _sharing_joints([(task, mask) for task, mask in later.items() if task.rank == rank]):
            solved.update(task for task, _ in group)
            parts.append(Part(_in_order(given, solved), np.max([mask for _, mask in group], axis=0)))
    return parts


def tasks_below(figure: Figure, tasks: Iterable[Task]) -> list[Task]:
    """The strict tasks that may move all joints, with a lower priority than one that may not."""
    strict = [task for task in tasks if task.active and not task.soft and not isinstance(task, Avoid)]
    masked = [task.priority for task in strict if recruited(figure, task) is not None]
    first = min(masked, default=math.inf)
    return [task for task in strict if task.priority > first and recruited(figure, task) is None]


def last_holds(tasks: Iterable[Task]) -> list[Task]:
    """The `Hold` tasks of the lowest priority, if that has no others."""
    strict = [task for task in tasks if task.active and not task.soft]
    lowest = max((task.priority for task in strict), default=0)
    last = [task for task in strict if task.priority == lowest]
    return last if all(isinstance(task, Hold) for task in last) else []


def own_coordinates(figure: Figure, free: FloatArray) -> np.ndarray:
    """(nq,) whether each coordinate belongs to a joint that is free."""
    found = np.zeros(figure.nq, dtype=bool)
    for joint in figure.joints:
        found[figure.q_slice(joint.name)] = free[figure.v_slice(joint.name)].any()
    return found


def _in_order(given: Sequence[Task], chosen: set[Task]) -> tuple[Task, ...]:
    return tuple(task for task in given if task in chosen)


def _sharing_joints(masked: Sequence[tuple[Task, FloatArray]]) -> list[list[tuple[Task, FloatArray]]]:
    """Groups of tasks that share joints, directly or through other tasks."""
    groups: list[list[tuple[Task, FloatArray]]] = []
    for task, mask in masked:
        shares = [group for group in groups if any((mask * other).any() for _, other in group)]
        groups = [group for group in groups if not any(group is other for other in shares)]
        groups.append([pair for group in shares for pair in group] + [(task, mask)])
    return groups
