"""Rotations as unit quaternions (w, x, y, z), stored in named tuples."""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.jit.compile import kernel
from poise.kernels.maths.vector import Vector, add, cross, dot, normalized, orthogonal, scale, subtract

Array = np.ndarray


class Quaternion(NamedTuple):
    """A unit quaternion, scalar part first."""

    w: float
    x: float
    y: float
    z: float


@kernel
def quaternion_at(rows: Array, i: int) -> Quaternion:
    """Row `i` of an (n, 4) array."""
    return Quaternion(rows[i, 0], rows[i, 1], rows[i, 2], rows[i, 3])


@kernel
def put_quaternion(rows: Array, i: int, q: Quaternion) -> None:
    """Write `q` into row `i` of an (n, 4) array."""
    rows[i, 0] = q.w
    rows[i, 1] = q.x
    rows[i, 2] = q.y
    rows[i, 3] = q.z


@kernel
def multiply(a: Quaternion, b: Quaternion) -> Quaternion:
    """a ⊗ b: first the rotation b, then a [Baerlocher 2001, eq. B.1]."""
    return Quaternion(
        a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
        a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
        a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
        a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
    )


@kernel
def conjugate(q: Quaternion) -> Quaternion:
    """The inverse rotation."""
    return Quaternion(q.w, -q.x, -q.y, -q.z)


@kernel
def rotate(q: Quaternion, v: Vector) -> Vector:
    """q v q̃ = v + 2 w (u × v) + 2 u × (u × v), u the vector part [Baerlocher 2001, eq. B.2]."""
    tx = 2.0 * (q.y * v.z - q.z * v.y)
    ty = 2.0 * (q.z * v.x - q.x * v.z)
    tz = 2.0 * (q.x * v.y - q.y * v.x)
    return Vector(
        v.x + q.w * tx + q.y * tz - q.z * ty,
        v.y + q.w * ty + q.z * tx - q.x * tz,
        v.z + q.w * tz + q.x * ty - q.y * tx,
    )


@kernel
def unit(q: Quaternion) -> Quaternion:
    """q / |q|, or the identity if |q| < 1e-300."""
    size = math.sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z)
    if size < 1e-300:
        return Quaternion(1.0, 0.0, 0.0, 0.0)
    return Quaternion(q.w / size, q.x / size, q.y / size, q.z / size)


@kernel
def about(axis: Vector, angle: float) -> Quaternion:
    """Rotation by `angle` [rad] about the unit vector `axis`."""
    s = math.sin(0.5 * angle)
    return Quaternion(math.cos(0.5 * angle), s * axis.x, s * axis.y, s * axis.z)


@kernel
def from_rotation_vector(v: Vector) -> Quaternion:
    """exp(v): rotation by |v| about v, accurate at 0."""
    angle = math.sqrt(v.x * v.x + v.y * v.y + v.z * v.z)
    k = 0.5 - angle * angle / 48.0 if angle < 1e-4 else math.sin(0.5 * angle) / angle
    return Quaternion(math.cos(0.5 * angle), k * v.x, k * v.y, k * v.z)


@kernel
def to_rotation_vector(q: Quaternion) -> Vector:
    """log(q): the rotation vector of length at most π, accurate at 0 and at π."""
    s = math.sqrt(q.x * q.x + q.y * q.y + q.z * q.z)
    w = abs(q.w)
    k = 2.0 / w if s < 1e-9 else 2.0 * math.atan2(s, w) / s
    if q.w < 0.0:
        k = -k
    return Vector(k * q.x, k * q.y, k * q.z)


@kernel
def angle_of(q: Quaternion) -> float:
    """Angle of the rotation [rad], in [0, π]."""
    return 2.0 * math.atan2(math.sqrt(q.x * q.x + q.y * q.y + q.z * q.z), abs(q.w))


@kernel
def direct_rotation(a: Vector, b: Vector) -> Quaternion:
    """The smallest rotation that takes the unit vector `a` to the unit vector `b` [Baerlocher 2001, 3.1.1].

    Below 90° it is (1 + a·b, a × b), normalised. Above 90° it is the product of two rotations a → m → b in the plane
    of a and b, with m at right angles to a, which keeps full accuracy up to 180°. For opposite vectors, where any plane
    through `a` would do, `orthogonal` chooses the plane.
    """
    cosine = dot(a, b)
    if cosine >= 0.0:
        n = cross(a, b)
        return unit(Quaternion(1.0 + cosine, n.x, n.y, n.z))
    across = subtract(b, scale(a, cosine))
    if dot(across, across) < 1e-30:
        across = orthogonal(a)
    m = normalized(across)
    m = normalized(subtract(m, scale(a, dot(a, m))))
    first = cross(a, m)
    second = cross(m, b)
    from_a = unit(Quaternion(1.0 + dot(a, m), first.x, first.y, first.z))
    to_b = unit(Quaternion(1.0 + dot(m, b), second.x, second.y, second.z))
    return multiply(to_b, from_a)


@kernel
def slerp(a: Quaternion, b: Quaternion, t: float) -> Quaternion:
    """Spherical linear interpolation: `a` at t = 0, `b` at t = 1, along the shortest rotation between them."""
    turn = to_rotation_vector(multiply(conjugate(a), b))
    return multiply(a, from_rotation_vector(scale(turn, t)))


@kernel
def columns(q: Quaternion) -> tuple[Vector, Vector, Vector]:
    """The rotated x, y and z axes."""
    xx, yy, zz = q.x * q.x, q.y * q.y, q.z * q.z
    xy, xz, yz = q.x * q.y, q.x * q.z, q.y * q.z
    wx, wy, wz = q.w * q.x, q.w * q.y, q.w * q.z
    return (
        Vector(1.0 - 2.0 * (yy + zz), 2.0 * (xy + wz), 2.0 * (xz - wy)),
        Vector(2.0 * (xy - wz), 1.0 - 2.0 * (xx + zz), 2.0 * (yz + wx)),
        Vector(2.0 * (xz + wy), 2.0 * (yz - wx), 1.0 - 2.0 * (xx + yy)),
    )


@kernel
def from_columns(x: Vector, y: Vector, z: Vector) -> Quaternion:
    """The rotation whose matrix has these orthonormal columns, by Shepperd's method (the largest divisor)."""
    trace = x.x + y.y + z.z
    if trace >= x.x and trace >= y.y and trace >= z.z:
        return unit(Quaternion(1.0 + trace, y.z - z.y, z.x - x.z, x.y - y.x))
    if x.x >= y.y and x.x >= z.z:
        return unit(Quaternion(y.z - z.y, 1.0 + x.x - y.y - z.z, x.y + y.x, z.x + x.z))
    if y.y >= z.z:
        return unit(Quaternion(z.x - x.z, x.y + y.x, 1.0 - x.x + y.y - z.z, y.z + z.y))
    return unit(Quaternion(x.y - y.x, z.x + x.z, y.z + z.y, 1.0 - x.x - y.y + z.z))


@kernel
def transform(position: Vector, rotation: Quaternion, point: Vector) -> Vector:
    """The world position of a point given in the frame (position, rotation)."""
    return add(position, rotate(rotation, point))
