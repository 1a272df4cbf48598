"""Arrays of a batch of gaze problems and of their solutions."""

from typing import NamedTuple

import numpy as np

from poise.kernels.chains.chain import Chain, tip_rotation
from poise.kernels.gaze.measures import Aim, Scoring, orientation_error, posture_error, shape_error
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.quaternion import quaternion_at

Array = np.ndarray

COMBINED_ERROR, ORIENTATION_ERROR, POSTURE_ERROR, SHAPE_ERROR = 0, 1, 2, 3
"""Columns of `BatchSolutions.errors`."""


class BatchProblems(NamedTuple):
    """The problems of a batch, one per row."""

    rotation: Array
    """(m, 4) wanted world rotations of the tip, as quaternions."""
    kind: Array
    """(m,) FULL or DIRECTED, see `Aim.kind`."""
    posture: Array
    """(m, n) wanted joint angles [rad]."""
    start: Array
    """(m, n) initial joint angles [rad]."""


class BatchSolutions(NamedTuple):
    """The solutions of a batch, one per row."""

    angles: Array
    """(m, n) joint angles [rad]."""
    errors: Array
    """(m, 4) combined, orientation, posture and shape error."""
    iterations: Array
    """(m,) number of iterations."""


@kernel
def aim_of(problems: BatchProblems, i: int) -> Aim:
    """The wanted frame or direction of the tip in problem `i`."""
    return Aim(quaternion_at(problems.rotation, i), problems.kind[i])


@kernel
def first_outside(lower: Array, upper: Array, angles: Array, slack: float) -> int:
    """Flat index of the first of `angles` (m, n) that exceeds a limit by more than `slack` [rad]; -1 if none does."""
    for i in range(angles.shape[0]):
        for k in range(angles.shape[1]):
            if not lower[k] - slack <= angles[i, k] <= upper[k] + slack:
                return i * angles.shape[1] + k
    return -1


@kernel
def write_errors(
    chain: Chain,
    scoring: Scoring,
    problems: BatchProblems,
    # outputs
    solutions: BatchSolutions,
) -> None:
    """Compute the errors of all solutions and write them to `solutions.errors`."""
    for i in range(solutions.angles.shape[0]):
        write_solution(chain, scoring, problems, i, solutions.angles[i], solutions.iterations[i], solutions)


@kernel
def write_solution(
    chain: Chain,
    scoring: Scoring,
    problems: BatchProblems,
    i: int,
    angles: Array,
    iterations: int,
    # outputs
    solutions: BatchSolutions,
) -> None:
    """Write the solution of problem `i` and its errors to row `i` of `solutions`."""
    write_solution_row(chain, scoring, problems, i, i, angles, iterations, solutions)


@kernel
def write_solution_row(
    chain: Chain,
    scoring: Scoring,
    problems: BatchProblems,
    i: int,
    row: int,
    angles: Array,
    iterations: int,
    # outputs
    solutions: BatchSolutions,
) -> None:
    """Write a solution of problem `i` and its errors to a row of `solutions`."""
    posture = problems.posture[i]
    for k in range(angles.shape[0]):
        solutions.angles[row, k] = angles[k]
    turned = orientation_error(scoring, aim_of(problems, i), tip_rotation(chain, angles))
    bent = posture_error(chain, scoring, angles, posture)
    solutions.errors[row, COMBINED_ERROR] = scoring.orientation * turned + scoring.posture * bent
    solutions.errors[row, ORIENTATION_ERROR] = turned
    solutions.errors[row, POSTURE_ERROR] = bent
    solutions.errors[row, SHAPE_ERROR] = shape_error(chain, scoring, angles, posture)
    solutions.iterations[row] = iterations
