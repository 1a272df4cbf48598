"""Backward cyclic descent: one joint at a time, from the root to the tip [Ribeiro & Paiva 2019, alg. 19 and 21].

CCD the other way round: the first joints do most of the work, so that a chain is turned as a whole and keeps its shape.
Sweeps of `erik_descent` are repeated until the tip faces its aim.
"""

import numpy as np

from poise.kernels.chains.chain import Chain, pointing, tip_rotation
from poise.kernels.chains.rounds import ROUNDS_PER_STALL_CHECK, record_posture, stalled
from poise.kernels.gaze.erik.descent import Descent, climb, descent_aim, twist_tip, warp
from poise.kernels.gaze.measures import DIRECTED, Aim
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.quaternion import Quaternion, angle_of, conjugate, multiply
from poise.kernels.maths.vector import angle_between

Array = np.ndarray


@kernel
def facing_error(chain: Chain, aim: Aim, angles: Array) -> float:
    """Angle of the tip from a direction or an orientation [rad]."""
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
    """Turn a chain towards an aim; returns the error [rad] and the sweeps it took.

    Args:
        chain: The chain.
        wanted: Frame wanted of the tip.
        kind: FULL for all of it, DIRECTED for where its +Y points.
        limited: 1 for the paper's form for solutions, inside the chain's limits; 0 for its form for postures, which
            faces a direction only and knows no limits.
        tolerance: Error that counts as none [rad].
        most: Sweeps to try.
        trace: (t, n) where the angles after each of the first t sweeps are kept.
        angles: (n,) the start, and then the result [rad].
    """
    aim = Aim(wanted, kind)
    once = Descent(1, 0.0, 0.0)
    error = facing_error(chain, aim, angles)
    before = error
    for sweep in range(most):
        if error <= tolerance:
            return error, sweep
        if limited == 1:
            climb(chain, descent_aim(chain, aim, 0, angles), once, angles)
            twist_tip(chain, aim, 0, angles)
        else:
            warp(chain, aim, once, angles)
        error = facing_error(chain, aim, angles)
        record_posture(sweep, angles, trace)
        is_stalled, before = stalled(sweep + 1, ROUNDS_PER_STALL_CHECK, error, before)
        if is_stalled:
            return error, sweep + 1
    return error, most
