"""A serial chain of hinges: its constants, its forward kinematics, and the bend angle at each joint.

Segment k has a frame Ω_k whose +Y lies along the segment, towards joint k+1. The last frame is that of the tip, which
points along its own +Y. With a_k the axis of joint k in its own segment's frame, F_k the rotation of segment k relative
to segment k-1 at angle 0, and o_k the offset of joint k in segment k-1,

    Ω_k = Ω_{k-1} F_k R(a_k, θ_k)        p_k = p_{k-1} + Ω_{k-1} o_k

In the papers' chains every F_k is the identity and every a_k is X, Y or Z. Here both are arbitrary: a chain may be
bent at rest, and its axes may be oblique.

A joint whose axis lies along its own segment is a *twister*, a roll joint: it turns the segment about itself. Every
other joint is a *swing*: it changes the direction of its segment. A twister at the root turns the whole chain about one
axis; a twister at the tip sets the roll of the tip. Neither changes the *shape* of the chain, which is given by the
angles of all other joints.

All functions take and return tuples, allocate nothing and raise nothing, so that they also compile for CUDA.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.jit.compile import kernel
from poise.kernels.maths.portable_trigonometry import sine_cosine, turn_about
from poise.kernels.maths.quaternion import (
    Quaternion,
    multiply,
    put_quaternion,
    quaternion_at,
    rotate,
    unit,
)
from poise.kernels.maths.vector import Vector, add, put_vector, vector_at

Array = np.ndarray

SWING_JOINT, TWIST_JOINT = 0, 1
"""Values of `Chain.role`: a joint that changes the direction of its segment; a roll joint (twister)."""


class Chain(NamedTuple):
    """The constants of a chain of n hinges; every array is C-contiguous, int64 or float64, and writable."""

    axis: Array
    """(n, 3) a_k: unit axis of each joint in its segment's frame."""
    rest: Array
    """(n, 4) F_k: rotation of each segment relative to the previous one at angle 0; row 0 relative to the world."""
    offset: Array
    """(n+1, 3) o_k: position of each joint in the previous segment's frame [m]; row 0 in the world, row n the tip."""
    lower: Array
    """(n,) lower limits, -inf for none [rad]."""
    upper: Array
    """(n,) upper limits, inf for none [rad]."""
    role: Array
    """(n,) TWIST_JOINT for roll joints (twisters), SWING_JOINT for all others."""
    bend: Array
    """(n, 3) coefficients C, A, B of the cosine C + A cos θ + B sin θ of the angle between each segment and the
    previous one; the first segment is compared with its own direction at angle 0."""
    middle: Array
    """(n,) 1 for the joints that define the shape: all but a twister at the root and a twister at the tip."""
    mirrors: int
    """1 if negating all swings equals half a turn of the whole chain about the root axis, else 0."""


@kernel
def wrapped(angle: float) -> float:
    """The angle in (-π, π] that equals `angle` modulo 2π [rad]."""
    turned = angle - 2.0 * math.pi * math.floor((angle + math.pi) / (2.0 * math.pi))
    return turned if turned > -math.pi else math.pi


@kernel
def clamped(chain: Chain, k: int, angle: float) -> float:
    """The angle nearest to `angle` within the limits of joint `k`."""
    return min(max(angle, chain.lower[k]), chain.upper[k])


@kernel
def allows(chain: Chain, k: int, angle: float) -> bool:
    """Whether `angle` is within the limits of joint `k`."""
    return chain.lower[k] <= angle <= chain.upper[k]


@kernel
def unmoved(chain: Chain, k: int, below: Quaternion) -> Quaternion:
    """World frame Ω_{k-1} F_k of segment `k` at angle 0; `below` is Ω_{k-1} and is ignored for k = 0."""
    rest = quaternion_at(chain.rest, k)
    return rest if k == 0 else multiply(below, rest)


@kernel
def moved(chain: Chain, k: int, below: Quaternion, angle: float) -> Quaternion:
    """World frame Ω_k = Ω_{k-1} F_k R(a_k, θ) of segment `k` at `angle` θ; `below` is Ω_{k-1}."""
    return multiply(unmoved(chain, k, below), turn_about(vector_at(chain.axis, k), angle))


@kernel
def tip_rotation(chain: Chain, angles: Array) -> Quaternion:
    """World frame of the tip at `angles` (n,)."""
    turned = Quaternion(1.0, 0.0, 0.0, 0.0)
    for k in range(chain.role.shape[0]):
        turned = moved(chain, k, turned, angles[k])
    return unit(turned)


@kernel
def segment_rotations(
    chain: Chain,
    angles: Array,
    # outputs
    rotations: Array,
) -> None:
    """World frame of every segment, `rotations` (n, 4), at `angles` (n,)."""
    turned = Quaternion(1.0, 0.0, 0.0, 0.0)
    for k in range(chain.role.shape[0]):
        turned = moved(chain, k, turned, angles[k])
        put_quaternion(rotations, k, turned)


@kernel
def joint_positions(
    chain: Chain,
    rotations: Array,
    # outputs
    positions: Array,
) -> None:
    """World positions of all joints and of the tip, `positions` (n+1, 3) [m], from `segment_rotations`."""
    place = vector_at(chain.offset, 0)
    put_vector(positions, 0, place)
    for k in range(chain.role.shape[0]):
        place = add(place, rotate(quaternion_at(rotations, k), vector_at(chain.offset, k + 1)))
        put_vector(positions, k + 1, place)


@kernel
def tip_position(chain: Chain, angles: Array) -> Vector:
    """World position of the tip at `angles` (n,) [m]."""
    turned = Quaternion(1.0, 0.0, 0.0, 0.0)
    place = vector_at(chain.offset, 0)
    for k in range(chain.role.shape[0]):
        turned = moved(chain, k, turned, angles[k])
        place = add(place, rotate(turned, vector_at(chain.offset, k + 1)))
    return place


@kernel
def world_axis(chain: Chain, rotations: Array, k: int) -> Vector:
    """World axis of joint `k`, from the rotated frames of `segment_rotations`; a rotation leaves its axis fixed."""
    return rotate(quaternion_at(rotations, k), vector_at(chain.axis, k))


@kernel
def pointing(q: Quaternion) -> Vector:
    """The +Y axis of a frame: the direction of a segment with this frame."""
    return Vector(2.0 * (q.x * q.y - q.w * q.z), 1.0 - 2.0 * (q.x * q.x + q.z * q.z), 2.0 * (q.y * q.z + q.w * q.x))


@kernel
def bend_cosine(chain: Chain, k: int, angle: float) -> float:
    """Cosine of the angle between segment `k` and the previous one: cos θ in a chain that is straight at rest."""
    s, c = sine_cosine(angle)
    return chain.bend[k, 0] + chain.bend[k, 1] * c + chain.bend[k, 2] * s
