"""Descends to a posture at rest: repeats steps of a problem, from several starts, and keeps the better result.

**Why no level costs a higher one anything.** The first levels of a problem come to rest in the same bytes as a problem
with these levels alone. Let A_k be the answer of the first k levels to a start. It is the lexicographically best of
several places of rest, and one of them is where the figure rests when level k is added at the answer A_{k-1} to the
same start: no step from there costs a level above anything. So A_k is at least as good for the levels above as A_{k-1},
and hence as the answer of any of them alone. Everything that a solve tries must therefore be tried for every number of
levels, other branches of limbs too. Branches are tried until none is better, so that a solve that begins at its own
answer goes no farther.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from poise.engine.problem import Problem, StepSize
from poise.engine.reach import other_branches
from poise.engine.recruitment import Part
from poise.engine.spare_problems import give_back, problem_of
from poise.engine.trust_region import TrustRegion
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray, Pose
from poise.figure.model.posture import Posture
from poise.forces.loads import Load
from poise.kernels.engine.step import settle
from poise.tasks.criteria import Criterion, default_criteria

if TYPE_CHECKING:
    from poise.engine.result import Settle
    from poise.tasks.obstacles import Obstacle, Plane
    from poise.tasks.task import Task

FAR_TARGET = 0.05
"""Error above which a solve also tries to start by treating its tasks as soft springs [m or rad]."""
MAX_APPROACH_STEPS = 100
"""Largest number of steps with tasks as soft springs, before the steps that meet them exactly."""
EQUAL_ERROR = 1e-9
"""Difference up to which two errors count as equal [m or rad]."""
LEAST_BRANCH_GAIN = 1e-4
"""Least decrease of an error for which a limb changes to another branch [m or rad]."""


@dataclass(frozen=True)
class Options:
    """What all descents of a solver have in common."""

    step: StepSize | None = None
    dt: float | None = None
    forces: tuple[Load, ...] = ()
    criteria: tuple[Criterion, ...] | None = None
    """The criteria; None for those of the figure."""


@dataclass(frozen=True)
class Rest:
    """Where a figure came to rest."""

    q: FloatArray
    """(nq,) the coordinates of the posture."""
    steps: int
    """Number of steps on the way."""
    moved: float
    """Size of the last step [rad or m]."""


class Descent:
    """Moves a figure towards the targets of its tasks, by the joints that are free."""

    def __init__(self, figure: Figure, part: Part, options: Options, like: Problem | None = None) -> None:
        """Compile the tasks of a part; with `like`, the criteria are copied from that problem."""
        self.figure, self.part, self._options = figure, part, options
        given = options.criteria
        self._criteria = default_criteria(figure, part.tasks) if given is None else given
        self.problem = problem_of(
            figure,
            part.tasks,
            step=options.step,
            dt=options.dt,
            forces=options.forces,
            criteria=self._criteria,
            free=part.free,
            like=like,
        )
        self.trust_region = TrustRegion(self.problem) if self.problem.needs_measuring else None
        self._moved: dict[Obstacle | Plane, Pose | Obstacle | Plane] = {}

    def rest(self, start: FloatArray, max_steps: int, tolerance: float, *, branches: bool = False) -> Rest:
        """Come to rest from legal coordinates `start` (nq,); limbs may change to other `branches` (see `reach`)."""
        self.problem.begin(start)
        last = len(self.problem.stages) - 1
        try:
            found = self._rest(start, last, max_steps, tolerance, branches=branches)
        finally:
            self.problem.ask(last)
        if self.trust_region is not None:
            self.trust_region.measure(found.q)
        return found

    def _rest(self, start: FloatArray, stage: int, max_steps: int, tolerance: float, *, branches: bool) -> Rest:
        """Come to rest from `start` with the levels of a stage, the first ones of the problem.

        Steps solve all levels together, and what a lower level wants can lead a higher one, which is not met, to a
        worse place than it would find alone. So where a level above the last is not met, the levels above the last
        are solved alone, the last one is added at their place of rest, and the better of both answers counts.
        """
        found = self._rest_together(start, stage, max_steps, tolerance)
        errors = self._stage_errors(found, stage)
        if stage > 0 and np.any(errors[:-1] > tolerance):
            first = self._rest(start, stage - 1, max_steps, tolerance, branches=branches)
            then = self._rest_together(first.q, stage, max_steps, tolerance)
            better = is_better(self._stage_errors(then, stage), errors, tolerance)
            found = replace(then if better else found, steps=found.steps + first.steps + then.steps)
        return self._rest_in_branches(found, stage, max_steps, tolerance) if branches else found

    def _rest_in_branches(self, found: Rest, stage: int, max_steps: int, tolerance: float) -> Rest:
        """Change limbs of tasks that are not met to other branches, as long as that helps.

        Another branch is better if it decreases the error of a level by more than LEAST_BRANCH_GAIN, and costs no level
        above anything.
        """
        tried: Rest | None = found
        while tried is not None and found.moved <= tolerance:
            tried, errors = None, self._stage_errors(found, stage)
            unmet = self.problem.unmet_places(found.q, stage, tolerance)
            for branch in other_branches(Posture(self.figure, found.q), unmet):
                there = self._rest(branch.q, stage, max_steps, tolerance, branches=False)
                found = replace(found, steps=found.steps + there.steps)
                after = self._stage_errors(there, stage)
                if is_better(after, errors, tolerance, LEAST_BRANCH_GAIN) and not is_better(errors, after, tolerance):
                    tried, errors = there, after
            found = found if tried is None else replace(tried, steps=found.steps)
        return found

    def _stage_errors(self, rest: Rest, stage: int) -> FloatArray:
        """Size of the error of each level of a stage where the figure has just come to rest, the first level first."""
        return self.problem.level_errors(Posture(self.figure, rest.q))[: self.problem.stages[stage].errors]

    def _rest_together(self, start: FloatArray, stage: int, max_steps: int, tolerance: float) -> Rest:
        """Come to rest from `start` with all levels of a stage together.

        With natural motion and targets that are far away, a second descent begins with the tasks as springs; of answers
        that meet as much, and miss the rest by as much, the more natural one counts. A first descent that is too short
        to meet its tasks is not followed by another.
        """
        direct = self._descend(start.copy(), stage, max_steps, tolerance)
        far = self.problem.natural is not None and self.problem.unmet_places(start, stage, FAR_TARGET)
        errors = self._stage_errors(direct, stage)
        if not far or (direct.moved > tolerance and np.any(errors > tolerance)):
            return direct
        value = self.problem.criteria_value
        q = start.copy()
        approach = self._approach(q, stage, min(max_steps, MAX_APPROACH_STEPS), tolerance)
        drawn = self._descend(q, stage, max_steps, tolerance)
        drawn_errors = self._stage_errors(drawn, stage)
        steps = direct.steps + approach + drawn.steps
        worse = is_better(errors, drawn_errors, tolerance)
        better = not worse and (is_better(drawn_errors, errors, tolerance) or self.problem.criteria_value < value)
        if not better and self.trust_region is not None:
            self.trust_region.measure(direct.q)
        return replace(drawn if better else direct, steps=steps)

    def _descend(self, q: FloatArray, stage: int, max_steps: int, tolerance: float) -> Rest:
        """Move `q` with all levels of a stage together until it rests."""
        self.problem.ask(stage)
        self.problem.forget()
        if self.trust_region is not None:
            self.trust_region.forget()
        return Rest(q, *self.settle(q, max_steps, tolerance))

    def _approach(self, q: FloatArray, stage: int, max_steps: int, tolerance: float) -> int:
        """Move `q` to the minimum with the unmet tasks of a stage as soft springs; returns the number of steps.

        A strict task is met by the least motion of all joints, whatever that does to the posture, and natural motion
        has only the freedom that is left. As springs, the same tasks move people as people move; the strict tasks then
        have little left to do. Tasks that are met, and the tasks that cannot be springs, are strict here too.
        """
        problem = self.problem
        below, drawn = problem.stages[stage].asked_levels[0], problem.unmet_places(q, stage, tolerance)
        kept = [t.task for t in problem.task_rows if (t.level < below or t.task.soft) and t.task not in drawn]
        held = [*problem.avoids, *(problem.current_task(task) or task for task in kept)]
        springs = [_as_spring(problem.current_task(task) or task) for task in drawn]
        part = Part((*held, *springs), self.part.free)
        options = replace(self._options, dt=None, criteria=tuple(self._criteria))
        springy = Descent(self.figure, part, options, like=problem)
        springy.follow(self)
        springy.problem.begin_like(problem)
        steps = springy.settle(q, max_steps, tolerance)[0]
        give_back(springy.problem)
        return steps

    def follow(self, other: Descent) -> None:
        """Copy the targets and obstacle positions of another descent."""
        for task in self.part.tasks:
            if (value := other.problem.given_target(task)) is not None:
                self.problem.retarget(task, value)
        for obstacle, where in other._moved.items():
            self.move(obstacle, where)

    def settle(self, q: FloatArray, max_steps: int, tolerance: float) -> tuple[int, float]:
        """Move `q` until it rests; returns the number of steps and the size of the last one."""
        if self.trust_region is None:
            return settle(self.problem.handle, q, max_steps, tolerance)
        steps, moved = self.trust_region.settle(q, max_steps, tolerance)
        self.trust_region.measure(q)
        return steps, moved

    def moves(self, tolerance: float) -> Settle:
        """The function that moves coordinates by some steps, for verdicts."""

        def moves(q: FloatArray, steps: int) -> float:
            if self.trust_region is None:
                return settle(self.problem.handle, q, steps, tolerance)[1]
            with self.trust_region.memory_kept():
                return self.settle(q, steps, tolerance)[1]

        return moves

    def move(self, obstacle: Obstacle | Plane, where: Pose | Obstacle | Plane) -> None:
        """Move an obstacle to another pose, or to that of another obstacle with the same shape."""
        assert self.problem.avoidance is not None
        assert self.trust_region is not None
        self.problem.avoidance.move(obstacle, where)
        for touch in self.problem.touches:
            touch.move(obstacle, obstacle.moved(where) if isinstance(where, Pose) else where)
        self._moved[obstacle] = where
        self.trust_region.discard_measurement()


def _as_spring(task: Task) -> Task:
    """A soft task with the same target; its fields are not checked again, which would take most of the time."""
    spring = copy(task)
    object.__setattr__(spring, "soft", True)
    return spring


def is_better(one: FloatArray, other: FloatArray, met: float, slack: float = EQUAL_ERROR) -> bool:
    """Whether `one` is lexicographically less than `other`: (levels,) sizes of the errors, the first level first.

    Errors up to `met` count as equal: how exactly a level is met must not decide what the levels below it lose. So do
    errors that differ by no more than `slack`.
    """
    for a, b in zip(np.maximum(one, met), np.maximum(other, met), strict=True):
        if abs(a - b) > slack:
            return bool(a < b)
    return False
