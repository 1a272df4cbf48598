"""Searches that go round after round: what is kept of each round, and when another is not worth it."""

import numpy as np

from poise.kernels.jit.compile import kernel

Array = np.ndarray

PATIENCE = 10
"""Sweeps or passes after which too little progress ends a search."""
PROGRESS = 1e-3
"""Share of the error that so many of them must take off."""


@kernel
def keep(
    taken: int, q: Array,
    # outputs
    trace: Array,
) -> None:  # fmt: skip
    """Keep the posture after round `taken`, from 0, in that row of `trace` (t, nq), if it has so many."""
    if taken < trace.shape[0]:
        for k in range(q.shape[0]):
            trace[taken, k] = q[k]


@kernel
def stalled(rounds: int, patience: int, error: float, before: float) -> tuple[bool, float]:
    """Whether the last `patience` rounds took off too little of the error, and what to compare the next ones with.

    Args:
        rounds: How many were taken so far; the answer changes after every `patience` of them.
        patience: How many rounds are looked at together.
        error: What is left now.
        before: What was left when they began.
    """
    if rounds % patience != 0:
        return False, before
    return error > (1.0 - PROGRESS) * before, error
