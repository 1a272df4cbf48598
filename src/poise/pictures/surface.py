"""Triangle surfaces with normals: those of simple solids, and those of mesh files."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise.figure.collision.mesh_files import distinct_rows, find_mesh, read_triangles
from poise.figure.model.pose import FloatArray, Pose, from_to

IntArray = NDArray[np.int64]

ROUND_SEGMENTS = 40
"""Default number of segments around a round solid."""
__all__ = ["find_mesh", "read_mesh", "smoothed", "thinned"]
CREASE_ANGLE = math.radians(40.0)
"""Angle between a face's normal and the smoothed normal from which the edge stays sharp [rad]."""


@dataclass(frozen=True)
class Surface:
    """A triangle mesh with a normal at each vertex."""

    vertices: FloatArray
    """(v, 3) positions [m]."""
    normals: FloatArray
    """(v, 3) outward unit vectors."""
    triangles: IntArray
    """(t, 3) vertex indices."""

    def moved(self, pose: Pose) -> Surface:
        """The surface moved from the origin to a pose."""
        turn = pose.matrix
        return Surface(self.vertices @ turn.T + pose.position, self.normals @ turn.T, self.triangles)

    def stretched(self, factors: ArrayLike) -> Surface:
        """The surface scaled along x, y and z; normals stay outward if a factor is negative."""
        k = np.asarray(factors, dtype=np.float64)
        normals = self.normals / np.where(k == 0.0, 1.0, k)
        return Surface(self.vertices * k, unit_rows(normals), self.triangles)


def joined(surfaces: Iterable[Surface]) -> Surface:
    """Several surfaces combined into one."""
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


