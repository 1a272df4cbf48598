"""From one frame to the next on the branch the chain is on.

The frame before is the only start. Every joint moves at most `rate`; inside that box the direction is held, the shape
is pulled towards the posture (in the bends' own signs, or all negated), and a light pull to the frame before keeps
ties from being decided by rounding. The twister at the tip then gives the roll, by the equivalent angle that lies
inside its limits, as fast as it may: where it must go round, the roll lapses and the direction does not.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.chains.chain import TWIST_JOINT, Chain, wrapped
from poise.kernels.gaze.expressive.aim import copy_row
from poise.kernels.gaze.expressive.bounded_step import box_step, look_round, turn_missing
from poise.kernels.gaze.expressive.hold_gaze import LOST, box_round, hold, hold_first, moving, turn_to
from poise.kernels.gaze.expressive.nearest_shape import LEAST_CURVATURE
from poise.kernels.gaze.expressive.surface import placed
from poise.kernels.gaze.expressive.workspace import EASE, HERE, HIGH, KEEP, LAST, LEAST, LOW, MOST, REFERENCE, STEP
from poise.kernels.gaze.measures import FULL, Aim, Scoring
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.portable_trigonometry import arc_tangent, sine
from poise.kernels.maths.quaternion import conjugate, multiply
from poise.kernels.maths.vector import Vector, length

Array = np.ndarray


class Pace(NamedTuple):
    """How a chain moves from frame to frame."""

    rate: float
    """Most that a joint moves in one frame [rad]."""
    worse: float
    """Combined error by which another branch must be better before the chain changes to it."""
    ahead: int
    """Frames looked ahead."""
    tries: int
    """Detours tried in one frame."""


PROXIMAL = 0.02
"""Stiffness towards the frame before; all shares in the shape together are 1."""
LOOSE = 1e-3
"""The same for twisters at the ends."""
ROUNDS = 3


@kernel
def pull_to_shape(chain: Chain, scoring: Scoring, posture: Array, negated: int, work: Array, row: int) -> None:
    """REFERENCE and EASE: the quadratic above the shape error at `work[row]`, and the frame before, LAST."""
    shapes, role = scoring.shapes, chain.role
    for k in range(role.shape[0]):
        here, last = work[row, k], work[LAST, k]
        if shapes[k] > 0.0:
            wanted = -posture[k] if negated and role[k] != TWIST_JOINT else posture[k]
            d = wrapped(wanted - here)
            if not chain.lower[k] <= here + d <= chain.upper[k]:
                d = turn_to(chain, k, here, min(chain.upper[k], max(chain.lower[k], wanted)))
            falls = sine(d) / d if abs(d) > 1e-6 else 1.0
            pull = shapes[k] * max(LEAST_CURVATURE, falls)
            stiff = pull + PROXIMAL
            work[REFERENCE, k] = here + (pull * d + PROXIMAL * turn_to(chain, k, here, last)) / stiff
            work[EASE, k] = 1.0 / stiff
        else:
            work[REFERENCE, k] = last
            work[EASE, k] = 1.0 / LOOSE


@kernel
def stay_at(work: Array, row: int, n: int) -> None:
    """REFERENCE and EASE: `work[row]`, LAST for the frame before."""
    for k in range(n):
        work[REFERENCE, k] = work[row, k]
        work[EASE, k] = 1.0


@kernel
def tip_turn(chain: Chain, scoring: Scoring, aim: Aim, work: Array, row: int, rate: float) -> float:
    """Turn the twister at the tip towards the roll of the aim, from LAST by at most `rate`; returns what it lacks.

    Of the angles that give the roll, the nearest inside the limits.
    """
    last = chain.role.shape[0] - 1
    if last == 0 or chain.role[last] != TWIST_JOINT:
        return 0.0
    before = work[LAST, last]
    if aim.kind != FULL:
        work[row, last] = before
        return 0.0
    work[row, last] = 0.0
    q = multiply(conjugate(look_round(chain, work, row)), aim.rotation)
    sense = 1.0 if chain.axis[last, 1] > 0.0 else -1.0
    asked = sense * 2.0 * arc_tangent(q.y, q.w)
    low, high = chain.lower[last], chain.upper[last]
    nearest, wanted = math.inf, before
    for half in range(2 if scoring.symmetric else 1):
        x = placed(chain, last, asked + half * math.pi)
        inside = min(high, max(low, x))
        far = abs(turn_to(chain, last, before, inside)) + 100.0 * abs(wrapped(x - inside))
        if far < nearest - 1e-9:
            nearest, wanted = far, inside
    step = turn_to(chain, last, before, wanted)
    work[row, last] = before + min(rate, max(-rate, step))
    return max(0.0, abs(step) - rate)


@kernel
def keep_roll(chain: Chain, scoring: Scoring, aim: Aim, work: Array, row: int) -> float:
    """Bring `work[row]` to the whole frame wanted inside LOW … HIGH, pulled to REFERENCE; returns what it lacks."""
    n = chain.role.shape[0]
    for _ in range(6):
        e = turn_missing(scoring, aim, look_round(chain, work, row))
        for k in range(n):
            work[STEP, k] = turn_to(chain, k, work[row, k], work[REFERENCE, k])
            work[LEAST, k] = work[LOW, k] - work[row, k]
            work[MOST, k] = work[HIGH, k] - work[row, k]
        box_step(work, n, e, 1e-7, Vector(0.0, 0.0, 0.0))
        for k in range(n):
            work[row, k] += work[STEP, k]
    return length(turn_missing(scoring, aim, look_round(chain, work, row)))


@kernel
def track(
    chain: Chain, scoring: Scoring, aim: Aim, d: Vector, posture: Array, negated: int, rate: float, work: Array
) -> float:
    """HERE: one frame on from LAST, facing d, the shape of `posture`; returns the angle by which the gaze is off."""
    box_round(chain, work, LAST, rate)
    copy_row(work, LAST, HERE)
    off = 0.0
    for i in range(ROUNDS):
        pull_to_shape(chain, scoring, posture, negated, work, HERE)
        off = hold(chain, d, 2 if i < ROUNDS - 1 else 6, work, HERE)
    if off > LOST:
        off = hold_first(chain, d, 10, LOST, work, HERE)
    if aim.kind == FULL and moving(chain) == posture.shape[0]:
        return _roll_along(chain, scoring, aim, d, off, work)
    tip_turn(chain, scoring, aim, work, HERE, rate)
    return off


@kernel
def _roll_along(chain: Chain, scoring: Scoring, aim: Aim, d: Vector, off: float, work: Array) -> float:
    """Turn HERE as far to the roll of the aim as the box and the direction allow, on a chain without a tip twister."""
    copy_row(work, HERE, KEEP)
    keep_roll(chain, scoring, aim, work, HERE)
    stay_at(work, HERE, chain.role.shape[0])
    rolled = hold(chain, d, 8, work, HERE)
    if rolled > max(off, LOST):
        copy_row(work, KEEP, HERE)
        return off
    return rolled
