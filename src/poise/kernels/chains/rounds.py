"""Iterative chain solvers: recording the posture of each iteration, and stopping when progress is too small."""

import numpy as np

from poise.kernels.jit.compile import kernel

Array = np.ndarray

ROUNDS_PER_STALL_CHECK = 10
"""Sweeps or passes between two checks for progress."""
MIN_ERROR_DECREASE = 1e-3
"""Smallest relative decrease of the error between two checks; a smaller one ends the solve."""


@kernel
def record_posture(
    taken: int, q: Array,
    # outputs
    trace: Array,
) -> None:  # fmt: skip
    """Copy the posture after iteration `taken` to that row of `trace` (t, nq), if the row exists."""
    if taken < trace.shape[0]:
        for k in range(q.shape[0]):
            trace[taken, k] = q[k]


@kernel
def stalled(rounds: int, patience: int, error: float, error_at_last_check: float) -> tuple[bool, float]:
    """Whether the error fell too little since the last check, and the error to compare with at the next check.

    Args:
        rounds: Number of iterations so far; only multiples of `patience` are checked.
        patience: Number of iterations between two checks.
        error: The current error.
        error_at_last_check: The error at the last check.
    """
    if rounds % patience != 0:
        return False, error_at_last_check
    return error > (1.0 - MIN_ERROR_DECREASE) * error_at_last_check, error
