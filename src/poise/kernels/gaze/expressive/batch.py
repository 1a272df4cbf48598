"""The expressive solver on a batch of problems, and on the next frame of a motion."""

import numpy as np

from poise.kernels.chains.chain import Chain, pointing, tip_rotation
from poise.kernels.gaze.batch_arrays import (
    COMBINED_ERROR,
    ORIENTATION_ERROR,
    POSTURE_ERROR,
    SHAPE_ERROR,
    BatchProblems,
    BatchSolutions,
    aim_of,
    write_solution,
)
from poise.kernels.gaze.expressive.advance import advance
from poise.kernels.gaze.expressive.aim import turn_tip_by
from poise.kernels.gaze.expressive.approach import Pace, gaze_off
from poise.kernels.gaze.expressive.near_point import look_at, near_frame
from poise.kernels.gaze.expressive.solve import SearchSettings, solve
from poise.kernels.gaze.expressive.tracking_state import TrackingState
from poise.kernels.gaze.expressive.workspace import FRAME_ROW
from poise.kernels.gaze.measures import Aim, Scoring, orientation_error, posture_error, shape_error
from poise.kernels.jit.compile import kernel, threaded_kernel
from poise.kernels.maths.vector import Vector

Array = np.ndarray

WAYS_TRIED = 4
"""Index in `scores` of the number of ways tried; the indices before it are those of the errors."""
SCORE_COUNT = 5
"""Length of `scores`: four errors and the number of ways tried."""


@threaded_kernel
def solve_expressive_batch(
    chain: Chain,
    scoring: Scoring,
    search: SearchSettings,
    problems: BatchProblems,
    first: int,
    stop: int,
    work: Array,
    angles: Array,
    # outputs
    solutions: BatchSolutions,
) -> None:
    """Solve problems `first` to `stop` - 1 independently of each other.

    `work` (WORKSPACE_ROWS, n) and `angles` (n,) are scratch arrays.
    """
    for i in range(first, stop):
        count = solve(chain, scoring, search, aim_of(problems, i), problems.posture[i], work, angles)
        write_solution(chain, scoring, problems, i, angles, count, solutions)


@threaded_kernel
def next_frame(
    chain: Chain,
    scoring: Scoring,
    search: SearchSettings,
    pace: Pace,
    aim: Aim,
    posture: Array,
    # changed
    memory: TrackingState,
    work: Array,
    # outputs
    scores: Array,
) -> None:
    """Advance the motion in `memory` by one frame and write its errors to `scores` (SCORE_COUNT,)."""
    scores[WAYS_TRIED] = advance(chain, scoring, search, pace, aim, posture, memory, work)
    _score(chain, scoring, aim, posture, memory.angles, scores)


@threaded_kernel
def near_angles(
    chain: Chain,
    scoring: Scoring,
    search: SearchSettings,
    pace: Pace,
    point: Vector,
    posture: Array,
    # changed
    memory: TrackingState,
    work: Array,
) -> None:
    """Turn the chain for one frame towards a near point; writes the angles to `work[FRAME_ROW]`, for `near_roll`."""
    near_frame(chain, scoring, search, pace.rate, point, posture, memory, work)


@threaded_kernel
def near_roll(
    chain: Chain,
    scoring: Scoring,
    pace: Pace,
    aim: Aim,
    posture: Array,
    # changed
    memory: TrackingState,
    work: Array,
    # outputs
    scores: Array,
) -> None:
    """Set the roll of `work[FRAME_ROW]` to that of `aim`, store the frame in `memory` and write its errors to `scores`.

    `aim` is the direction and roll of the point as seen from the tip of that row.
    """
    turn_tip_by(chain, scoring, aim, pace.rate, work, FRAME_ROW)
    for k in range(posture.shape[0]):
        memory.angles[k] = work[FRAME_ROW, k]
    memory.off = gaze_off(chain, pointing(aim.rotation), memory.angles)
    scores[WAYS_TRIED] = 0
    _score(chain, scoring, aim, posture, memory.angles, scores)


@threaded_kernel
def nearest_look(
    chain: Chain, scoring: Scoring, search: SearchSettings, point: Vector, posture: Array, starts: int, work: Array
) -> float:
    """Write the posture that faces a point best to FRAME_ROW; returns its angle error [rad].

    The search starts from PREVIOUS_ROW and from further postures, `starts` in all.
    """
    return look_at(chain, scoring, search, point, posture, starts, work)


@kernel
def _score(chain: Chain, scoring: Scoring, aim: Aim, posture: Array, angles: Array, scores: Array) -> None:
    """Write the errors of `angles` to `scores`."""
    scores[ORIENTATION_ERROR] = orientation_error(scoring, aim, tip_rotation(chain, angles))
    scores[POSTURE_ERROR] = posture_error(chain, scoring, angles, posture)
    scores[SHAPE_ERROR] = shape_error(chain, scoring, angles, posture)
    scores[COMBINED_ERROR] = scoring.orientation * scores[ORIENTATION_ERROR] + scoring.posture * scores[POSTURE_ERROR]
