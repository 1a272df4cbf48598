"""Tasks about the position and rotation of a part of the figure."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from poise.arguments import shown
from poise.errors import TaskError
from poise.figure.model.pose import FloatArray, Pose, vector
from poise.kernels.goals.goals import POINT_GOAL, TURN_GOAL
from poise.tasks.amounts import LENGTH_AND_ANGLE, amount, length
from poise.tasks.form import AXES, AXES_OF, RELATIVE_TO, SITE, TARGET, FormField, MenuEntry, rotation_field
from poise.tasks.target import Target, TargetLike, nearest_target, part_from_world, world_from_part
from poise.tasks.task import Comparison, Goal, Task, axes_of, base_seat, finite_vector, seat_of
from poise.tasks.words import along_words, place_words, turn_words

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure
    from poise.figure.model.posture import Posture


@dataclass(frozen=True, eq=False)
class Position(Task):
    """Brings a point of the figure, such as a hand, to a position.

    `axes` selects the coordinates that must match: all three by default, "y" for any point of a plane, "xy" for any
    point of a line parallel to z; unit vectors may replace the letters. `at` and `axes` are in the world's axes, or in
    those of the site or body `relative_to`.
    """

    target_fields: ClassVar = ("at",)
    takes_arrays: ClassVar = True
    menu: ClassVar = (
        MenuEntry("Position", lambda posture, site: Position(site, world_from_part(posture, site).position), True),
    )
    form: ClassVar = (
        SITE,
        FormField(
            label="Offset from the site [m]",
            control="point",
            get=lambda task: vector((0.0, 0.0, 0.0) if task.offset is None else task.offset),
            put=lambda task, value, setting: replace(task, offset=value if any(value) else None),
            step=0.01,
        ),
        TARGET,
        AXES,
        RELATIVE_TO,
    )

    site: str
    """Name of a site or body."""
    at: ArrayLike
    """(3,) wanted position [m]."""
    axes: str | ArrayLike = "xyz"
    """Coordinates that must match `at`, as letters or up to three vectors; the others are free."""
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
                base=base_seat(figure, self.relative_to),
                position=finite_vector(self.at, "at"),
            )
        ]

    def point_in(self, posture: Posture) -> FloatArray:
        """(3,) world position of the controlled point [m]."""
        site = world_from_part(posture, self.site)
        return site.position if self.offset is None else site.apply(vector(self.offset))

    def compare(self, posture: Posture) -> Comparison:
        """The coordinates that count, in the frame in which they are given."""
        point = part_from_world(posture, self.relative_to).apply(self.point_in(posture))
        beside = "" if self.relative_to is None else f" from {self.relative_to}"
        return Comparison(along_words(self.axes, vector(self.at)) + beside, along_words(self.axes, point))

    def target_in(self, posture: Posture) -> Target:
        """The position; along axes that do not count it is that of the controlled point."""
        world_from_base, got = world_from_part(posture, self.relative_to), self.point_in(posture)
        here = world_from_base.inverse().apply(got)
        wanted = nearest_target(here, vector(self.at), axes_of(self.axes, self.label))
        return Target(world_from_base.apply(wanted), got, world_from_base.rotation)


@dataclass(frozen=True, eq=False)
class Orientation(Task):
    """Turns a site or body to a rotation.

    `axes` selects the axes about which the rotation must match; about the others it is free. With `own_axes` they are
    the axes of the site itself: "xy" then lets it turn about its own z axis, wherever that points, and a weight of
    three numbers belongs to its own three axes.
    """

    target_fields: ClassVar = ("rotation",)
    takes_arrays: ClassVar = True
    menu: ClassVar = (
        MenuEntry(
            "Orientation", lambda posture, site: Orientation(site, world_from_part(posture, site).rotation), True
        ),
    )
    form: ClassVar = (
        SITE,
        rotation_field(
            lambda task: rotation_of(task.rotation, task.label), lambda task, value: replace(task, rotation=value)
        ),
        AXES,
        AXES_OF,
        RELATIVE_TO,
    )

    site: str
    """Name of a site or body."""
    rotation: ArrayLike
    """(4,) wanted rotation, a quaternion (w, x, y, z)."""
    axes: str | ArrayLike = "xyz"
    """Axes about which the rotation must match, as letters or up to three vectors; about others it is free."""
    relative_to: str | None = None
    """Name of the site or body in whose frame the rotation is given; the world if None."""
    own_axes: bool = False
    """Whether `axes` and `weight` are about the site's own axes, instead of those of the world or of `relative_to`."""

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
                base=base_seat(figure, self.relative_to),
                rotation=rotation_of(self.rotation, self.label),
                value=float(self.own_axes),
            )
        ]

    def compare(self, posture: Posture) -> Comparison:
        """The rotations as an angle about an axis, in the frame in which they are given."""
        frame = part_from_world(posture, self.relative_to) @ world_from_part(posture, self.site)
        return Comparison(turn_words(rotation_of(self.rotation, self.label)), turn_words(frame.rotation))

    def target_in(self, posture: Posture) -> Target:
        """The rotation, at the site."""
        wanted = world_from_part(posture, self.relative_to) @ Pose(rotation=rotation_of(self.rotation, self.label))
        got = world_from_part(posture, self.site).position
        return Target(got, got, wanted.rotation, moves=False, turns=True)

    def dragged(self, posture: Posture, pose: Pose) -> Task:
        """The task with the rotation of another pose in the world."""
        return self.with_target((part_from_world(posture, self.relative_to) @ pose).rotation)


