"""Rotations as unit quaternions (w, x, y, z), stored in named tuples, and their split into swing and twist.

An orientation q is split as q = swing ⊗ twist. The twist is a rotation by τ about the limb's own axis z; the swing is
the direct rotation that takes z to the limb's direction, so its rotation vector (s_x, s_y, 0) has no z component
[Baerlocher 2001, app. C]. The split is singular in the direction opposite to z, where any twist would do; zero is
chosen there.
"""

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


class SwingTwist(NamedTuple):
    """Swing components s_x, s_y and twist τ, all [rad]."""

    x: float
    y: float
    twist: float


@kernel
def to_swing_twist(q: Quaternion) -> SwingTwist:
    """Split an orientation; |(s_x, s_y)| ≤ π and -π ≤ τ ≤ π.

    τ = 2 atan2(e_z, e_w), γ = τ/2, β = atan2(|(e_x, e_y)|, |(e_z, e_w)|) and
    (s_x, s_y) = (2β / sin β) R(γ) (e_x, e_y) [Baerlocher 2001, app. C].
    """
    flip = -1.0 if q.w < 0.0 else 1.0
    w, x, y, z = flip * q.w, flip * q.x, flip * q.y, flip * q.z
    along = math.sqrt(z * z + w * w)
    across = math.sqrt(x * x + y * y)
    gamma = math.atan2(z, w) if along > 1e-15 else 0.0
    k = 2.0 / along if across < 1e-9 else 2.0 * math.atan2(across, along) / across
    c, s = math.cos(gamma), math.sin(gamma)
    return SwingTwist(k * (c * x - s * y), k * (s * x + c * y), 2.0 * gamma)


@kernel
def from_swing_twist(split: SwingTwist) -> Quaternion:
    """The orientation q = swing ⊗ twist."""
    swing = from_rotation_vector(Vector(split.x, split.y, 0.0))
    half = 0.5 * split.twist
    return multiply(swing, Quaternion(math.cos(half), 0.0, 0.0, math.sin(half)))


@kernel
def swing_direction(x: float, y: float) -> Vector:
    """Direction of the limb, exp(s_x, s_y, 0) z = (s_y k, -s_x k, cos|s|), k = sin|s| / |s|."""
    angle = math.sqrt(x * x + y * y)
    k = 1.0 - angle * angle / 6.0 if angle < 1e-4 else math.sin(angle) / angle
    return Vector(y * k, -x * k, math.cos(angle))


@kernel
def direction_swing(d: Vector) -> tuple[float, float]:
    """The swing (s_x, s_y) whose direction is the unit vector `d`; opposite to z, the swing (π, 0)."""
    across = math.sqrt(d.x * d.x + d.y * d.y)
    if across < 1e-15:
        return (0.0, 0.0) if d.z > 0.0 else (math.pi, 0.0)
    k = math.atan2(across, d.z) / across
    return -d.y * k, d.x * k


@kernel
def swing_twist_rates(split: SwingTwist) -> tuple[Vector, Vector, Vector]:
    """Rows of ∂(s_x, s_y, τ)/∂ω for the update q ← q ⊗ exp(ω).

    With R_τ the twist and J_r the right Jacobian of the exponential map, R_τ ω = J_r(s) (ṡ_x, ṡ_y, 0) + τ̇ z. The upper
    two rows of J_r(s) give the swing rates, and the third then gives the twist rate. Singular only at |s| = 2π, which
    a swing never reaches.
    """
    sx, sy = split.x, split.y
    square = sx * sx + sy * sy
    angle = math.sqrt(square)
    if angle < 1e-4:
        b = 0.5 - square / 24.0
        a = 1.0 / 6.0 - square / 120.0
    else:
        b = (1.0 - math.cos(angle)) / square
        a = (angle - math.sin(angle)) / (square * angle)
    # J_r = I - b [s×] + a [s×]², its first two columns only.
    m00, m01 = 1.0 - a * sy * sy, a * sx * sy
    m10, m11 = a * sx * sy, 1.0 - a * sx * sx
    m20, m21 = b * sy, -b * sx
    determinant = m00 * m11 - m01 * m10
    i00, i01 = m11 / determinant, -m01 / determinant
    i10, i11 = -m10 / determinant, m00 / determinant
    c, s = math.cos(split.twist), math.sin(split.twist)
    # R_τ = [[c, -s, 0], [s, c, 0], [0, 0, 1]].
    x_row = Vector(i00 * c + i01 * s, -i00 * s + i01 * c, 0.0)
    y_row = Vector(i10 * c + i11 * s, -i10 * s + i11 * c, 0.0)
    twist_row = Vector(-(m20 * x_row.x + m21 * y_row.x), -(m20 * x_row.y + m21 * y_row.y), 1.0)
    return x_row, y_row, twist_row
