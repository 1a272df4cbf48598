"""The forward and the backward phase of an ERIK iteration [Ribeiro & Paiva 2019, alg. 8-18].

The forward phase goes from the tip to the root. It computes the frame T_k that segment k should have: that of the
warped posture, rolled so that joint k can produce it. The backward phase goes from the root to the tip and turns each
segment as near to T_k as its joint allows.

Lines of the paper whose result a later line overwrites are omitted: a joint's basis is set from the warped posture
(alg. 8 l. 3-9), so rolls passed to it earlier (l. 10-25, l. 44) have no effect; and angles of the forward phase only
determine the frame of the previous segment.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.chains.chain import SWING_JOINT, TWIST_JOINT, Chain, moved, pointing, unmoved
from poise.kernels.gaze.erik.joint import (
    PARALLEL_TOLERANCE,
    SHORTEST_PROJECTION,
    Lalut,
    hemisphere_of,
    perpendicular,
    safe_twist,
    signed_angle,
    step_off_limit,
    swing_angle,
    tip_twist,
    twist_between,
    twist_of,
    twist_sign,
)
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.portable_trigonometry import turn_about
from poise.kernels.maths.quaternion import (
    Quaternion,
    columns,
    conjugate,
    multiply,
    put_quaternion,
    quaternion_at,
    rotate,
)
from poise.kernels.maths.vector import Vector, cross, dot, length, normalized, vector_at

Array = np.ndarray


class Frames(NamedTuple):
    """World frames of the segments during one solve."""

    warped: Array
    """(n, 4) frames in the warped posture."""
    wanted: Array
    """(n, 4) T_k: wanted frames of the solution."""
    reached: Array
    """(n, 4) frames of the solution."""


@kernel
def forward_phase(
    chain: Chain,
    lalut: Lalut,
    target: Quaternion,
    edge: float,
    # outputs
    frames: Frames,
) -> None:
    """Fill `frames.wanted` from the tip's `target` and `frames.warped` [Ribeiro & Paiva 2019, alg. 8].

    A joint that reaches a limit is moved inside by `edge` [rad]; 0 disables that.
    """
    warped, wanted = frames.warped, frames.wanted
    last = chain.role.shape[0] - 1
    put_quaternion(wanted, last, target)
    for k in range(last, 0, -1):
        if k == last:
            put_quaternion(wanted, k - 1, quaternion_at(warped, k - 1))
            continue
        base = unmoved(chain, k, quaternion_at(warped, k - 1))
        if chain.role[k] == SWING_JOINT:
            roll_to_axis(chain, k, base, wanted)
        goal = quaternion_at(wanted, k)
        angle = forward_angle(chain, lalut, k, multiply(conjugate(base), goal))
        if edge > 0.0:
            angle = step_off_limit(chain, k, angle, edge)
        back = multiply(goal, turn_about(vector_at(chain.axis, k), -angle))
        put_quaternion(wanted, k - 1, multiply(back, conjugate(quaternion_at(chain.rest, k))))
    if chain.role[0] == SWING_JOINT and last > 0:
        roll_to_axis(chain, 0, quaternion_at(chain.rest, 0), wanted)


@kernel
def forward_angle(chain: Chain, lalut: Lalut, k: int, apart: Quaternion) -> float:
    """Angle of joint `k` towards T_k; `apart` is T_k in the joint's frame (alg. 8 l. 40-43)."""
    if chain.role[k] == TWIST_JOINT:
        return safe_twist(chain, k, twist_sign(chain, k) * twist_of(apart))
    direction = pointing(apart)
    return swing_angle(chain, lalut, k, direction, hemisphere_of(chain, k, direction))


@kernel
def roll_to_axis(chain: Chain, k: int, base: Quaternion, wanted: Array) -> None:
    """Remove from segments `k` and up the roll that joint `k` cannot make [Ribeiro & Paiva 2019, alg. 8 l. 26-34].

    A joint's own rotation leaves its axis fixed. So the turn about the segment that takes the axis in T_k to the axis
    in the joint's frame is a roll that the joint cannot make.
    """
    goal = quaternion_at(wanted, k)
    along = pointing(goal)
    current = rotate(base, vector_at(chain.axis, k))
    carried = rotate(goal, vector_at(chain.axis, k))
    if chain.role[k + 1] == TWIST_JOINT and dot(current, carried) < 0.0:
        _roll_up(k, math.pi, wanted)
        return
    current, carried = perpendicular(current, along), perpendicular(carried, along)
    if length(current) > SHORTEST_PROJECTION and length(carried) > SHORTEST_PROJECTION:
        _roll_up(k, signed_angle(carried, current, along), wanted)


@kernel
def _roll_up(k: int, angle: float, wanted: Array) -> None:
    """Roll all segments from `k` on about themselves, except the tip [Ribeiro & Paiva 2019, alg. 10]."""
    roll = turn_about(Vector(0.0, 1.0, 0.0), angle)
    for j in range(k, wanted.shape[0] - 1):
        put_quaternion(wanted, j, multiply(quaternion_at(wanted, j), roll))


