"""What is found in Python before every step: gradients from outside, and where open supports balance the figure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.forces.acting import Acting
from poise.forces.support_region import room_to_lean
from poise.kernels.goals.criteria import Criteria
from poise.kernels.goals.goals import Goals

FIRST_STEP = 0.1
"""How far the first step against a gradient goes, before anything is known of its curvature [rad or m]."""
DAMPED = 0.2
"""Share of the known curvature that a step must have met for its change to count in full."""


class Watcher(Protocol):
    """Looks at a posture before a step from it."""

    def look(self, posture: Posture) -> None:
        """Bring the arrays of the kernels up to date."""

    def forget(self) -> None:
        """Start afresh: no memory of earlier postures."""


class Footing:
    """The place that open supports can balance, for the goal that keeps the figure there."""

    def __init__(self, goals: Goals, g: int, acting: Acting) -> None:
        """Fill in the corners of goal `g`."""
        self.goals, self.g, self.acting = goals, g, acting
        self.hopeless = False
        """Whether the supports cannot balance the figure wherever its centre of mass is."""

    def look(self, posture: Posture) -> None:
        """Outline the place in the posture as it is."""
        goals, g = self.goals, self.g
        corners = slice(goals.corner_start[g], goals.corner_start[g + 1])
        room = room_to_lean(self.acting, posture, goals.position[g], corners.stop - corners.start)
        self.hopeless = not room.possible
        goals.corner_node[corners], goals.corner_place[corners] = room.node, room.place

    def forget(self) -> None:
        """Nothing: every posture is looked at for itself."""


class Slopes:
    """Gradients from outside, and the curvature that their changes show [Nocedal & Wright 2006, proc. 18.2]."""

    def __init__(
        self, figure: Figure, criteria: Criteria, gradients: Sequence[Callable[[Posture], FloatArray]]
    ) -> None:
        """Add the gradients to the slope that the criteria have."""
        self.figure, self.criteria, self.gradients = figure, criteria, tuple(gradients)
        self.own = criteria.slope.copy()
        self.last: tuple[Posture, FloatArray] | None = None
        self.scaled = False
        """Whether the curvature has the size that a first step showed."""

    def forget(self) -> None:
        """Know nothing of the curvature."""
        self.last, self.scaled = None, False

    def look(self, posture: Posture) -> None:
        """The gradient at the posture, and what the way to it says about the curvature."""
        gradient: FloatArray = np.sum([function(posture) for function in self.gradients], axis=0)
        bend = self.criteria.bend
        if self.last is None:
            bend[:] = np.eye(len(gradient)) * float(np.linalg.norm(gradient)) / FIRST_STEP
        else:
            step, change = self.figure.difference(self.last[0], posture), gradient - self.last[1]
            if not self.scaled and float(step @ change) > 0.0:
                bend[:] = np.eye(len(gradient)) * float(change @ change) / float(step @ change)
                self.scaled = True
            learn_curvature(bend, step, change)
        self.last = posture, gradient
        self.criteria.slope[:] = self.own + gradient
        self.criteria.origin[:] = posture._q


def learn_curvature(bend: FloatArray, step: FloatArray, change: FloatArray) -> None:
    """Update a curvature (n, n) in place, always positive definite, from the `change` of a gradient along a `step`."""
    if float(np.linalg.norm(step)) < 1e-9:
        return
    known = bend @ step
    met, expected = float(step @ change), float(step @ known)
    if expected <= 0.0:
        return
    share = 1.0 if met >= DAMPED * expected else (1.0 - DAMPED) * expected / (expected - met)
    seen = share * change + (1.0 - share) * known
    bend += np.outer(seen, seen) / float(step @ seen) - np.outer(known, known) / expected
