"""Steps that look around: before each one, and again where it led.

Obstacles, the figure itself and custom tasks are measured outside the compiled step, which takes them to be linear. A
step after which that turns out to have been too bold is not taken: the engine makes another one in a smaller box. The
box grows again while all goes well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from poise.figure.model.pose import FloatArray
from poise.kernels.engine.step import take_step

if TYPE_CHECKING:
    from poise.engine.problem import Problem

TRIES = 8
"""How often a step is made shorter before the posture stays as it is."""
LONGER = 2.0
"""How the box of steps grows while all goes well."""
BARELY = 0.9
"""Share of the farthest step that can be foreseen to aim at after one that went farther."""
TOO_BOLD = 1.8
"""How many times too far a step is taken to have gone when it did harm."""


class TrustRegion:
    """Steps of a problem that has something to look at."""

    def __init__(self, problem: Problem) -> None:
        """Start with the largest steps that the problem allows."""
        self._problem = problem
        self._largest = problem.engine.limits.largest.copy()
        self._share = 1.0
        self._seen = np.empty(0)

    def look(self, q: FloatArray) -> None:
        """Hand what is near, and errors and rows of custom tasks, at the posture `q` (nq,) to the engine."""
        problem, engine = self._problem, self._problem.engine
        if problem.avoidance is not None:
            if not np.array_equal(q, self._seen):
                problem.avoidance.look(q)
            problem.avoidance.hand_over(engine.contacts)
        if problem.given.tasks:
            problem.given.hand_over(q, engine.goals)
        problem.look(q)
        self._seen = q.copy()

    def look_again(self) -> None:
        """Measure anew before the next step: something in the world has moved."""
        self._seen = np.empty(0)

    def forget(self) -> None:
        """Start afresh: no memory of earlier steps."""
        self._share = 1.0
        self._seen = np.empty(0)
        if self._problem.avoidance is not None:
            self._problem.avoidance.forget()

    def step(self, q: FloatArray) -> float:
        """Move `q` (nq,) by one step; returns how far its fastest joint went [rad or m]."""
        state, limits = self._problem.engine.state, self._problem.engine.limits
        self.look(q)
        last, stiffness = state.last.copy(), state.stiffness.copy()
        for _ in range(TRIES):
            new = q.copy()
            np.multiply(self._largest, self._share, out=limits.largest)
            moved = take_step(self._problem.handle, new)
            bold = self._boldness(new, moved) if moved > 0.0 else 0.0
            if bold <= 1.0:
                self._share = min(1.0, self._share * BARELY / max(bold, BARELY / LONGER))
                q[:] = new
                return moved
            state.last[:], state.stiffness[:] = last, stiffness
            self._share = min(self._share, moved / float(self._largest.max())) * BARELY / bold
        return 0.0

    def settle(self, q: FloatArray, steps: int, tolerance: float) -> tuple[int, float]:
        """Step until `q` rests; returns how many steps it took and how far the last one went."""
        moved, rests = np.inf, 0
        for step in range(steps):
            moved = self.step(q)
            rests = rests + 1 if moved <= tolerance else 0
            if rests == 2:
                return step + 1, moved
        return steps, moved

    def _boldness(self, new: FloatArray, moved: float) -> float:
        """How many times too far a step to `new` went; up to 1 it may be taken."""
        problem, engine = self._problem, self._problem.engine
        bold = 0.0
        if problem.avoidance is not None:
            problem.avoidance.look(new)
            self._seen = new.copy()
            bold = problem.avoidance.overreach()
            if problem.avoidance.got_deeper():
                bold = max(bold, TOO_BOLD)
        if problem.given.tasks and problem.given.got_worse(new, engine.goals, engine.trial.error, moved):
            bold = max(bold, TOO_BOLD)
        if bold > 1.0 and problem.avoidance is not None:
            problem.avoidance.look_back()
            self._seen = np.empty(0)
        return bold
