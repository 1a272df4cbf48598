"""Follow the target from one frame to the next on the current branch of solutions.

The previous frame is the only start. Every joint moves by at most `rate`. Inside that box the direction is held, the
shape moves towards the posture (with the signs of the bends, or with all swings negated), and a small stiffness towards
the previous frame keeps rounding from choosing between equal solutions. The twister at the tip then sets the roll, to
the equivalent angle within its limits, as fast as `rate` allows. Where it must turn all the way round, the roll is
wrong for some frames, but the direction is not.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.chains.chain import TWIST_JOINT, Chain, wrapped
from poise.kernels.gaze.expressive.aim import copy_row
from poise.kernels.gaze.expressive.bounded_step import box_step, orientation_residual, tip_and_axes
from poise.kernels.gaze.expressive.hold_gaze import LOST, box_round, hold, hold_first, moving, turn_to
from poise.kernels.gaze.expressive.nearest_shape import MIN_SHAPE_CURVATURE
from poise.kernels.gaze.expressive.surface import equivalent_angle
from poise.kernels.gaze.expressive.workspace import (
    BOX_LOWER_ROW,
    BOX_UPPER_ROW,
    COMPLIANCE_ROW,
    CURRENT_ROW,
    KEPT_ROW,
    PREVIOUS_ROW,
    REFERENCE_ROW,
    STEP_LOWER_ROW,
    STEP_ROW,
    STEP_UPPER_ROW,
)
from poise.kernels.gaze.measures import FULL, Aim, Scoring
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.portable_trigonometry import arc_tangent, sine
from poise.kernels.maths.quaternion import conjugate, multiply
from poise.kernels.maths.vector import Vector, length

Array = np.ndarray


class Pace(NamedTuple):
    """Limits and parameters of a motion."""

    rate: float
    """Largest turn of a joint in one frame [rad]."""
    worse: float
    """Decrease of the combined error for which the chain changes to another branch."""
    ahead: int
    """Number of frames to look ahead."""
    tries: int
    """Number of plans tried in one frame."""


PROXIMAL = 0.02
"""Stiffness towards the previous frame; the weights of the shape error sum to 1."""
LOOSE = 1e-3
"""Stiffness of twisters at the ends towards the previous frame."""
TRACK_ROUNDS = 3
"""Number of quadratic models of the shape error per frame."""


@kernel
def pull_to_shape(chain: Chain, scoring: Scoring, posture: Array, negated: int, work: Array, row: int) -> None:
    """Set REFERENCE_ROW and COMPLIANCE_ROW to the quadratic bound of the shape error at `work[row]`.

    The quadratic also includes the stiffness towards the previous frame, PREVIOUS_ROW.
    """
    shapes, role = scoring.shapes, chain.role
    for k in range(role.shape[0]):
        here, last = work[row, k], work[PREVIOUS_ROW, k]
        if shapes[k] > 0.0:
            wanted = -posture[k] if negated and role[k] != TWIST_JOINT else posture[k]
            d = wrapped(wanted - here)
            if not chain.lower[k] <= here + d <= chain.upper[k]:
                d = turn_to(chain, k, here, min(chain.upper[k], max(chain.lower[k], wanted)))
            falls = sine(d) / d if abs(d) > 1e-6 else 1.0
            pull = shapes[k] * max(MIN_SHAPE_CURVATURE, falls)
            stiff = pull + PROXIMAL
            work[REFERENCE_ROW, k] = here + (pull * d + PROXIMAL * turn_to(chain, k, here, last)) / stiff
            work[COMPLIANCE_ROW, k] = 1.0 / stiff
        else:
            work[REFERENCE_ROW, k] = last
            work[COMPLIANCE_ROW, k] = 1.0 / LOOSE


@kernel
def stay_at(work: Array, row: int, n: int) -> None:
    """Set REFERENCE_ROW to `work[row]`, with stiffness 1."""
    for k in range(n):
        work[REFERENCE_ROW, k] = work[row, k]
        work[COMPLIANCE_ROW, k] = 1.0


@kernel
def tip_turn(chain: Chain, scoring: Scoring, aim: Aim, work: Array, row: int, rate: float) -> float:
    """Turn the twister at the tip towards the roll of the aim, at most `rate` from PREVIOUS_ROW.

    Of the equivalent angles, the nearest within limits is used. Returns the turn that remains [rad].
    """
    last = chain.role.shape[0] - 1
    if last == 0 or chain.role[last] != TWIST_JOINT:
        return 0.0
    before = work[PREVIOUS_ROW, last]
    if aim.kind != FULL:
        work[row, last] = before
        return 0.0
    work[row, last] = 0.0
    q = multiply(conjugate(tip_and_axes(chain, work, row)), aim.rotation)
    sense = 1.0 if chain.axis[last, 1] > 0.0 else -1.0
    asked = sense * 2.0 * arc_tangent(q.y, q.w)
    low, high = chain.lower[last], chain.upper[last]
    nearest, wanted = math.inf, before
    for half in range(2 if scoring.symmetric else 1):
        x = equivalent_angle(chain, last, asked + half * math.pi)
        inside = min(high, max(low, x))
        far = abs(turn_to(chain, last, before, inside)) + 100.0 * abs(wrapped(x - inside))
        if far < nearest - 1e-9:
            nearest, wanted = far, inside
    step = turn_to(chain, last, before, wanted)
    work[row, last] = before + min(rate, max(-rate, step))
    return max(0.0, abs(step) - rate)


@kernel
def keep_roll(chain: Chain, scoring: Scoring, aim: Aim, work: Array, row: int) -> float:
    """Bring `work[row]` to the full wanted frame inside the box, near REFERENCE_ROW; returns the residual angle."""
    n = chain.role.shape[0]
    for _ in range(6):
        e = orientation_residual(scoring, aim, tip_and_axes(chain, work, row))
        for k in range(n):
            work[STEP_ROW, k] = turn_to(chain, k, work[row, k], work[REFERENCE_ROW, k])
            work[STEP_LOWER_ROW, k] = work[BOX_LOWER_ROW, k] - work[row, k]
            work[STEP_UPPER_ROW, k] = work[BOX_UPPER_ROW, k] - work[row, k]
        box_step(work, n, e, 1e-7, Vector(0.0, 0.0, 0.0))
        for k in range(n):
            work[row, k] += work[STEP_ROW, k]
    return length(orientation_residual(scoring, aim, tip_and_axes(chain, work, row)))


@kernel
def track(
    chain: Chain, scoring: Scoring, aim: Aim, d: Vector, posture: Array, negated: int, rate: float, work: Array
) -> float:
    """Write the next frame, facing d with the shape of `posture`, to CURRENT_ROW; returns the direction error [rad]."""
    box_round(chain, work, PREVIOUS_ROW, rate)
    copy_row(work, PREVIOUS_ROW, CURRENT_ROW)
    off = 0.0
    for i in range(TRACK_ROUNDS):
        pull_to_shape(chain, scoring, posture, negated, work, CURRENT_ROW)
        off = hold(chain, d, 2 if i < TRACK_ROUNDS - 1 else 6, work, CURRENT_ROW)
    if off > LOST:
        off = hold_first(chain, d, 10, LOST, work, CURRENT_ROW)
    if aim.kind == FULL and moving(chain) == posture.shape[0]:
        return _roll_along(chain, scoring, aim, d, off, work)
    tip_turn(chain, scoring, aim, work, CURRENT_ROW, rate)
    return off


@kernel
def _roll_along(chain: Chain, scoring: Scoring, aim: Aim, d: Vector, off: float, work: Array) -> float:
    """Turn CURRENT_ROW to the roll of the aim as far as the box and the direction allow; returns the direction error.

    It is for chains without a twister at the tip.
    """
    copy_row(work, CURRENT_ROW, KEPT_ROW)
    keep_roll(chain, scoring, aim, work, CURRENT_ROW)
    stay_at(work, CURRENT_ROW, chain.role.shape[0])
    rolled = hold(chain, d, 8, work, CURRENT_ROW)
    if rolled > max(off, LOST):
        copy_row(work, KEPT_ROW, CURRENT_ROW)
        return off
    return rolled
