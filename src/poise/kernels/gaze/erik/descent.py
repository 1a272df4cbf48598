"""Turning a chain towards a target one joint at a time: BWCD from the root up, CCD from the tip down.

Each joint is turned to where it serves best while all others stand still. Towards a *direction* that is the angle
between tip and target seen along the joint's axis. Towards an *orientation* with residual rotation E = τ Ω⁻¹ it is
2 atan2(e · r, e_w), with e the vector part of E and r the axis.

A chain whose last joint twists the tip needs only a direction: the last joint then makes the orientation
[Ribeiro & Paiva 2019, alg. 19-22].
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.chains.chain import TWIST_JOINT, Chain, clamped, moved, pointing, tip_rotation, unmoved, wrapped
from poise.kernels.gaze.erik.joint import across, off_edge, signed_angle, tip_twist, twist_between, twist_sign
from poise.kernels.gaze.measures import DIRECTED, FULL, Aim, upside_down
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.portable_trigonometry import arc_tangent, turn_about
from poise.kernels.maths.quaternion import Quaternion, conjugate, multiply, quaternion_at, rotate
from poise.kernels.maths.vector import Vector, dot, length, vector_at

Array = np.ndarray

UPWARDS, DOWNWARDS = 1, -1


class Descent(NamedTuple):
    """When to stop."""

    sweeps: int
    """Most sweeps over the chain."""
    precision: float
    """Good enough: sin² of half the angle that is left."""
    progress: float
    """A sweep that changes this measure by less is the last one."""


@kernel
def remaining(aim: Aim, tip: Quaternion) -> float:
    """sin² of half the angle between tip and aim [Ribeiro & Paiva 2019, alg. 20]."""
    if aim.kind == DIRECTED:
        return 0.5 * abs(1.0 - dot(pointing(tip), pointing(aim.rotation)))
    w = multiply(aim.rotation, conjugate(tip)).w
    return 1.0 - min(w * w, 1.0)


@kernel
def best_turn(aim: Aim, tip: Quaternion, axis: Vector) -> float:
    """Turn about a world axis that brings the tip nearest to the aim [rad]; 0 where none does."""
    if aim.kind == DIRECTED:
        mine, wanted = across(pointing(tip), axis), across(pointing(aim.rotation), axis)
        if length(mine) < 1e-6 or length(wanted) < 1e-6:
            return 0.0
        return signed_angle(mine, wanted, axis)
    e = multiply(aim.rotation, conjugate(tip))
    along = e.x * axis.x + e.y * axis.y + e.z * axis.z
    if along * along + e.w * e.w < 1e-12:
        return 0.0
    return wrapped(2.0 * arc_tangent(along, e.w))


@kernel
def warp(
    chain: Chain,
    aim: Aim,
    stop: Descent,
    # outputs
    angles: Array,
) -> None:
    """Turn a posture to face the aim's direction, from the root up and regardless of limits.

    BWCD_Posture [Ribeiro & Paiva 2019, alg. 19]; `angles` (n,) is the posture, and then the warped one.
    """
    towards = Aim(aim.rotation, DIRECTED)
    tip = tip_rotation(chain, angles)
    for _ in range(stop.sweeps):
        below = Quaternion(1.0, 0.0, 0.0, 0.0)
        for k in range(angles.shape[0]):
            if remaining(towards, tip) <= stop.precision:
                return
            axis = rotate(unmoved(chain, k, below), vector_at(chain.axis, k))
            turn = best_turn(towards, tip, axis)
            angles[k] += turn
            tip = multiply(turn_about(axis, turn), tip)
            below = moved(chain, k, below, angles[k])


@kernel
def climb(
    chain: Chain,
    aim: Aim,
    stop: Descent,
    # outputs
    angles: Array,
) -> None:
    """Turn a solution towards the aim within limits, from the root up.

    BWCD_Solution [Ribeiro & Paiva 2019, alg. 21]; `angles` (n,) is the start, and then the result.
    """
    tip = tip_rotation(chain, angles)
    for _ in range(stop.sweeps):
        below = Quaternion(1.0, 0.0, 0.0, 0.0)
        for k in range(angles.shape[0]):
            if remaining(aim, tip) <= stop.precision:
                return
            axis = rotate(unmoved(chain, k, below), vector_at(chain.axis, k))
            angle = clamped(chain, k, wrapped(angles[k] + best_turn(aim, tip, axis)))
            tip = multiply(turn_about(axis, angle - angles[k]), tip)
            angles[k] = angle
            below = moved(chain, k, below, angle)


@kernel
def descend(
    chain: Chain,
    aim: Aim,
    stop: Descent,
    edge: float,
    # outputs
    angles: Array,
) -> None:
    """Turn a solution towards the aim within limits, from the tip down.

    CCD [Ribeiro & Paiva 2019, alg. 22]; a joint that comes to lie at a limit steps `edge` [rad] inside, 0 for no such
    step. `angles` (n,) is the start, and then the result.
    """
    tip = tip_rotation(chain, angles)
    last = math.inf
    for _ in range(stop.sweeps):
        # Seen from the tip, the frame under a joint is the tip's, taken back joint by joint.
        frame = tip
        for k in range(angles.shape[0] - 1, -1, -1):
            if remaining(aim, tip) <= stop.precision:
                return
            axis = rotate(frame, vector_at(chain.axis, k))
            angle = clamped(chain, k, wrapped(angles[k] + best_turn(aim, tip, axis)))
            if edge > 0.0:
                angle = off_edge(chain, k, angle, edge)
            step = turn_about(axis, angle - angles[k])
            tip = multiply(step, tip)
            frame = multiply(frame, turn_about(vector_at(chain.axis, k), -angles[k]))
            frame = multiply(frame, conjugate(quaternion_at(chain.rest, k)))
            angles[k] = angle
        left = remaining(aim, tip)
        if left <= stop.precision or abs(left - last) <= stop.progress:
            return
        last = left


@kernel
def descent_aim(chain: Chain, aim: Aim, symmetric: int, angles: Array) -> Aim:
    """What the joints below the tip are turned to: the aim's direction where the last joint makes the rest.

    Else the nearer of the aim and the aim upside down.
    """
    if aim.kind == DIRECTED or chain.role[angles.shape[0] - 1] == TWIST_JOINT:
        return Aim(aim.rotation, DIRECTED)
    if symmetric:
        around = Aim(upside_down(aim.rotation), FULL)
        tip = tip_rotation(chain, angles)
        if remaining(around, tip) < remaining(aim, tip):
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
    """Turn the last joint, if it is a twister, to the aim's orientation or to the same upside down."""
    last = angles.shape[0] - 1
    if aim.kind == FULL and chain.role[last] == TWIST_JOINT:
        turn = twist_sign(chain, last) * twist_between(aim.rotation, tip_rotation(chain, angles))
        angles[last] = tip_twist(chain, angles[last] + turn, symmetric)
