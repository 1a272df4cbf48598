"""Cyclic descent of the orientation error, one joint at a time: BWCD from root to tip, CCD from tip to root.

Each joint is turned to the angle that minimises the error while all others stay fixed. For a *direction* it turns by
the angle between tip and target in projection along the joint's axis. For an *orientation* with residual rotation
E = τ Ω⁻¹ it turns by 2 atan2(e · r, e_w), with e the vector part of E and r the axis.

A chain whose last joint is a twister (a roll joint along the tip) is turned to the direction only; the last joint then
sets the roll [Ribeiro & Paiva 2019, alg. 19-22].
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.chains.chain import TWIST_JOINT, Chain, clamped, moved, pointing, tip_rotation, unmoved, wrapped
from poise.kernels.gaze.erik.joint import (
    perpendicular,
    signed_angle,
    step_off_limit,
    tip_twist,
    twist_between,
    twist_sign,
)
from poise.kernels.gaze.measures import DIRECTED, FULL, Aim, upside_down
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.portable_trigonometry import arc_tangent, turn_about
from poise.kernels.maths.quaternion import Quaternion, conjugate, multiply, quaternion_at, rotate
from poise.kernels.maths.vector import Vector, dot, length, vector_at

Array = np.ndarray


class Descent(NamedTuple):
    """Stopping criteria of BWCD and CCD."""

    sweeps: int
    """Largest number of sweeps over the chain."""
    precision: float
    """The descent stops when sin² of half the residual angle is at most this."""
    progress: float
    """CCD stops after a sweep that changes that measure by at most this."""


@kernel
def squared_half_sine(aim: Aim, tip: Quaternion) -> float:
    """sin² of half the angle between tip and aim [Ribeiro & Paiva 2019, alg. 20]."""
    if aim.kind == DIRECTED:
        return 0.5 * abs(1.0 - dot(pointing(tip), pointing(aim.rotation)))
    w = multiply(aim.rotation, conjugate(tip)).w
    return 1.0 - min(w * w, 1.0)


@kernel
def best_turn(aim: Aim, tip: Quaternion, axis: Vector) -> float:
    """Turn about a world axis that minimises the angle between tip and aim [rad]; 0 if no turn changes it."""
    if aim.kind == DIRECTED:
        current, wanted = perpendicular(pointing(tip), axis), perpendicular(pointing(aim.rotation), axis)
        if length(current) < 1e-6 or length(wanted) < 1e-6:
            return 0.0
        return signed_angle(current, wanted, axis)
    e = multiply(aim.rotation, conjugate(tip))
    along = e.x * axis.x + e.y * axis.y + e.z * axis.z
    if along * along + e.w * e.w < 1e-12:
        return 0.0
    return wrapped(2.0 * arc_tangent(along, e.w))


@kernel
def bwcd_posture(
    chain: Chain,
    aim: Aim,
    stop: Descent,
    # outputs
    angles: Array,
) -> None:
    """Turn a posture to the aim's direction, from the root to the tip, ignoring limits.

    BWCD_Posture [Ribeiro & Paiva 2019, alg. 19]; `angles` (n,) is the posture, then the warped posture.
    """
    towards = Aim(aim.rotation, DIRECTED)
    tip = tip_rotation(chain, angles)
    for _ in range(stop.sweeps):
        below = Quaternion(1.0, 0.0, 0.0, 0.0)
        for k in range(angles.shape[0]):
            if squared_half_sine(towards, tip) <= stop.precision:
                return
            axis = rotate(unmoved(chain, k, below), vector_at(chain.axis, k))
            turn = best_turn(towards, tip, axis)
            angles[k] += turn
            tip = multiply(turn_about(axis, turn), tip)
            below = moved(chain, k, below, angles[k])


@kernel
def bwcd_solution(
    chain: Chain,
    aim: Aim,
    stop: Descent,
    # outputs
    angles: Array,
) -> None:
    """Turn a solution towards the aim within limits, from the root to the tip.

    BWCD_Solution [Ribeiro & Paiva 2019, alg. 21]; `angles` (n,) is the start, then the result.
    """
    tip = tip_rotation(chain, angles)
    for _ in range(stop.sweeps):
        below = Quaternion(1.0, 0.0, 0.0, 0.0)
        for k in range(angles.shape[0]):
            if squared_half_sine(aim, tip) <= stop.precision:
                return
            axis = rotate(unmoved(chain, k, below), vector_at(chain.axis, k))
            angle = clamped(chain, k, wrapped(angles[k] + best_turn(aim, tip, axis)))
            tip = multiply(turn_about(axis, angle - angles[k]), tip)
            angles[k] = angle
            below = moved(chain, k, below, angle)


@kernel
def ccd_solution(
    chain: Chain,
    aim: Aim,
    stop: Descent,
    edge: float,
    # outputs
    angles: Array,
) -> None:
    """Turn a solution towards the aim within limits, from the tip to the root.

    CCD [Ribeiro & Paiva 2019, alg. 22]. A joint that reaches a limit is moved inside by `edge` [rad]; 0 disables that.
    `angles` (n,) is the start, then the result.
    """
    tip = tip_rotation(chain, angles)
    last = math.inf
    for _ in range(stop.sweeps):
        # From the tip to the root, undoing the rotation of each joint gives the frame of the previous one.
        frame = tip
        for k in range(angles.shape[0] - 1, -1, -1):
            if squared_half_sine(aim, tip) <= stop.precision:
                return
            axis = rotate(frame, vector_at(chain.axis, k))
            angle = clamped(chain, k, wrapped(angles[k] + best_turn(aim, tip, axis)))
            if edge > 0.0:
                angle = step_off_limit(chain, k, angle, edge)
            step = turn_about(axis, angle - angles[k])
            tip = multiply(step, tip)
            frame = multiply(frame, turn_about(vector_at(chain.axis, k), -angles[k]))
            frame = multiply(frame, conjugate(quaternion_at(chain.rest, k)))
            angles[k] = angle
        left = squared_half_sine(aim, tip)
        if left <= stop.precision or abs(left - last) <= stop.progress:
            return
        last = left


@kernel
def descent_aim(chain: Chain, aim: Aim, symmetric: int, angles: Array) -> Aim:
    """The aim of a descent: the direction alone if the last joint is a twister, which then sets the roll.

    Otherwise the nearer of the aim and, if `symmetric`, the aim upside down.
    """
    if aim.kind == DIRECTED or chain.role[angles.shape[0] - 1] == TWIST_JOINT:
        return Aim(aim.rotation, DIRECTED)
    if symmetric:
        around = Aim(upside_down(aim.rotation), FULL)
        tip = tip_rotation(chain, angles)
        if squared_half_sine(around, tip) < squared_half_sine(aim, tip):
            return around
    return aim


@kernel
def twist_tip(
    chain: Chain,
    aim: Aim,
    symmetric: int,
    # outputs
    angles: Array,
) -> None:
    """If the last joint is a twister, set it to the roll of the aim, or of the aim upside down if `symmetric`."""
    last = angles.shape[0] - 1
    if aim.kind == FULL and chain.role[last] == TWIST_JOINT:
        turn = twist_sign(chain, last) * twist_between(aim.rotation, tip_rotation(chain, angles))
        angles[last] = tip_twist(chain, angles[last] + turn, symmetric)
