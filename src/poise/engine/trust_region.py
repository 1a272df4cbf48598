"""A trust region for quantities that are measured in Python before and after each step.

Distances to obstacles and errors of custom tasks are measured outside the compiled step, which takes them to be linear
in the step. If the measurement after a step shows that this was not accurate enough, the step is rejected, and the
engine takes another one inside a smaller box, the trust region. The box grows again after accepted steps.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.kernels.engine.indirect_calls import evaluate_current
from poise.kernels.engine.step import take_step

if TYPE_CHECKING:
    from poise.engine.problem import Problem

MAX_SHRINKS = 8
"""Number of times that the box is shrunk for one step before the posture stays where it is."""
BOX_GROWTH = 2.0
"""Largest factor by which the box grows after an accepted step."""
BOX_MARGIN = 0.9
"""Fraction of the largest acceptable step to use after an overshoot."""
HARMFUL_STEP_RATIO = 1.8
"""Ratio of the actual to the safe step size that is assumed for a step that raised an error."""
MIN_VIOLATION_RATIO = 1.2
"""Least such ratio for a step that violated a margin."""


class TrustRegion:
    """Takes the steps of a problem with avoidance, custom tasks or external terms."""

    def __init__(self, problem: Problem) -> None:
        """Start with the largest steps that the problem allows."""
        self._problem = problem
        problem.engine.state.may_leap[0] = 0  # What is measured between steps cannot foresee a leap.
        self._largest = problem.engine.limits.largest.copy()
        self._share = 1.0
        """Size of the box, as a share of the largest steps."""
        self._measured = np.empty(0)
        """(nq,) the posture of the last distance measurement; empty if it is not valid."""

    def measure(self, q: FloatArray) -> None:
        """Measure distances and custom tasks at the posture `q` (nq,), and write them to the engine."""
        problem, engine = self._problem, self._problem.engine
        if problem.avoidance is not None:
            if not np.array_equal(q, self._measured):
                self._measure_distances(q)
            motion, active_sets = problem.held_nodes.motion(engine.current.error), engine.solver.work.active_sets()
            problem.avoidance.write_contacts(engine.contacts, motion, active_sets, problem.first_contact_limit)
        if problem.custom_tasks is not None:
            problem.custom_tasks.write_rows(q, engine.goals)
        problem.update_external_terms(q)
        self._measured = q.copy()

    def _measure_distances(self, q: FloatArray) -> None:
        """Measure distances at the posture `q` (nq,), which the engine then has evaluated."""
        problem, current = self._problem, self._problem.engine.current
        assert problem.avoidance is not None
        evaluate_current(problem.handle, q)
        problem.avoidance.measure(current.position, current.rotation)

    def discard_measurement(self) -> None:
        """Measure distances again before the next step, because an obstacle has moved."""
        self._measured = np.empty(0)

    def forget(self) -> None:
        """Forget earlier steps: the box has its largest size, and distances are measured again."""
        self._share = 1.0
        self._measured = np.empty(0)
        if self._problem.avoidance is not None:
            self._problem.avoidance.forget()

    @contextmanager
    def memory_kept(self) -> Iterator[None]:
        """Restore the size of the box at the end of the block; it has its largest size inside."""
        share, self._share = self._share, 1.0
        try:
            yield
        finally:
            self._share = share

    def step(self, q: FloatArray) -> float:
        """Move `q` (nq,) by one step; returns the largest entry of the step [rad or m], 0 for none."""
        state, limits, avoidance = self._problem.engine.state, self._problem.engine.limits, self._problem.avoidance
        self.measure(q)
        last, damping = state.last_level_step.copy(), state.extra_damping.copy()
        for _ in range(MAX_SHRINKS):
            new = q.copy()
            np.multiply(self._largest, self._share, out=limits.largest)
            moved = take_step(self._problem.handle, new)
            overshoot = self._overshoot(new, moved) if moved > 0.0 else 0.0
            if overshoot <= 1.0:
                if avoidance is not None:
                    avoidance.follows_speed = True
                self._share = min(1.0, self._share * BOX_MARGIN / max(overshoot, BOX_MARGIN / BOX_GROWTH))
                q[:] = new
                return moved
            state.last_level_step[:], state.extra_damping[:] = last, damping
            if avoidance is not None and avoidance.follows_speed and avoidance.effect.looked_too_near:
                # Pairs beyond their reach may have met; with all pairs measured, the same step may be possible.
                avoidance.follows_speed = False
                self.measure(q)
                continue
            self._share = min(self._share, moved / float(self._largest.max())) * BOX_MARGIN / overshoot
        return 0.0

    def settle(self, q: FloatArray, steps: int, tolerance: float) -> tuple[int, float]:
        """Take at most `steps` steps, until two in a row are no larger than `tolerance`.

        Returns the number of steps and the size of the last one [rad or m].
        """
        moved, rests = np.inf, 0
        for step in range(steps):
            moved = self.step(q)
            rests = rests + 1 if moved <= tolerance else 0
            if rests == 2:
                return step + 1, moved
        return steps, moved

    def _overshoot(self, new: FloatArray, moved: float) -> float:
        """Size of a step to `new` as a multiple of the largest acceptable one; the step is accepted up to 1."""
        problem, engine = self._problem, self._problem.engine
        before, overshoot = engine.current.error.copy(), 0.0
        if problem.avoidance is not None:
            self._measure_distances(new)
            self._measured = new.copy()
            effect = problem.avoidance.effect
            overshoot = effect.approach_ratio
            if effect.violation_ratio > 0.0:
                # Violations are of second order in the step.
                overshoot = max(overshoot, MIN_VIOLATION_RATIO, math.sqrt(effect.violation_ratio))
        if problem.custom_tasks is not None and problem.custom_tasks.got_worse(
            new, engine.goals, engine.trial.error, moved
        ):
            overshoot = max(overshoot, HARMFUL_STEP_RATIO)
        for outline in problem.support_outlines.values():
            if outline.got_worse(Posture(problem.figure, new.copy()), before, engine.trial.error):
                overshoot = max(overshoot, HARMFUL_STEP_RATIO)
        if overshoot > 1.0 and problem.avoidance is not None:
            problem.avoidance.discard_last()
            self._measured = np.empty(0)
        return overshoot
