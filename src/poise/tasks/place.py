"""Tasks about where a part of the figure is and how it is turned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from poise.errors import TaskError
from poise.figure.model.pose import FloatArray, Pose
from poise.kernels.goals.goals import AIM_GOAL, POINT_GOAL, TURN_GOAL
from poise.tasks.task import WORLD_SEAT, Goal, Task, axes_of, finite_vector, seat_of

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure


@dataclass(frozen=True, eq=False)
class Position(Task):
    """A point of the figure at a place.

    `axes` chooses which coordinates matter: "y" keeps the point in a plane, "xy" on a line; vectors may stand for
    letters. `relative_to` names a site or body in whose frame `at` and `axes` are given, instead of the world's.
    """

    site: str
    at: ArrayLike
    axes: str | ArrayLike = "xyz"
    relative_to: str | None = None
    offset: ArrayLike | None = None
    """The point, in the site's own axes [m]."""

    def __post_init__(self) -> None:
        """Check the place."""
        super().__post_init__()
        finite_vector(self.at, f"{self.label}: at")

    def describe(self) -> str:
        """What is where."""
        return f"position of {self.site}"

    def goals(self, figure: Figure) -> list[Goal]:
        """Up to three rows."""
        directions = axes_of(self.axes, self.label)
        return [
            Goal(
                kind=POINT_GOAL,
                directions=directions,
                weights=self.weights_of(len(directions)),
                seat=seat_of(figure, self.site, self.offset),
                base=WORLD_SEAT if self.relative_to is None else seat_of(figure, self.relative_to),
                position=finite_vector(self.at, "at"),
            )
        ]


@dataclass(frozen=True, eq=False)
class Orientation(Task):
    """A site turned a certain way; `axes` chooses about which axes it matters."""

    site: str
    rotation: ArrayLike
    """Wanted rotation, a quaternion (w, x, y, z)."""
    axes: str | ArrayLike = "xyz"
    relative_to: str | None = None

    def __post_init__(self) -> None:
        """Check the rotation."""
        super().__post_init__()
        rotation_of(self.rotation, self.label)

    def describe(self) -> str:
        """What is turned."""
        return f"orientation of {self.site}"

    def unit(self) -> str:
        """Errors are angles."""
        return "rad"

    def goals(self, figure: Figure) -> list[Goal]:
        """Up to three rows."""
        directions = axes_of(self.axes, self.label)
        return [
            Goal(
                kind=TURN_GOAL,
                directions=directions,
                weights=self.weights_of(len(directions)),
                seat=seat_of(figure, self.site),
                base=WORLD_SEAT if self.relative_to is None else seat_of(figure, self.relative_to),
                rotation=rotation_of(self.rotation, self.label),
            )
        ]


@dataclass(frozen=True, eq=False)
class Frame(Task):
    """A site at a place and turned a certain way; `weight` is one number, or six, three of them for the place."""

    site: str
    pose: Pose
    relative_to: str | None = None

    def describe(self) -> str:
        """What is placed."""
        return f"frame of {self.site}"

    def unit(self) -> str:
        """Errors mix both."""
        return "m+rad"

    def goals(self, figure: Figure) -> list[Goal]:
        """Six rows."""
        weights = self.weights_of(6)
        seat = seat_of(figure, self.site)
        base = WORLD_SEAT if self.relative_to is None else seat_of(figure, self.relative_to)
        pose = pose_of(self.pose, self.label)
        return [
            Goal(
                kind=POINT_GOAL, directions=np.eye(3), weights=weights[:3], seat=seat, base=base, position=pose.position
            ),
            Goal(
                kind=TURN_GOAL, directions=np.eye(3), weights=weights[3:], seat=seat, base=base, rotation=pose.rotation
            ),
        ]


@dataclass(frozen=True, eq=False)
class LookAt(Task):
    """A site's axis points at a place, or along a direction."""

    site: str
    at: ArrayLike | None = None
    """The point to look at [m]."""
    direction: ArrayLike | None = None
    """The direction to look in, instead of a point."""
    axis: ArrayLike = (0.0, 1.0, 0.0)
    """What points there, in the site's own axes: three numbers, or a word such as "y" or "-z"."""
    relative_to: str | None = None

    def __post_init__(self) -> None:
        """Exactly one of a point and a direction."""
        super().__post_init__()
        if (self.at is None) == (self.direction is None):
            raise TaskError(f"{self.label}: say either a point (at=) or a direction (direction=) to look at.")
        if self.direction is not None and self.relative_to is not None:
            raise TaskError(f"{self.label}: a direction is always the world's; look at= a point relative_to a part.")
        self._wanted()
        self.unit_axis()

    def _wanted(self) -> FloatArray:
        if self.at is not None:
            return finite_vector(self.at, f"{self.label}: at")
        return direction_of(self.direction if self.direction is not None else (), self.label)

    def unit_axis(self) -> FloatArray:
        """(3,) what points there, in the site's own axes."""
        axis: FloatArray = axes_of(finite_vector(self.axis, f"{self.label}: axis"), self.label)[0]
        return axis

    def describe(self) -> str:
        """Who looks."""
        return f"gaze of {self.site}"

    def unit(self) -> str:
        """Errors are angles."""
        return "rad"

    def goals(self, figure: Figure) -> list[Goal]:
        """Two rows, across the line of sight."""
        return [
            Goal(
                kind=AIM_GOAL,
                directions=np.repeat(self.unit_axis()[None], 2, axis=0),
                weights=self.weights_of(1).repeat(2),
                seat=seat_of(figure, self.site),
                base=WORLD_SEAT if self.relative_to is None else seat_of(figure, self.relative_to),
                position=self._wanted(),
                value=0.0 if self.at is not None else 1.0,
            )
        ]


def rotation_of(value: ArrayLike, label: str) -> FloatArray:
    """A unit quaternion from four finite numbers."""
    numbers = np.asarray(value, dtype=np.float64)
    size = float(np.linalg.norm(numbers)) if numbers.shape == (4,) else 0.0
    if not np.all(np.isfinite(numbers)) or size < 1e-9:
        raise TaskError(f"{label}: a rotation is a quaternion (w, x, y, z) of some length, not {value!r}.")
    unit: FloatArray = numbers / size
    return unit


def direction_of(value: ArrayLike, label: str) -> FloatArray:
    """A unit vector from three finite numbers, or from a word for an axis."""
    direction = finite_vector(value, f"{label}: direction")
    size = float(np.linalg.norm(direction))
    if size < 1e-9:
        raise TaskError(f"{label}: the direction to look in has no length.")
    unit: FloatArray = direction / size
    return unit


def pose_of(value: Any, label: str) -> Pose:
    """A pose, from one or from a place and a rotation."""
    if isinstance(value, Pose):
        return value
    try:
        return Pose(*value)
    except (TypeError, ValueError) as error:
        raise TaskError(f"{label}: a pose is a place and a rotation, not {value!r}.") from error
