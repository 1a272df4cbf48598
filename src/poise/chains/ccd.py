"""Cyclic coordinate descent: see `poise.kernels.chains.ccd` for the method."""

from __future__ import annotations

from typing import Unpack

from poise.chains.goals import GoalNumbers, TargetLike
from poise.chains.options import Options
from poise.chains.question import ask
from poise.chains.result import ChainResult
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.kernels.chains.ccd import ccd as ccd_kernel


def ccd(figure: Figure, target: TargetLike, **options: Unpack[Options]) -> ChainResult:
    """Turn one joint at a time, from the tip to the root, until the tip is where it should be.

    Takes hinges, slides and balls, and every kind of target. Quick to come near and slow to arrive; it bends the end of
    a chain most. Iterations are sweeps over all joints.

    Args:
        figure: Whose posture to find.
        target: A position (3,) [m], a unit quaternion (4,), `poise.facing(…)` or `poise.at(…)`.
        **options: See `Options`.
    """
    question = ask("ccd", figure, target, options, max_iterations=500)
    path, tolerance = question.path, question.settings.tolerance

    def run(goal: GoalNumbers, begin: FloatArray, most: int, rows: FloatArray, q: FloatArray) -> tuple[float, int]:
        return ccd_kernel(path.integers, path.numbers, begin, goal, tolerance, most, rows, q)

    return question.answer(run)
