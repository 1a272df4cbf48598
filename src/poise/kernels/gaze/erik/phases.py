"""The forward and the backward phase of an ERIK iteration [Ribeiro & Paiva 2019, alg. 8-18].

The forward phase goes from the tip down. It puts every segment where the warped posture has it, rolled so that the
joint below can carry it, and leaves in T_k the frame that segment k should have. The backward phase goes from the root
up and takes each segment as near to T_k as its joint can.

Lines of the paper whose result a later line overwrites are left out: a joint's basis is set from the warped posture
(alg. 8 l. 3-9), so rolls passed down to it before (l. 10-25, l. 44) are lost; and angles of the forward phase only
place the segment below.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.chains.chain import SWING_JOINT, TWIST_JOINT, Chain, moved, pointing, unmoved
from poise.kernels.gaze.erik.joint import (
    PARALLEL,
    SHORT,
    Lalut,
    across,
    hemisphere_of,
    off_edge,
    safe_twist,
    signed_angle,
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
    """Room for the frames of one solve."""

    warped: Array
    """(n, 4) frames of the warped posture's segments."""
    wanted: Array
    """(n, 4) T_k: frames wanted of the solution's segments."""
    reached: Array
    """(n, 4) frames of the solution's segments."""


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

    A joint that comes to lie at a limit steps `edge` [rad] inside, 0 for no such step.
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
            angle = off_edge(chain, k, angle, edge)
        back = multiply(goal, turn_about(vector_at(chain.axis, k), -angle))
        put_quaternion(wanted, k - 1, multiply(back, conjugate(quaternion_at(chain.rest, k))))
    if chain.role[0] == SWING_JOINT and last > 0:
        roll_to_axis(chain, 0, quaternion_at(chain.rest, 0), wanted)


@kernel
def forward_angle(chain: Chain, lalut: Lalut, k: int, apart: Quaternion) -> float:
    """Angle of joint `k` towards T_k as seen from the joint's frame (alg. 8 l. 40-43)."""
    if chain.role[k] == TWIST_JOINT:
        return safe_twist(chain, k, twist_sign(chain, k) * twist_of(apart))
    direction = pointing(apart)
    return swing_angle(chain, lalut, k, direction, hemisphere_of(chain, k, direction))


@kernel
def roll_to_axis(chain: Chain, k: int, base: Quaternion, wanted: Array) -> None:
    """Take out of the segments from `k` up the roll that joint `k` cannot make [Ribeiro & Paiva 2019, alg. 8 l. 26-34].

    The joint's axis is the same before and after its own rotation: any turn about the segment between the axis in the
    joint's frame and in T_k is such a roll.
    """
    goal = quaternion_at(wanted, k)
    along = pointing(goal)
    mine = rotate(base, vector_at(chain.axis, k))
    carried = rotate(goal, vector_at(chain.axis, k))
    if chain.role[k + 1] == TWIST_JOINT and dot(mine, carried) < 0.0:
        _roll_up(k, math.pi, wanted)
        return
    mine, carried = across(mine, along), across(carried, along)
    if length(mine) > SHORT and length(carried) > SHORT:
        _roll_up(k, signed_angle(carried, mine, along), wanted)


@kernel
def _roll_up(k: int, angle: float, wanted: Array) -> None:
    """Roll every segment from `k` up about itself, but not the tip [Ribeiro & Paiva 2019, alg. 10]."""
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
    """Take every segment from the root up as near to its T_k as it goes [Ribeiro & Paiva 2019, alg. 15]."""
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
    """Angle of a twister that brings its segment's roll to T_k's (alg. 15 l. 3-10)."""
    last = wanted.shape[0] - 1
    if k < last:
        _roll_child(chain, k, base, wanted)
    angle = twist_sign(chain, k) * twist_between(quaternion_at(wanted, k), base)
    return safe_twist(chain, k, angle) if k < last else tip_twist(chain, angle, symmetric)


@kernel
def _roll_child(chain: Chain, k: int, base: Quaternion, wanted: Array) -> None:
    """Roll T_k about the segment above, so that its y comes near to that of twister `k`, which cannot move it.

    BackwardChildRoll [Ribeiro & Paiva 2019, alg. 16].
    """
    goal = quaternion_at(wanted, k)
    child_axis = rotate(multiply(goal, quaternion_at(chain.rest, k + 1)), vector_at(chain.axis, k + 1))
    along = pointing(base)
    if abs(dot(child_axis, along)) <= PARALLEL:
        return
    above = pointing(quaternion_at(wanted, k + 1))
    gx, gy, gz = columns(goal)
    bx, by, bz = columns(base)
    carried, mine = gy, by
    if abs(dot(gy, above)) > 1.0 - PARALLEL or abs(dot(along, above)) > 1.0 - PARALLEL:
        sideways = abs(dot(gz, above)) > 1.0 - PARALLEL or abs(dot(gx, along)) < PARALLEL
        carried, mine = (gx, bx) if sideways else (gz, bz)
    carried, mine = across(carried, above), across(mine, above)
    if length(carried) > SHORT and length(mine) > SHORT:
        put_quaternion(wanted, k, multiply(turn_about(above, signed_angle(carried, mine, above)), goal))


@kernel
def _backward_swing(chain: Chain, lalut: Lalut, k: int, base: Quaternion, wanted: Array) -> float:
    """Angle of a swing whose segment comes nearest to T_k's, of one in each hemisphere (alg. 15 l. 11-26)."""
    goal = quaternion_at(wanted, k)
    direction = pointing(multiply(conjugate(base), goal))
    side = hemisphere_of(chain, k, direction)
    angle = swing_angle(chain, lalut, k, direction, side)
    if k == wanted.shape[0] - 1:
        return angle
    other = swing_angle(chain, lalut, k, direction, -side)
    axis = vector_at(chain.axis, k)
    mine = pointing(multiply(base, turn_about(axis, angle)))
    across_from_it = pointing(multiply(base, turn_about(axis, other)))
    child = pointing(quaternion_at(wanted, k + 1))
    if dot(across_from_it, child) > dot(mine, child):
        angle, other = other, angle
        mine, across_from_it = across_from_it, mine
    return other if dot(across_from_it, pointing(goal)) > dot(mine, pointing(goal)) else angle


@kernel
def _twist_parent(chain: Chain, k: int, base: Quaternion, frames: Frames, angles: Array) -> None:
    """Turn the twister below swing `k` so that the swing's plane holds T_k's segment (alg. 15 l. 27-40)."""
    reached, goal = frames.reached, quaternion_at(frames.wanted, k)
    turned = rotate(quaternion_at(reached, k - 1), vector_at(chain.axis, k - 1))
    axis = vector_at(chain.axis, k)
    if abs(dot(rotate(goal, axis), turned)) > 1.0 - PARALLEL or abs(dot(rotate(base, axis), turned)) > 1.0 - PARALLEL:
        axis = normalized(cross(axis, Vector(0.0, 1.0, 0.0)))
    carried, mine = across(rotate(goal, axis), turned), across(rotate(base, axis), turned)
    if k < angles.shape[0] - 1:
        along = pointing(goal)
        roll = turn_about(along, signed_angle(rotate(goal, axis), carried, along))
        carried = across(rotate(multiply(roll, goal), axis), turned)
    if length(carried) < SHORT or length(mine) < SHORT:
        return
    angles[k - 1] = safe_twist(chain, k - 1, angles[k - 1] + signed_angle(mine, carried, turned))
    below = quaternion_at(reached, max(k - 2, 0))
    put_quaternion(reached, k - 1, moved(chain, k - 1, below, angles[k - 1]))
