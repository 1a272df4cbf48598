"""Two-priority damped least squares as a chain solver: step after step, until it rests.

Steps are those of `two_priority`. The orientation is the first goal: of the angles seen, the last that meet it are the
answer, since later ones are nearer to the posture; where none do, those that come nearest to it.
"""

import math

import numpy as np

from poise.kernels.chains.chain import Chain
from poise.kernels.gaze.erik.bwcd import facing_error
from poise.kernels.gaze.measures import Aim, Scoring
from poise.kernels.gaze.two_priority.two_priority import TwoPriority, TwoPriorityRoom, solve_two_priority
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.quaternion import Quaternion

Array = np.ndarray

AT_REST = 1e-9
"""Turn of every joint below which a step is the last [rad]."""
PATIENCE = 50
"""Steps without a better answer after which the search ends."""


@kernel(counts_references=True)
def two_priority_steps(
    chain: Chain, wanted: Quaternion, kind: int, posture: Array, tolerance: float, most: int, trace: Array,
    # outputs
    angles: Array,
) -> tuple[float, int]:  # fmt: skip
    """Turn a chain to an orientation or a direction, near a posture; returns the error [rad] and the steps it took.

    Args:
        chain: The chain.
        wanted: Frame wanted of the tip.
        kind: FULL for all of it, DIRECTED for where its +Y points.
        posture: (n,) angles to be near to [rad].
        tolerance: Error that counts as none [rad].
        most: Steps to try.
        trace: (t, n) where the angles after each of the first t steps are kept.
        angles: (n,) the start, and then the result [rad].
    """
    n = angles.shape[0]
    m = max(n, 3)
    room = TwoPriorityRoom(
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(m),
        np.empty((n, 4)),
        np.empty((m, n)),
        np.empty((m, m)),
        np.empty(m),
        np.empty((n, n)),
    )
    aim, none = Aim(wanted, kind), np.zeros(n)
    scoring = Scoring(none, none, 1.0, 0.0, 0)
    once = TwoPriority(1, -1.0, 1.0, 1.0, 1)
    here = angles.copy()
    least, since = facing_error(chain, aim, here), 0
    for taken in range(most):
        solve_two_priority(chain, scoring, once, aim, posture, here, room)
        change = 0.0
        for k in range(n):
            change = max(change, abs(room.angles[k] - here[k]))
        if change < AT_REST or since >= PATIENCE:
            return least, taken
        for k in range(n):
            here[k] = room.angles[k]
            if taken < trace.shape[0]:
                trace[taken, k] = here[k]
        error = facing_error(chain, aim, here)
        better = error < (1.0 - 1e-3) * least if least > tolerance else error <= tolerance
        since = 0 if better else since + 1
        if error <= max(least, tolerance) and math.isfinite(error):
            least = error
            for k in range(n):
                angles[k] = here[k]
    return least, most
