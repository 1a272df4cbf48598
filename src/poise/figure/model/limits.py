"""Limits of ball joints: a region of limb directions, and an interval of twists [Baerlocher 2001, 3.6]."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from poise.errors import FigureError
from poise.figure.model.pose import FloatArray, unit_quaternion, unit_vector
from poise.kernels.body.twist_tables import table_at

TwistForm = tuple[float, float, float, float, float, float]
"""Coefficients of 1, s_x, s_y, s_x², s_x s_y, s_y²."""


@dataclass(frozen=True)
class Ellipse:
    """Swing inside (s_x / x)² + (s_y / y)² ≤ 1, with radii [rad] about the cone's x and y axes."""

    x: float
    """Largest rotation about the cone's x axis [rad]."""
    y: float
    """Largest rotation about the cone's y axis [rad]."""

    def __post_init__(self) -> None:
        """Refuse radii outside 0 … π."""
        for radius in (self.x, self.y):
            if not 0.0 < radius < math.pi:
                raise FigureError(f"the radii of a swing ellipse must lie between 0 and π radians, not {radius}.")


@dataclass(frozen=True)
class Polygon:
    """Swing inside a spherical polygon of three or more directions, counter-clockwise seen from outside the sphere."""

    vertices: tuple[tuple[float, float, float], ...]
    """Directions in the cone's frame; the inside is on the left of each edge."""

    def __post_init__(self) -> None:
        """Normalise the directions and refuse degenerate polygons."""
        rows = [unit_vector(vertex, "a vertex of a swing polygon") for vertex in self.vertices]
        if len(rows) < 3:
            raise FigureError(f"a swing polygon needs at least 3 vertices, not {len(rows)}.")
        for a, b in zip(rows, rows[1:] + rows[:1], strict=True):
            angle = math.atan2(float(np.linalg.norm(np.cross(a, b))), float(a @ b))
            if angle < 1e-6 or angle > math.pi - 1e-6:
                raise FigureError("neighbouring vertices of a swing polygon must be distinct and not opposite.")
        object.__setattr__(self, "vertices", tuple(tuple(float(c) for c in row) for row in rows))


@dataclass(frozen=True)
class Region:
    """Swing inside a region bounded by several loops: one with holes, or one of several parts.

    Each loop has the inside on its left, as seen from outside the sphere: parts are counter-clockwise, holes clockwise.
    """

    loops: tuple[Polygon, ...]
    """The loops, which must not cross each other."""

    def __post_init__(self) -> None:
        """Refuse loops that cross."""
        object.__setattr__(self, "loops", tuple(self.loops))
        if not self.loops:
            raise FigureError("a swing region needs at least one loop.")
        for i, loop in enumerate(self.loops):
            for other in self.loops[:i]:
                if any(_arcs_cross(*a, *b) for a in _edges(loop) for b in _edges(other)):
                    raise FigureError(f"loops {self.loops.index(other) + 1} and {i + 1} of a swing region cross.")

    @property
    def vertices(self) -> tuple[tuple[float, float, float], ...]:
        """The vertices of all loops."""
        return tuple(vertex for loop in self.loops for vertex in loop.vertices)


def _edges(polygon: Polygon) -> list[tuple[FloatArray, FloatArray]]:
    """The ends of each edge."""
    rows = [np.array(vertex) for vertex in polygon.vertices]
    return list(zip(rows, rows[1:] + rows[:1], strict=True))


def _arcs_cross(a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray) -> bool:
    """Whether the great arcs from a to b and from c to d cross."""
    first, second = np.cross(a, b), np.cross(c, d)
    sides = float(first @ c), float(first @ d), float(second @ a), float(second @ b)
    if sides[0] * sides[1] >= 0.0 or sides[2] * sides[3] >= 0.0:
        return False
    # The great circles meet in two opposite points; the arcs cross if both contain the same one.
    meeting = np.cross(first, second)
    return bool((meeting @ (a + b)) * (meeting @ (c + d)) > 0.0)


@dataclass(frozen=True)
class Twist:
    """Least and greatest twist [rad], each a constant or six coefficients of 1, s_x, s_y, s_x², s_x s_y, s_y²."""

    lower: TwistForm
    """Coefficients of the least twist."""
    upper: TwistForm
    """Coefficients of the greatest twist."""

    @classmethod
    def between(cls, lower: float | ArrayLike, upper: float | ArrayLike) -> Twist:
        """Limits from bounds given as numbers, or as up to six coefficients."""
        return cls(_twist_form(lower), _twist_form(upper))

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Least and greatest twist at swing (x, y) [rad]."""
        powers = np.array([1.0, x, y, x * x, x * y, y * y])
        return float(powers @ np.array(self.lower)), float(powers @ np.array(self.upper))

    def __post_init__(self) -> None:
        """Check the coefficients."""
        object.__setattr__(self, "lower", _twist_form(self.lower))
        object.__setattr__(self, "upper", _twist_form(self.upper))


@dataclass(frozen=True, eq=False)
class TwistTable:
    """Least and greatest twist [rad] from a table over a grid of swings, smooth between its values.

    Beyond the grid, they are those of the nearest swing on its edge.
    """

    x: FloatArray
    """(nx,) values of s_x, increasing [rad]."""
    y: FloatArray
    """(ny,) values of s_y, increasing [rad]."""
    lower: FloatArray
    """(nx, ny) least twist at each pair."""
    upper: FloatArray
    """(nx, ny) greatest twist."""

    def __post_init__(self) -> None:
        """Check the shapes and numbers."""
        for name in ("x", "y", "lower", "upper"):
            array = np.array(getattr(self, name), dtype=np.float64)
            array.flags.writeable = False
            object.__setattr__(self, name, array)
            if not np.isfinite(array).all():
                raise FigureError(f"the numbers in {name!r} of a twist table must be finite.")
        for name in ("x", "y"):
            grid = getattr(self, name)
            if grid.ndim != 1 or len(grid) < 2 or np.diff(grid).min() < 1e-6:
                raise FigureError(f"{name!r} of a twist table must be two or more increasing swings.")
        shape = (len(self.x), len(self.y))
        if self.lower.shape != shape or self.upper.shape != shape:
            raise FigureError(f"'lower' and 'upper' of a twist table must have {shape[0]} lines of {shape[1]} numbers.")

    @cached_property
    def numbers(self) -> FloatArray:
        """The numbers for the kernels: both grids, then limit, slopes and mixed derivative of every node."""
        sides = []
        for table in (self.lower, self.upper):
            across = _slopes_along(self.x, table)
            along = _slopes_along(self.y, table.T).T
            sides += [table, across, along, _slopes_along(self.y, across.T).T]
        return np.concatenate([self.x, self.y, np.stack(sides, axis=-1).ravel()])

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Least and greatest twist at swing (x, y) [rad]."""
        shape = (len(self.x), len(self.y))
        low, high = (table_at(self.numbers, 0, *shape, side, float(x), float(y))[0] for side in (0, 4))
        return low, high

    def __eq__(self, other: object) -> bool:
        """Equal numbers."""
        return isinstance(other, TwistTable) and self._bytes == other._bytes

    def __hash__(self) -> int:
        """Hash of the numbers."""
        return hash(self._bytes)

    @property
    def _bytes(self) -> tuple[bytes, ...]:
        return tuple(array.tobytes() for array in (self.x, self.y, self.lower, self.upper))


