"""Solid shapes of bodies, for drawing, for collisions, and for computing masses."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from poise.arguments import shown
from poise.errors import FigureError
from poise.figure.model.mass import Mass
from poise.figure.model.pose import FloatArray, Pose, from_to, vector

Color = tuple[float, float, float]
"""Red, green and blue, each from 0 to 1."""
Role = Literal["both", "visual", "collision"]
ROLES: tuple[Role, ...] = ("both", "visual", "collision")
"""All roles of a shape."""
SMALLEST_SIZE, LARGEST_SIZE = 1e-12, 1e9
"""Range of sizes whose volumes and moments of inertia neither underflow nor overflow [m]."""
RIM_POINTS = 8
"""Points that approximate a circular rim."""


def _positive(value: float, what: str) -> float:
    """A size as a float; refuses numbers outside the range of sizes."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if math.isnan(number) or number <= 0.0:
        raise FigureError(f"the {what} of a shape must be a positive number, not {shown(value)}.")
    if not SMALLEST_SIZE <= number <= LARGEST_SIZE:
        raise FigureError(
            f"the {what} of a shape must lie between {SMALLEST_SIZE:g} and {LARGEST_SIZE:g} m, not {value}."
        )
    return number


@dataclass(frozen=True)
class Shape:
    """A solid fixed to a body. Long shapes extend along their own z axis."""

    pose: Pose = field(default_factory=Pose, kw_only=True)
    """Frame of the shape in its body."""
    role: Role = field(default="both", kw_only=True)
    """Whether it is drawn, collides, or both."""
    color: Color | None = field(default=None, kw_only=True)
    """Red, green and blue in 0 … 1."""

    def __post_init__(self) -> None:
        """Check role and colour."""
        if self.role not in ROLES:
            raise FigureError(f"the role of a shape must be one of {', '.join(ROLES)}, not {self.role!r}.")
        if self.color is not None:
            object.__setattr__(self, "color", tuple(float(c) for c in vector(self.color, "a colour")))

    def mass(self, density: float) -> Mass:
        """Mass of the solid at a density [kg/m³], in the body's frame."""
        weight = Mass(density * self.volume()).mass
        return Mass(weight, inertia=np.diag(self._gyration()) * weight).moved(self.pose)

    def volume(self) -> float:
        """Volume [m³]."""
        raise NotImplementedError

    def _gyration(self) -> tuple[float, float, float]:
        """Principal moments of inertia per unit of mass [m²]."""
        raise NotImplementedError


@dataclass(frozen=True)
class Sphere(Shape):
    """A sphere about the origin of its frame."""

    radius: float

    def __post_init__(self) -> None:
        """Check the size."""
        super().__post_init__()
        object.__setattr__(self, "radius", _positive(self.radius, "radius"))

    def volume(self) -> float:
        """4/3 π r³."""
        return 4.0 / 3.0 * math.pi * self.radius**3

    def _gyration(self) -> tuple[float, float, float]:
        moment = 0.4 * self.radius**2
        return moment, moment, moment


@dataclass(frozen=True)
class Box(Shape):
    """A cuboid with full edge lengths `size` along x, y, z."""

    size: tuple[float, float, float]

    def __post_init__(self) -> None:
        """Check the size."""
        super().__post_init__()
        edges = vector(self.size, "the size of a box")
        object.__setattr__(self, "size", tuple(_positive(edge, "size") for edge in edges))

    def volume(self) -> float:
        """Product of the edges."""
        return math.prod(self.size)

    def _gyration(self) -> tuple[float, float, float]:
        x, y, z = (edge * edge / 12.0 for edge in self.size)
        return y + z, x + z, x + y


@dataclass(frozen=True)
class Cylinder(Shape):
    """A cylinder of full `length` along its z axis."""

    radius: float
    length: float

    def __post_init__(self) -> None:
        """Check the size."""
        super().__post_init__()
        object.__setattr__(self, "radius", _positive(self.radius, "radius"))
        object.__setattr__(self, "length", _positive(self.length, "length"))

    def volume(self) -> float:
        """π r² l."""
        return math.pi * self.radius**2 * self.length

    def _gyration(self) -> tuple[float, float, float]:
        across = self.radius**2 / 4.0 + self.length**2 / 12.0
        return across, across, self.radius**2 / 2.0


