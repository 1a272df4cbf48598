"""Obstacles: shapes and planes at rest in the world.

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
"""Largest accepted distance of a plane from the origin [m]."""


@dataclass(frozen=True)
class Obstacle:
    """A solid that a figure keeps clear of: a sphere, box, cylinder, capsule, ellipsoid or mesh."""

    shape: Shape
    """The shape in the obstacle's frame, with its own pose there."""
    pose: Pose = field(default_factory=Pose)
    """Pose of the obstacle's frame in the world."""
    name: str = field(default="", kw_only=True)
    """Name for reports and for `exclude=`; by default made from its place in the list."""
    convex: bool = field(default=True, kw_only=True)
    """Whether a mesh is replaced by its convex hull. If False, its hollows count; distances then take longer and are
    correct only from outside."""

    def __post_init__(self) -> None:
        """Check the types, and that only a mesh is not convex."""
        if not isinstance(self.shape, Shape):
            raise TaskError(f"the shape of an obstacle must be a shape such as Sphere(0.1), not {self.shape!r}.")
        if not isinstance(self.pose, Pose):
            raise TaskError(f"the pose of {self._called()} must be a Pose(position, rotation), not {self.pose!r}.")
        if not self.convex and not isinstance(self.shape, Mesh):
            kind = type(self.shape).__name__.lower()
            raise TaskError(f"{self._called()} is a {kind}, which is always convex; convex=False is for meshes.")

    def solid(self, name: str, folder: Path | None = None) -> Solid:
        """Its geometry for `poise.figure.collision.collisions`, owned by `name`."""
        return make_solid(self.shape, name, 0, self.pose, folder=folder, convex=self.convex, is_obstacle=True)

    def moved(self, pose: Pose) -> Obstacle:
        """The same obstacle at another pose."""
        return replace(self, pose=pose)

    def _called(self) -> str:
        return f"obstacle {self.name!r}" if self.name else "an obstacle"


@dataclass(frozen=True, eq=False)
class Plane:
    """Ground, a wall or a ceiling: the half-space normal · x < offset is forbidden."""

    normal: ArrayLike | str
    """Direction out of the forbidden half-space: three numbers of any length, or a word such as "y" or "-x"."""
    offset: float = 0.0
    """Distance of the plane from the origin along the normal [m]."""
    name: str = field(default="", kw_only=True)
    """Name for reports and for `exclude=`; by default made from its place in the list."""

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
            raise TaskError(f"the offset of {called} must be a number of metres, not {self.offset!r}.")
        object.__setattr__(self, "offset", offset)

    def __eq__(self, other: object) -> bool:
        """Whether normal, offset and name are equal."""
        if not isinstance(other, Plane):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        """Hash of normal, offset and name."""
        return hash(self._key())

    def _key(self) -> tuple[bytes, float, str]:
        return self._direction().tobytes(), self.offset, self.name

    def _direction(self) -> FloatArray:
        return unit_vector(self.normal)

    def solid(self, name: str, folder: Path | None = None) -> HalfSpace:
        """Its geometry for `poise.figure.collision.collisions`, owned by `name`."""
        return HalfSpace(name, self._direction(), self.offset)

    def moved(self, pose: Pose) -> Plane:
        """The plane transformed by a pose."""
        normal = pose.matrix @ self._direction()
        return replace(self, normal=normal, offset=self.offset + float(normal @ pose.position))
