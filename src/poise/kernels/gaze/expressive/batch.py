"""The expressive solver on a row of questions, and on the next frame of a motion."""

import numpy as np

from poise.kernels.chains.chain import Chain, tip_rotation
from poise.kernels.gaze.batch_arrays import COMBINED, ORIENTATION, POSTURE, SHAPE, Answers, Questions, aim_of, answer
from poise.kernels.gaze.expressive.advance import advance
from poise.kernels.gaze.expressive.memory import ANGLES, Memory
from poise.kernels.gaze.expressive.near_point import look_at, near_frame
from poise.kernels.gaze.expressive.solve import Manner, solve
from poise.kernels.gaze.expressive.track import Pace, tip_turn
from poise.kernels.gaze.expressive.workspace import OUT
from poise.kernels.gaze.measures import Aim, Scoring, orientation_error, posture_error, shape_error
from poise.kernels.jit.compile import kernel
from poise.kernels.jit.threads import threaded_kernel
from poise.kernels.maths.vector import Vector

Array = np.ndarray

TRIED = 4
SCORES = 5


@threaded_kernel
def answer_expressive(
    chain: Chain,
    scoring: Scoring,
    manner: Manner,
    asked: Questions,
    first: int,
    stop: int,
    work: Array,
    angles: Array,
    # outputs
    given: Answers,
) -> None:
    """Solve questions `first` to `stop` - 1, each by itself, with scratch `work` (ROWS, n) and `angles` (n,)."""
    for i in range(first, stop):
        count = solve(chain, scoring, manner, aim_of(asked, i), asked.posture[i], work, angles)
        answer(chain, scoring, asked, i, angles, count, given)


@threaded_kernel
def next_frame(
    chain: Chain,
    scoring: Scoring,
    manner: Manner,
    pace: Pace,
    aim: Aim,
    posture: Array,
    # changed
    memory: Memory,
    work: Array,
    draft: Array,
    # outputs
    scores: Array,
) -> None:
    """One frame on in `memory`, and its errors: `scores` (SCORES,). Plans are drafted in `draft` (PATH_MOST, n + 1)."""
    scores[TRIED] = advance(chain, scoring, manner, pace, aim, posture, memory, work, draft)
    _score(chain, scoring, aim, posture, memory.rows[ANGLES], scores)


@threaded_kernel
def near_angles(
    chain: Chain,
    scoring: Scoring,
    manner: Manner,
    pace: Pace,
    point: Vector,
    posture: Array,
    # changed
    memory: Memory,
    work: Array,
) -> None:
    """One frame on towards seeing a near point, left in `work[OUT]`, for `near_roll` to finish."""
    near_frame(chain, scoring, manner, pace.rate, point, posture, memory, work)


@threaded_kernel
def near_roll(
    chain: Chain,
    scoring: Scoring,
    pace: Pace,
    aim: Aim,
    posture: Array,
    # changed
    memory: Memory,
    work: Array,
    # outputs
    scores: Array,
) -> None:
    """The roll of `work[OUT]` that `aim`, the point as seen from its tip, asks for; the frame goes to memory."""
    tip_turn(chain, scoring, aim, work, OUT, pace.rate)
    for k in range(posture.shape[0]):
        memory.rows[ANGLES, k] = work[OUT, k]
    scores[TRIED] = 0
    _score(chain, scoring, aim, posture, memory.rows[ANGLES], scores)


@threaded_kernel
def nearest_look(
    chain: Chain, scoring: Scoring, manner: Manner, point: Vector, posture: Array, starts: int, work: Array
) -> float:
    """The posture that sees a point best, from LAST or from elsewhere, left in OUT; the angle it misses it by."""
    return look_at(chain, scoring, manner, point, posture, starts, work)


@kernel
def _score(chain: Chain, scoring: Scoring, aim: Aim, posture: Array, angles: Array, scores: Array) -> None:
    """The errors of `angles`."""
    scores[ORIENTATION] = orientation_error(scoring, aim, tip_rotation(chain, angles))
    scores[POSTURE] = posture_error(chain, scoring, angles, posture)
    scores[SHAPE] = shape_error(chain, scoring, angles, posture)
    scores[COMBINED] = scoring.orientation * scores[ORIENTATION] + scoring.posture * scores[POSTURE]