@dataclass(frozen=True)
class Capsule(Cylinder):
    """A cylinder of `length` along its z axis with a half sphere on each end."""

    def volume(self) -> float:
        """π r² l + 4/3 π r³."""
        return super().volume() + 4.0 / 3.0 * math.pi * self.radius**3

    def _gyration(self) -> tuple[float, float, float]:
        r, h = self.radius, self.length
        tube, ball = math.pi * r**2 * h, 4.0 / 3.0 * math.pi * r**3
        along = tube * r**2 / 2.0 + ball * 0.4 * r**2
        across = tube * (r**2 / 4.0 + h**2 / 12.0) + ball * (0.4 * r**2 + h**2 / 4.0 + 3.0 * h * r / 8.0)
        return across / (tube + ball), across / (tube + ball), along / (tube + ball)


@dataclass(frozen=True)
class Ellipsoid(Shape):
    """An ellipsoid with half axes `radii` along x, y, z."""

    radii: tuple[float, float, float]

    def __post_init__(self) -> None:
        """Check the size."""
        super().__post_init__()
        axes = vector(self.radii, "the radii of an ellipsoid")
        object.__setattr__(self, "radii", tuple(_positive(axis, "radius") for axis in axes))

    def volume(self) -> float:
        """4/3 π a b c."""
        return 4.0 / 3.0 * math.pi * math.prod(self.radii)

    def _gyration(self) -> tuple[float, float, float]:
        x, y, z = (axis * axis / 5.0 for axis in self.radii)
        return y + z, x + z, x + y


@dataclass(frozen=True)
class Mesh(Shape):
    """A triangle mesh, given by its file and scale factors along x, y, z."""

    path: str
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)

    def __post_init__(self) -> None:
        """Check the scale; the file is not opened here."""
        super().__post_init__()
        object.__setattr__(self, "scale", tuple(float(s) for s in vector(self.scale, "the scale of a mesh")))

    def volume(self) -> float:
        """Raise an error, since the volume of a mesh is not computed."""
        raise FigureError(f"the mass of mesh {self.path!r} is not known: give its body a mass.")


def extreme_points(shape: Shape, direction: FloatArray) -> FloatArray:
    """(k, 3) points of a shape, in its own frame, that may be the farthest along the unit vector `direction`.

    The corners of boxes, the rims of cylinders, the farthest points of round shapes; none of a mesh, whose file is not
    read here.
    """
    if isinstance(shape, Box):
        signs = np.array(np.meshgrid([-0.5, 0.5], [-0.5, 0.5], [-0.5, 0.5])).reshape(3, -1).T
        return np.asarray(signs * np.asarray(shape.size), dtype=np.float64)
    if isinstance(shape, Sphere):
        return (shape.radius * direction)[None]
    if isinstance(shape, Ellipsoid):
        radii = np.asarray(shape.radii)
        return np.asarray(radii * radii * direction / np.linalg.norm(radii * direction), dtype=np.float64)[None]
    if isinstance(shape, Capsule):
        return _ends(shape) + shape.radius * direction
    if isinstance(shape, Cylinder):
        angles = 2.0 * np.pi * np.arange(RIM_POINTS) / RIM_POINTS
        rim = shape.radius * np.stack([np.cos(angles), np.sin(angles), np.zeros(RIM_POINTS)], axis=1)
        return np.concatenate([rim + end for end in _ends(shape)])
    return np.zeros((0, 3))


def _ends(shape: Cylinder) -> FloatArray:
    """(2, 3) ends of the axis of a cylinder or capsule."""
    half = 0.5 * shape.length
    return np.array([[0.0, 0.0, -half], [0.0, 0.0, half]])


def capsule_between(a: ArrayLike, b: ArrayLike, radius: float) -> Capsule:
    """The capsule whose axis runs from point `a` to point `b` of the body."""
    start, end = vector(a), vector(b)
    return Capsule(radius, float(np.linalg.norm(end - start)), pose=_between(start, end))


def cylinder_between(a: ArrayLike, b: ArrayLike, radius: float) -> Cylinder:
    """The cylinder whose axis runs from point `a` to point `b` of the body."""
    start, end = vector(a), vector(b)
    return Cylinder(radius, float(np.linalg.norm(end - start)), pose=_between(start, end))


def _between(start: FloatArray, end: FloatArray) -> Pose:
    """The frame in the middle of two points, with z from `start` to `end`."""
    if not (end - start).any():
        raise FigureError("a shape between two points needs two different points.")
    return Pose(0.5 * (start + end), from_to("z", end - start))
