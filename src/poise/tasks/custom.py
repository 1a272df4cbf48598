"""A task that is given as Python functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from poise.errors import TaskError
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.kernels.goals.goals import CUSTOM_GOAL
from poise.tasks.task import Goal, Task

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure

JACOBIAN_DIFFERENCE = 1e-6
"""Half the width of a central difference [rad or m]."""


@dataclass(frozen=True, eq=False)
class Custom(Task):
    """Makes an error of your own vanish.

    The functions are called once per step, from Python. The engine takes the error to be linear within a step, and
    takes a shorter one where it turns out not to be; it does not know how the error bends, so a goal that cannot be
    met settles more slowly than those that are built in.
    """

    error: Callable[[Posture], ArrayLike]
    """`size` numbers for a posture, all zero when the task is met."""
    jacobian: Callable[[Posture], ArrayLike] | None = None
    """Derivative of the error, `size` × `figure.nv`; by default from differences of the error."""
    size: int = 1

    def __post_init__(self) -> None:
        """Check the size and that functions are functions."""
        super().__post_init__()
        size: object = self.size
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise TaskError(f"{self.label}: size must be a whole number from 1 on, not {size!r}.")
        functions: list[object] = [self.error, self.jacobian or self.error]
        if not all(map(callable, functions)):
            raise TaskError(f"{self.label}: error and jacobian must be functions of a posture.")

    def describe(self) -> str:
        """The name of the function."""
        return f"custom {getattr(self.error, '__name__', 'task')}"

    def unit(self) -> str:
        """Whatever its function measures."""
        return ""

    def goals(self, figure: Figure) -> list[Goal]:
        """`size` rows that come from outside."""
        return [Goal(kind=CUSTOM_GOAL, directions=np.zeros((self.size, 3)), weights=self.weights_of(self.size))]

    def error_at(self, posture: Posture) -> FloatArray:
        """(size,) its error in a posture; raises `TaskError` when that is no such thing."""
        return self._checked(self.error(posture), (self.size,), "error")

    def jacobian_at(self, posture: Posture) -> FloatArray:
        """(size, nv) derivative of its error in a posture."""
        if self.jacobian is None:
            return self._differences(posture)
        return self._checked(self.jacobian(posture), (self.size, posture.figure.nv), "jacobian")

    def _differences(self, posture: Posture) -> FloatArray:
        figure = posture.figure
        rows = np.empty((self.size, figure.nv))
        for k, nudge in enumerate(JACOBIAN_DIFFERENCE * np.eye(figure.nv)):
            ahead = self.error_at(figure.integrate(posture, nudge))
            behind = self.error_at(figure.integrate(posture, -nudge))
            rows[:, k] = (ahead - behind) / (2.0 * JACOBIAN_DIFFERENCE)
        return rows

    def _checked(self, value: ArrayLike, shape: tuple[int, ...], what: str) -> FloatArray:
        try:
            numbers = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError):
            raise TaskError(f"{self.label}: its {what} must return numbers, not {value!r}.") from None
        if numbers.shape == () and shape == (1,):
            numbers = numbers.reshape(1)
        if numbers.shape != shape:
            raise TaskError(f"{self.label}: its {what} must have shape {shape}, not {numbers.shape}.")
        if not np.isfinite(numbers).all():
            raise TaskError(f"{self.label}: its {what} is not finite: {np.array2string(numbers, threshold=6)}.")
        return numbers
