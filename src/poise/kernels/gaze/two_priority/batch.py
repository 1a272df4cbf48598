"""Two-priority damped least squares on a batch of problems."""

from poise.kernels.chains.chain import Chain
from poise.kernels.gaze.batch_arrays import BatchProblems, BatchSolutions, aim_of, write_solution
from poise.kernels.gaze.measures import Scoring
from poise.kernels.gaze.two_priority.two_priority import TwoPriorityOptions, TwoPriorityWorkspace, solve_two_priority
from poise.kernels.jit.compile import threaded_kernel


@threaded_kernel
def solve_two_priority_batch(
    chain: Chain,
    scoring: Scoring,
    options: TwoPriorityOptions,
    problems: BatchProblems,
    first: int,
    stop: int,
    workspace: TwoPriorityWorkspace,
    # outputs
    solutions: BatchSolutions,
) -> None:
    """Solve problems `first` to `stop` - 1 independently of each other."""
    for i in range(first, stop):
        aim = aim_of(problems, i)
        count = solve_two_priority(chain, scoring, options, aim, problems.posture[i], problems.start[i], workspace)
        write_solution(chain, scoring, problems, i, workspace.best, count, solutions)
