"""Tasks about the centre of mass and the moment of inertia."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from poise.errors import TaskError
from poise.figure.collision.soles import sole_corners
from poise.figure.model.pose import vector
from poise.kernels.goals.goals import CENTER_GOAL, INERTIA_GOAL, STAND_GOAL
from poise.tasks.task import Goal, Task, axes_of, finite_vector, seat_of

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure


@dataclass(frozen=True, eq=False)
class CenterOfMass(Task):
    """The centre of mass is at a point, or over a support polygon.

    With `at`, the centre of mass goes to a point; `axes` chooses the coordinates that count. With `over`, the names of
    sites or bodies that stand on the ground, it stays above the convex hull of their soles, at least `margin` inside.
    """

    at: ArrayLike | None = None
    """(3,) wanted position of the centre of mass [m]."""
    over: str | Iterable[str] | None = None
    """Names of the sites or bodies that stand on the ground."""
    axes: str | ArrayLike = "xyz"
    """Coordinates of `at` that count, as letters or vectors."""
    margin: float = 0.0
    """Distance to keep from the edges of the support polygon, inside [m]."""

    def __post_init__(self) -> None:
        """Check that exactly one of point and support is given, and the margin."""
        super().__post_init__()
        if (self.at is None) == (self.over is None):
            raise TaskError(f"{self.label}: give either a point (at=) or the supports to be over (over=).")
        if not math.isfinite(self.margin) or self.margin < 0.0:
            raise TaskError(f"{self.label}: margin must be a length of 0 m or more, not {self.margin}.")

    def describe(self) -> str:
        """The name for reports."""
        return "centre of mass"

    @property
    def supports(self) -> tuple[str, ...]:
        """Names of the supports, as a tuple."""
        return (self.over,) if isinstance(self.over, str) else tuple(self.over or ())

    def goals(self, figure: Figure) -> list[Goal]:
        """One goal: a row for each coordinate that counts, or two rows for a support."""
        if figure.mass <= 0.0:
            raise TaskError(f"{self.label}: figure {figure.name!r} has no mass.")
        if self.at is not None:
            directions = axes_of(self.axes, self.label)
            weights = self.weights_of(len(directions))
            place = finite_vector(self.at, f"{self.label}: at")
            return [Goal(kind=CENTER_GOAL, directions=directions, weights=weights, position=place)]
        if not self.supports:
            raise TaskError(f"{self.label}: over= must name at least one support.")
        corners = [seat_of(figure, name, corner) for name in self.supports for corner in sole_corners(figure, name)]
        return [
            Goal(
                kind=STAND_GOAL,
                directions=np.zeros((2, 3)),
                weights=self.weights_of(1).repeat(2),
                corners=corners,
                margin=self.margin,
            )
        ]


@dataclass(frozen=True, eq=False)
class MomentOfInertia(Task):
    """The moment of inertia about an axis through the centre of mass: small when curled up, large when spread out."""

    axis: ArrayLike
    """(3,) direction of the axis in the world."""
    value: float
    """Wanted moment [kg m²]; 0 for as small as possible."""

    def __post_init__(self) -> None:
        """Check the value and the axis."""
        super().__post_init__()
        inertia_of(self.value, self.label)
        axes_of(vector(self.axis), self.label)

    def describe(self) -> str:
        """The name for reports."""
        return "moment of inertia"

    def unit(self) -> str:
        """Unit of its error."""
        return "kg m²"

    def goals(self, figure: Figure) -> list[Goal]:
        """One goal with one row."""
        if figure.mass <= 0.0:
            raise TaskError(f"{self.label}: figure {figure.name!r} has no mass.")
        axis = axes_of(vector(self.axis), self.label)[0]
        return [
            Goal(
                kind=INERTIA_GOAL,
                directions=np.zeros((1, 3)),
                weights=self.weights_of(1),
                position=axis,
                value=float(self.value),
            )
        ]


def inertia_of(value: ArrayLike, label: str) -> float:
    """Check a moment of inertia [kg m²]: a number of 0 or more."""
    number = np.asarray(value, dtype=np.float64)
    if number.shape != () or not math.isfinite(number) or number < 0.0:
        raise TaskError(f"{label}: a moment of inertia must be a number of 0 kg m² or more, not {value!r}.")
    return float(number)
