"""Tasks about where the mass is."""

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
    """The centre of mass at a place, or over a support.

    With `over`, a list of sites or bodies that stand on the ground, it stays above the convex hull of their soles, at
    least `margin` inside. With `at`, it goes to a point, of which `axes` says the coordinates that matter.
    """

    at: ArrayLike | None = None
    over: str | Iterable[str] | None = None
    axes: str | ArrayLike = "xyz"
    margin: float = 0.0
    """How far inside the support to stay [m]."""

    def __post_init__(self) -> None:
        """Exactly one of a point and a support."""
        super().__post_init__()
        if (self.at is None) == (self.over is None):
            raise TaskError(f"{self.label}: say either a point (at=) or what it should be over (over=).")
        if not math.isfinite(self.margin) or self.margin < 0.0:
            raise TaskError(f"{self.label}: margin must be a length, not {self.margin}.")

    def describe(self) -> str:
        """What it is."""
        return "centre of mass"

    @property
    def supports(self) -> tuple[str, ...]:
        """What it should be over."""
        return (self.over,) if isinstance(self.over, str) else tuple(self.over or ())

    def goals(self, figure: Figure) -> list[Goal]:
        """Rows for the axes asked, or two for a support."""
        if figure.mass <= 0.0:
            raise TaskError(f"{self.label}: figure {figure.name!r} has no mass.")
        if self.at is not None:
            directions = axes_of(self.axes, self.label)
            weights = self.weights_of(len(directions))
            place = finite_vector(self.at, f"{self.label}: at")
            return [Goal(kind=CENTER_GOAL, directions=directions, weights=weights, position=place)]
        if not self.supports:
            raise TaskError(f"{self.label}: over= names no support.")
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
    """The moment of inertia about an axis through the centre of mass; small is curled up, large is spread out."""

    axis: ArrayLike
    value: float
    """Wanted moment [kg m²]; 0 for as small as possible."""

    def __post_init__(self) -> None:
        """Check the value."""
        super().__post_init__()
        inertia_of(self.value, self.label)
        axes_of(vector(self.axis), self.label)

    def describe(self) -> str:
        """What it is."""
        return "moment of inertia"

    def unit(self) -> str:
        """Kilograms times square metres."""
        return "kg m²"

    def goals(self, figure: Figure) -> list[Goal]:
        """One row."""
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
    """A moment of inertia from a number [kg m²]."""
    number = np.asarray(value, dtype=np.float64)
    if number.shape != () or not math.isfinite(number) or number < 0.0:
        raise TaskError(f"{label}: a moment of inertia is a number from 0 on, not {value!r}.")
    return float(number)
