"""Many postures and aims at once, and what comes of each."""

from typing import NamedTuple

import numpy as np

from poise.kernels.chains.chain import Chain, tip_rotation
from poise.kernels.gaze.measures import Aim, Scoring, orientation_error, posture_error, shape_error
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.quaternion import quaternion_at

Array = np.ndarray

COMBINED, ORIENTATION, POSTURE, SHAPE = 0, 1, 2, 3


class Questions(NamedTuple):
    """What is asked, one row for each."""

    rotation: Array
    """(m, 4) frame wanted of the tip."""
    kind: Array
    """(m,) FULL or DIRECTED."""
    posture: Array
    """(m, n) angles wanted [rad]."""
    start: Array
    """(m, n) the solution to start from [rad]."""


class Answers(NamedTuple):
    """What came of it, one row for each."""

    angles: Array
    """(m, n) the solution [rad]."""
    errors: Array
    """(m, 4) combined, orientation, posture and shape error."""
    iterations: Array
    """(m,) how many it took."""


@kernel
def aim_of(asked: Questions, i: int) -> Aim:
    """Where question `i` wants the tip to face."""
    return Aim(quaternion_at(asked.rotation, i), asked.kind[i])


@kernel
def first_outside(lower: Array, upper: Array, angles: Array, slack: float) -> int:
    """Index of the first of `angles` (m, n), row by row, that is beyond a limit by more than `slack`; -1 if none is."""
    for i in range(angles.shape[0]):
        for k in range(angles.shape[1]):
            if not lower[k] - slack <= angles[i, k] <= upper[k] + slack:
                return i * angles.shape[1] + k
    return -1


@kernel
def judge(
    chain: Chain,
    scoring: Scoring,
    asked: Questions,
    # outputs
    given: Answers,
) -> None:
    """Write the errors of all solutions."""
    for i in range(given.angles.shape[0]):
        answer(chain, scoring, asked, i, given.angles[i], given.iterations[i], given)


@kernel
def answer(
    chain: Chain,
    scoring: Scoring,
    asked: Questions,
    i: int,
    angles: Array,
    iterations: int,
    # outputs
    given: Answers,
) -> None:
    """Write the solution of question `i` and its errors."""
    posture = asked.posture[i]
    for k in range(angles.shape[0]):
        given.angles[i, k] = angles[k]
    turned = orientation_error(scoring, aim_of(asked, i), tip_rotation(chain, angles))
    bent = posture_error(chain, scoring, angles, posture)
    given.errors[i, COMBINED] = scoring.orientation * turned + scoring.posture * bent
    given.errors[i, ORIENTATION] = turned
    given.errors[i, POSTURE] = bent
    given.errors[i, SHAPE] = shape_error(chain, scoring, angles, posture)
    given.iterations[i] = iterations