@dataclass(frozen=True, eq=False)
class Frame(Task):
    """Brings a site or body to a position and a rotation.

    `weight` is one number, or six: three for the position, and three for the rotation, about the axes of the world, of
    `relative_to`, or with `own_axes` of the site itself.
    """

    target_fields: ClassVar = ("pose",)
    takes_arrays: ClassVar = True
    menu: ClassVar = (
        MenuEntry("Position and orientation", lambda posture, site: Frame(site, world_from_part(posture, site)), True),
    )
    form: ClassVar = (
        SITE,
        FormField(
            label="Target [m]",
            control="vector",
            get=lambda task: task.wanted.position,
            put=lambda task, value, setting: replace(task, pose=Pose(value, task.wanted.rotation)),
        ),
        rotation_field(
            lambda task: task.wanted.rotation,
            lambda task, value: replace(task, pose=Pose(task.wanted.position, value)),
        ),
        replace(AXES_OF, applies=lambda task: np.size(task.weight) > 1),
        RELATIVE_TO,
    )

    site: str
    """Name of a site or body."""
    pose: Pose
    """Wanted position and rotation."""
    relative_to: str | None = None
    """Name of the site or body in whose frame the pose is given; the world if None."""
    own_axes: bool = False
    """Whether the weights of the rotation are about the site's own axes."""

    def describe(self) -> str:
        """The name for reports."""
        return f"frame of {self.site}"

    def unit(self) -> str:
        """Unit of its error, which mixes lengths and angles."""
        return LENGTH_AND_ANGLE

    def error_words(self, posture: Posture, error: float) -> str:
        """How far the position is off, and by what angle the rotation is."""
        frame = part_from_world(posture, self.relative_to) @ world_from_part(posture, self.site)
        off = frame.inverse() @ self.wanted
        angle = 2.0 * math.atan2(float(np.linalg.norm(off.rotation[1:])), abs(float(off.rotation[0])))
        return f"{length(float(np.linalg.norm(off.position)))}, {amount(angle, 'rad')}"

    def goals(self, figure: Figure) -> list[Goal]:
        """Two goals with three rows each: the position and the rotation."""
        weights = self.weights_of(6)
        seat, base, pose = seat_of(figure, self.site), base_seat(figure, self.relative_to), self.wanted
        return [
            Goal(
                kind=POINT_GOAL, directions=np.eye(3), weights=weights[:3], seat=seat, base=base, position=pose.position
            ),
            Goal(
                kind=TURN_GOAL,
                directions=np.eye(3),
                weights=weights[3:],
                seat=seat,
                base=base,
                rotation=pose.rotation,
                value=float(self.own_axes),
            ),
        ]

    @property
    def wanted(self) -> Pose:
        """The wanted pose, also if it was given as a position and a rotation."""
        return pose_of(self.pose, self.label)

    def compare(self, posture: Posture) -> Comparison:
        """Position and rotation, in the frame in which they are given."""
        frame = part_from_world(posture, self.relative_to) @ world_from_part(posture, self.site)
        words = [f"{place_words(pose.position)}, {turn_words(pose.rotation)}" for pose in (self.wanted, frame)]
        return Comparison(*words)

    def with_target(self, value: TargetLike) -> Task:
        """The task with another pose."""
        return replace(self, pose=pose_of(value, self.label))

    def target_in(self, posture: Posture) -> Target:
        """The pose."""
        wanted = world_from_part(posture, self.relative_to) @ self.wanted
        return Target(wanted.position, world_from_part(posture, self.site).position, wanted.rotation, turns=True)

    def dragged(self, posture: Posture, pose: Pose) -> Task:
        """The task with another pose in the world."""
        return self.with_target(part_from_world(posture, self.relative_to) @ pose)


def rotation_of(value: ArrayLike, label: str) -> FloatArray:
    """A unit quaternion from four finite numbers."""
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.empty(0)
    size = float(np.linalg.norm(numbers)) if numbers.shape == (4,) else 0.0
    if not np.all(np.isfinite(numbers)) or size < 1e-9:
        raise TaskError(
            f"{label}: a rotation must be a quaternion (w, x, y, z) that is not zero, such as "
            f'poise.figure.turn("x", degrees) returns, not {shown(value)}.'
        )
    unit: FloatArray = numbers / size
    return unit


def pose_of(value: Any, label: str) -> Pose:
    """A pose, from a pose or from a position and a rotation."""
    if isinstance(value, Pose):
        return value
    try:
        return Pose(*value)
    except (TypeError, ValueError) as error:
        raise TaskError(f"{label}: a pose must be a position and a rotation, not {shown(value)}.") from error