@kernel
def backward_phase(
    chain: Chain,
    lalut: Lalut,
    symmetric: int,
    # outputs
    frames: Frames,
    angles: Array,
) -> None:
    """Turn each segment, from root to tip, as near to T_k as its joint allows [Ribeiro & Paiva 2019, alg. 15]."""
    reached, wanted = frames.reached, frames.wanted
    last = angles.shape[0] - 1
    for k in range(last + 1):
        below = quaternion_at(reached, max(k - 1, 0))
        base = unmoved(chain, k, below)
        if chain.role[k] == TWIST_JOINT:
            angles[k] = _backward_twist(chain, k, base, symmetric, wanted)
        else:
            angles[k] = _backward_swing(chain, lalut, k, base, wanted)
            if k > 0 and chain.role[k - 1] == TWIST_JOINT:
                _twist_parent(chain, k, base, frames, angles)
                below = quaternion_at(reached, k - 1)
        put_quaternion(reached, k, moved(chain, k, below, angles[k]))


@kernel
def _backward_twist(chain: Chain, k: int, base: Quaternion, symmetric: int, wanted: Array) -> float:
    """Angle of a twister that gives its segment the roll of T_k (alg. 15 l. 3-10) [rad]."""
    last = wanted.shape[0] - 1
    if k < last:
        _roll_child(chain, k, base, wanted)
    angle = twist_sign(chain, k) * twist_between(quaternion_at(wanted, k), base)
    return safe_twist(chain, k, angle) if k < last else tip_twist(chain, angle, symmetric)


@kernel
def _roll_child(chain: Chain, k: int, base: Quaternion, wanted: Array) -> None:
    """Turn T_k about the next segment so that its y comes near to that of twister `k`, which cannot change its own y.

    BackwardChildRoll [Ribeiro & Paiva 2019, alg. 16].
    """
    goal = quaternion_at(wanted, k)
    child_axis = rotate(multiply(goal, quaternion_at(chain.rest, k + 1)), vector_at(chain.axis, k + 1))
    along = pointing(base)
    if abs(dot(child_axis, along)) <= PARALLEL_TOLERANCE:
        return
    above = pointing(quaternion_at(wanted, k + 1))
    gx, gy, gz = columns(goal)
    bx, by, bz = columns(base)
    carried, current = gy, by
    if abs(dot(gy, above)) > 1.0 - PARALLEL_TOLERANCE or abs(dot(along, above)) > 1.0 - PARALLEL_TOLERANCE:
        sideways = abs(dot(gz, above)) > 1.0 - PARALLEL_TOLERANCE or abs(dot(gx, along)) < PARALLEL_TOLERANCE
        carried, current = (gx, bx) if sideways else (gz, bz)
    carried, current = perpendicular(carried, above), perpendicular(current, above)
    if length(carried) > SHORTEST_PROJECTION and length(current) > SHORTEST_PROJECTION:
        put_quaternion(wanted, k, multiply(turn_about(above, signed_angle(carried, current, above)), goal))


@kernel
def _backward_swing(chain: Chain, lalut: Lalut, k: int, base: Quaternion, wanted: Array) -> float:
    """Angle of a swing, of one in each hemisphere, that brings its segment nearest to T_k (alg. 15 l. 11-26) [rad]."""
    goal = quaternion_at(wanted, k)
    direction = pointing(multiply(conjugate(base), goal))
    side = hemisphere_of(chain, k, direction)
    angle = swing_angle(chain, lalut, k, direction, side)
    if k == wanted.shape[0] - 1:
        return angle
    other = swing_angle(chain, lalut, k, direction, -side)
    axis = vector_at(chain.axis, k)
    current = pointing(multiply(base, turn_about(axis, angle)))
    other_direction = pointing(multiply(base, turn_about(axis, other)))
    child = pointing(quaternion_at(wanted, k + 1))
    if dot(other_direction, child) > dot(current, child):
        angle, other = other, angle
        current, other_direction = other_direction, current
    return other if dot(other_direction, pointing(goal)) > dot(current, pointing(goal)) else angle


@kernel
def _twist_parent(chain: Chain, k: int, base: Quaternion, frames: Frames, angles: Array) -> None:
    """Turn the twister before swing `k` so that the swing's plane contains T_k's segment (alg. 15 l. 27-40)."""
    reached, goal = frames.reached, quaternion_at(frames.wanted, k)
    turned = rotate(quaternion_at(reached, k - 1), vector_at(chain.axis, k - 1))
    axis = vector_at(chain.axis, k)
    if (
        abs(dot(rotate(goal, axis), turned)) > 1.0 - PARALLEL_TOLERANCE
        or abs(dot(rotate(base, axis), turned)) > 1.0 - PARALLEL_TOLERANCE
    ):
        axis = normalized(cross(axis, Vector(0.0, 1.0, 0.0)))
    carried, current = perpendicular(rotate(goal, axis), turned), perpendicular(rotate(base, axis), turned)
    if k < angles.shape[0] - 1:
        along = pointing(goal)
        roll = turn_about(along, signed_angle(rotate(goal, axis), carried, along))
        carried = perpendicular(rotate(multiply(roll, goal), axis), turned)
    if length(carried) < SHORTEST_PROJECTION or length(current) < SHORTEST_PROJECTION:
        return
    angles[k - 1] = safe_twist(chain, k - 1, angles[k - 1] + signed_angle(current, carried, turned))
    below = quaternion_at(reached, max(k - 2, 0))
    put_quaternion(reached, k - 1, moved(chain, k - 1, below, angles[k - 1]))
