"""Tasks about the position and rotation of a part of the figure."""

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
    """A point of the figure is at a position.

    `axes` chooses the coordinates that count: "y" keeps the point in a plane, "xy" on a line; vectors may replace the
    letters. `relative_to` names a site or body in whose frame `at` and `axes` are given, instead of the world's.
    """

    site: str
    """Name of a site or body."""
    at: ArrayLike
    """(3,) wanted position [m]."""
    axes: str | ArrayLike = "xyz"
    """Coordinates that count, as letters or up to three vectors."""
    relative_to: str | None = None
    """Name of the site or body in whose frame the position is given; the world if None."""
    offset: ArrayLike | None = None
    """(3,) the point to bring there, in the site's own axes [m]; the site's origin if None."""

    def __post_init__(self) -> None:
        """Check the position."""
        super().__post_init__()
        finite_vector(self.at, f"{self.label}: at")

    def describe(self) -> str:
        """The name for reports."""
        return f"position of {self.site}"

    def goals(self, figure: Figure) -> list[Goal]:
        """One goal with up to three rows."""
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
    """A site has a rotation; `axes` chooses the axes about which it counts."""

    site: str
    """Name of a site or body."""
    rotation: ArrayLike
    """(4,) wanted rotation, a quaternion (w, x, y, z)."""
    axes: str | ArrayLike = "xyz"
    """Axes of rotation that count, as letters or up to three vectors."""
    relative_to: str | None = None
    """Name of the site or body in whose frame the rotation is given; the world if None."""

    def __post_init__(self) -> None:
        """Check the rotation."""
        super().__post_init__()
        rotation_of(self.rotation, self.label)

    def describe(self) -> str:
        """The name for reports."""
        return f"orientation of {self.site}"

    def unit(self) -> str:
        """Unit of its error, an angle."""
        return "rad"

    def goals(self, figure: Figure) -> list[Goal]:
        """One goal with up to three rows."""
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
    """A site has a position and a rotation; `weight` is one number, or six: three for the position, then three."""

    site: str
    """Name of a site or body."""
    pose: Pose
    """Wanted position and rotation."""
    relative_to: str | None = None
    """Name of the site or body in whose frame the pose is given; the world if None."""

    def describe(self) -> str:
        """The name for reports."""
        return f"frame of {self.site}"

    def unit(self) -> str:
        """Unit of its error, which mixes lengths and angles."""
        return "m+rad"

    def goals(self, figure: Figure) -> list[Goal]:
        """Two goals with three rows each: the position and the rotation."""
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
    """An axis of a site points at a point, or along a direction."""

    site: str
    """Name of a site or body."""
    at: ArrayLike | None = None
    """(3,) the point to look at [m]."""
    direction: ArrayLike | None = None
    """(3,) the direction to look in, in the world, instead of a point."""
    axis: ArrayLike = (0.0, 1.0, 0.0)
    """The axis to point with, in the site's own axes: three numbers, or a word such as "y" or "-z"."""
    relative_to: str | None = None
    """Name of the site or body in whose frame the point is given; the world if None."""

    def __post_init__(self) -> None:
        """Check that exactly one of point and direction is given, and the numbers."""
        super().__post_init__()
        if (self.at is None) == (self.direction is None):
            raise TaskError(f"{self.label}: give either a point (at=) or a direction (direction=) to look at.")
        if self.direction is not None and self.relative_to is not None:
            raise TaskError(
                f"{self.label}: a direction is always in world axes; only a point (at=) can be relative_to a part."
            )
        self._wanted()
        self.unit_axis()

    def _wanted(self) -> FloatArray:
        """(3,) the point, or the unit vector of the direction."""
        if self.at is not None:
            return finite_vector(self.at, f"{self.label}: at")
        return direction_of(self.direction if self.direction is not None else (), self.label)

    def unit_axis(self) -> FloatArray:
        """(3,) unit vector of the axis to point with, in the site's own axes."""
        axis: FloatArray = axes_of(finite_vector(self.axis, f"{self.label}: axis"), self.label)[0]
        return axis

    def describe(self) -> str:
        """The name for reports."""
        return f"gaze of {self.site}"

    def unit(self) -> str:
        """Unit of its error, an angle."""
        return "rad"

    def goals(self, figure: Figure) -> list[Goal]:
        """One goal with two rows, across the line of sight."""
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
        raise TaskError(f"{label}: a rotation must be a quaternion (w, x, y, z) that is not zero, not {value!r}.")
    unit: FloatArray = numbers / size
    return unit


def direction_of(value: ArrayLike, label: str) -> FloatArray:
    """A unit vector from three finite numbers, or from a word for an axis."""
    direction = finite_vector(value, f"{label}: direction")
    size = float(np.linalg.norm(direction))
    if size < 1e-9:
        raise TaskError(f"{label}: the direction to look in must not be the zero vector.")
    unit: FloatArray = direction / size
    return unit


def pose_of(value: Any, label: str) -> Pose:
    """A pose, from a pose or from a position and a rotation."""
    if isinstance(value, Pose):
        return value
    try:
        return Pose(*value)
    except (TypeError, ValueError) as error:
        raise TaskError(f"{label}: a pose must be a position and a rotation, not {value!r}.") from error
