"""Two-priority damped least squares as a chain solver: steps until the angles no longer change.

The steps are those of `two_priority`. The orientation has priority. The solution is the last iterate whose orientation
error is within the tolerance, since later iterates are nearer to the posture; if none is, the one with the smallest
error.
"""

import math

import numpy as np

from poise.kernels.chains.chain import Chain
from poise.kernels.gaze.erik.bwcd import facing_error
from poise.kernels.gaze.measures import Aim, Scoring
from poise.kernels.gaze.two_priority.two_priority import TwoPriorityOptions, TwoPriorityWorkspace, solve_two_priority
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.quaternion import Quaternion

Array = np.ndarray

REST_STEP = 1e-9
"""If no joint turns by more than this in a step, the solve ends [rad]."""
STEPS_WITHOUT_IMPROVEMENT = 50
"""The solve ends after this many steps without a smaller orientation error."""


@kernel(counts_references=True)
def two_priority_steps(
    chain: Chain, wanted: Quaternion, kind: int, posture: Array, tolerance: float, most: int, trace: Array,
    # outputs
    angles: Array,
) -> tuple[float, int]:  # fmt: skip
    """Turn a chain to an orientation or a direction, near a posture; returns the error [rad] and the number of steps.

    Args:
        chain: The chain.
        wanted: Wanted frame of the tip.
        kind: FULL for an orientation, DIRECTED for the direction of the frame's +Y.
        posture: (n,) angles that the second task prefers [rad].
        tolerance: Orientation error that counts as reached [rad].
        most: Largest number of steps.
        trace: (t, n) receives the angles after each of the first t steps.
        angles: (n,) the start, then the solution [rad].
    """
    n = angles.shape[0]
    m = max(n, 3)
    workspace = TwoPriorityWorkspace(
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(m),
        np.empty((n, 4)),
        np.empty((m, n)),
        np.empty((m, m)),
        np.empty(m),
        np.empty((n, n)),
        np.empty(n),
    )
    aim, none = Aim(wanted, kind), np.zeros(n)
    scoring = Scoring(none, none, 1.0, 0.0, 0)
    once = TwoPriorityOptions(1, -1.0, 1.0, 1.0, 1)
    here = angles.copy()
    least, since = facing_error(chain, aim, here), 0
    for taken in range(most):
        solve_two_priority(chain, scoring, once, aim, posture, here, workspace)
        change = 0.0
        for k in range(n):
            change = max(change, abs(workspace.angles[k] - here[k]))
        if change < REST_STEP or since >= STEPS_WITHOUT_IMPROVEMENT:
            return least, taken
        for k in range(n):
            here[k] = workspace.angles[k]
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