def _slopes_along(grid: FloatArray, values: FloatArray) -> FloatArray:
    """(n, m) slopes of the columns of `values` (n, m) over a grid (n,): of parabolas through three neighbours."""
    slopes: FloatArray = np.gradient(values, grid, axis=0, edge_order=2 if len(grid) > 2 else 1)
    return slopes


def _twist_form(value: float | ArrayLike) -> TwistForm:
    """Six coefficients from a number or up to six coefficients."""
    given = np.atleast_1d(np.array(value, dtype=np.float64))
    if given.ndim != 1 or given.size > 6 or not np.isfinite(given).all():
        raise FigureError(f"a twist limit must be one finite number or up to six coefficients, not {value!r}.")
    form = np.zeros(6)
    form[: given.size] = given
    return (float(form[0]), float(form[1]), float(form[2]), float(form[3]), float(form[4]), float(form[5]))


def _identity() -> FloatArray:
    """The identity quaternion."""
    return unit_quaternion([1.0, 0.0, 0.0, 0.0])


@dataclass(frozen=True, eq=False)
class BallLimits:
    """Limits of one ball joint: a region for the swing of its limb, and an interval for its twist.

    At rest the limb points along the z axis of `limb`, a frame in the child's axes. The region is centred on the z axis
    of `cone`, a frame in the parent's axes. With different frames the middle of the region is not the rest posture.
    """

    swing: Ellipse | Polygon | Region | None = None
    """Region of the swing; None for no limit."""
    twist: Twist | TwistTable | None = None
    """Interval of the twist; None for no limit."""
    cone: FloatArray = field(default_factory=_identity)
    """(4,) frame of the region, in the axes of the unmoved joint."""
    limb: FloatArray = field(default_factory=_identity)
    """(4,) frame of the limb, in the axes of the moved joint."""

    def __post_init__(self) -> None:
        """Check the frames, and that some twist is allowed at every allowed swing."""
        object.__setattr__(self, "cone", unit_quaternion(self.cone))
        object.__setattr__(self, "limb", unit_quaternion(self.limb))
        if self.twist is None:
            return
        grid = itertools.product(self.twist.x, self.twist.y) if isinstance(self.twist, TwistTable) else ()
        for x, y in [*self._sampled_swings(), *grid]:
            low, high = self.twist.at(x, y)
            if low > high:
                raise FigureError(
                    f"the least twist {low:.4g} exceeds the greatest {high:.4g} at swing ({x:.3g}, {y:.3g})."
                )

    def _sampled_swings(self) -> list[tuple[float, float]]:
        """Sample swings spread over the region."""
        if self.swing is None:
            radii = (math.pi, math.pi)
        elif isinstance(self.swing, Ellipse):
            radii = (self.swing.x, self.swing.y)
        else:
            swings = [_swing_of(vertex) for vertex in self.swing.vertices]
            shares = (1.0,) if isinstance(self.swing, Region) else (0.0, 0.5, 1.0)
            return [(k * x, k * y) for x, y in swings for k in shares]
        angles = [2.0 * math.pi * i / 24 for i in range(24)]
        return [(k * radii[0] * math.cos(a), k * radii[1] * math.sin(a)) for a in angles for k in (0.0, 0.35, 0.7, 1.0)]

    def __eq__(self, other: object) -> bool:
        """Equal regions in equal frames."""
        if not isinstance(other, BallLimits):
            return NotImplemented
        same_frames = np.array_equal(self.cone, other.cone) and np.array_equal(self.limb, other.limb)
        return same_frames and self.swing == other.swing and self.twist == other.twist

    def __hash__(self) -> int:
        """Hash of the numbers."""
        return hash((self.swing, self.twist, self.cone.tobytes(), self.limb.tobytes()))


def _swing_of(direction: tuple[float, float, float]) -> tuple[float, float]:
    """The swing (s_x, s_y) of a unit direction [rad]."""
    x, y, z = direction
    across = math.hypot(x, y)
    if across < 1e-12:
        return (0.0, 0.0)
    angle = math.atan2(across, z)
    return -y / across * angle, x / across * angle
