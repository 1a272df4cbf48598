"""The nearest posture inside all limits and couplings."""

import numpy as np

from poise.kernels.compile import kernel
from poise.kernels.couplings import clamp_coupled, couplings_excess
from poise.kernels.limits import POLYGON, TOLERANCE, Bounds, ball_split, clamp_split, pass_through_middle, set_ball

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
    wanted = q.copy()
    for k in range(q.shape[0]):
        q[k] = min(max(q[k], bounds.lower[k]), bounds.upper[k])
    for b in range(bounds.ball_start.shape[0]):
        split = ball_split(bounds, b, q)
        allowed = clamp_split(bounds, b, split)
        if previous.shape[0] > 0 and bounds.swing_kind[b] == POLYGON:
            allowed = pass_through_middle(bounds, b, ball_split(bounds, b, previous), allowed)
        if allowed != split:
            set_ball(bounds, b, allowed, q)
    if couplings_excess(bounds, q) <= TOLERANCE:
        return 1
    return clamp_coupled(bounds, wanted, q)
