"""Hold the gaze and let the rest of the chain go where it is pulled.

    min ½ Σ h_k (θ_k - c_k)²   subject to  p(θ) = d  inside a box

by Gauss–Newton steps whose rows are those of the direction: what joints pull for is done in the freedom that facing d
leaves, and inside the box, which is the limits cut to what a joint may move in one frame. It is the primitive of
tracking, of looking ahead, and of every frame of a change of branch.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.chains.chain import TWIST_JOINT, Chain, pointing, wrapped
from poise.kernels.gaze.expressive.bounded_step import box_step, free_of_roll, look_round, turn_between
from poise.kernels.gaze.expressive.workspace import HIGH, KEEP, LAST, LEAST, LOW, MOST, PULLED, REFERENCE, SPENT, STEP
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.vector import Vector, length

Array = np.ndarray

KEPT = 1e-10
"""A direction off by less than this is held [rad]."""
LOST = 1e-6
"""A direction off by more than this gives way to nothing but limits and rate [rad]."""
SHARES = (1.0, 0.6, 0.3, 0.1, 0.0)
GIVE = 1e-7
"""Damping of the rows of the direction."""


class Going(NamedTuple):
    """How a plan is to be gone."""

    rate: float
    """Most that a joint moves from way-point to way-point [rad]."""
    drift: float
    """Turn of the target per frame [rad]; infinite where the root has no limits."""
    hurried: int
    """1 where the gaze may fall behind a target that turns, for want of time."""
    lasting: int
    """Frames for which a plan that lifts the gaze must keep the target where it ends."""


@kernel
def moving(chain: Chain) -> int:
    """How many joints take part in facing a direction: all but a twister at the tip."""
    n = chain.role.shape[0]
    return n - 1 if n > 1 and chain.role[n - 1] == TWIST_JOINT else n


@kernel
def turn_to(chain: Chain, k: int, angle: float, wanted: float) -> float:
    """From `angle` to `wanted`, the shorter way round for a joint without limits."""
    if math.isinf(chain.lower[k]) and math.isinf(chain.upper[k]):
        return wrapped(wanted - angle)
    return wanted - angle


@kernel
def box_round(chain: Chain, work: Array, row: int, rate: float) -> None:
    """LOW … HIGH: the limits, no further than `rate` from `work[row]`."""
    lower, upper = chain.lower, chain.upper
    for k in range(lower.shape[0]):
        here = work[row, k]
        work[LOW, k] = min(here, max(lower[k], here - rate))
        work[HIGH, k] = max(here, min(upper[k], here + rate))


@kernel
def free_root(chain: Chain, work: Array, row: int, rate: float) -> None:
    """LOW … HIGH of a twister at the root without its limits."""
    if chain.role[0] == TWIST_JOINT:
        work[LOW, 0] = work[row, 0] - rate
        work[HIGH, 0] = work[row, 0] + rate


@kernel
def shift_root(chain: Chain, work: Array, row: int, going: Going, frames: int) -> None:
    """LOW … HIGH of a twister at the root that has turned along with a target for so many frames.

    Its limits move by -drift a frame, and so does what it may turn in one. A root outside its limits must come back;
    but for want of time the limit before it stays where it is.
    """
    if chain.role[0] != TWIST_JOINT:
        return
    if math.isinf(going.drift):
        free_root(chain, work, row, going.rate)
        return
    least, most = work[row, 0] - going.rate - going.drift, work[row, 0] + going.rate - going.drift
    shift = -going.drift * frames
    low, high = chain.lower[0] + shift, chain.upper[0] + shift
    if going.hurried:
        low, high = min(low, chain.lower[0]), max(high, chain.upper[0])
    work[LOW, 0] = min(most, max(least, low))
    work[HIGH, 0] = max(least, min(most, high))


@kernel
def hold(chain: Chain, d: Vector, steps: int, work: Array, row: int) -> float:
    """Bring `work[row]` to face d inside LOW … HIGH, pulled to REFERENCE with EASE; returns the angle it is off."""
    n = chain.role.shape[0]
    off = math.inf
    for _ in range(steps):
        work[SPENT, 0] += 1.0
        p = pointing(look_round(chain, work, row))
        e = turn_between(p, d)
        off = length(e)
        free_of_roll(work, n, p)
        for k in range(n):
            work[STEP, k] = turn_to(chain, k, work[row, k], work[REFERENCE, k])
            work[LEAST, k] = work[LOW, k] - work[row, k]
            work[MOST, k] = work[HIGH, k] - work[row, k]
        box_step(work, n, e, GIVE, p)
        largest = 0.0
        for k in range(n):
            work[row, k] += work[STEP, k]
            largest = max(largest, abs(work[STEP, k]))
        if largest < 1e-9 and off < KEPT:
            return off
    return length(turn_between(pointing(look_round(chain, work, row)), d))


@kernel
def hold_first(chain: Chain, d: Vector, steps: int, kept: float, work: Array, row: int) -> float:
    """`hold` from LAST, asking for less and less of the way to REFERENCE until the gaze is kept: progress yields.

    One that is off by less than `kept` is kept [rad].
    """
    n = chain.role.shape[0]
    for k in range(n):
        work[PULLED, k] = turn_to(chain, k, work[LAST, k], work[REFERENCE, k])
    least = math.inf
    for share in SHARES:
        for k in range(n):
            work[row, k] = work[LAST, k]
            work[REFERENCE, k] = work[LAST, k] + share * work[PULLED, k]
        off = hold(chain, d, steps, work, row)
        if off < least:
            least = off
            for k in range(n):
                work[KEEP, k] = work[row, k]
        if off < kept:
            return off
    for k in range(n):
        work[row, k] = work[KEEP, k]
    return least
