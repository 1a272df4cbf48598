"""Surfaces from mesh files."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from poise.figure.mesh_files import find_mesh, read_triangles
from poise.figure.pose import FloatArray
from poise.pictures.surface import IntArray, Surface

__all__ = ["find_mesh", "read_mesh", "smoothed"]

CREASE = math.radians(40.0)
"""Faces that meet at a sharper angle keep their edge."""


def read_mesh(path: Path) -> Surface:
    """The surface in an STL or OBJ file, smooth but for its creases."""
    return smoothed(*read_triangles(path))


def smoothed(vertices: FloatArray, triangles: IntArray) -> Surface:
    """A surface whose normals blend those of the faces around each vertex, except across creases."""
    corners = vertices[triangles]
    areas = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    sums = np.zeros_like(vertices)
    for k in range(3):
        np.add.at(sums, triangles[:, k], areas)
    flat = np.repeat(_unit(areas), 3, axis=0)
    round_ = _unit(sums)[triangles].reshape(-1, 3)
    creased = np.einsum("ij,ij->i", flat, round_) < math.cos(CREASE)
    normals = np.where(creased[:, None], flat, round_)
    return Surface(corners.reshape(-1, 3), normals, np.arange(3 * len(triangles), dtype=np.int64).reshape(-1, 3))


def _unit(vectors: FloatArray) -> FloatArray:
    sizes = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(sizes < 1e-300, 1.0, sizes)
