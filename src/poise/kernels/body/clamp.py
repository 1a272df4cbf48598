"""Projection of a posture onto the joint limits and couplings of a figure."""

import numpy as np

from poise.kernels.body.couplings import clamp_coupled, couplings_excess
from poise.kernels.body.limits import (
    JOINT_LIMIT_TOLERANCE,
    POLYGON,
    Bounds,
    ball_split,
    clamp_split,
    pass_through_middle,
    set_ball,
)
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.swing_twist import SwingTwist

Array = np.ndarray


@kernel
def clamp(
    bounds: Bounds,
    previous: Array,
    # outputs
    q: Array,
) -> int:
    """Move `q` (nq,) to the nearest posture inside all limits and couplings.

    Args:
        bounds: The limits and couplings.
        previous: (nq,) the legal posture before the motion to `q`, so that no limb jumps across a gap of a concave
            swing region; or an empty array.
        q: The posture to change.

    Returns:
        1, or 0 when no posture was found that satisfies the couplings too.
    """
    if bounds.coupling_lower.shape[0] == 0:
        _clamp_each_joint(bounds, previous, q)
        return 1
    if _is_inside(bounds, previous, q) and couplings_excess(bounds, q) <= JOINT_LIMIT_TOLERANCE:
        return 1
    return _clamp_with_couplings(bounds, previous, q)


@kernel(counts_references=True)
def _clamp_with_couplings(bounds: Bounds, previous: Array, q: Array) -> int:
    """`clamp` for a posture outside the limits of a figure with couplings."""
    wanted = q.copy()
    _clamp_each_joint(bounds, previous, q)
    return 1 if couplings_excess(bounds, q) <= JOINT_LIMIT_TOLERANCE else clamp_coupled(bounds, wanted, q)


@kernel(inline=True)
def _clamp_each_joint(bounds: Bounds, previous: Array, q: Array) -> None:
    """Move every joint inside its own limits."""
    lower, upper = bounds.lower, bounds.upper
    for k in range(q.shape[0]):
        q[k] = min(max(q[k], lower[k]), upper[k])
    for b in range(bounds.ball_start.shape[0]):
        split = ball_split(bounds, b, q)
        allowed = _allowed(bounds, b, previous, split)
        if allowed != split:
            set_ball(bounds, b, allowed, q)


@kernel(inline=True)
def _is_inside(bounds: Bounds, previous: Array, q: Array) -> bool:
    """Whether every joint is inside its own limits."""
    lower, upper = bounds.lower, bounds.upper
    for k in range(q.shape[0]):
        if not lower[k] <= q[k] <= upper[k]:
            return False
    for b in range(bounds.ball_start.shape[0]):
        split = ball_split(bounds, b, q)
        if _allowed(bounds, b, previous, split) != split:
            return False
    return True


@kernel
def _allowed(bounds: Bounds, b: int, previous: Array, split: SwingTwist) -> SwingTwist:
    """The swing and twist inside the limits of ball joint `b` that are nearest to `split`."""
    allowed = clamp_split(bounds, b, split)
    if previous.shape[0] > 0 and bounds.swing_kind[b] == POLYGON:
        return pass_through_middle(bounds, b, ball_split(bounds, b, previous), allowed)
    return allowed
