"""Surfaces made of triangles, and those of the simple solids."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise.figure.model.pose import FloatArray, Pose, from_to, to_matrix

IntArray = NDArray[np.int64]

AROUND = 40
"""Segments around a round solid."""


@dataclass(frozen=True)
class Surface:
    """Triangles over vertices that carry normals."""

    vertices: FloatArray
    """(v, 3) [m]."""
    normals: FloatArray
    """(v, 3) unit vectors, outwards."""
    triangles: IntArray
    """(t, 3) vertex numbers."""

    def moved(self, pose: Pose) -> Surface:
        """The surface placed at a pose."""
        turn = pose.matrix
        return Surface(self.vertices @ turn.T + pose.position, self.normals @ turn.T, self.triangles)

    def stretched(self, factors: ArrayLike) -> Surface:
        """The surface scaled along x, y, z; a mirror image keeps its normals outwards."""
        k = np.asarray(factors, dtype=np.float64)
        normals = self.normals / np.where(k == 0.0, 1.0, k)
        return Surface(self.vertices * k, _unit(normals), self.triangles)


def joined(surfaces: Iterable[Surface]) -> Surface:
    """Several surfaces as one."""
    pieces = list(surfaces)
    starts = np.cumsum([0, *(len(piece.vertices) for piece in pieces)])
    return Surface(
        np.concatenate([np.empty((0, 3)), *(piece.vertices for piece in pieces)]),
        np.concatenate([np.empty((0, 3)), *(piece.normals for piece in pieces)]),
        np.concatenate(
            [
                np.empty((0, 3), dtype=np.int64),
                *(piece.triangles + start for piece, start in zip(pieces, starts, strict=False)),
            ]
        ),
    )


def sphere(radius: float, around: int = AROUND) -> Surface:
    """A ball around the origin."""
    angles = np.linspace(-math.pi / 2, math.pi / 2, around // 2 + 1)
    return turned_profile(radius * np.cos(angles), radius * np.sin(angles), np.cos(angles), np.sin(angles), around)


def ellipsoid(radii: ArrayLike, around: int = AROUND) -> Surface:
    """An ellipsoid with half axes along x, y, z."""
    return sphere(1.0, around).stretched(radii)


def box(size: ArrayLike) -> Surface:
    """A cuboid with sharp edges: every face has its own vertices."""
    half = 0.5 * np.asarray(size, dtype=np.float64)
    corners = np.array([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)])
    faces = []
    for axis in range(3):
        for side in (-1.0, 1.0):
            unit = np.empty((4, 3))
            unit[:, axis] = side
            unit[:, (axis + 1) % 3], unit[:, (axis + 2) % 3] = corners[:, 0] * side, corners[:, 1]
            normals = np.zeros((4, 3))
            normals[:, axis] = side
            faces.append(Surface(unit * half, normals, np.array([[0, 1, 2], [0, 2, 3]])))
    return joined(faces)


def cylinder(radius: float, length: float, around: int = AROUND) -> Surface:
    """A cylinder along z, its rims sharp."""
    half = 0.5 * length
    wall = turned_profile([radius, radius], [-half, half], [1.0, 1.0], [0.0, 0.0], around)
    lids = [
        turned_profile([radius, 0.0][::side], [side * half] * 2, [0.0, 0.0], [float(side)] * 2, around)
        for side in (-1, 1)
    ]
    return joined([wall, *lids])


def capsule(radius: float, length: float, around: int = AROUND) -> Surface:
    """A cylinder along z with a half sphere on each end."""
    return tapered(radius, radius, length, around)


def tapered(first: float, last: float, length: float, around: int = AROUND) -> Surface:
    """A limb along z around the origin: balls of radius `first` below and `last` above, and the skin around both.

    The skin touches both balls where the normal rises by asin((first - last) / length).
    """
    if length <= abs(first - last):
        return sphere(max(first, last), around)
    tilt = math.asin((first - last) / length)
    low = np.linspace(-math.pi / 2, tilt, around // 4 + 1)
    high = np.linspace(tilt, math.pi / 2, around // 4 + 1)
    angles = np.concatenate([low, high])
    radii = np.repeat([first, last], [len(low), len(high)])
    middles = np.repeat([-0.5 * length, 0.5 * length], [len(low), len(high)])
    heights = middles + radii * np.sin(angles)
    return turned_profile(radii * np.cos(angles), heights, np.cos(angles), np.sin(angles), around)


def limb(start: ArrayLike, end: ArrayLike, first: float, last: float, around: int = AROUND) -> Surface:
    """A tapered limb from one point to another."""
    a, b = np.asarray(start, dtype=np.float64), np.asarray(end, dtype=np.float64)
    size = float(np.linalg.norm(b - a))
    if size < 1e-12:
        return sphere(max(first, last), around).moved(Pose(a))
    return tapered(first, last, size, around).moved(Pose(0.5 * (a + b), from_to("z", b - a)))


def turned_profile(
    radii: ArrayLike, heights: ArrayLike, outward: ArrayLike, upward: ArrayLike, around: int = AROUND
) -> Surface:
    """A profile, with its normals, turned once around z in so many steps."""
    angles = np.linspace(0.0, 2.0 * math.pi, around, endpoint=False)
    cos, sin, ones = np.cos(angles), np.sin(angles), np.ones(around)
    r, z, n, m = (np.asarray(part, dtype=np.float64)[:, None] for part in (radii, heights, outward, upward))
    vertices = np.stack([r * cos, r * sin, z * ones], axis=-1).reshape(-1, 3)
    normals = np.stack([n * cos, n * sin, m * ones], axis=-1).reshape(-1, 3)
    return Surface(vertices, _unit(normals), _rings(len(r), around))


def _rings(count: int, around: int) -> IntArray:
    """Triangles between neighbouring rings of `around` vertices."""
    first = np.arange((count - 1) * around, dtype=np.int64)
    following = first - first % around + (first + 1) % around
    lower = np.stack([first, following, following + around], axis=1)
    upper = np.stack([first, following + around, first + around], axis=1)
    return np.concatenate([lower, upper])


def _unit(vectors: FloatArray) -> FloatArray:
    sizes = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(sizes < 1e-300, 1.0, sizes)


def rotated(vectors: FloatArray, rotation: FloatArray) -> FloatArray:
    """Rows turned by a quaternion."""
    return vectors @ to_matrix(rotation).T
