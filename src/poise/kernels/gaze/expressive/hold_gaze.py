"""Keep the tip's direction while the other degrees of freedom move towards a reference.

    min ½ Σ h_k (θ_k - c_k)²   subject to  p(θ) = d  inside a box

is solved by Gauss–Newton steps with the Jacobian of the direction: the joints move towards the reference c in the null
space of the direction d, inside a box, which is the limits intersected with the turn that a joint may make in one
frame. Tracking, looking ahead, and every frame of a change of branch use this step. A *branch* is one of several
families of postures that face the same target, such as a shape and its mirror image with the root half a turn away;
kinematics calls it a solution branch or aspect.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.chains.chain import TWIST_JOINT, Chain, pointing, wrapped
from poise.kernels.gaze.expressive.bounded_step import box_step, remove_roll, tip_and_axes, turn_between
from poise.kernels.gaze.expressive.workspace import (
    BOX_LOWER_ROW,
    BOX_UPPER_ROW,
    KEPT_ROW,
    PREVIOUS_ROW,
    REFERENCE_ROW,
    REFERENCE_TURN_ROW,
    STEP_LOWER_ROW,
    STEP_ROW,
    STEP_UPPER_ROW,
    STEPS_TAKEN_ROW,
)
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.vector import Vector, length

Array = np.ndarray

GAZE_HELD = 1e-10
"""A direction error below this counts as zero [rad]."""
LOST = 1e-6
"""A direction error above this is reduced before anything else but limits and rate [rad]."""
REFERENCE_SHARES = (1.0, 0.6, 0.3, 0.1, 0.0)
"""Fractions of the way to the reference that `hold_first` tries in turn."""
GAZE_DAMPING = 1e-7
"""Damping μ of the direction's Jacobian."""


class Going(NamedTuple):
    """Conditions under which a plan is executed."""

    rate: float
    """Largest turn of a joint from one way-point to the next [rad]."""
    drift: float
    """Turn of the target per frame [rad]; infinite if the root has no limits."""
    hurried: int
    """1 if the gaze may fall behind a turning target, because there is too little time."""
    lasting: int
    """Frames for which a plan that lifts the gaze must be able to follow the target from its end."""


@kernel
def moving(chain: Chain) -> int:
    """Number of joints that change the pointing direction: all but a twister at the tip."""
    n = chain.role.shape[0]
    return n - 1 if n > 1 and chain.role[n - 1] == TWIST_JOINT else n


@kernel
def turn_to(chain: Chain, k: int, angle: float, wanted: float) -> float:
    """Turn from `angle` to `wanted` [rad]; the shorter one for a joint without limits."""
    if math.isinf(chain.lower[k]) and math.isinf(chain.upper[k]):
        return wrapped(wanted - angle)
    return wanted - angle


@kernel
def box_round(chain: Chain, work: Array, row: int, rate: float) -> None:
    """Set the box BOX_LOWER_ROW … BOX_UPPER_ROW to the limits, at most `rate` from `work[row]`."""
    lower, upper = chain.lower, chain.upper
    for k in range(lower.shape[0]):
        here = work[row, k]
        work[BOX_LOWER_ROW, k] = min(here, max(lower[k], here - rate))
        work[BOX_UPPER_ROW, k] = max(here, min(upper[k], here + rate))


@kernel
def free_root(chain: Chain, work: Array, row: int, rate: float) -> None:
    """Set the box of a twister at the root to `rate` about `work[row]`, ignoring its limits."""
    if chain.role[0] == TWIST_JOINT:
        work[BOX_LOWER_ROW, 0] = work[row, 0] - rate
        work[BOX_UPPER_ROW, 0] = work[row, 0] + rate


@kernel
def shift_root(chain: Chain, work: Array, row: int, going: Going, frames: int) -> None:
    """Set the box of a twister at the root in a frame of reference that turns with the target for `frames` frames.

    In that frame of reference the limits of the root move by -drift per frame, and so does the turn that it may make. A
    root outside its limits must return; if `going.hurried`, the limit ahead of the root is not moved.
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
    work[BOX_LOWER_ROW, 0] = min(most, max(least, low))
    work[BOX_UPPER_ROW, 0] = max(least, min(most, high))


@kernel
def hold(chain: Chain, d: Vector, steps: int, work: Array, row: int) -> float:
    """Bring `work[row]` to the direction d inside the box, near REFERENCE_ROW; returns the direction error [rad].

    COMPLIANCE_ROW holds 1 / h_k, and the box is BOX_LOWER_ROW … BOX_UPPER_ROW.
    """
    n = chain.role.shape[0]
    off = math.inf
    for _ in range(steps):
        work[STEPS_TAKEN_ROW, 0] += 1.0
        p = pointing(tip_and_axes(chain, work, row))
        e = turn_between(p, d)
        off = length(e)
        remove_roll(work, n, p)
        for k in range(n):
            work[STEP_ROW, k] = turn_to(chain, k, work[row, k], work[REFERENCE_ROW, k])
            work[STEP_LOWER_ROW, k] = work[BOX_LOWER_ROW, k] - work[row, k]
            work[STEP_UPPER_ROW, k] = work[BOX_UPPER_ROW, k] - work[row, k]
        box_step(work, n, e, GAZE_DAMPING, p)
        largest = 0.0
        for k in range(n):
            work[row, k] += work[STEP_ROW, k]
            largest = max(largest, abs(work[STEP_ROW, k]))
        if largest < 1e-9 and off < GAZE_HELD:
            return off
    return length(turn_between(pointing(tip_and_axes(chain, work, row)), d))


@kernel
def hold_first(chain: Chain, d: Vector, steps: int, kept: float, work: Array, row: int) -> float:
    """Run `hold` from PREVIOUS_ROW with smaller and smaller fractions of the way to REFERENCE_ROW until d is kept.

    The direction counts as kept if its error is below `kept` [rad]. Returns the direction error [rad].
    """
    n = chain.role.shape[0]
    for k in range(n):
        work[REFERENCE_TURN_ROW, k] = turn_to(chain, k, work[PREVIOUS_ROW, k], work[REFERENCE_ROW, k])
    least = math.inf
    for share in REFERENCE_SHARES:
        for k in range(n):
            work[row, k] = work[PREVIOUS_ROW, k]
            work[REFERENCE_ROW, k] = work[PREVIOUS_ROW, k] + share * work[REFERENCE_TURN_ROW, k]
        off = hold(chain, d, steps, work, row)
        if off < least:
            least = off
            for k in range(n):
                work[KEPT_ROW, k] = work[row, k]
        if off < kept:
            return off
    for k in range(n):
        work[row, k] = work[KEPT_ROW, k]
    return least
