"""Solves tasks by priority: once for a posture, or step by step while targets move."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from poise.engine.problem import Problem, StepSize
from poise.engine.result import Result
from poise.engine.verdicts import judge
from poise.errors import TaskError
from poise.figure.figure import Figure, PostureLike
from poise.figure.posture import Posture
from poise.forces.loads import Load
from poise.kernels.clamp import clamp
from poise.kernels.step import settle, take_step
from poise.tasks.criteria import Criterion
from poise.tasks.task import Task

_NOWHERE = np.empty(0)


class Solver:
    """Keeps a figure on its tasks, one step at a time.

    It remembers which limits were active, so every step starts from the last one's answer. Targets change with
    `target`; anything else is another solver.
    """

    def __init__(
        self,
        figure: Figure,
        tasks: Iterable[Task],
        *,
        dt: float | None = None,
        step: StepSize | None = None,
        forces: Iterable[Load] = (),
        criteria: Iterable[Criterion] = (),
    ) -> None:
        """Compile the tasks.

        Args:
            figure: The figure to pose.
            tasks: What is asked of it.
            dt: Duration of one step [s]; with it, joints keep their speed limits.
            step: How far one step may go.
            forces: What acts on it: forces, supports and gravity, for tasks and criteria that do not say their own.
            criteria: What to do with the freedom that tasks leave; all are summed, below every task.
        """
        if dt is not None and not (math.isfinite(dt) and dt > 0.0):
            raise TaskError(f"the duration dt of a step must be a positive number of seconds, not {dt}.")
        self.figure = figure
        self.tasks = tuple(tasks)
        self._problem = Problem(figure, self.tasks, step=step, dt=dt, forces=forces, criteria=criteria)

    def step(self, posture: PostureLike) -> Posture:
        """The posture one step further."""
        q = self._start(posture)
        self._problem.look(q)
        take_step(self._problem.handle, q)
        return Posture(self.figure, q)

    def settle(self, posture: PostureLike, *, max_steps: int = 200, tolerance: float = 1e-6) -> Result:
        """Step until the figure rests."""
        q = self._start(posture)
        steps, moved = self._settle(q, max_steps, tolerance)
        return judge(self._problem, Posture(self.figure, q), steps, moved, tolerance)

    def _settle(self, q: np.ndarray, max_steps: int, tolerance: float) -> tuple[int, float]:
        """Step `q` until it rests, in Python only where Python has to look at every posture."""
        problem = self._problem
        if not problem.watchers:
            return settle(problem.handle, q, max_steps, tolerance)
        moved, rests, steps = math.inf, 0, 0
        while steps < max_steps and rests < 2:
            problem.look(q)
            moved = take_step(problem.handle, q)
            rests, steps = rests + 1 if moved <= tolerance else 0, steps + 1
        problem.look(q)
        return steps, moved

    def target(self, task: Task, value: ArrayLike) -> None:
        """Give a task another target: a place, a rotation, a direction, a posture."""
        self._problem.retarget(task, value)

    def _start(self, posture: PostureLike) -> np.ndarray:
        """A legal copy of a posture's numbers."""
        q = np.array((posture if isinstance(posture, Posture) else self.figure.posture(posture))._q)
        return q


def solve(
    figure: Figure,
    tasks: Iterable[Task],
    *,
    start: PostureLike | None = None,
    forces: Iterable[Load] = (),
    criteria: Iterable[Criterion] = (),
    max_steps: int = 200,
    tolerance: float = 1e-6,
    seed: int = 0,
) -> Result:
    """The best legal posture for tasks by priority.

    Args:
        figure: The figure to pose.
        tasks: What is asked, each at its priority.
        start: Where to start from; the neutral posture if not said.
        forces: What acts on it: forces, supports and gravity, for tasks and criteria that do not say their own.
        criteria: What to do with the freedom that tasks leave; all are summed, below every task.
        max_steps: Most steps of the iteration.
        tolerance: Step below which the posture rests, and error below which a task is met [rad or m].
        seed: For restarts.

    Returns:
        The posture, whether tasks were met, and what gave way to what.
    """
    solver = Solver(figure, tasks, forces=forces, criteria=criteria)
    q = np.array(figure.posture(figure.neutral() if start is None else start)._q)
    clamp(figure.compiled.bounds, _NOWHERE, q)
    return solver.settle(Posture(figure, q), max_steps=max_steps, tolerance=tolerance)
