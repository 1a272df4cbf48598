"""The frame of a tip that faces a direction."""

import math

from poise.kernels.jit.compile import kernel
from poise.kernels.maths.quaternion import Quaternion, about, conjugate, multiply, rotate
from poise.kernels.maths.vector import Vector


@kernel
def facing_frame(level: Quaternion, direction: Vector, roll: float) -> Quaternion:
    """R(up, η) R(side, θ) R(y, ρ) for the heading η and the angle θ from the up axis of a unit direction.

    Args:
        level: Rotation that takes the up axis to y.
        direction: Where the frame's y is to point.
        roll: ρ, the turn about it [rad].
    """
    seen = rotate(level, direction)
    across = math.sqrt(seen.x * seen.x + seen.z * seen.z)
    heading = math.atan2(seen.x, seen.z) if across > 1e-12 else 0.0
    y = Vector(0.0, 1.0, 0.0)
    turned = multiply(about(y, heading), about(Vector(1.0, 0.0, 0.0), math.atan2(across, seen.y)))
    return multiply(multiply(conjugate(level), turned), about(y, roll))
