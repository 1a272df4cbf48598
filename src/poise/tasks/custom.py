"""A task defined by Python functions for its error and Jacobian."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike

from poise.arguments import shown
from poise.errors import TaskError
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.kernels.goals.goals import CUSTOM_GOAL
from poise.tasks.task import Goal, Task

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure
    from poise.tasks.obstacles import Obstacle, Plane

JACOBIAN_DIFFERENCE = 1e-6
"""Half the width of a central difference [rad or m]."""


class Computed(Protocol):
    """Something that computes the errors of a task in Python."""

    @property
    def kinks(self) -> float:
        """Largest excess of the error over the linear prediction, per unit of step, where its derivative jumps."""
        ...

    def error_at(self, posture: Posture) -> FloatArray:
        """(size,) the error in a posture, all zero when the task is met."""
        ...

    def jacobian_at(self, posture: Posture) -> FloatArray:
        """(size, nv) derivative of the error in a posture."""
        ...


class ComputedTask(Task):
    """The base of tasks whose errors are computed in Python, for what no goal of the kernels measures.

    The error is computed before and after each step. The engine takes it to be linear within a step, and shortens the
    step where it is not. It has no second derivatives, so that such a task converges more slowly if it cannot be met.
    """

    kind: ClassVar = ""
    size: int = 1
    """Number of components of the error."""
    kinks: ClassVar[float] = 0.0
    """Largest excess of the error over the linear prediction, per unit of step, where its derivative jumps."""

    def unit(self) -> str:
        """None: the unit of the error is not known."""
        return ""

    def goals(self, figure: Figure) -> list[Goal]:
        """One custom goal with `size` rows."""
        return [Goal(kind=CUSTOM_GOAL, directions=np.zeros((self.size, 3)), weights=self.weights_of(self.size))]

    def bound_to(self, figure: Figure, obstacles: Mapping[str, Obstacle | Plane]) -> Computed:
        """What computes the errors for a figure with obstacles by name: the task itself, if it needs none of them."""
        return self

    def error_at(self, posture: Posture) -> FloatArray:
        """(size,) the error in a posture, all zero when the task is met."""
        raise NotImplementedError

    def jacobian_at(self, posture: Posture) -> FloatArray:
        """(size, nv) derivative of the error in a posture; central differences of the error by default."""
        figure = posture.figure
        rows = np.empty((self.size, figure.nv))
        for k, nudge in enumerate(JACOBIAN_DIFFERENCE * np.eye(figure.nv)):
            ahead = self.error_at(figure.integrate(posture, nudge))
            behind = self.error_at(figure.integrate(posture, -nudge))
            rows[:, k] = (ahead - behind) / (2.0 * JACOBIAN_DIFFERENCE)
        return rows


@dataclass(frozen=True, eq=False)
class Custom(ComputedTask):
    """A task of your own, given by functions that are called before and after each step: it brings an error to zero."""

    kind: ClassVar = ""
    without_target: ClassVar = "has no target; let its function read one that you change"

    error: Callable[[Posture], ArrayLike]
    """`size` numbers for a posture, all zero when the task is met."""
    jacobian: Callable[[Posture], ArrayLike] | None = None
    """Derivative of the error, `size` × `figure.nv`; central differences of the error by default."""
    size: int = 1
    """Number of components of the error."""

    def __post_init__(self) -> None:
        """Check that the size is a positive integer and that error and Jacobian are functions."""
        super().__post_init__()
        size: object = self.size
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise TaskError(f"{self.label}: size must be a whole number of 1 or more, not {size!r}.")
        functions: list[object] = [self.error, self.jacobian or self.error]
        if not all(map(callable, functions)):
            raise TaskError(f"{self.label}: error and jacobian must be functions of a posture.")

    def describe(self) -> str:
        """The name for reports: that of the error function."""
        return f"custom {getattr(self.error, '__name__', 'task')}"

    def error_at(self, posture: Posture) -> FloatArray:
        """(size,) the error in a posture; raises `TaskError` if the function returns anything else."""
        return self._checked(self.error(posture), (self.size,), "error")

    def jacobian_at(self, posture: Posture) -> FloatArray:
        """(size, nv) derivative of the error in a posture."""
        if self.jacobian is None:
            return super().jacobian_at(posture)
        return self._checked(self.jacobian(posture), (self.size, posture.figure.nv), "jacobian")

    def _checked(self, value: ArrayLike, shape: tuple[int, ...], what: str) -> FloatArray:
        """Finite numbers of the given shape; raises `TaskError` for anything else."""
        try:
            numbers = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError):
            raise TaskError(f"{self.label}: its {what} must return numbers, not {shown(value)}.") from None
        if numbers.shape == () and shape == (1,):
            numbers = numbers.reshape(1)
        if numbers.shape != shape:
            raise TaskError(f"{self.label}: its {what} must have shape {shape}, not {numbers.shape}.")
        if not np.isfinite(numbers).all():
            raise TaskError(f"{self.label}: its {what} is not finite: {np.array2string(numbers, threshold=6)}.")
        return numbers
