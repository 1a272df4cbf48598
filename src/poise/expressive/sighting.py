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
from poise.figure.pose import FloatArray
from poise.kernels.measures import Scoring
from poise.kernels.questions import COMBINED, Answers, Questions, judge

SIGHTINGS = 12
"""How often a point is looked at anew, at most."""
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


def _keep_better(best: Answers, new: Answers) -> None:
    """Replace the answers that have become better."""
    better = new.errors[:, COMBINED] < best.errors[:, COMBINED]
    for old, replacement in zip(best, new, strict=True):
        old[better] = replacement[better]
