"""Solves for points to look at, whose direction depends on the position of the tip in the solution.

Fixed-point iteration: the eye moves half-way to the tip of the last solution, and the direction of the point is taken
from there. Of all iterates, the one with the smallest error as seen from its own tip is kept, since a solver that
changes between shapes need not converge.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from poise.chains.chain import Limb
from poise.chains.targets import Gaze
from poise.expressive.result import empty_solutions
from poise.figure.model.pose import FloatArray
from poise.kernels.gaze.batch_arrays import (
    COMBINED_ERROR,
    ORIENTATION_ERROR,
    BatchProblems,
    BatchSolutions,
    aim_of,
    write_errors,
)
from poise.kernels.gaze.expressive.aim import turn_tip
from poise.kernels.gaze.expressive.batch import nearest_look
from poise.kernels.gaze.expressive.solve import SearchSettings
from poise.kernels.gaze.expressive.workspace import FRAME_ROW, PREVIOUS_ROW, WORKSPACE_ROWS
from poise.kernels.gaze.measures import Scoring
from poise.kernels.maths.vector import Vector

MAX_POINT_ITERATIONS = 12
"""Largest number of iterations."""
POINT_MISSED_ERROR = 1e-8
"""Orientation error above which a point is solved again with the motion of the tip in the Jacobian."""
POINT_SEARCH_STARTS = 64
"""Number of starts of that solve."""
TIP_AT_REST = 1e-6
"""The iteration stops if the tip moves by less than this [m]."""


def aim_rows(limb: Limb, targets: list[Gaze], eyes: FloatArray, problems: BatchProblems) -> None:
    """Aim every problem at its target from its eye, a row of `eyes` (m, 3)."""
    for i, eye in enumerate(eyes):
        aim = targets[i if len(targets) > 1 else 0].aim(limb.up, eye)
        problems.rotation[i], problems.kind[i] = aim.rotation, aim.kind


def tips(limb: Limb, angles: FloatArray, postures: FloatArray) -> FloatArray:
    """(m, 3) positions of the tip at each row of angles [m]; other joints are as in `postures` (m, nq) or (1, nq)."""
    return np.array([limb.tip_at(row, postures[i if len(postures) > 1 else 0]) for i, row in enumerate(angles)])


def solve_points(
    limb: Limb,
    scoring: Scoring,
    targets: list[Gaze],
    postures: FloatArray,
    problems: BatchProblems,
    *,
    solve_all: Callable[[], BatchSolutions],
) -> BatchSolutions:
    """Solve problems some of which are points; sets the aims in `problems` to those seen from the solutions' tips."""
    eyes = tips(limb, problems.posture, postures)
    best = empty_solutions(problems)
    best.errors[:] = np.inf
    for _ in range(MAX_POINT_ITERATIONS):
        aim_rows(limb, targets, eyes, problems)
        solutions = solve_all()
        ends = tips(limb, solutions.angles, postures)
        aim_rows(limb, targets, ends, problems)
        write_errors(limb.chain, scoring, problems, solutions)
        _keep_better(best, solutions)
        if np.abs(ends - eyes).max() < TIP_AT_REST:
            break
        eyes = 0.5 * (eyes + ends)
    aim_rows(limb, targets, tips(limb, best.angles, postures), problems)
    return best


def improve_missed_points(
    limb: Limb,
    scoring: Scoring,
    search: SearchSettings,
    *,
    targets: list[Gaze],
    postures: FloatArray,
    problems: BatchProblems,
    solutions: BatchSolutions,
) -> None:
    """Solve missed points again with the motion of the tip in the Jacobian; keeps solutions that are better."""
    for i in np.flatnonzero(solutions.errors[:, ORIENTATION_ERROR] > POINT_MISSED_ERROR).tolist():
        target = targets[i if len(targets) > 1 else 0]
        if target.point is None:
            continue
        work = np.zeros((WORKSPACE_ROWS, len(limb.joints)))
        work[PREVIOUS_ROW] = solutions.angles[i]
        nearest_look(limb.chain, scoring, search, Vector(*target.point), problems.posture[i], POINT_SEARCH_STARTS, work)
        one = BatchProblems(*(part[i : i + 1].copy() for part in problems))
        new = BatchSolutions(*(part[i : i + 1].copy() for part in solutions))
        beside = postures[[i if len(postures) > 1 else 0]]
        aim_rows(limb, [target], tips(limb, work[[FRAME_ROW]], beside), one)
        turn_tip(limb.chain, scoring, aim_of(one, 0), work, FRAME_ROW)
        new.angles[0] = work[FRAME_ROW]
        write_errors(limb.chain, scoring, one, new)
        if (
            new.errors[0, ORIENTATION_ERROR] <= POINT_MISSED_ERROR
            or new.errors[0, COMBINED_ERROR] < solutions.errors[i, COMBINED_ERROR]
        ):
            problems.rotation[i] = one.rotation[0]
            for old, replacement in zip(solutions, new, strict=True):
                old[i] = replacement[0]


def _keep_better(best: BatchSolutions, new: BatchSolutions) -> None:
    """Replace the solutions whose combined error has decreased."""
    better = new.errors[:, COMBINED_ERROR] < best.errors[:, COMBINED_ERROR]
    for old, replacement in zip(best, new, strict=True):
        old[better] = replacement[better]
