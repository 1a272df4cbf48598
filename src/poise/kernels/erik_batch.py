"""ERIK on a row of questions."""

import numpy as np

from poise.kernels.chain import Chain
from poise.kernels.erik import ErikOptions, ErikRoom, solve_erik
from poise.kernels.erik_2017 import Room2017, forget, solve_erik_2017
from poise.kernels.erik_descent import Descent
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


@threaded_kernel
def answer_erik_2017(
    chain: Chain,
    scoring: Scoring,
    lalut: Lalut,
    sweeps: int,
    stop_at: Descent,
    asked: Questions,
    first: int,
    stop: int,
    anew: int,
    room: Room2017,
    # outputs
    given: Answers,
) -> None:
    """Solve questions `first` to `stop` - 1 by the passes of 2017; `anew` is 1 to forget the gradient before each."""
    for i in range(first, stop):
        if anew:
            forget(room)
        count = solve_erik_2017(
            chain, scoring.symmetric, lalut, sweeps, stop_at, aim_of(asked, i), asked.posture[i], room
        )
        answer(chain, scoring, asked, i, room.angles, count, given)
