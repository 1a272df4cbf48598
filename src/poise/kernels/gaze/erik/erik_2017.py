"""The first ERIK: three passes a frame, and a posture gradient carried from frame to frame [Ribeiro & Paiva 2017, 4.1].

*Pre-pass*: the wanted posture as places of its joints, every segment turned by the gradient ΔP of the frame before.
*FABRIK pass*: each joint is an end-point with its own place to go to. Going down, a joint moves half-way between its
own place and where its child wants it; going up, each segment points at the next joint as well as its hinge lets it,
a twister below turning to help: the expressive solution.
*CCD pass*: turns that solution to the target: the oriented solution.
The gradient holds for each segment the world rotation that CCD has added so far: ΔP ← (Ω_oriented Ω_expressive⁻¹) ΔP.
The paper does not say that it adds up. Were it the last frame's share alone, joints would jump in every fifth frame of
a slow sweep.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.chains.chain import (
    SWING_JOINT,
    TWIST_JOINT,
    Chain,
    clamped,
    joint_positions,
    moved,
    segment_rotations,
    unmoved,
    wrapped,
)
from poise.kernels.gaze.erik.descent import Descent, descend, descent_aim, twist_tip
from poise.kernels.gaze.erik.joint import SHORT, Lalut, across, hemisphere_of, signed_angle, swing_angle
from poise.kernels.gaze.measures import Aim
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.portable_trigonometry import turn_about
from poise.kernels.maths.quaternion import Quaternion, conjugate, multiply, put_quaternion, quaternion_at, rotate, unit
from poise.kernels.maths.vector import Vector, add, dot, length, normalized, put_vector, scale, subtract, vector_at

Array = np.ndarray


class Room2017(NamedTuple):
    """Room for one solve of a chain of n joints, and what is carried to the next frame."""

    gradient: Array
    """(n, 4) ΔP: world rotation of each segment; carried from frame to frame."""
    frames: Array
    """(n, 4) of segments."""
    expressive: Array
    """(n, 4) of the expressive solution's segments."""
    places: Array
    """(n+1, 3) where each joint and the tip are to go [m]."""
    moving: Array
    """(n+1, 3) where they are [m]."""
    angles: Array
    """(n,) the solution [rad]."""
    best: Array
    """(n,) the angles nearest to the places so far [rad]."""


@kernel
def forget(room: Room2017) -> None:
    """Start anew: no gradient."""
    for k in range(room.angles.shape[0]):
        put_quaternion(room.gradient, k, Quaternion(1.0, 0.0, 0.0, 0.0))


@kernel
def solve_erik_2017(
    chain: Chain,
    symmetric: int,
    lalut: Lalut,
    sweeps: int,
    stop: Descent,
    aim: Aim,
    posture: Array,
    room: Room2017,
) -> int:
    """Leave the oriented solution in `room.angles`, renew `room.gradient`, and return the sweeps of the FABRIK pass.

    Args:
        chain: The chain.
        symmetric: 1 where the tip may be upside down.
        lalut: The look-up table, empty to solve for swings.
        sweeps: Most sweeps of the FABRIK pass.
        stop: When the CCD pass stops.
        aim: What the tip is to face.
        posture: (n,) wanted angles [rad].
        room: Where to work.
    """
    n = posture.shape[0]
    _pre_pass(chain, posture, room)
    for k in range(n):
        room.angles[k] = clamped(chain, k, posture[k])
    count = _fabrik_pass(chain, lalut, sweeps, room)
    segment_rotations(chain, room.angles, room.expressive)
    descend(chain, descent_aim(chain, aim, symmetric, room.angles), stop, 0.0, room.angles)
    twist_tip(chain, aim, symmetric, room.angles)
    segment_rotations(chain, room.angles, room.frames)
    for k in range(n):
        added = multiply(quaternion_at(room.frames, k), conjugate(quaternion_at(room.expressive, k)))
        put_quaternion(room.gradient, k, unit(multiply(added, quaternion_at(room.gradient, k))))
    return count


@kernel
def _pre_pass(chain: Chain, posture: Array, room: Room2017) -> None:
    """Places of the joints in the wanted posture with every segment turned by its gradient."""
    segment_rotations(chain, posture, room.frames)
    for k in range(posture.shape[0]):
        turned = multiply(quaternion_at(room.gradient, k), quaternion_at(room.frames, k))
        put_quaternion(room.frames, k, turned)
    joint_positions(chain, room.frames, room.places)


