"""Two-priority damped least squares on a batch of problems.

A solve of at most 400 steps contains those of at most 100 and 200 steps. So one run gives the solutions of several
*stages*, ascending numbers of steps: those of stage s are rows s m to (s + 1) m - 1 of the solutions of m problems.
"""

import numpy as np

from poise.kernels.chains.chain import Chain
from poise.kernels.gaze.batch_arrays import BatchProblems, BatchSolutions, aim_of, write_solution_row
from poise.kernels.gaze.measures import Scoring
from poise.kernels.gaze.two_priority.two_priority import (
    TwoPriorityOptions,
    TwoPriorityProgress,
    TwoPriorityWorkspace,
    advance_two_priority,
    begin_two_priority,
)
from poise.kernels.jit.compile import kernel, threaded_kernel

Array = np.ndarray


@threaded_kernel
def solve_two_priority_batch(
    chain: Chain,
    scoring: Scoring,
    options: TwoPriorityOptions,
    stages: Array,
    problems: BatchProblems,
    first: int,
    stop: int,
    workspace: TwoPriorityWorkspace,
    # outputs
    solutions: BatchSolutions,
) -> None:
    """Solve problems `first` to `stop` - 1 independently of each other; the last of `stages` is the most steps."""
    for i in range(first, stop):
        aim = aim_of(problems, i)
        progress = begin_two_priority(chain, scoring, aim, problems.start[i], workspace)
        stage = 0
        while not progress.done:
            progress = advance_two_priority(chain, scoring, options, aim, problems.posture[i], progress, workspace)
            stage = write_stages(chain, scoring, stages, problems, i, stage, progress, workspace, solutions)


@kernel
def write_stages(
    chain: Chain,
    scoring: Scoring,
    stages: Array,
    problems: BatchProblems,
    i: int,
    stage: int,
    progress: TwoPriorityProgress,
    workspace: TwoPriorityWorkspace,
    # outputs
    solutions: BatchSolutions,
) -> int:
    """Write the solution of problem `i` for all stages from `stage` on that have ended; returns the next one."""
    while stage < stages.shape[0] and (progress.done or progress.iterations >= stages[stage]):
        row = stage * problems.rotation.shape[0] + i
        steps = min(progress.iterations, stages[stage])
        write_solution_row(chain, scoring, problems, i, row, workspace.best, steps, solutions)
        stage += 1
    return stage
