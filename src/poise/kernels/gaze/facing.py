"""The frame of a tip whose +Y points in a given direction."""

import math

from poise.kernels.jit.compile import kernel
from poise.kernels.maths.quaternion import Quaternion, about, conjugate, multiply, rotate
from poise.kernels.maths.vector import Vector


@kernel
def facing_frame(level: Quaternion, direction: Vector, roll: float) -> Quaternion:
    """The frame R(up, η) R(side, θ) R(y, ρ) with heading η and angle θ from the up axis of a unit direction.

    Args:
        level: Rotation that takes the up axis to y.
        direction: Unit direction of the frame's y.
        roll: ρ, the turn about that direction [rad].
    """
    seen = rotate(level, direction)
    across = math.sqrt(seen.x * seen.x + seen.z * seen.z)
    heading = math.atan2(seen.x, seen.z) if across > 1e-12 else 0.0
    y = Vector(0.0, 1.0, 0.0)
    turned = multiply(about(y, heading), about(Vector(1.0, 0.0, 0.0), math.atan2(across, seen.y)))
    return multiply(multiply(conjugate(level), turned), about(y, roll))
