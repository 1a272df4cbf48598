"""Cyclic coordinate descent: see `poise.kernels.chains.ccd` for the method."""

from __future__ import annotations

from typing import Unpack

from poise.chains.goals import GoalNumbers, TargetLike
from poise.chains.options import Options
from poise.chains.problem import chain_problem
from poise.chains.result import ChainResult
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.kernels.chains.ccd import ccd as ccd_kernel


def ccd(figure: Figure, target: TargetLike, **options: Unpack[Options]) -> ChainResult:
    """Turn one joint at a time, from the tip to the root, until the tip reaches the target.

    Takes hinges, slides and ball joints, and every kind of target. It comes near quickly and converges slowly, and it
    bends the end of a chain most. Iterations are sweeps over all joints.

    Args:
        figure: The figure to solve for.
        target: A position (3,) [m], a unit quaternion (4,), `poise.facing(…)` or `poise.at(…)`.
        **options: See `Options`.
    """
    problem = chain_problem("ccd", figure, target, options, max_iterations=500)
    path, tolerance = problem.path, problem.settings.tolerance

    def run(goal: GoalNumbers, begin: FloatArray, most: int, rows: FloatArray, q: FloatArray) -> tuple[float, int]:
        return ccd_kernel(path.memory, begin, goal, tolerance, most, rows, q)

    return problem.solve(run)
