"""Tasks about the centre of mass and the moment of inertia."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from poise.arguments import shown
from poise.errors import TaskError
from poise.figure.collision.soles import sole_corners, support_polygon
from poise.figure.model.pose import vector
from poise.kernels.goals.goals import CENTER_GOAL, INERTIA_GOAL, STAND_GOAL
from poise.tasks.amounts import inside_words, length
from poise.tasks.form import AXES, AXIS, MARGIN, TARGET, FormField, MenuEntry, field, parts_of
from poise.tasks.target import Target, nearest_target
from poise.tasks.task import Comparison, Goal, Seat, Task, axes_of, finite_vector, seat_of
from poise.tasks.words import along_words

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure
    from poise.figure.model.posture import Posture


@lru_cache(maxsize=64)
def sole_seats(figure: Figure, name: str) -> tuple[Seat, ...]:
    """The corners of the sole of a site or body, as frames on the compiled tree."""
    return tuple(seat_of(figure, name, corner) for corner in sole_corners(figure, name))


@dataclass(frozen=True, eq=False)
class CenterOfMass(Task):
    """Brings the centre of mass to a point, or over a support polygon.

    With `at`, the centre of mass goes to a point; `axes` chooses the coordinates that count. With `over`, the names of
    sites or bodies that stand on the ground, it stays above the convex hull of their soles, at least `margin` inside.
    """

    takes_arrays: ClassVar = True
    target_fields: ClassVar = ("at",)
    without_target: ClassVar = "stays over its support and has no target; use CenterOfMass(at=…) instead"
    menu: ClassVar = (
        MenuEntry("Centre of mass", lambda posture, site: CenterOfMass(posture.figure.center_of_mass(posture))),
        MenuEntry("Balance over", lambda posture, site: CenterOfMass(over=[site], name=f"balance over {site}"), True),
    )
    form: ClassVar = (
        TARGET,
        replace(AXES, applies=lambda task: task.at is not None),
        FormField(
            label="Supports",
            control="choices",
            get=lambda task: list(task.supports),
            put=lambda task, names, setting: replace(task, over=names),
            options=lambda setting: parts_of(setting.posture.figure),
            applies=lambda task: task.over is not None,
        ),
        replace(MARGIN, applies=lambda task: task.over is not None),
    )

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
        corners = [seat for name in self.supports for seat in sole_seats(figure, name)]
        return [
            Goal(
                kind=STAND_GOAL,
                directions=np.zeros((2, 3)),
                weights=self.weights_of(1).repeat(2),
                corners=corners,
                margin=self.margin,
            )
        ]

    def compare(self, posture: Posture) -> Comparison:
        """The coordinates that count, or the distance inside the support polygon."""
        if self.at is not None:
            center = posture.figure.center_of_mass(posture)
            return Comparison(along_words(self.axes, vector(self.at)), along_words(self.axes, center))
        inside = support_polygon(posture, self.supports).inside
        least = f", {length(self.margin)} inside" if self.margin else ""
        return Comparison(f"over {', '.join(self.supports)}{least}", inside_words(inside))

    def target_in(self, posture: Posture) -> Target | None:
        """The point; along axes that do not count it is that of the present centre of mass."""
        if self.at is None:
            return None
        center = posture.figure.center_of_mass(posture)
        return Target(nearest_target(center, vector(self.at), axes_of(self.axes, self.label)), center)


@dataclass(frozen=True, eq=False)
class MomentOfInertia(Task):
    """Brings the moment of inertia about an axis through the centre of mass to a value: small when curled up."""

    target_fields: ClassVar = ("value",)
    menu: ClassVar = (MenuEntry("Moment of inertia", lambda posture, site: MomentOfInertia(posture.figure.up, 0.0)),)
    form: ClassVar = (AXIS, field("value", "Target [kg m²]", low=0.0, step=0.5))

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

    def compare(self, posture: Posture) -> Comparison:
        """The moments."""
        value = posture.figure.moment_of_inertia(posture, self.axis)
        return Comparison(
            f"{float(self.value):.3g} kg m²" if self.value else "as small as can be", f"{value:.3g} kg m²"
        )


def inertia_of(value: ArrayLike, label: str) -> float:
    """Check a moment of inertia [kg m²]: a number of 0 or more."""
    number = np.asarray(value, dtype=np.float64)
    if number.shape != () or not math.isfinite(number) or number < 0.0:
        raise TaskError(f"{label}: a moment of inertia must be a number of 0 kg m² or more, not {shown(value)}.")
    return float(number)
