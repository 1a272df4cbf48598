"""Statistics of the errors of a batch, in integers, so that they do not depend on the order of the solutions.

Sums of floating-point numbers depend on the order of the terms, which differs between a CPU and the threads of a GPU.
Errors are therefore rounded to multiples of 2⁻⁴⁰. The sum of 2²⁰ squares of errors up to √8 fits into 63 bits.
"""

from typing import NamedTuple

import numpy as np

from poise.kernels.gaze.batch_arrays import COMBINED_ERROR, ORIENTATION_ERROR, POSTURE_ERROR, BatchSolutions
from poise.kernels.gaze.measures import Scoring
from poise.kernels.jit.compile import kernel, threaded_kernel

Array = np.ndarray

UNIT = 2.0**40
"""Errors are stored as multiples of 1 / UNIT."""
MEASURE_COUNT = 4
"""Number of measures: combined, orientation, posture and shape error."""
BIN_COUNT = 1000
"""Number of bins of a histogram; they cover 0 to 1, the range of the errors."""
MAX_ITERATION_COUNT = 1000
"""Larger numbers of iterations are counted as this one."""
ASKED, KEPT, WITHIN = 0, 1, 2
"""Indices of `TallyArrays.counts`: solutions, those that the filter kept, those within the threshold."""


class TallyArrays(NamedTuple):
    """Statistics of solutions; all arrays are int64."""

    counts: Array
    """(3,) see ASKED, KEPT and WITHIN."""
    sums: Array
    """(4,) sum of each measure, times UNIT."""
    squares: Array
    """(4,) sum of the squares of each measure, times UNIT."""
    largest: Array
    """(4,) largest value of each measure, times UNIT."""
    bars: Array
    """(4, BIN_COUNT) histogram of each measure."""
    iterations: Array
    """(MAX_ITERATION_COUNT + 1,) number of solutions for each number of iterations."""


@kernel
def weighted_error(scoring: Scoring, errors: Array, i: int, measure: int) -> float:
    """A measure of solution `i`; the orientation and the posture error are weighted as in the combined error."""
    if measure == ORIENTATION_ERROR:
        return scoring.orientation * errors[i, measure]
    return scoring.posture * errors[i, measure] if measure == POSTURE_ERROR else errors[i, measure]


@kernel
def counts_as_kept(errors: Array, i: int, most: float) -> bool:
    """Whether the filter keeps problem `i`: its orientation error in `errors`, of the filter's solver, is small."""
    return errors[i, ORIENTATION_ERROR] <= most


@kernel
def bin_of(error: float) -> int:
    """The bin of an error; errors of 1 and more count in the last one."""
    return min(int(error * BIN_COUNT), BIN_COUNT - 1)


@threaded_kernel
def tally_solutions(
    scoring: Scoring,
    solutions: BatchSolutions,
    filter_errors: Array,
    most: float,
    threshold: float,
    # changed
    tally: TallyArrays,
) -> None:
    """Add all solutions whose orientation error in `filter_errors` (m, 4) is at most `most` to the statistics."""
    errors = solutions.errors
    for i in range(errors.shape[0]):
        tally.counts[ASKED] += 1
        if not counts_as_kept(filter_errors, i, most):
            continue
        tally.counts[KEPT] += 1
        if errors[i, COMBINED_ERROR] <= threshold:
            tally.counts[WITHIN] += 1
        tally.iterations[min(solutions.iterations[i], MAX_ITERATION_COUNT)] += 1
        for measure in range(MEASURE_COUNT):
            error = weighted_error(scoring, errors, i, measure)
            whole = int(error * UNIT)
            tally.sums[measure] += whole
            tally.squares[measure] += int(error * error * UNIT)
            tally.largest[measure] = max(tally.largest[measure], whole)
            tally.bars[measure, bin_of(error)] += 1
