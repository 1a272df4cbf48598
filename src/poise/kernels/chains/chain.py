"""One chain of hinges: its constants, its forward kinematics, and how far each of its segments is bent.

Segment k carries a frame Ω_k whose +Y lies along the segment, towards joint k+1; the last one is the frame of the tip,
which points along its own +Y. With a_k the axis of joint k in its own segment's frame and F_k its frame at rest,

    Ω_k = Ω_{k-1} F_k R(a_k, θ_k)        p_k = p_{k-1} + Ω_{k-1} o_k

In the papers' chains every F_k is the identity and every a_k is X, Y or Z. Here they may be anything: a chain may be
bent at rest, and its axes oblique.

Everything takes and returns tuples, allocates nothing and raises nothing, so that it compiles for CUDA unchanged.
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

SWING, TWIST = 0, 1


class Chain(NamedTuple):
    """The constants of a chain of n hinges; every array is C-contiguous, int64 or float64, and writable."""

    axis: Array
    """(n, 3) unit axis of each joint in its segment's frame."""
    rest: Array
    """(n, 4) each segment's frame in the one below at angle 0; row 0 in the world."""
    offset: Array
    """(n+1, 3) each joint in the frame of the segment below [m]; row 0 in the world, row n the tip."""
    lower: Array
    """(n,) least angle, -inf without one [rad]."""
    upper: Array
    """(n,) greatest angle, inf without one [rad]."""
    role: Array
    """(n,) TWIST where the joint turns its segment about the segment itself, else SWING."""
    bend: Array
    """(n, 3) C, A, B of the cosine C + A cos θ + B sin θ between each segment and the one below; the first segment is
    compared with itself at rest."""
    middle: Array
    """(n,) 1 for the joints that shape the posture: all but a twister at the root and one at the tip."""
    mirrors: int
    """1 where negating all swings only turns the body by half a turn about its root's axis, else 0."""


@kernel
def wrapped(angle: float) -> float:
    """The same rotation as an angle in (-π, π]."""
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
    """Frame of segment `k` at angle 0 on a segment whose frame is `below`, which row 0 ignores."""
    rest = quaternion_at(chain.rest, k)
    return rest if k == 0 else multiply(below, rest)


@kernel
def moved(chain: Chain, k: int, below: Quaternion, angle: float) -> Quaternion:
    """Frame Ω_k = Ω_{k-1} F_k R(a_k, θ) of segment `k`."""
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
    """World places of all joints and then of the tip, `positions` (n+1, 3) [m], from `segment_rotations`."""
    place = vector_at(chain.offset, 0)
    put_vector(positions, 0, place)
    for k in range(chain.role.shape[0]):
        place = add(place, rotate(quaternion_at(rotations, k), vector_at(chain.offset, k + 1)))
        put_vector(positions, k + 1, place)


@kernel
def tip_position(chain: Chain, angles: Array) -> Vector:
    """World place of the tip at `angles` (n,) [m]."""
    turned = Quaternion(1.0, 0.0, 0.0, 0.0)
    place = vector_at(chain.offset, 0)
    for k in range(chain.role.shape[0]):
        turned = moved(chain, k, turned, angles[k])
        place = add(place, rotate(turned, vector_at(chain.offset, k + 1)))
    return place


@kernel
def world_axis(chain: Chain, rotations: Array, k: int) -> Vector:
    """World axis of joint `k`, from `segment_rotations`: no rotation about an axis moves that axis."""
    return rotate(quaternion_at(rotations, k), vector_at(chain.axis, k))


@kernel
def pointing(q: Quaternion) -> Vector:
    """The +Y axis of a frame: where a segment with this frame points."""
    return Vector(2.0 * (q.x * q.y - q.w * q.z), 1.0 - 2.0 * (q.x * q.x + q.z * q.z), 2.0 * (q.y * q.z + q.w * q.x))


@kernel
def bend_cosine(chain: Chain, k: int, angle: float) -> float:
    """Cosine of the angle between segment `k` and the one below: cos θ in a chain that is straight at rest."""
    s, c = sine_cosine(angle)
    return chain.bend[k, 0] + chain.bend[k, 1] * c + chain.bend[k, 2] * s
