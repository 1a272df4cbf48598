"""Backward cyclic descent: one joint at a time, from the root to the tip [Ribeiro & Paiva 2019, alg. 19 and 21].

It is CCD in reverse order: the joints near the root do most of the turning, so that the chain turns as a whole and
keeps its shape. The sweeps of `poise.kernels.gaze.erik.descent` are repeated until the tip reaches its target.
"""

import numpy as np

from poise.kernels.chains.chain import Chain, pointing, tip_rotation
from poise.kernels.chains.rounds import ROUNDS_PER_STALL_CHECK, record_posture, stalled
from poise.kernels.gaze.erik.descent import Descent, bwcd_posture, bwcd_solution, descent_aim, twist_tip
from poise.kernels.gaze.measures import DIRECTED, Aim
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.quaternion import Quaternion, angle_of, conjugate, multiply
from poise.kernels.maths.vector import angle_between

Array = np.ndarray


@kernel
def facing_error(chain: Chain, aim: Aim, angles: Array) -> float:
    """Angle between the tip and its wanted direction or orientation [rad]."""
    tip = tip_rotation(chain, angles)
    if aim.kind == DIRECTED:
        return angle_between(pointing(tip), pointing(aim.rotation))
    return angle_of(multiply(aim.rotation, conjugate(tip)))


@kernel
def bwcd(
    chain: Chain, wanted: Quaternion, kind: int, limited: int, tolerance: float, most: int, trace: Array,
    # outputs
    angles: Array,
) -> tuple[float, int]:  # fmt: skip
    """Turn the tip of a chain to an orientation or a direction; returns the error [rad] and the number of sweeps.

    Args:
        chain: The chain.
        wanted: Wanted frame of the tip.
        kind: FULL for an orientation, DIRECTED for the direction of the frame's +Y.
        limited: 1 for the paper's BWCD_Solution, within the chain's limits; 0 for its BWCD_Posture, which turns to a
            direction only and ignores limits.
        tolerance: The solve stops at this error [rad].
        most: Largest number of sweeps.
        trace: (t, n) receives the angles after each of the first t sweeps.
        angles: (n,) the start, then the solution [rad].
    """
    aim = Aim(wanted, kind)
    once = Descent(1, 0.0, 0.0)
    error = facing_error(chain, aim, angles)
    before = error
    for sweep in range(most):
        if error <= tolerance:
            return error, sweep
        if limited == 1:
            bwcd_solution(chain, descent_aim(chain, aim, 0, angles), once, angles)
            twist_tip(chain, aim, 0, angles)
        else:
            bwcd_posture(chain, aim, once, angles)
        error = facing_error(chain, aim, angles)
        record_posture(sweep, angles, trace)
        is_stalled, before = stalled(sweep + 1, ROUNDS_PER_STALL_CHECK, error, before)
        if is_stalled:
            return error, sweep + 1
    return error, most
