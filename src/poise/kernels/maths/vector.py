"""Vectors of three components, stored in named tuples."""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.jit.compile import kernel

Array = np.ndarray


class Vector(NamedTuple):
    """A vector of three components."""

    x: float
    y: float
    z: float


@kernel
def vector_at(rows: Array, i: int) -> Vector:
    """Row `i` of an (n, 3) array."""
    return Vector(rows[i, 0], rows[i, 1], rows[i, 2])


@kernel
def put_vector(rows: Array, i: int, v: Vector) -> None:
    """Write `v` into row `i` of an (n, 3) array."""
    rows[i, 0] = v.x
    rows[i, 1] = v.y
    rows[i, 2] = v.z


@kernel
def add(a: Vector, b: Vector) -> Vector:
    """a + b."""
    return Vector(a.x + b.x, a.y + b.y, a.z + b.z)


@kernel
def subtract(a: Vector, b: Vector) -> Vector:
    """a - b."""
    return Vector(a.x - b.x, a.y - b.y, a.z - b.z)


@kernel
def scale(a: Vector, k: float) -> Vector:
    """k a."""
    return Vector(k * a.x, k * a.y, k * a.z)


@kernel
def dot(a: Vector, b: Vector) -> float:
    """a · b."""
    return a.x * b.x + a.y * b.y + a.z * b.z


@kernel
def cross(a: Vector, b: Vector) -> Vector:
    """a × b."""
    return Vector(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)


@kernel
def length(a: Vector) -> float:
    """|a|."""
    return math.sqrt(a.x * a.x + a.y * a.y + a.z * a.z)


@kernel
def normalized(a: Vector) -> Vector:
    """a / |a|, or the zero vector if |a| < 1e-300."""
    size = length(a)
    if size < 1e-300:
        return Vector(0.0, 0.0, 0.0)
    return Vector(a.x / size, a.y / size, a.z / size)


@kernel
def orthogonal(a: Vector) -> Vector:
    """A unit vector orthogonal to the unit vector `a`; the smallest component of `a` is dropped for accuracy."""
    if abs(a.x) <= abs(a.y) and abs(a.x) <= abs(a.z):
        return normalized(Vector(0.0, a.z, -a.y))
    if abs(a.y) <= abs(a.z):
        return normalized(Vector(-a.z, 0.0, a.x))
    return normalized(Vector(a.y, -a.x, 0.0))


@kernel
def angle_between(a: Vector, b: Vector) -> float:
    """Angle between two vectors [rad], accurate at 0 and at π."""
    return math.atan2(length(cross(a, b)), dot(a, b))
