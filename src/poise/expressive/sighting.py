"""Looking at points: the direction of a point depends on where the tip comes to be, which the solver decides.

The eye is moved half-way to where the tip has come to be, and the point is looked at again. Of all answers, the one
with the least error as seen from its own tip is kept: a solver that jumps between shapes need not settle.
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

SIGHTINGS = 12
"""How often a point is looked at anew, at most."""
MISSED = 1e-8
"""Error of orientation from which on a point is looked at again with the way the tip moves in mind."""
STARTS = 64
"""Postures from which that is tried."""
SETTLED = 1e-6
"""A tip that moves less between two answers is where it was [m]."""


def aim_rows(limb: Limb, targets: list[Gaze], eyes: FloatArray, problems: BatchProblems) -> None:
    """Aim every question at its target from its eye, a row of `eyes` (m, 3)."""
    for i, eye in enumerate(eyes):
        aim = targets[i if len(targets) > 1 else 0].aim(limb.up, eye)
        problems.rotation[i], problems.kind[i] = aim.rotation, aim.kind


def tips(limb: Limb, angles: FloatArray, postures: FloatArray) -> FloatArray:
    """(m, 3) where the tip is at each row of angles [m], beside one of `postures` (m, nq), or the only one."""
    return np.array([limb.tip_at(row, postures[i if len(postures) > 1 else 0]) for i, row in enumerate(angles)])


def looked_at(
    limb: Limb,
    scoring: Scoring,
    targets: list[Gaze],
    postures: FloatArray,
    problems: BatchProblems,
    *,
    solve_all: Callable[[], BatchSolutions],
) -> BatchSolutions:
    """Answers to questions some of which are points; leaves in `problems` the aims as seen from the answers' tips."""
    eyes = tips(limb, problems.posture, postures)
    best = empty_solutions(problems)
    best.errors[:] = np.inf
    for _ in range(SIGHTINGS):
        aim_rows(limb, targets, eyes, problems)
        solutions = solve_all()
        ends = tips(limb, solutions.angles, postures)
        aim_rows(limb, targets, ends, problems)
        write_errors(limb.chain, scoring, problems, solutions)
        _keep_better(best, solutions)
        if np.abs(ends - eyes).max() < SETTLED:
            break
        eyes = 0.5 * (eyes + ends)
    aim_rows(limb, targets, tips(limb, best.angles, postures), problems)
    return best


def look_nearer(
    limb: Limb,
    scoring: Scoring,
    search: SearchSettings,
    *,
    targets: list[Gaze],
    postures: FloatArray,
    problems: BatchProblems,
    solutions: BatchSolutions,
) -> None:
    """Look again at points that were missed, with the way the tip moves in mind; keeps what sees them, or is better."""
    for i in np.flatnonzero(solutions.errors[:, ORIENTATION_ERROR] > MISSED).tolist():
        target = targets[i if len(targets) > 1 else 0]
        if target.point is None:
            continue
        work = np.zeros((WORKSPACE_ROWS, len(limb.joints)))
        work[PREVIOUS_ROW] = solutions.angles[i]
        nearest_look(limb.chain, scoring, search, Vector(*target.point), problems.posture[i], STARTS, work)
        one = BatchProblems(*(part[i : i + 1].copy() for part in problems))
        new = BatchSolutions(*(part[i : i + 1].copy() for part in solutions))
        beside = postures[[i if len(postures) > 1 else 0]]
        aim_rows(limb, [target], tips(limb, work[[FRAME_ROW]], beside), one)
        turn_tip(limb.chain, scoring, aim_of(one, 0), work, FRAME_ROW)
        new.angles[0] = work[FRAME_ROW]
        write_errors(limb.chain, scoring, one, new)
        if (
            new.errors[0, ORIENTATION_ERROR] <= MISSED
            or new.errors[0, COMBINED_ERROR] < solutions.errors[i, COMBINED_ERROR]
        ):
            problems.rotation[i] = one.rotation[0]
            for old, replacement in zip(solutions, new, strict=True):
                old[i] = replacement[0]


def _keep_better(best: BatchSolutions, new: BatchSolutions) -> None:
    """Replace the answers that have become better."""
    better = new.errors[:, COMBINED_ERROR] < best.errors[:, COMBINED_ERROR]
    for old, replacement in zip(best, new, strict=True):
        old[better] = replacement[better]
