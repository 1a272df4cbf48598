"""Solves tasks by priority: once for a posture, or step by step while targets move."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cached_property

import numpy as np

from poise.engine.problem import Problem, StepSize
from poise.engine.restarts import is_better, other_starts
from poise.engine.result import Result
from poise.engine.targets import TargetLike
from poise.engine.trust_region import TrustRegion
from poise.engine.verdicts import judge
from poise.errors import FigureError, TaskError
from poise.figure.model.figure import Figure, PostureLike
from poise.figure.model.pose import FloatArray, Pose
from poise.figure.model.posture import Posture
from poise.forces.loads import Load
from poise.kernels.body.clamp import clamp
from poise.kernels.engine.step import LEGAL, OPEN, REFUSED, begin, settle, take_step
from poise.tasks.avoid import SELF, Avoid
from poise.tasks.criteria import Criterion
from poise.tasks.obstacles import Obstacle, Plane
from poise.tasks.task import Task

_NOWHERE = np.empty(0)
PATIENT = 1e-5
"""Least gain of a step in a solve, where nobody watches the figure move (see `StepSize.min_gain`)."""


CLOSINGS = 5
"""How often limits and loops take turns to find a posture to start from."""


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
        obstacles: Iterable[Obstacle | Plane] = (),
        avoid_self: bool = False,
        forces: Iterable[Load] = (),
        criteria: Iterable[Criterion] = (),
    ) -> None:
        """Compile the tasks.

        Args:
            figure: The figure to pose.
            tasks: What is asked of it.
            dt: Duration of one step [s]; with it, joints keep their speed limits.
            step: How far one step may go.
            obstacles: What stands in its way: the same as `Avoid(obstacles)` among the tasks.
            avoid_self: Whether bodies keep clear of each other: the same as `Avoid("self")`.
            forces: What acts on it: forces, supports and gravity, for tasks and criteria that do not say their own.
            criteria: What to do with the freedom that tasks leave; all are summed, below every task.
        """
        if dt is not None and not (math.isfinite(dt) and dt > 0.0):
            raise TaskError(f"the duration dt of a step must be a positive number of seconds, not {dt}.")
        self.figure = figure
        hazards = [*obstacles, *([SELF] if avoid_self else [])]
        self.tasks = (*tasks, *([Avoid(hazards)] if hazards else []))
        self._problem = Problem(figure, self.tasks, step=step, dt=dt, forces=forces, criteria=criteria)
        looks = self._problem.avoidance is not None or self._problem.given.tasks or self._problem.watchers
        self._careful = TrustRegion(self._problem) if looks else None
        self._last: Posture | None = None

    def step(self, posture: PostureLike) -> Posture:
        """The posture one step further."""
        if self._careful is None:
            q = self._copy(posture)
            self._begin(q)
            if self._problem.step_from(self._problem.handle, posture is self._last, q) != LEGAL:
                q = self._start(posture)
                take_step(self._problem.handle, q)
        else:
            q = self._start(posture)
            self._begin(q)
            self._careful.step(q)
        self._last = Posture(self.figure, q)
        return self._last

    def settle(self, posture: PostureLike, *, max_steps: int = 200, tolerance: float = 1e-6) -> Result:
        """Step until the figure rests; what earlier steps left to remember plays no part."""
        q = self._start(posture)
        self._begin(q)
        self._problem.forget()
        if self._careful is None:
            steps, moved = settle(self._problem.handle, q, max_steps, tolerance)
        else:
            self._careful.forget()
            steps, moved = self._careful.settle(q, max_steps, tolerance)
            self._careful.look(q)
        return judge(self._problem, Posture(self.figure, q), steps, moved, tolerance)

    def target(self, task: Task, value: TargetLike) -> None:
        """Give a task another target: a place, a rotation, a direction, a pose, a posture, a number."""
        self._problem.retarget(task, value)

    def move(self, obstacle: Obstacle | Plane, pose: Pose) -> None:
        """Put an obstacle somewhere else; a plane is carried along by the pose."""
        if self._problem.avoidance is None or self._careful is None:
            raise TaskError("there is no obstacle to move: give some as obstacles=[…].")
        self._problem.avoidance.move(obstacle, pose)
        self._careful.look_again()

    def _begin(self, q: FloatArray) -> None:
        """Tell tasks that ask where a solve started."""
        if self._problem.starts is not None:
            self._problem.starts.begin(q)

    def _copy(self, posture: PostureLike) -> FloatArray:
        """A copy of a posture's numbers."""
        if isinstance(posture, Posture) and posture._figure is self.figure:
            return posture._q.copy()
        return self.figure.posture(posture)._q.copy()

    def _start(self, posture: PostureLike) -> FloatArray:
        """A legal copy of a posture's numbers; neutral ones when couplings or loops leave no way in."""
        q = self._copy(posture)
        legal = begin(self._problem.handle, q)
        if legal == REFUSED:
            raise FigureError(f"the posture to start from has a value that is no finite number: {q.tolist()}.")
        if legal == OPEN:
            return self._closed(q)
        return q if legal == LEGAL else self._neutral.copy()

    def _closed(self, q: FloatArray) -> FloatArray:
        """The posture with its loops closed, or the neutral one where they cannot be from there."""
        found: FloatArray = q
        for _ in range(CLOSINGS):
            assembly = self.figure.assemble({}, near=Posture(self.figure, found))
            found = assembly.posture._q.copy()
            if begin(self._problem.handle, found) == LEGAL:
                return found
        found = self._neutral.copy()
        if begin(self._problem.handle, found) == LEGAL:
            return found
        if assembly.status == "open":
            raise FigureError(assembly.report())
        raise FigureError(
            f"the loops of {self.figure.name} open where its limits and couplings hold, and the other way round; "
            "start from a posture that has both."
        )

    @cached_property
    def _neutral(self) -> FloatArray:
        q = self.figure.neutral()._q.copy()
        clamp(self.figure.compiled.bounds, _NOWHERE, q)
        return q


