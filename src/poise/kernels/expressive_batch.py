"""The expressive solver on a row of questions."""

import numpy as np

from poise.kernels.chain import Chain
from poise.kernels.expressive_solve import Manner, solve
from poise.kernels.measures import Scoring
from poise.kernels.questions import Answers, Questions, aim_of, answer
from poise.kernels.threads import threaded_kernel

Array = np.ndarray


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
