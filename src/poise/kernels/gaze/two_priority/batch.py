"""Two-priority damped least squares on a row of questions."""

from poise.kernels.chains.chain import Chain
from poise.kernels.gaze.batch_arrays import Answers, Questions, aim_of, answer
from poise.kernels.gaze.measures import Scoring
from poise.kernels.gaze.two_priority.two_priority import TwoPriority, TwoPriorityRoom, solve_two_priority
from poise.kernels.jit.threads import threaded_kernel


@threaded_kernel
def answer_two_priority(
    chain: Chain,
    scoring: Scoring,
    options: TwoPriority,
    asked: Questions,
    first: int,
    stop: int,
    room: TwoPriorityRoom,
    # outputs
    given: Answers,
) -> None:
    """Solve questions `first` to `stop` - 1, each by itself."""
    for i in range(first, stop):
        aim = aim_of(asked, i)
        count = solve_two_priority(chain, scoring, options, aim, asked.posture[i], asked.start[i], room)
        answer(chain, scoring, asked, i, room.best, count, given)
