"""The nearest posture inside all limits and couplings."""

import numpy as np

from poise.kernels.body.couplings import clamp_coupled, couplings_excess
from poise.kernels.body.limits import POLYGON, TOLERANCE, Bounds, ball_split, clamp_split, pass_through_middle, set_ball
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
    """Move `q` (nq,) to the nearest posture inside the limits; 0 when none was found that meets the couplings too.

    `previous` (nq,), a legal posture, or an empty array, is where concave swing limits are approached from.
    """
    if bounds.coupling_lower.shape[0] == 0:
        _clamp_alone(bounds, previous, q)
        return 1
    if _is_inside(bounds, previous, q) and couplings_excess(bounds, q) <= TOLERANCE:
        return 1
    return _clamp_coupled_too(bounds, previous, q)


@kernel(counts_references=True)
def _clamp_coupled_too(bounds: Bounds, previous: Array, q: Array) -> int:
    wanted = q.copy()
    _clamp_alone(bounds, previous, q)
    return 1 if couplings_excess(bounds, q) <= TOLERANCE else clamp_coupled(bounds, wanted, q)


@kernel(inline=True)
def _clamp_alone(bounds: Bounds, previous: Array, q: Array) -> None:
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
    """The nearest swing and twist that ball joint `b` can have."""
    allowed = clamp_split(bounds, b, split)
    if previous.shape[0] > 0 and bounds.swing_kind[b] == POLYGON:
        return pass_through_middle(bounds, b, ball_split(bounds, b, previous), allowed)
    return allowed
