"""ERIK on a batch of problems."""

from poise.kernels.chains.chain import Chain
from poise.kernels.gaze.batch_arrays import BatchProblems, BatchSolutions, aim_of, write_solution
from poise.kernels.gaze.erik.descent import Descent
from poise.kernels.gaze.erik.erik import ErikOptions, ErikWorkspace, solve_erik
from poise.kernels.gaze.erik.erik_2017 import Workspace2017, reset_gradient, solve_erik_2017
from poise.kernels.gaze.erik.joint import Lalut
from poise.kernels.gaze.measures import Scoring
from poise.kernels.jit.call_arguments import CallArguments
from poise.kernels.jit.compile import kernel, threaded_kernel


@threaded_kernel
def solve_erik_batch(
    chain: Chain,
    scoring: Scoring,
    lalut: Lalut,
    options: ErikOptions,
    problems: BatchProblems,
    first: int,
    stop: int,
    workspace: ErikWorkspace,
    # outputs
    solutions: BatchSolutions,
) -> None:
    """Solve problems `first` to `stop` - 1 independently of each other."""
    for i in range(first, stop):
        aim = aim_of(problems, i)
        count = solve_erik(chain, scoring, lalut, options, aim, problems.posture[i], problems.start[i], workspace)
        write_solution(chain, scoring, problems, i, workspace.best, count, solutions)


@kernel(counts_references=True)
def erik_call_arguments(
    chain: Chain,
    scoring: Scoring,
    lalut: Lalut,
    options: ErikOptions,
    problems: BatchProblems,
    workspace: ErikWorkspace,
    solutions: BatchSolutions,
) -> CallArguments:
    """Collect the arguments of `solve_erik_call` in one struct."""
    return CallArguments(chain, scoring, (lalut, options), problems, workspace, solutions)


@kernel(counts_references=True)
def solve_erik_call(arguments: CallArguments) -> None:
    """Solve problem 0 of the arguments in a struct."""
    lalut, options = arguments.method
    problems, workspace = arguments.problems, arguments.workspace
    aim = aim_of(problems, 0)
    count = solve_erik(
        arguments.chain, arguments.scoring, lalut, options, aim, problems.posture[0], problems.start[0], workspace
    )
    write_solution(arguments.chain, arguments.scoring, problems, 0, workspace.best, count, arguments.solutions)


@threaded_kernel
def solve_erik_2017_batch(
    chain: Chain,
    scoring: Scoring,
    lalut: Lalut,
    sweeps: int,
    descent: Descent,
    problems: BatchProblems,
    first: int,
    stop: int,
    reset: int,
    workspace: Workspace2017,
    # outputs
    solutions: BatchSolutions,
) -> None:
    """Solve problems `first` to `stop` - 1 by the ERIK of 2017; `reset` is 1 to clear the gradient before each."""
    for i in range(first, stop):
        if reset:
            reset_gradient(workspace)
        count = solve_erik_2017(
            chain, scoring.symmetric, lalut, sweeps, descent, aim_of(problems, i), problems.posture[i], workspace
        )
        write_solution(chain, scoring, problems, i, workspace.angles, count, solutions)