def sphere(radius: float, segments: int = ROUND_SEGMENTS) -> Surface:
    """A sphere around the origin."""
    angles = np.linspace(-math.pi / 2, math.pi / 2, segments // 2 + 1)
    return surface_of_revolution(
        radius * np.cos(angles), radius * np.sin(angles), np.cos(angles), np.sin(angles), segments
    )


def ellipsoid(radii: ArrayLike, segments: int = ROUND_SEGMENTS) -> Surface:
    """An ellipsoid with half axes along x, y, z."""
    return sphere(1.0, segments).stretched(radii)


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


def cylinder(radius: float, length: float, segments: int = ROUND_SEGMENTS) -> Surface:
    """A cylinder along z, with sharp rims."""
    half = 0.5 * length
    wall = surface_of_revolution([radius, radius], [-half, half], [1.0, 1.0], [0.0, 0.0], segments)
    lids = [
        surface_of_revolution([radius, 0.0][::side], [side * half] * 2, [0.0, 0.0], [float(side)] * 2, segments)
        for side in (-1, 1)
    ]
    return joined([wall, *lids])


def capsule(radius: float, length: float, segments: int = ROUND_SEGMENTS) -> Surface:
    """A cylinder along z with a half sphere on each end."""
    return tapered(radius, radius, length, segments)


def tapered(first: float, last: float, length: float, segments: int = ROUND_SEGMENTS) -> Surface:
    """A tapered capsule along z around the origin: the hull of a sphere `first` below and a sphere `last` above.

    The cone touches both spheres where the normal has the elevation asin((first - last) / length).

    Args:
        first: Radius of the lower sphere [m].
        last: Radius of the upper sphere [m].
        length: Distance between the centres of the spheres [m].
        segments: Segments around the axis.
    """
    if length <= abs(first - last):
        return sphere(max(first, last), segments)
    tilt = math.asin((first - last) / length)
    low = np.linspace(-math.pi / 2, tilt, segments // 4 + 1)
    high = np.linspace(tilt, math.pi / 2, segments // 4 + 1)
    angles = np.concatenate([low, high])
    radii = np.repeat([first, last], [len(low), len(high)])
    middles = np.repeat([-0.5 * length, 0.5 * length], [len(low), len(high)])
    heights = middles + radii * np.sin(angles)
    return surface_of_revolution(radii * np.cos(angles), heights, np.cos(angles), np.sin(angles), segments)


def limb(start: ArrayLike, end: ArrayLike, first: float, last: float, segments: int = ROUND_SEGMENTS) -> Surface:
    """A tapered capsule from one point to another, with the radii `first` and `last` at its ends [m]."""
    a, b = np.asarray(start, dtype=np.float64), np.asarray(end, dtype=np.float64)
    size = float(np.linalg.norm(b - a))
    if size < 1e-12:
        return sphere(max(first, last), segments).moved(Pose(a))
    return tapered(first, last, size, segments).moved(Pose(0.5 * (a + b), from_to("z", b - a)))


def surface_of_revolution(
    radii: ArrayLike, heights: ArrayLike, outward: ArrayLike, upward: ArrayLike, segments: int = ROUND_SEGMENTS
) -> Surface:
    """The surface of revolution of a profile about z.

    Args:
        radii: (k,) distances of the profile's points from the axis [m].
        heights: (k,) heights of the points [m].
        outward: (k,) radial components of the normals.
        upward: (k,) axial components of the normals.
        segments: Segments around the axis.
    """
    angles = np.linspace(0.0, 2.0 * math.pi, segments, endpoint=False)
    cos, sin, ones = np.cos(angles), np.sin(angles), np.ones(segments)
    r, z, n, m = (np.asarray(part, dtype=np.float64)[:, None] for part in (radii, heights, outward, upward))
    vertices = np.stack([r * cos, r * sin, z * ones], axis=-1).reshape(-1, 3)
    normals = np.stack([n * cos, n * sin, m * ones], axis=-1).reshape(-1, 3)
    return Surface(vertices, unit_rows(normals), _rings(len(r), segments))


def _rings(count: int, segments: int) -> IntArray:
    """(t, 3) triangles between `count` consecutive rings of `segments` vertices."""
    first = np.arange((count - 1) * segments, dtype=np.int64)
    following = first - first % segments + (first + 1) % segments
    lower = np.stack([first, following, following + segments], axis=1)
    upper = np.stack([first, following + segments, first + segments], axis=1)
    return np.concatenate([lower, upper])


def unit_rows(vectors: FloatArray) -> FloatArray:
    """(k, 3) rows scaled to unit length; rows of zero length stay zero."""
    sizes = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(sizes < 1e-300, 1.0, sizes)


def read_mesh(path: Path) -> Surface:
    """The surface in an STL or OBJ file, with smooth normals except at creases."""
    return smoothed(*read_triangles(path))


def smoothed(vertices: FloatArray, triangles: IntArray) -> Surface:
    """A surface whose normals are area-weighted means of the faces around each vertex, except at creases."""
    corners = vertices[triangles]
    areas = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    sums = np.zeros_like(vertices)
    for k in range(3):
        np.add.at(sums, triangles[:, k], areas)
    flat = np.repeat(unit_rows(areas), 3, axis=0)
    round_ = unit_rows(sums)[triangles].reshape(-1, 3)
    creased = np.einsum("ij,ij->i", flat, round_) < math.cos(CREASE_ANGLE)
    normals = np.where(creased[:, None], flat, round_)
    return Surface(corners.reshape(-1, 3), normals, np.arange(3 * len(triangles), dtype=np.int64).reshape(-1, 3))


def thinned(surface: Surface, cells: int) -> Surface:
    """A surface with fewer triangles: vertices in one cell of a grid with similar normals are merged.

    Args:
        surface: The surface to simplify.
        cells: Number of cells along the longest side of the surface.
    """
    low = surface.vertices.min(axis=0)
    size = max(float(np.ptp(surface.vertices, axis=0).max()) / cells, 1e-300)
    side = np.argmax(np.abs(surface.normals), axis=1)
    front = np.take_along_axis(surface.normals, side[:, None], axis=1) > 0.0
    keys = np.hstack([np.floor((surface.vertices - low) / size).astype(np.int64), side[:, None], front])
    first, which = distinct_rows(keys)
    triangles = first[which[surface.triangles]]
    a, b, c = triangles.T
    whole = triangles[(a != b) & (b != c) & (c != a)]
    kept = whole[distinct_rows(whole)[0]]
    used, renumbered = np.unique(kept, return_inverse=True)
    return Surface(surface.vertices[used], surface.normals[used], renumbered.reshape(-1, 3).astype(np.int64))
