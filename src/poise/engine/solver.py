"""The solver for tasks by priority: once for a posture, or step by step while targets move."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from poise.engine.problem import Problem, StepSize
from poise.engine.result import Result, Settle, Stop, judge
from poise.engine.trust_region import TrustRegion
from poise.errors import FigureError, TaskError
from poise.figure.model.figure import Figure, PostureLike
from poise.figure.model.pose import FloatArray, Pose
from poise.figure.model.posture import Posture
from poise.forces.loads import Load
from poise.kernels.body.clamp import clamp
from poise.kernels.engine.step import LEGAL, LOOPS_OPEN, NOT_FINITE, make_legal, settle, take_step
from poise.tasks.avoid import SELF, Avoid
from poise.tasks.criteria import Criterion, default_criteria
from poise.tasks.obstacles import Obstacle, Plane
from poise.tasks.target import TargetLike
from poise.tasks.task import Task

_NO_PREVIOUS_POSTURE = np.empty(0)
SOLVE_MIN_GAIN = 1e-5
"""Least gain of a step in `solve`, smaller than that of live motion, where slow drift would show (see `StepSize`)."""
MAX_CLOSING_ROUNDS = 5
"""Largest number of rounds in which a start posture is clamped to the limits and its loops are closed again."""
FAR_TARGET = 0.05
"""Error from which on a target is so far that a solve also tries to let its tasks draw like springs [m or rad]."""
MAX_APPROACH_STEPS = 100
"""Largest number of steps in which tasks draw a figure like springs before a solve meets them."""
EQUAL_ERROR = 1e-9
"""Difference up to which two errors count as equal [m or rad]."""


@dataclass(frozen=True)
class Rest:
    """Where a figure came to rest."""

    q: FloatArray
    """(nq,) the coordinates of the posture."""
    steps: int
    """Number of steps on the way."""
    moved: float
    """Size of the last step [rad or m]."""


class Solver:
    """Moves a figure towards the targets of its tasks, one step at a time.

    The active limits of one step warm-start the next. Targets change with `target`, obstacles with `move`; other
    changes need another solver.
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
        criteria: Iterable[Criterion] | None = None,
    ) -> None:
        """Compile the tasks.

        Args:
            figure: The figure to pose.
            tasks: The tasks, each with its priority.
            dt: Duration of one step [s]; with it, joints keep their speed limits.
            step: Largest size and least gain of one step.
            obstacles: Obstacles to keep clear of: the same as `Avoid(obstacles)` among the tasks.
            avoid_self: Whether bodies keep clear of each other: the same as `Avoid("self")`.
            forces: Forces, supports and gravity, for tasks and criteria that do not have their own.
            criteria: Objective functions to minimise in the freedom that the tasks leave; their sum counts. By default
                people move as people do (`Natural`), and other figures have none.
        """
        if dt is not None and not (math.isfinite(dt) and dt > 0.0):
            raise TaskError(f"the duration dt of a step must be a positive number of seconds, not {dt}.")
        self.figure = figure
        hazards = [*obstacles, *([SELF] if avoid_self else [])]
        self.tasks = (*tasks, *([Avoid(hazards)] if hazards else []))
        chosen = tuple(default_criteria(figure, self.tasks) if criteria is None else criteria)
        self._forces, self._criteria, self._step_size = tuple(forces), chosen, step
        self._problem = Problem(figure, self.tasks, step=step, dt=dt, forces=self._forces, criteria=chosen)
        problem = self._problem
        measures = problem.avoidance is not None or problem.custom_tasks.tasks or problem.external_terms
        self._trust_region = TrustRegion(problem) if measures else None
        self._last: Posture | None = None
        self._moved: dict[Obstacle | Plane, Pose | Obstacle | Plane] = {}

    def step(self, posture: PostureLike) -> Posture:
        """Take one step from a posture; returns the posture after it."""
        if self._trust_region is None:
            q = self._copy(posture)
            self._problem.begin(q, goes_on=posture is self._last)
            if self._problem.step_from(self._problem.handle, posture is self._last, q) != LEGAL:
                q = self._legal_start(posture)
                take_step(self._problem.handle, q)
        else:
            q = self._legal_start(posture)
            self._problem.begin(q, goes_on=posture is self._last)
            self._trust_region.step(q)
        self._last = Posture(self.figure, q)
        return self._last

    def settle(self, posture: PostureLike, *, max_steps: int = 200, tolerance: float = 1e-6) -> Result:
        """Take steps until the figure rests; the result does not depend on earlier steps of the solver."""
        max_steps, tolerance = _checked_stopping(max_steps, tolerance)
        q = self._legal_start(posture)
        self._problem.begin(q)
        stages = self._problem.stages
        try:
            rest = self._rest(q, len(stages) - 1, max_steps, tolerance)
        finally:
            self._problem.ask(len(stages) - 1)
        if self._trust_region is not None:
            self._trust_region.measure(rest.q)
        stop = Stop(rest.steps, rest.moved <= tolerance)
        return judge(self._problem, Posture(self.figure, rest.q), stop, tolerance, self._moves(tolerance))

    def _rest(self, start: FloatArray, stage: int, max_steps: int, tolerance: float) -> Rest:
        """Come to rest from `start` with the levels of a stage, the first ones of the problem.

        Steps solve all levels together, and what a lower level wants can lead a higher one, which is not met, to a
        worse place than it would find alone. So where a level above the last is not met, the levels above the last
        are solved alone, the last one is added at their place of rest, and the better of both answers counts.
        """
        together = self._rest_together(start, stage, max_steps, tolerance)
        if stage == 0 or together.moved > tolerance:
            return together
        errors = self._stage_errors(together, stage)
        if np.all(errors[:-1] <= tolerance):
            return together
        first = self._rest(start, stage - 1, max_steps, tolerance)
        then = self._rest_together(first.q, stage, max_steps, tolerance)
        steps = together.steps + first.steps + then.steps
        return replace(then if is_better(self._stage_errors(then, stage), errors) else together, steps=steps)

    def _stage_errors(self, rest: Rest, stage: int) -> FloatArray:
        """Size of the error of each level of a stage where the figure has just come to rest, the first level first."""
        return self._problem.level_errors(Posture(self.figure, rest.q))[: self._problem.stages[stage].errors]

    def _rest_together(self, start: FloatArray, stage: int, max_steps: int, tolerance: float) -> Rest:
        """Come to rest from `start` with all levels of a stage together.

        With natural motion and targets that are far away, a second descent begins with the tasks as springs; of answers
        that meet as much, and miss the rest by as much, the more natural one counts.
        """
        direct = self._descend(start.copy(), stage, max_steps, tolerance)
        far = self._problem.natural is not None and self._problem.unmet_places(start, stage, FAR_TARGET)
        if not far or direct.moved > tolerance:
            return direct
        errors = np.maximum(self._stage_errors(direct, stage), tolerance)
        value = self._problem.criteria_value
        q = start.copy()
        approach = self._approach(q, stage, min(max_steps, MAX_APPROACH_STEPS), tolerance)
        drawn = self._descend(q, stage, max_steps, tolerance)
        drawn_errors = np.maximum(self._stage_errors(drawn, stage), tolerance)
        steps = direct.steps + approach + drawn.steps
        equal = bool(np.all(np.abs(drawn_errors - errors) <= EQUAL_ERROR))
        better = self._problem.criteria_value < value if equal else is_better(drawn_errors, errors)
        if not better and self._trust_region is not None:
            self._trust_region.measure(direct.q)
        return replace(drawn if better else direct, steps=steps)

    def _descend(self, q: FloatArray, stage: int, max_steps: int, tolerance: float) -> Rest:
        """Move `q` with all levels of a stage together until it rests."""
        self._problem.ask(stage)
        self._problem.forget()
        if self._trust_region is not None:
            self._trust_region.forget()
        return Rest(q, *self._settle(q, max_steps, tolerance))

    def _approach(self, q: FloatArray, stage: int, max_steps: int, tolerance: float) -> int:
        """Move `q` to where the unmet tasks of a stage draw the figure like springs; returns the number of steps.

        A strict task is met by the least motion of all joints, whatever that does to the posture, and natural motion
        has only the freedom that is left. As springs, the same tasks move people as people move; the strict tasks then
        have little left to do. Tasks that are met, and the tasks that cannot be springs, are strict here too.
        """
        problem = self._problem
        below, drawn = problem.stages[stage].asked_levels[0], problem.unmet_places(q, stage, tolerance)
        kept = [t.task for t in problem.task_rows if (t.level < below or t.task.soft) and t.task not in drawn]
        held = [*problem.avoids, *(problem.current_task(task) or task for task in kept)]
        springs = [replace(problem.current_task(task) or task, soft=True) for task in drawn]
        solver = Solver(
            self.figure, [*held, *springs], forces=self._forces, criteria=self._criteria, step=self._step_size
        )
        for obstacle, where in self._moved.items():
            solver.move(obstacle, where)
        solver._problem.begin(problem.began_at)
        return solver._settle(q, max_steps, tolerance)[0]

    def judge(self, posture: PostureLike, *, tolerance: float = 1e-6) -> Result:
        """Which tasks a posture meets, and why it does not meet the others; later steps are not affected."""
        q = self._legal_start(posture)
        if self._trust_region is not None:
            self._trust_region.measure(q)
        tolerance = _checked_stopping(0, tolerance)[1]
        stop = Stop(at_rest=None if self._trust_region is None else True)
        return judge(self._problem, Posture(self.figure, q), stop, tolerance, self._moves(tolerance))

    def _settle(self, q: FloatArray, max_steps: int, tolerance: float) -> tuple[int, float]:
        """Move `q` until it rests; returns the number of steps and the size of the last one."""
        if self._trust_region is None:
            return settle(self._problem.handle, q, max_steps, tolerance)
        steps, moved = self._trust_region.settle(q, max_steps, tolerance)
        self._trust_region.measure(q)
        return steps, moved

    def _moves(self, tolerance: float) -> Settle:
        """The function that moves coordinates by some steps, for verdicts."""

        def moves(q: FloatArray, steps: int) -> float:
            if self._trust_region is None:
                return settle(self._problem.handle, q, steps, tolerance)[1]
            with self._trust_region.memory_kept():
                return self._settle(q, steps, tolerance)[1]

        return moves

    def target(self, task: Task, value: TargetLike | Task) -> None:
        """Give a task another target: a position, rotation, direction, pose, posture or number, or that of a task."""
        self._problem.retarget(task, value)

    def move(self, obstacle: Obstacle | Plane, where: Pose | Obstacle | Plane) -> None:
        """Move an obstacle to another pose, or to that of another obstacle with the same shape.

        A plane is transformed by a pose, or takes the place of another plane.
        """
        if self._problem.avoidance is None or self._trust_region is None:
            raise TaskError("there is no obstacle to move: give some as obstacles=[…].")
        self._problem.avoidance.move(obstacle, where)
        self._moved[obstacle] = where
        self._trust_region.discard_measurement()

    def _copy(self, posture: PostureLike) -> FloatArray:
        """(nq,) a copy of a posture's coordinates."""
        if isinstance(posture, Posture) and posture._figure is self.figure:
            return posture._q.copy()
        return self.figure.posture(posture)._q.copy()

    def _legal_start(self, posture: PostureLike) -> FloatArray:
        """(nq,) a legal copy of a posture's coordinates; the neutral ones if no legal posture is found near it."""
        q = self._copy(posture)
        status = make_legal(self._problem.handle, q)
        if status == NOT_FINITE:
            raise FigureError(f"the posture to start from has a value that is not a finite number: {q.tolist()}.")
        if status == LOOPS_OPEN:
            return self._closed(q)
        return q if status == LEGAL else self._neutral.copy()

    def _closed(self, q: FloatArray) -> FloatArray:
        """(nq,) the posture with its loops closed, or the neutral one if they cannot be closed from there."""
        found: FloatArray = q
        for _ in range(MAX_CLOSING_ROUNDS):
            assembly = self.figure.assemble({}, near=Posture(self.figure, found))
            found = assembly.posture._q.copy()
            if make_legal(self._problem.handle, found) == LEGAL:
                return found
        found = self._neutral.copy()
        if make_legal(self._problem.handle, found) == LEGAL:
            return found
        if assembly.status == "open":
            raise FigureError(assembly.report())
        raise FigureError(
            f"no posture of {self.figure.name} with closed loops inside its limits and couplings was found near the "
            "start; start from such a posture."
        )

    @cached_property
    def _neutral(self) -> FloatArray:
        """(nq,) the neutral posture, clamped to the limits."""
        q = self.figure.neutral()._q.copy()
        clamp(self.figure.compiled.bounds, _NO_PREVIOUS_POSTURE, q)
        return q


