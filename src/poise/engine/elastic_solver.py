"""A solver that meets soft tasks exactly where that costs little in the criteria, and leaves an error elsewhere.

A pointer that pulls a figure wants two things. Within reach, the point under it should be exactly there. Out of reach,
or where only a contorted body would get there, the figure should stay natural and leave a gap. Both follow from one
objective: the criteria N(q), which say how natural a posture is, plus a price for the distance e of the point from its
target,

    V(q) = N(q) + F |e(q)|.

This is an exact penalty [Nocedal & Wright 2006, 17.2]: where the target can be reached and the last metre of the way
costs less than F, its minimum has e = 0; otherwise the point is drawn by the constant force F. The minimum is found by
two solvers. One has the tasks as strict levels below all others, and looks for the best posture with e = 0; the other
has them as stiff springs whose force grows up to F. The solver of the last step goes on as long as it lowers V; where
it does not, or rests, both are tried, and the step that leads to the lower V is taken. Where the last metre costs just
F, both solvers lead to the same posture, so that the figure passes from one to the other without a jump.

**How a pull begins.** V can have several minima. A foot that is lifted from a straight leg can rise by the ankle and a
hike of the hip, or by the knee, which does not lift it to first order. So a pull begins with weak springs: they let
natural motion lead, which bends the knee, and follow the pointer at a small distance. When they rest, or fall back, the
two solvers above take over until the pull ends.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from poise.engine.natural.motion import BRANCHING, branchings_below
from poise.engine.result import Result
from poise.engine.solver import Solver
from poise.figure.model.figure import Figure, PostureLike
from poise.figure.model.pose import Pose
from poise.figure.model.posture import Posture
from poise.tasks.obstacles import Obstacle, Plane
from poise.tasks.target import TargetLike
from poise.tasks.task import Task

STIFFER = 2.0
"""Stiffness of the springs that draw the figure, as a multiple of that of weak ones, for a pull on the pelvis. It grows
with the root of the weight of the joints that have to help. With half of it, head and trunk miss targets that they can
reach; with three times as much, targets out of reach contort the body."""
LEAST_GAIN, NEGLIGIBLE_GAIN = 1e-6, 1e-9
"""Decrease of V, as a share of V, below which the other solver is tried too, and below which the figure rests."""
MAX_WITHOUT_EXACT = 6
"""Number of steps with springs between two exact ones."""
WEAK_GAP = 0.03
"""Error above which the weak springs count as lagging behind, unless they move fast [m or rad]."""
SOFT_RESTING_STEP, FAST_STEP = 1e-3, 5e-3
"""Step of the weak springs below which they rest, and above which they move fast [rad or m]."""


class Trial(NamedTuple):
    """A step that one of the solvers proposes."""

    posture: Posture
    value: float
    """The value V after it."""
    gain: float
    """By how much it lowers V; 0 at rest."""


class ElasticSolver:
    """Moves a figure with soft tasks, one step at a time; has the methods of `Solver` that live motion needs."""

    def __init__(self, figure: Figure, tasks: Iterable[Task], **options: Any) -> None:
        """Compile the tasks, of which some are soft, with the options of `Solver`."""
        self.tasks = tuple(tasks)
        last = 1 + max((task.priority for task in self.tasks if not task.soft), default=0)
        soft = [task for task in self.tasks if task.soft]
        self._strict = {task: replace(task, soft=False, priority=last) for task in soft}
        self._stiff = {task: _stiffer(figure, task) for task in soft}
        self._weak = Solver(figure, self.tasks, **options)
        self._springs = Solver(figure, [self._stiff.get(task, task) for task in self.tasks], **options)
        self._exact = Solver(figure, [self._strict.get(task, task) for task in self.tasks], **options)
        self._begins, self._is_exact, self._since_exact = True, True, 0
        self._last: Posture | None = None

    def step(self, posture: PostureLike) -> Posture:
        """Take one step from a posture; returns the posture after it."""
        start = posture if isinstance(posture, Posture) and posture is self._last else self._begin(posture)
        found = self._first_step(start) if self._begins else None
        if found is None:
            self._begins, found = False, self._closer(start)
        for solver in (self._weak, self._springs, self._exact):
            solver.go_on_from(found)
        self._last = found
        return found

    def _begin(self, posture: PostureLike) -> Posture:
        """Let all solvers begin at a posture; returns a legal one."""
        start = self._weak.begin(posture)
        for solver in (self._springs, self._exact):
            solver.begin(start)
            solver.go_on_from(start)
        self._begins, self._is_exact = True, True
        return start

    def _first_step(self, start: Posture) -> Posture | None:
        """A step of the weak springs; None if they rest or lag behind."""
        found = self._weak.step(start)
        moved = np.abs(self._weak.figure.difference(start, found)).max(initial=0.0)
        if moved < SOFT_RESTING_STEP or (moved < FAST_STEP and self._weak.soft_error(found) > WEAK_GAP):
            self._weak.go_on_from(start)
            return None
        return found

    def _closer(self, start: Posture) -> Posture:
        """A step that lowers V; `start` where there is none."""
        trial = self._exact_step(start) if self._is_exact else self._drawn_step(start)
        self._since_exact = 0 if self._is_exact else self._since_exact + 1
        if trial.gain <= LEAST_GAIN * trial.value or self._since_exact == MAX_WITHOUT_EXACT:
            other = self._drawn_step(start) if self._is_exact else self._exact_step(start)
            if other.value < trial.value:
                trial, self._is_exact = other, not self._is_exact
            self._since_exact = 0
        return trial.posture if trial.gain > NEGLIGIBLE_GAIN * trial.value else start

    def _exact_step(self, start: Posture) -> Trial:
        """A step with the soft tasks as strict levels."""
        found = self._exact.step(start)
        before, after = self._exact.criteria_values
        value = after + self._springs.soft_costs(found)[0]
        return Trial(found, value, before + self._springs.soft_costs(start)[0] - value)

    def _drawn_step(self, start: Posture) -> Trial:
        """A step with the soft tasks as stiff springs, whose energy is part of their solver's criteria."""
        found = self._springs.step(start)
        before, after = self._springs.criteria_values
        cost, energy = self._springs.soft_costs(found)
        cost_before, energy_before = self._springs.soft_costs(start)
        value = after + cost - energy
        return Trial(found, value, before + cost_before - energy_before - value)

    def judge(self, posture: PostureLike, *, tolerance: float = 1e-6, at_rest: bool | None = None) -> Result:
        """Which tasks a posture meets, and why it does not meet the others; later steps are not affected."""
        solver, used = (self._exact, self._strict) if self._is_exact else (self._springs, self._stiff)
        found = solver.judge(posture, tolerance=tolerance, at_rest=at_rest)
        given = {own: task for task, own in used.items()}
        verdicts = tuple(replace(each, task=given.get(each.task, each.task)) for each in found.verdicts)
        return replace(found, verdicts=verdicts)

    def target(self, task: Task, value: TargetLike | Task) -> None:
        """Give a task another target; see `Solver.target`."""
        self._weak.target(task, value)
        self._springs.target(self._stiff.get(task, task), value)
        self._exact.target(self._strict.get(task, task), value)

    def move(self, obstacle: Obstacle | Plane, where: Pose | Obstacle | Plane) -> None:
        """Move an obstacle; see `Solver.move`."""
        for solver in (self._weak, self._springs, self._exact):
            solver.move(obstacle, where)


def _stiffer(figure: Figure, task: Task) -> Task:
    """A soft task with the stiffness of the springs that draw a figure."""
    site = getattr(task, "site", None)
    branchings = 0 if site is None else branchings_below(figure, figure.body_of(site))
    factor = STIFFER * math.sqrt(BRANCHING) ** branchings
    weight = task.weight
    return replace(
        task, weight=factor * weight if isinstance(weight, float | int) else [factor * each for each in weight]
    )
