"""Weights and workspace of a weighted least-squares fit of a problem's goals (`poise.kernels.motion.weighted_fit`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from poise.figure.assembly.cut_joint_guards import taken_in
from poise.kernels.motion.separation import Separation
from poise.kernels.motion.weighted_fit_step import Fit, make_fit

if TYPE_CHECKING:
    from poise.engine.problem import Problem


def make_weighted_fit(
    problem: Problem, near: float, still: float, strict: float = 1.0, apart: Separation | None = None
) -> Fit:
    """A weighted fit of the problem's goals.

    Args:
        problem: The compiled tasks; the last one holds the reference posture.
        near: Weight of the reference posture.
        still: Weight of the posture of the last frame.
        strict: Factor on the weights of all goals.
        apart: Parts of the figure to keep apart; None for none.
    """
    engine, nv = problem.engine, problem.figure.nv
    limits = nv + engine.levels.general.shape[0]
    weights = near * engine.criteria.posture_weight[0], np.full(nv, still, dtype=np.float64)
    for _, joint in taken_in(problem.figure):
        # The loop alone determines this joint: its coordinates exist only to limit it.
        for weight in weights:
            weight[problem.figure.v_slice(joint.name)] = 0.0
    return make_fit(len(engine.goals.position), *weights, limits, problem.figure.nq, float(strict), apart)
