"""A compiled problem for what leads a figure, kept for the next clip that asks the same of the same figure.

Compiling tasks to arrays takes as long as solving hundreds of frames; targets and weights are only filled in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from poise.engine.problem import Problem, StepSize
from poise.figure.model.figure import Figure
from poise.kernels.motion.follow_clip import Course
from poise.motion.retarget.task_tracks import Lead
from poise.tasks.posture import Hold
from poise.tasks.task import Task

KEPT = 16
"""How many casts are kept."""
_FREE: list[tuple[Figure, tuple[object, ...], Cast]] = []
"""Casts that nobody uses at the moment, oldest first; one in use is not among them, so that threads share none."""


class Cast:
    """A problem, and where each task is in it."""

    def __init__(self, figure: Figure, tasks: Sequence[Task], step: StepSize) -> None:
        """Compile the tasks, above a posture to hold where they leave freedom."""
        last = 1 + max((task.priority for task in tasks), default=0)
        self.problem = Problem(figure, [*tasks, Hold(figure.neutral(), priority=last)], step=step)
        self._asked = [self.problem._by_task[task] for task in tasks]

    def course(self, leads: Sequence[Lead], count: int) -> Course:
        """Targets and weights for `count` frames, of leads in the order of the tasks."""
        goals = self.problem.engine.goals
        position, rotation = (np.tile(table, (count, 1, 1)) for table in (goals.position, goals.rotation))
        weight, slack = np.tile(goals.weight, (count, 1)), np.full((count, len(goals.position)), np.inf)
        for asked, lead in zip(self._asked, leads, strict=True):
            (position if lead.values.shape[1] == 3 else rotation)[:, asked.first_goal] = lead.values
            weight[:, asked.rows] = np.sqrt(np.broadcast_to(lead.weights, count))[:, None]
            slack[:, asked.first_goal] = lead.slack
        return Course(position, rotation, weight, slack)


@contextmanager
def cast_for(figure: Figure, leads: Sequence[Lead], step: StepSize) -> Iterator[Cast]:
    """A cast for what leads, an earlier one if there is; it is nobody else's until the block ends."""
    key = (step, *(_shape(lead.task) for lead in leads))
    cast = _taken(figure, key) or Cast(figure, [lead.task for lead in leads], step)
    cast.problem.forget()
    yield cast
    _FREE.append((figure, key, cast))
    del _FREE[:-KEPT]


def _taken(figure: Figure, key: tuple[object, ...]) -> Cast | None:
    """A free cast of this kind, no longer free."""
    for i, (whose, kind, cast) in enumerate(_FREE):
        if kind == key and whose == figure:
            del _FREE[i]
            return cast
    return None


def _shape(task: Task) -> tuple[object, ...]:
    """All of a task but its target."""
    parts = (getattr(task, name, None) for name in ("site", "axes", "offset", "priority", "weight"))
    return (type(task), *(part if isinstance(part, str | int | float | None) else repr(part) for part in parts))
