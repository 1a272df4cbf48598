"""ERIK on a row of questions."""

import numpy as np

from poise.kernels.chains.chain import Chain
from poise.kernels.gaze.batch_arrays import Answers, Questions, aim_of, answer
from poise.kernels.gaze.erik.descent import Descent
from poise.kernels.gaze.erik.erik import ErikOptions, ErikRoom, solve_erik
from poise.kernels.gaze.erik.erik_2017 import Room2017, forget, solve_erik_2017
from poise.kernels.gaze.erik.joint import Lalut
from poise.kernels.gaze.measures import Scoring
from poise.kernels.gaze.single_call_arrays import Desk
from poise.kernels.jit.compile import kernel
from poise.kernels.jit.threads import threaded_kernel

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


@kernel(counts_references=True)
def erik_desk(
    chain: Chain,
    scoring: Scoring,
    lalut: Lalut,
    options: ErikOptions,
    asked: Questions,
    room: ErikRoom,
    given: Answers,
) -> Desk:
    """A desk for `answer_erik_desk`."""
    return Desk(chain, scoring, (lalut, options), asked, room, given)


@kernel(counts_references=True)
def answer_erik_desk(desk: Desk) -> None:
    """Solve the one question on a desk."""
    lalut, options = desk.method
    asked, room = desk.asked, desk.room
    aim = aim_of(asked, 0)
    count = solve_erik(desk.chain, desk.scoring, lalut, options, aim, asked.posture[0], asked.start[0], room)
    answer(desk.chain, desk.scoring, asked, 0, room.best, count, desk.given)


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
