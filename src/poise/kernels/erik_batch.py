"""ERIK on a row of questions."""

import numpy as np

from poise.kernels.chain import Chain
from poise.kernels.erik import ErikOptions, ErikRoom, solve_erik
from poise.kernels.erik_joint import Lalut
from poise.kernels.measures import Scoring
from poise.kernels.questions import Answers, Questions, aim_of, answer
from poise.kernels.threads import threaded_kernel

Array = np.ndarray


@threaded_kernel
def answer_erik(
    chain: Chain,
    scoring: Scoring,
    lalut: Lalut,
    options: ErikOptions,
    asked: Questions,
    first: int,
    stop: int,
    room: ErikRoom,
    # outputs
    given: Answers,
) -> None:
    """Solve questions `first` to `stop` - 1, each by itself."""
    for i in range(first, stop):
        aim = aim_of(asked, i)
        count = solve_erik(chain, scoring, lalut, options, aim, asked.posture[i], asked.start[i], room)
        answer(chain, scoring, asked, i, room.best, count, given)
