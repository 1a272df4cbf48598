"""Swing and twist: the direction of a limb, and its rotation about its own axis.

An orientation q is split as q = swing ⊗ twist. The twist is a rotation by τ about the limb's own axis z; the swing is
the direct rotation that takes z to the limb's direction, so its rotation vector (s_x, s_y, 0) has no z component
[Baerlocher 2001, app. C]. The split is singular in the direction opposite to z, where any twist would do; zero is
chosen there.
"""

import math
from typing import NamedTuple

from poise.kernels.jit.compile import kernel
from poise.kernels.maths.quaternion import Quaternion, from_rotation_vector, multiply
from poise.kernels.maths.vector import Vector


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
