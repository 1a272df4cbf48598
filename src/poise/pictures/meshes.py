"""Reads surfaces from mesh files."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from poise.figure.collision.mesh_files import find_mesh, read_triangles
from poise.figure.model.pose import FloatArray
from poise.pictures.surface import IntArray, Surface, unit_rows

__all__ = ["find_mesh", "read_mesh", "smoothed", "thinned"]

CREASE_ANGLE = math.radians(40.0)
"""Angle between a face's normal and the smoothed normal from which the edge stays sharp [rad]."""


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
    _, first, which = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    triangles = first[which.reshape(-1)[surface.triangles]]
    a, b, c = triangles.T
    kept = np.unique(triangles[(a != b) & (b != c) & (c != a)], axis=0)
    used, renumbered = np.unique(kept, return_inverse=True)
    return Surface(surface.vertices[used], surface.normals[used], renumbered.reshape(-1, 3).astype(np.int64))