@kernel
def _fabrik_pass(chain: Chain, lalut: Lalut, sweeps: int, room: Room2017) -> int:
    """Angles that bring every joint as near to its place as sweeps of FABRIK do; returns how many it took."""
    n = room.angles.shape[0]
    least = math.inf
    for i in range(1, sweeps + 1):
        segment_rotations(chain, room.angles, room.frames)
        joint_positions(chain, room.frames, room.moving)
        _reach_down(chain, room)
        _reach_up(chain, lalut, room)
        joint_positions(chain, room.frames, room.moving)
        apart = 0.0
        for k in range(n + 1):
            apart += length(subtract(vector_at(room.moving, k), vector_at(room.places, k)))
        if apart >= least * (1.0 - 1e-3):
            for k in range(n):
                room.angles[k] = room.best[k]
            return i
        least = apart
        for k in range(n):
            room.best[k] = room.angles[k]
    return sweeps


@kernel
def _reach_down(chain: Chain, room: Room2017) -> None:
    """FABRIK from the tip down: each joint goes half-way between its place and where its child wants it."""
    n = room.angles.shape[0]
    put_vector(room.moving, n, vector_at(room.places, n))
    for k in range(n - 1, 0, -1):
        child = vector_at(room.moving, k + 1)
        away = normalized(subtract(vector_at(room.moving, k), child))
        asked = add(child, scale(away, length(vector_at(chain.offset, k + 1))))
        put_vector(room.moving, k, scale(add(asked, vector_at(room.places, k)), 0.5))


@kernel
def _reach_up(chain: Chain, lalut: Lalut, room: Room2017) -> None:
    """FABRIK from the root up: each segment points at where the next joint is, as well as hinges let it."""
    n = room.angles.shape[0]
    place = vector_at(chain.offset, 0)
    for k in range(n):
        below = quaternion_at(room.frames, max(k - 1, 0))
        if chain.role[k] == SWING_JOINT:
            wanted = subtract(vector_at(room.moving, k + 1), place)
            if length(wanted) > 1e-12:
                below = _point(chain, lalut, k, normalized(wanted), below, room)
        frame = moved(chain, k, below, room.angles[k])
        put_quaternion(room.frames, k, frame)
        place = add(place, rotate(frame, vector_at(chain.offset, k + 1)))


@kernel
def _point(chain: Chain, lalut: Lalut, k: int, wanted: Vector, below: Quaternion, room: Room2017) -> Quaternion:
    """Turn swing `k`, and a twister below it, so that the segment points along `wanted`; returns the frame below.

    On a twister the swing takes the latitude, in the hemisphere that lets the twister, by its heading, keep within its
    limits and turn least. Without one the swing turns as far towards it as its plane allows.
    """
    base = unmoved(chain, k, below)
    axis = rotate(base, vector_at(chain.axis, k))
    if k == 0 or chain.role[k - 1] != TWIST_JOINT:
        mine, goal = across(rotate(base, Vector(0.0, 1.0, 0.0)), axis), across(wanted, axis)
        if length(mine) > SHORT and length(goal) > SHORT:
            room.angles[k] = clamped(chain, k, signed_angle(mine, goal, axis))
        return below
    direction = rotate(conjugate(base), wanted)
    side = hemisphere_of(chain, k, direction)
    best, turned = -math.inf, room.angles[k - 1]
    swing = room.angles[k]
    for _ in range(2):
        angle = swing_angle(chain, lalut, k, direction, side)
        pointed = rotate(multiply(base, turn_about(vector_at(chain.axis, k), angle)), Vector(0.0, 1.0, 0.0))
        twist = _heading_twist(chain, k - 1, below, pointed, wanted, room.angles[k - 1])
        spun = turn_about(rotate(below, vector_at(chain.axis, k - 1)), twist - room.angles[k - 1])
        score = dot(rotate(spun, pointed), wanted) - 1e-3 * abs(twist - room.angles[k - 1])
        if score > best:
            best, swing, turned = score, angle, twist
        side = -side
    step = turn_about(vector_at(chain.axis, k - 1), turned - room.angles[k - 1])
    room.angles[k], room.angles[k - 1] = swing, turned
    below = multiply(below, step)
    put_quaternion(room.frames, k - 1, below)
    return below


@kernel
def _heading_twist(chain: Chain, k: int, frame: Quaternion, pointed: Vector, wanted: Vector, angle: float) -> float:
    """Angle of twister `k` that turns a direction above it to the heading of `wanted` [rad]."""
    axis = rotate(frame, vector_at(chain.axis, k))
    mine, goal = across(pointed, axis), across(wanted, axis)
    if length(mine) < SHORT or length(goal) < SHORT:
        return angle
    twist = wrapped(angle + signed_angle(mine, goal, axis))
    return clamped(chain, k, twist)
