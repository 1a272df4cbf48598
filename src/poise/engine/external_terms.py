"""Terms of a problem that Python computes before every step: users' gradients and tasks, and the region of balance."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from poise.engine.engine_arrays import TaskRows
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.forces.acting import Acting
from poise.forces.missing_wrench import Balancing, MissingWrench, typical_length
from poise.forces.support_region import support_region
from poise.kernels.goals.criteria import Criteria
from poise.kernels.goals.goals import Goals
from poise.tasks.avoid import Avoid
from poise.tasks.custom import Computed, ComputedTask
from poise.tasks.touch import BoundTouch

RANGE_TOLERANCE = 1e-6
"""Singular value of a Jacobian up to which its direction cannot be changed [m/rad or 1]."""
FIRST_GRADIENT_STEP = 0.1
"""Length of the first step against a gradient, whose curvature is unknown [rad or m]."""
MIN_GAIN_ABOVE = 1e-6
"""Gain of the levels above balance for which balance may give way, the tolerance of a solve [m or rad]."""
LARGE_STEP = 0.005
"""Size of a step above which errors may rise where their derivatives jump [rad or m]; below, they would not settle."""
MIN_CURVATURE_SHARE = 0.2
"""Least measured curvature, as a share of the estimated one, that enters the BFGS update undamped."""


class ExternalTerm(Protocol):
    """Something whose arrays depend on the posture and are computed in Python."""

    def update(self, posture: Posture) -> None:
        """Compute the arrays for the posture from which the next step starts."""

    def forget(self) -> None:
        """Forget earlier postures."""


class SupportOutline:
    """Outline of the region in which supports without shares can balance the figure, for a stand goal.

    Where there is no such region, the goal has no edges, and two goals after it aim to remove the missing wrench. One
    is about its moment, with the contact forces fixed to the best ones before the step: what they then leave is no less
    than what the best ones after the step leave. The other is about its force, which only pushes that turn with a body
    can change.
    """

    def __init__(self, goals: Goals, g: int, acting: Acting, above: NDArray[np.int64]) -> None:
        """Compute the corners of goal `g`, and the errors of the next two.

        Args:
            goals: All goals.
            g: Index of the stand goal.
            acting: Forces and supports.
            above: (k,) rows of all tasks of higher levels.
        """
        self.goals, self.g, self.acting, self._above = goals, g, acting, above
        self.missing: MissingWrench | None = None
        """The wrench that contact forces cannot supply, if they balance the figure for no centre of mass."""
        first = goals.first
        self._moment_rows = slice(int(first[g + 1]), int(first[g + 2]))
        self._force_rows = slice(int(first[g + 2]), int(first[g + 3]))
        self._length = typical_length(acting)

    def update(self, posture: Posture) -> None:
        """Compute the corners of the outline in a posture, or the missing wrench."""
        goals, g = self.goals, self.g
        corners = slice(goals.corner_start[g], goals.corner_start[g + 1])
        region = support_region(self.acting, posture, goals.position[g], corners.stop - corners.start)
        goals.corner_node[corners], goals.corner_place[corners] = region.node, region.place
        goals.direction[self._moment_rows], self.missing = 0.0, None
        goals.custom_error[self._force_rows], goals.custom_rows[self._force_rows] = 0.0, 0.0
        if not region.possible:
            self._aim_at(Balancing(self.acting, posture, self._length))

    def _aim_at(self, balancing: Balancing) -> None:
        """Let the two goals aim to remove the missing wrench."""
        goals, g, forces = self.goals, self.g + 1, balancing.weight * balancing.forces
        self.missing = balancing.missing
        end = int(goals.load_start[g + 1])
        goals.loads.force[end - len(forces) : end] = forces
        goals.position[g] = balancing.middle
        goals.direction[self._moment_rows] = balancing.moment_axes()
        jacobian = balancing.force_jacobian()
        goals.custom_at[:] = balancing.posture._q
        # The part of the error that no joint can change is left out, so that the rest can be met.
        goals.custom_error[self._force_rows] = _in_range(jacobian, self.missing.error[:3])
        goals.custom_rows[self._force_rows] = -jacobian

    def got_worse(self, posture: Posture, before: FloatArray, after: FloatArray) -> bool:
        """Whether a step increased the missing wrench although no higher level improved.

        The two goals do not see all of the missing wrench, so the engine cannot tell.

        Args:
            posture: The posture after the step.
            before: (m,) errors of all goals before the step.
            after: (m,) errors of all goals after the step.
        """
        gain = float(np.linalg.norm(before[self._above]) - np.linalg.norm(after[self._above]))
        if self.missing is None or gain > MIN_GAIN_ABOVE:
            return False
        found = Balancing(self.acting, posture, self._length).missing.error
        return bool(np.linalg.norm(found) > np.linalg.norm(self.missing.error) + 1e-9)

    def forget(self) -> None:
        """Do nothing: the outline does not depend on earlier postures."""


def _in_range(jacobian: FloatArray, error: FloatArray) -> FloatArray:
    """(m,) the part of an error that the columns of a Jacobian (m, nv) can change."""
    basis, sizes, _ = np.linalg.svd(jacobian, full_matrices=False)
    used = basis[:, sizes > RANGE_TOLERANCE]
    part: FloatArray = used @ (used.T @ error)
    return part


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
    tasks: tuple[tuple[Computed, slice], ...]

    @classmethod
    def of(cls, figure: Figure, task_rows: Sequence[TaskRows], avoids: Iterable[Avoid]) -> CustomTasks:
        """Bind those of these rows to the figure, and to the obstacles of `avoids`, by their names or numbers."""
        named = {o.name or f"obstacle {k}": o for task in avoids for k, o in enumerate(task.obstacles, start=1)}
        found = [(t.task.bound_to(figure, named), t.rows) for t in task_rows if isinstance(t.task, ComputedTask)]
        return cls(figure, tuple(found))

    @property
    def touches(self) -> list[BoundTouch]:
        """Those that bring two surfaces into contact."""
        return [task for task, _ in self.tasks if isinstance(task, BoundTouch)]

    def write_rows(self, q: FloatArray, goals: Goals) -> None:
        """Write errors and Jacobian rows at the posture `q` (nq,); rows are minus the derivative of the error."""
        posture = Posture(self.figure, q.copy())
        goals.custom_at[:] = q
        for task, rows in self.tasks:
            goals.custom_error[rows] = task.error_at(posture)
            goals.custom_rows[rows] = -task.jacobian_at(posture)

    def got_worse(self, q: FloatArray, goals: Goals, predicted: FloatArray, moved: float) -> bool:
        """Whether a step to `q` raised the error of some task by more than terms of second order, and kinks, explain.

        Args:
            q: (nq,) posture after the step.
            goals: Goals, with the errors and rows from before the step.
            predicted: (m,) errors of all goals after the step, extrapolated linearly.
            moved: Size of the step [rad or m].
        """
        posture = Posture(self.figure, q.copy())
        for task, rows in self.tasks:
            kinks = task.kinks if moved > LARGE_STEP else 0.0
            expected = max(np.linalg.norm(goals.custom_error[rows]), np.linalg.norm(predicted[rows]))
            if np.linalg.norm(task.error_at(posture)) > expected + moved * (moved + kinks) + 1e-9:
                return True
        return False
