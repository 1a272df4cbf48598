"""What stands in a figure's way: shapes and planes at rest in the world.

from poise.figure.model.shapes import Box, Sphere
from poise.tasks.obstacles import Obstacle, Plane

obstacles = [Plane("y"), Obstacle(Sphere(0.2), Pose((0.3, 1.0, 0.4)), name="lamp")]
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path

from numpy.typing import ArrayLike

from poise.errors import FigureError, TaskError
from poise.figure.collision.solids import HalfSpace, Solid, make_solid
from poise.figure.model.pose import FloatArray, Pose, unit_vector
from poise.figure.model.shapes import Mesh, Shape

LARGEST_OFFSET = 1e9
"""A plane farther from the origin than this is a mistake [m]."""


@dataclass(frozen=True)
class Obstacle:
    """A solid that a figure keeps away from: a sphere, box, cylinder, capsule, ellipsoid or mesh."""

    shape: Shape
    """What it looks like, in its own frame; the shape's own pose counts too."""
    pose: Pose = field(default_factory=Pose)
    """Where it stands in the world."""
    name: str = field(default="", kw_only=True)
    """What people call it, for reports and for `exclude=`; by default its place in the list."""
    convex: bool = field(default=True, kw_only=True)
    """Whether a mesh is taken as its convex hull. Off, it is taken as it is: hollows are hollow, and distances cost
    more and are only right from outside."""

    def __post_init__(self) -> None:
        """Check what a type checker would."""
        if not isinstance(self.shape, Shape):
            raise TaskError(f"an obstacle is made of a shape such as Sphere(0.1), not of {self.shape!r}.")
        if not isinstance(self.pose, Pose):
            raise TaskError(f"{self._called()} stands at a Pose(position, rotation), not at {self.pose!r}.")
        if not self.convex and not isinstance(self.shape, Mesh):
            kind = type(self.shape).__name__.lower()
            raise TaskError(f"{self._called()} is a {kind}, which is always convex; convex=False is for meshes.")

    def solid(self, name: str, folder: Path | None = None) -> Solid:
        """Its geometry for `poise.figure.collision.collisions`, owned by `name`."""
        return make_solid(self.shape, name, 0, self.pose, folder=folder, convex=self.convex, is_obstacle=True)

    def moved(self, pose: Pose) -> Obstacle:
        """The same obstacle standing somewhere else."""
        return replace(self, pose=pose)

    def _called(self) -> str:
        return f"obstacle {self.name!r}" if self.name else "an obstacle"


@dataclass(frozen=True, eq=False)
class Plane:
    """Ground, a wall or a ceiling: everything on the far side of normal · x = offset is forbidden."""

    normal: ArrayLike | str
    """Away from what is forbidden: three numbers of any length, or a word such as "y" or "-x"."""
    offset: float = 0.0
    """Distance of the plane from the origin along the normal [m]."""
    name: str = field(default="", kw_only=True)
    """What people call it, for reports and for `exclude=`; by default its place in the list."""

    def __post_init__(self) -> None:
        """Check normal and offset."""
        called = f"plane {self.name!r}" if self.name else "a plane"
        try:
            object.__setattr__(self, "normal", unit_vector(self.normal, f"the normal of {called}"))
        except FigureError as error:
            raise TaskError(str(error)) from None
        try:
            offset = float(self.offset)
        except (TypeError, ValueError):
            offset = math.nan
        if not abs(offset) <= LARGEST_OFFSET:
            raise TaskError(f"the offset of {called} is a number of metres, not {self.offset!r}.")
        object.__setattr__(self, "offset", offset)

    def __eq__(self, other: object) -> bool:
        """Equal numbers and name."""
        if not isinstance(other, Plane):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        """Hash of the numbers and the name."""
        return hash(self._key())

    def _key(self) -> tuple[bytes, float, str]:
        return self._direction().tobytes(), self.offset, self.name

    def _direction(self) -> FloatArray:
        return unit_vector(self.normal)

    def solid(self, name: str, folder: Path | None = None) -> HalfSpace:
        """Its geometry for `poise.figure.collision.collisions`, owned by `name`."""
        return HalfSpace(name, self._direction(), self.offset)

    def moved(self, pose: Pose) -> Plane:
        """The same plane carried along by a pose."""
        normal = pose.matrix @ self._direction()
        return replace(self, normal=normal, offset=self.offset + float(normal @ pose.position))
