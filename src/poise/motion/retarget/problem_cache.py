"""Cache of compiled problems, for clips that use the same tasks on the same figure.

Compiling tasks to arrays takes as long as solving hundreds of frames. A cached problem only needs new targets and
weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from poise.engine.problem import Problem, StepSize
from poise.figure.model.figure import Figure
from poise.kernels.motion.follow_clip import Course
from poise.motion.retarget.task_tracks import TaskTrack
from poise.tasks.posture import Hold
from poise.tasks.task import Task

CACHED_PROBLEMS = 16
"""Most problems in the cache."""
_IDLE: list[tuple[Figure, tuple[object, ...], CachedProblem]] = []
"""Problems that are not in use, oldest first, with figure and key; a thread takes one out while it uses it."""


class CachedProblem:
    """A compiled problem, and the rows of each of its tasks."""

    def __init__(self, figure: Figure, tasks: Sequence[Task], step: StepSize) -> None:
        """Compile the tasks, and below them a task that holds a posture."""
        last = 1 + max((task.priority for task in tasks), default=0)
        self.problem = Problem(figure, [*tasks, Hold(figure.neutral(), priority=last)], step=step)
        self._compiled_tasks = [self.problem._by_task[task] for task in tasks]

    def course(self, tracks: Sequence[TaskTrack], count: int) -> Course:
        """Targets and weights of all goals for `count` frames; `tracks` are in the order of the compiled tasks."""
        goals = self.problem.engine.goals
        position, rotation = (np.tile(table, (count, 1, 1)) for table in (goals.position, goals.rotation))
        weight, slack = np.tile(goals.weight, (count, 1)), np.full((count, len(goals.position)), np.inf)
        for compiled, track in zip(self._compiled_tasks, tracks, strict=True):
            (position if track.values.shape[1] == 3 else rotation)[:, compiled.first_goal] = track.values
            weight[:, compiled.rows] = np.sqrt(np.broadcast_to(track.weights, count))[:, None]
            slack[:, compiled.first_goal] = track.slack
        return Course(position, rotation, weight, slack)


@contextmanager
def cached_problem(figure: Figure, tracks: Sequence[TaskTrack], step: StepSize) -> Iterator[CachedProblem]:
    """A compiled problem for the tasks of `tracks`, from the cache if it has one; exclusive until the block ends."""
    key = (step, *(_task_key(track.task) for track in tracks))
    cached = _take(figure, key) or CachedProblem(figure, [track.task for track in tracks], step)
    cached.problem.forget()
    yield cached
    _IDLE.append((figure, key, cached))
    del _IDLE[:-CACHED_PROBLEMS]


def _take(figure: Figure, key: tuple[object, ...]) -> CachedProblem | None:
    """Take an idle problem with this figure and key out of the cache; None if there is none."""
    for i, (whose, kind, cached) in enumerate(_IDLE):
        if kind == key and whose == figure:
            del _IDLE[i]
            return cached
    return None


def _task_key(task: Task) -> tuple[object, ...]:
    """Key of a task: its type and all its settings except the target."""
    parts = (getattr(task, name, None) for name in ("site", "axes", "offset", "priority", "weight"))
    return (type(task), *(part if isinstance(part, str | int | float | None) else repr(part) for part in parts))