def solve(  # noqa: PLR0913
    figure: Figure,
    tasks: Iterable[Task],
    *,
    start: PostureLike | None = None,
    obstacles: Iterable[Obstacle | Plane] = (),
    avoid_self: bool = False,
    forces: Iterable[Load] = (),
    criteria: Iterable[Criterion] = (),
    max_steps: int = 200,
    tolerance: float = 1e-6,
    restarts: int = 0,
    seed: int = 0,
) -> Result:
    """The best legal posture for tasks by priority.

    Args:
        figure: The figure to pose.
        tasks: What is asked, each at its priority.
        start: Where to start from; the neutral posture if not said. It is moved inside the limits first.
        obstacles: What stands in its way: the same as `Avoid(obstacles)` among the tasks.
        avoid_self: Whether bodies keep clear of each other: the same as `Avoid("self")`.
        forces: What acts on it: forces, supports and gravity, for tasks and criteria that do not say their own.
        criteria: What to do with the freedom that tasks leave; all are summed, below every task.
        max_steps: Most steps of the iteration.
        tolerance: Step below which the posture rests, and error below which a task is met [rad or m].
        restarts: How many other starts to try while some task is not met; the best of all is the result.
        seed: Chooses the other starts; the same seed gives the same bytes.

    Returns:
        The posture, whether tasks were met, and what gave way to what.
    """
    if not restarts >= 0:
        raise TaskError(f"restarts must be a number from 0 on, not {restarts}.")
    solver = Solver(
        figure,
        tasks,
        obstacles=obstacles,
        avoid_self=avoid_self,
        forces=forces,
        criteria=criteria,
        step=StepSize(min_gain=PATIENT),
    )
    first = figure.neutral() if start is None else figure.posture(start)
    best = solver.settle(first, max_steps=max_steps, tolerance=tolerance)
    errors = solver._problem.level_errors(best.posture)
    for other in other_starts(first, restarts, seed):
        if best.status == "solved":
            break
        found = solver.settle(other, max_steps=max_steps, tolerance=tolerance)
        if is_better(there := solver._problem.level_errors(found.posture), errors):
            best, errors = found, there
    return best
