"""The CUDA kernels of the solvers; imported only for a GPU, since numba's CUDA is an optional package.

The 32 threads of a warp run in step, so that all of them wait for the one whose problem takes longest. Each solver
avoids that as far as its problems allow. `Expressive` gives each thread one problem. Of ERIK's problems most are solved
by the first iteration, and the rest take several and a descent; so one launch tries one iteration, and a second launch
solves the problems that are left, without gaps between them. The steps of the two-priority DLS are all alike, but their
number is not: a thread whose problem is solved takes the next one while the others continue with theirs.

Each thread works in its own local memory, sized for the next power of two of the chain's joints.

The solutions equal those of the CPU to the last bit. All arithmetic is rounded alike on both
(`poise.kernels.maths.portable_trigonometry`), except that a GPU compiler fuses a product and a sum into one operation,
with one rounding instead of two. So fusing is disabled (`poise.kernels.jit.unfused`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numba import config, cuda, float64

from poise.expressive.cuda import local_array_size
from poise.kernels.gaze.batch_arrays import BatchProblems, BatchSolutions, aim_of, write_solution
from poise.kernels.gaze.erik.erik import ErikOptions, ErikWorkspace, solve_erik
from poise.kernels.gaze.erik.phases import Frames
from poise.kernels.gaze.expressive.solve import solve as solve_expressive
from poise.kernels.gaze.expressive.workspace import WORKSPACE_ROWS
from poise.kernels.gaze.measures import combined_error
from poise.kernels.gaze.two_priority.batch import write_stages
from poise.kernels.gaze.two_priority.two_priority import (
    TwoPriorityProgress,
    TwoPriorityWorkspace,
    advance_two_priority,
    begin_two_priority,
)
from poise.kernels.jit.unfused import THREADS_PER_BLOCK, Unfused
from poise.kernels.maths.quaternion import Quaternion

PERSISTENT_BLOCKS = 132 * 16
"""Blocks of a launch in which each thread solves one problem after another: enough to fill the largest GPUs."""

config.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # a small batch is no mistake


class ExpressiveOnCuda:
    """`poise.Expressive`: one thread for each problem."""

    def __init__(self, joints: int) -> None:
        """Choose the kernels for a chain of so many joints."""
        self.kernels = (_expressive_kernel(local_array_size(joints)),)

    def solve(self, constants: tuple[Any, ...], problems: BatchProblems, solutions: BatchSolutions) -> None:
        """Solve all problems; every array is on the GPU."""
        self.kernels[0].over(len(problems.rotation))(*constants, problems, solutions)


class ErikOnCuda:
    """ERIK: one iteration of all problems, then a full solve of those that it did not solve."""

    def __init__(self, joints: int) -> None:
        """Choose the kernels for a chain of so many joints."""
        size = local_array_size(joints)
        self.kernels = _erik_kernel(size, True), _erik_kernel(size, False)

    def solve(self, constants: tuple[Any, ...], problems: BatchProblems, solutions: BatchSolutions) -> None:
        """Solve all problems; every array is on the GPU."""
        count = len(problems.rotation)
        rest, left = cuda.device_array(count, np.int64), cuda.to_device(np.zeros(1, dtype=np.int64))
        chain, scoring, (lalut, options) = constants
        once: ErikOptions = options._replace(iterations=1, ccd_trick=0)
        self.kernels[0].over(count)(chain, scoring, (lalut, once, rest, left), problems, solutions)
        self.kernels[1].over(count)(chain, scoring, (lalut, options, rest, left), problems, solutions)


class TwoPriorityOnCuda:
    """The two-priority DLS: each thread takes a new problem as soon as it has solved one."""

    def __init__(self, joints: int, stages: Sequence[int]) -> None:
        """Choose the kernels for a chain of so many joints; see `poise.kernels.gaze.two_priority.batch` for stages."""
        self.kernels = (_two_priority_kernel(local_array_size(joints)),)
        self.stages = stages

    def solve(self, constants: tuple[Any, ...], problems: BatchProblems, solutions: BatchSolutions) -> None:
        """Solve all problems; every array is on the GPU."""
        chain, scoring, options = constants
        stages, taken = (cuda.to_device(np.array(values, dtype=np.int64)) for values in (self.stages, [0]))
        count = (len(problems.rotation) + THREADS_PER_BLOCK - 1) // THREADS_PER_BLOCK
        self.kernels[0][min(count, PERSISTENT_BLOCKS), THREADS_PER_BLOCK](
            chain, scoring, (options, stages, taken), problems, solutions
        )


@cache
def _erik_kernel(size: int, first: bool) -> Unfused:
    """ERIK for chains of up to `size` joints.

    The first launch has options for one iteration, and lists the problems that are not solved in `rest`, in any order.
    The second solves the problems in that list.
    """

    def launch(chain: Any, scoring: Any, method: Any, problems: BatchProblems, solutions: BatchSolutions) -> None:
        lalut, options, rest, left = method
        i = cuda.grid(1)
        if i >= (problems.rotation.shape[0] if first else left[0]):
            return
        if not first:
            i = rest[i]
        n = problems.posture.shape[1]
        angles = cuda.local.array((3, size), float64)
        frames = cuda.local.array((3, size, 4), float64)
        workspace = ErikWorkspace(
            angles[0, :n], angles[1, :n], angles[2, :n], Frames(frames[0, :n], frames[1, :n], frames[2, :n])
        )
        aim, posture = aim_of(problems, i), problems.posture[i]
        count = solve_erik(chain, scoring, lalut, options, aim, posture, problems.start[i], workspace)
        if first and combined_error(chain, scoring, aim, workspace.angles, posture) > options.threshold:
            rest[cuda.atomic.add(left, 0, 1)] = i
        else:
            write_solution(chain, scoring, problems, i, workspace.best, count, solutions)

    return Unfused(launch)


@cache
def _expressive_kernel(size: int) -> Unfused:
    """`poise.Expressive` for chains of up to `size` joints."""

    def launch(chain: Any, scoring: Any, search: Any, problems: BatchProblems, solutions: BatchSolutions) -> None:
        i = cuda.grid(1)
        if i >= problems.rotation.shape[0]:
            return
        n = problems.posture.shape[1]
        angles = cuda.local.array(size, float64)
        work = cuda.local.array((WORKSPACE_ROWS, size), float64)
        for row in range(WORKSPACE_ROWS):
            for k in range(n):
                work[row, k] = 0.0
        count = solve_expressive(
            chain, scoring, search, aim_of(problems, i), problems.posture[i], work[:, :n], angles[:n]
        )
        write_solution(chain, scoring, problems, i, angles[:n], count, solutions)

    return Unfused(launch)


@cache
def _two_priority_kernel(size: int) -> Unfused:
    """The two-priority DLS for chains of up to `size` joints."""

    def launch(chain: Any, scoring: Any, method: Any, problems: BatchProblems, solutions: BatchSolutions) -> None:
        options, stages, taken = method
        n = problems.posture.shape[1]
        m = max(n, 3)
        angles = cuda.local.array((4, size), float64)
        rows = cuda.local.array((3, size, size), float64)
        frames = cuda.local.array((size, 4), float64)
        values = cuda.local.array((2, size), float64)
        workspace = TwoPriorityWorkspace(
            angles[0, :n],
            angles[1, :n],
            angles[2, :n],
            values[0, :m],
            frames[:n],
            rows[0, :m, :n],
            rows[1, :m, :m],
            values[1, :m],
            rows[2, :n, :n],
            angles[3, :n],
        )
        i, stage = -1, 0
        progress = TwoPriorityProgress(Quaternion(1.0, 0.0, 0.0, 0.0), 0, 0.0, True)
        while True:
            if progress.done:
                i = cuda.atomic.add(taken, 0, 1)
                if i >= problems.rotation.shape[0]:
                    return
                progress = begin_two_priority(chain, scoring, aim_of(problems, i), problems.start[i], workspace)
                stage = 0
            progress = advance_two_priority(
                chain, scoring, options, aim_of(problems, i), problems.posture[i], progress, workspace
            )
            stage = write_stages(chain, scoring, stages, problems, i, stage, progress, workspace, solutions)

    return Unfused(launch)