def _checked_stopping(max_steps: Any, tolerance: float) -> tuple[int, float]:
    """Check the stopping criteria, and convert them to the types that the kernels are compiled for."""
    whole = isinstance(max_steps, int | np.integer) or (isinstance(max_steps, float) and max_steps.is_integer())
    if not whole or max_steps < 0:
        raise TaskError(f"max_steps must be a whole number of 0 or more, not {max_steps!r}.")
    if not tolerance >= 0.0:
        raise TaskError(f"the tolerance of a solve must be a number of 0 or more, not {tolerance!r}.")
    return int(max_steps), float(tolerance)


def solve(  # noqa: PLR0913
    figure: Figure,
    tasks: Iterable[Task],
    *,
    start: PostureLike | None = None,
    obstacles: Iterable[Obstacle | Plane] = (),
    avoid_self: bool = False,
    forces: Iterable[Load] = (),
    criteria: Iterable[Criterion] | None = None,
    max_steps: int = 200,
    tolerance: float = 1e-6,
    restarts: int = 0,
    seed: int = 0,
) -> Result:
    """Find the best legal posture for tasks by priority.

    Args:
        figure: The figure to pose.
        tasks: The tasks, each with its priority.
        start: Start posture, clamped to the limits first. If not given, people on their feet start from the posture
            that is likely for the tasks, other figures from the neutral posture.
        obstacles: Obstacles to keep clear of: the same as `Avoid(obstacles)` among the tasks.
        avoid_self: Whether bodies keep clear of each other: the same as `Avoid("self")`.
        forces: Forces, supports and gravity, for tasks and criteria that do not have their own.
        criteria: Objective functions to minimise in the freedom that the tasks leave; their sum counts. By default
            people move as people do (`Natural`), and other figures have none: `criteria=()` switches that off.
        max_steps: Largest number of steps of one descent. Where a level is not met, a solve makes several: it also
            descends with the higher levels alone, and takes the better answer.
        tolerance: Step up to which the posture counts as at rest, and error up to which a task is met [rad or m].
        restarts: How many random starts to try while some task is not met; the best of all is the result.
        seed: Seed of the random starts; the same seed gives the same bytes.

    Returns:
        The posture, which tasks are met, and why the others are not.
    """
    if not restarts >= 0:
        raise TaskError(f"restarts must be 0 or more, not {restarts}.")
    solver = Solver(
        figure,
        tasks,
        obstacles=obstacles,
        avoid_self=avoid_self,
        forces=forces,
        criteria=criteria,
        step=StepSize(min_gain=SOLVE_MIN_GAIN),
    )
    first = solver._problem.first_posture() if start is None else figure.posture(start)
    best = solver.settle(first, max_steps=max_steps, tolerance=tolerance)
    if restarts == 0:
        return best
    errors = solver._problem.level_errors(best.posture)
    for other in other_starts(first, restarts, seed):
        if best.status == "solved":
            break
        found = solver.settle(other, max_steps=max_steps, tolerance=tolerance)
        if is_better(found_errors := solver._problem.level_errors(found.posture), errors):
            best, errors = found, found_errors
    return best


def other_starts(first: Posture, count: int, seed: int) -> Iterator[Posture]:
    """Generate `count` random legal postures with the floating base of `first`."""
    figure, rng = first.figure, np.random.default_rng(seed)
    base = [joint.name for joint in figure.joints if joint.kind == "free" and joint.parent is None]
    for _ in range(count):
        yield figure.clamp(figure.random(rng).changed({name: first[name] for name in base}))


def is_better(one: FloatArray, other: FloatArray) -> bool:
    """Whether `one` is lexicographically less than `other`: (levels,) sizes of the errors, the first level first."""
    for a, b in zip(one, other, strict=True):
        if abs(a - b) > EQUAL_ERROR:
            return bool(a < b)
    return False
