"""The evaluation on a GPU: samples are drawn, solved and counted there, and only statistics come back."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from functools import cache
from typing import Any

from numba import cuda, int64

from poise.evaluation.erik.cases import DLS, MAX_DLS_ORIENTATION_ERROR, NO_POSTURE, THRESHOLD, is_filtered, runs
from poise.evaluation.erik.tally import Tally
from poise.expressive.cuda import cuda_module, empty_on_device, on_device
from poise.expressive.result import empty_problems, empty_solutions
from poise.expressive.solver import ExpressiveSolver
from poise.expressive.two_priority import TwoPriorityDls, split_stages
from poise.kernels.gaze.batch_arrays import COMBINED_ERROR
from poise.kernels.gaze.sampling import SampleSpace, write_sample
from poise.kernels.gaze.tally import (
    ASKED,
    KEPT,
    MAX_ITERATION_COUNT,
    MEASURE_COUNT,
    UNIT,
    WITHIN,
    TallyArrays,
    bin_of,
    counts_as_kept,
    weighted_error,
)
from poise.kernels.jit.unfused import Unfused

TALLY_THREADS = 1 << 15
"""Number of threads that count; each sums up many solutions before it adds to the statistics."""


def tally_on_cuda(cases: Sequence[str], space: SampleSpace, first: int, stop: int) -> dict[str, Tally]:
    """Solve samples `first` to `stop` - 1 of some cases of a skeleton and return the statistics of each case."""
    cuda_module()
    here = empty_problems(stop - first, len(space.lower))
    problems = empty_on_device(here)
    sample_kernel().over(stop - first)(on_device(space), first, problems)
    filtered: Any = None
    tallies: dict[str, Tally] = {}
    for names, solver in runs(cases):
        start = time.perf_counter()
        if isinstance(solver, TwoPriorityDls) and names != [NO_POSTURE]:
            method, constants = solver.cuda_stages([DLS[case] for case in names])
        else:
            method, constants = solver.cuda_method()
        whole = empty_on_device(empty_solutions(here, len(names)))
        method.solve(tuple(on_device(part) for part in constants), problems, whole)
        found = split_stages(whole, len(names))
        if names == [NO_POSTURE]:
            filtered = whole.errors
        counted = {
            case: _counted(solver, solutions, filtered if is_filtered(case) else None)
            for case, solutions in zip(names, found, strict=True)
        }
        seconds = (time.perf_counter() - start) / len(names)
        tallies |= {case: Tally(arrays, seconds) for case, arrays in counted.items()}
    return {case: tallies[case] for case in cases}


def _counted(solver: ExpressiveSolver, solutions: Any, filtered: Any) -> TallyArrays:
    """Count solutions on the GPU; `filtered` has the errors of the filter's solver, None for no filter."""
    limits = (solutions.errors, math.inf) if filtered is None else (filtered, MAX_DLS_ORIENTATION_ERROR)
    there = on_device(Tally().arrays)
    threads = min(len(solutions.errors), TALLY_THREADS)
    tally_kernel().over(threads)(on_device(solver.scoring), solutions, (*limits, THRESHOLD), there)
    return TallyArrays(*(part.copy_to_host() for part in there))


@cache
def sample_kernel() -> Unfused:
    """The CUDA kernel that writes one sample per thread."""

    def launch(space: Any, first: int, problems: Any) -> None:
        i = cuda.grid(1)
        if i < problems.rotation.shape[0]:
            write_sample(space, first + i, i, problems)

    return Unfused(launch)


@cache
def tally_kernel() -> Unfused:
    """The CUDA kernel that counts solutions, as `poise.kernels.gaze.tally.tally_solutions` does."""

    def launch(scoring: Any, solutions: Any, limits: Any, tally: Any) -> None:
        filter_errors, most, threshold = limits
        errors = solutions.errors
        counts = cuda.local.array(3, int64)
        sums = cuda.local.array((3, MEASURE_COUNT), int64)
        for k in range(3):
            counts[k] = 0
            for measure in range(MEASURE_COUNT):
                sums[k, measure] = 0
        for i in range(cuda.grid(1), errors.shape[0], cuda.gridsize(1)):
            counts[ASKED] += 1
            if not counts_as_kept(filter_errors, i, most):
                continue
            counts[KEPT] += 1
            if errors[i, COMBINED_ERROR] <= threshold:
                counts[WITHIN] += 1
            cuda.atomic.add(tally.iterations, min(solutions.iterations[i], MAX_ITERATION_COUNT), 1)
            for measure in range(MEASURE_COUNT):
                error = weighted_error(scoring, errors, i, measure)
                whole = int(error * UNIT)
                sums[0, measure] += whole
                sums[1, measure] += int(error * error * UNIT)
                sums[2, measure] = max(sums[2, measure], whole)
                cuda.atomic.add(tally.bars, (measure, bin_of(error)), 1)
        for k in range(3):
            cuda.atomic.add(tally.counts, k, counts[k])
        for measure in range(MEASURE_COUNT):
            cuda.atomic.add(tally.sums, measure, sums[0, measure])
            cuda.atomic.add(tally.squares, measure, sums[1, measure])
            cuda.atomic.max(tally.largest, measure, sums[2, measure])

    return Unfused(launch)
