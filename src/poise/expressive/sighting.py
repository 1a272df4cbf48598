"""Looking at points: the direction of a point depends on where the tip comes to be, which the solver decides.

The eye is moved half-way to where the tip has come to be, and the point is looked at again. Of all answers, the one
with the least error as seen from its own tip is kept: a solver that jumps between shapes need not settle.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from poise.chains.chain import Limb
from poise.chains.targets import Gaze
from poise.expressive.result import empty_answers
from poise.figure.model.pose import FloatArray
from poise.kernels.gaze.batch_arrays import COMBINED, ORIENTATION, Answers, Questions, aim_of, judge
from poise.kernels.gaze.expressive.aim import turn_tip
from poise.kernels.gaze.expressive.batch import nearest_look
from poise.kernels.gaze.expressive.solve import Manner
from poise.kernels.gaze.expressive.workspace import LAST, OUT, ROWS
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


def aim_rows(limb: Limb, targets: list[Gaze], eyes: FloatArray, asked: Questions) -> None:
    """Aim every question at its target from its eye, a row of `eyes` (m, 3)."""
    for i, eye in enumerate(eyes):
        aim = targets[i if len(targets) > 1 else 0].aim(limb.up, eye)
        asked.rotation[i], asked.kind[i] = aim.rotation, aim.kind


def tips(limb: Limb, angles: FloatArray, postures: FloatArray) -> FloatArray:
    """(m, 3) where the tip is at each row of angles [m], beside one of `postures` (m, nq), or the only one."""
    return np.array([limb.tip_at(row, postures[i if len(postures) > 1 else 0]) for i, row in enumerate(angles)])


def looked_at(
    limb: Limb,
    scoring: Scoring,
    targets: list[Gaze],
    postures: FloatArray,
    asked: Questions,
    *,
    answer_all: Callable[[], Answers],
) -> Answers:
    """Answers to questions some of which are points; leaves in `asked` the aims as seen from the answers' tips."""
    eyes = tips(limb, asked.posture, postures)
    best = empty_answers(asked)
    best.errors[:] = np.inf
    for _ in range(SIGHTINGS):
        aim_rows(limb, targets, eyes, asked)
        given = answer_all()
        ends = tips(limb, given.angles, postures)
        aim_rows(limb, targets, ends, asked)
        judge(limb.chain, scoring, asked, given)
        _keep_better(best, given)
        if np.abs(ends - eyes).max() < SETTLED:
            break
        eyes = 0.5 * (eyes + ends)
    aim_rows(limb, targets, tips(limb, best.angles, postures), asked)
    return best


def look_nearer(
    limb: Limb,
    scoring: Scoring,
    manner: Manner,
    *,
    targets: list[Gaze],
    postures: FloatArray,
    asked: Questions,
    given: Answers,
) -> None:
    """Look again at points that were missed, with the way the tip moves in mind; keeps what sees them, or is better."""
    for i in np.flatnonzero(given.errors[:, ORIENTATION] > MISSED).tolist():
        target = targets[i if len(targets) > 1 else 0]
        if target.point is None:
            continue
        work = np.zeros((ROWS, len(limb.joints)))
        work[LAST] = given.angles[i]
        nearest_look(limb.chain, scoring, manner, Vector(*target.point), asked.posture[i], STARTS, work)
        one = Questions(*(part[i : i + 1].copy() for part in asked))
        new = Answers(*(part[i : i + 1].copy() for part in given))
        beside = postures[[i if len(postures) > 1 else 0]]
        aim_rows(limb, [target], tips(limb, work[[OUT]], beside), one)
        turn_tip(limb.chain, scoring, aim_of(one, 0), work, OUT)
        new.angles[0] = work[OUT]
        judge(limb.chain, scoring, one, new)
        if new.errors[0, ORIENTATION] <= MISSED or new.errors[0, COMBINED] < given.errors[i, COMBINED]:
            asked.rotation[i] = one.rotation[0]
            for old, replacement in zip(given, new, strict=True):
                old[i] = replacement[0]


def _keep_better(best: Answers, new: Answers) -> None:
    """Replace the answers that have become better."""
    better = new.errors[:, COMBINED] < best.errors[:, COMBINED]
    for old, replacement in zip(best, new, strict=True):
        old[better] = replacement[better]
