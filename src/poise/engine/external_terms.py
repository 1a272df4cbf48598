"""Terms of a problem that Python computes before every step: users' gradients and tasks, and the region of balance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from poise.engine.engine_arrays import TaskRows
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.forces.acting import Acting
from poise.forces.support_region import support_region
from poise.kernels.goals.criteria import Criteria
from poise.kernels.goals.goals import Goals
from poise.tasks.custom import ComputedTask

FIRST_GRADIENT_STEP = 0.1
"""Length of the first step against a gradient, whose curvature is unknown [rad or m]."""
MIN_CURVATURE_SHARE = 0.2
"""Least measured curvature, as a share of the estimated one, that enters the BFGS update undamped."""


class ExternalTerm(Protocol):
    """Something whose arrays depend on the posture and are computed in Python."""

    def update(self, posture: Posture) -> None:
        """Compute the arrays for the posture from which the next step starts."""

    def forget(self) -> None:
        """Forget earlier postures."""


class SupportOutline:
    """Outline of the region in which supports without shares can balance the figure, for a stand goal."""

    def __init__(self, goals: Goals, g: int, acting: Acting) -> None:
        """Compute the corners of goal `g` from the forces and supports in `acting`."""
        self.goals, self.g, self.acting = goals, g, acting
        self.is_empty = False
        """Whether the supports cannot balance the figure for any centre of mass."""

    def update(self, posture: Posture) -> None:
        """Compute the corners of the outline in a posture."""
        goals, g = self.goals, self.g
        corners = slice(goals.corner_start[g], goals.corner_start[g + 1])
        region = support_region(self.acting, posture, goals.position[g], corners.stop - corners.start)
        self.is_empty = not region.possible
        goals.corner_node[corners], goals.corner_place[corners] = region.node, region.place

    def forget(self) -> None:
        """Do nothing: the outline does not depend on earlier postures."""


class ExternalGradients:
    """Gradients of users' functions, with a BFGS estimate of their Hessian [Nocedal & Wright 2006, proc. 18.2]."""

    def __init__(
        self, figure: Figure, criteria: Criteria, gradients: Sequence[Callable[[Posture], FloatArray]]
    ) -> None:
        """Add the gradients to the slope of the other criteria."""
        self.figure, self.criteria, self.gradients = figure, criteria, tuple(gradients)
        self.own_slope = criteria.slope.copy()
        self.last: tuple[Posture, FloatArray] | None = None
        self.scaled = False
        """Whether the Hessian has been scaled to the curvature measured along a first step."""

    def forget(self) -> None:
        """Forget the last gradient and the estimate of the Hessian."""
        self.last, self.scaled = None, False

    def update(self, posture: Posture) -> None:
        """Compute the gradient at a posture, and update the Hessian from its change since the last posture."""
        gradient: FloatArray = np.sum([function(posture) for function in self.gradients], axis=0)
        hessian = self.criteria.slope_hessian
        if self.last is None:
            hessian[:] = np.eye(len(gradient)) * float(np.linalg.norm(gradient)) / FIRST_GRADIENT_STEP
        else:
            step, change = self.figure.difference(self.last[0], posture), gradient - self.last[1]
            if not self.scaled and float(step @ change) > 0.0:
                hessian[:] = np.eye(len(gradient)) * float(change @ change) / float(step @ change)
                self.scaled = True
            update_hessian(hessian, step, change)
        self.last = posture, gradient
        self.criteria.slope[:] = self.own_slope + gradient
        self.criteria.origin[:] = posture._q


def update_hessian(hessian: FloatArray, step: FloatArray, change: FloatArray) -> None:
    """Update a `hessian` (n, n) in place by damped BFGS, from the `change` of a gradient along a `step`.

    It stays positive definite: where the measured curvature is too small, the change is blended with the expected one.
    """
    if float(np.linalg.norm(step)) < 1e-9:
        return
    expected_change = hessian @ step
    measured, expected = float(step @ change), float(step @ expected_change)
    if expected <= 0.0:
        return
    is_enough = measured >= MIN_CURVATURE_SHARE * expected
    share = 1.0 if is_enough else (1.0 - MIN_CURVATURE_SHARE) * expected / (expected - measured)
    blended = share * change + (1.0 - share) * expected_change
    hessian += (
        np.outer(blended, blended) / float(step @ blended) - np.outer(expected_change, expected_change) / expected
    )


class CustomTasks(NamedTuple):
    """All `ComputedTask`s of a problem, and their rows."""

    figure: Figure
    tasks: tuple[tuple[ComputedTask, slice], ...]

    @classmethod
    def of(cls, figure: Figure, task_rows: Sequence[TaskRows]) -> CustomTasks:
        """Select them among all tasks."""
        return cls(figure, tuple((t.task, t.rows) for t in task_rows if isinstance(t.task, ComputedTask)))

    def write_rows(self, q: FloatArray, goals: Goals) -> None:
        """Write errors and Jacobian rows at the posture `q` (nq,); rows are minus the derivative of the error."""
        posture = Posture(self.figure, q.copy())
        goals.custom_at[:] = q
        for task, rows in self.tasks:
            goals.custom_error[rows] = task.error_at(posture)
            goals.custom_rows[rows] = -task.jacobian_at(posture)

    def got_worse(self, q: FloatArray, goals: Goals, predicted: FloatArray, moved: float) -> bool:
        """Whether a step to `q` raised the error of some task by more than terms of second order.

        Args:
            q: (nq,) posture after the step.
            goals: Goals, with the errors and rows from before the step.
            predicted: (m,) errors of all goals after the step, extrapolated linearly.
            moved: Size of the step [rad or m].
        """
        posture = Posture(self.figure, q.copy())
        for task, rows in self.tasks:
            expected = max(np.linalg.norm(goals.custom_error[rows]), np.linalg.norm(predicted[rows]))
            if np.linalg.norm(task.error_at(posture)) > expected + moved * moved + 1e-9:
                return True
        return False
