"""Jacobian methods: see `poise.kernels.chains.jacobian` for the four kinds of step."""

from __future__ import annotations

import math
from typing import Unpack

from poise.chains.goals import GoalNumbers, TargetLike
from poise.chains.options import Options
from poise.chains.problem import ChainProblem, chain_problem
from poise.chains.result import ChainResult
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.kernels.chains.jacobian import (
    DAMPED_LEAST_SQUARES,
    PSEUDOINVERSE,
    SELECTIVELY_DAMPED,
    TRANSPOSE,
    jacobian_steps,
)

MAX_JOINT_STEP = math.pi / 4.0
"""Largest change of any joint in one step [Buss & Kim 2005] [rad]."""
MAX_ERROR_ANGLE = math.pi / 4.0
"""Largest angle that one step tries to correct [rad]."""
MAX_ERROR_SHARE = 0.5
"""Largest distance that one step tries to correct, as a fraction of the limb's length."""
MAX_DAMPED_STEP = 1.0
"""Largest length of a damped step [rad]; b_max of Maciejewski's damping."""


def jacobian_transpose(figure: Figure, target: TargetLike, **options: Unpack[Options]) -> ChainResult:
    """Follow the gradient: Δ = α Jᵀ e. It is always stable, and converges slowly.

    Args:
        figure: The figure to solve for; hinges, slides and ball joints.
        target: A position (3,) [m], a unit quaternion (4,), `poise.facing(…)` or `poise.at(…)`.
        **options: See `Options`.
    """
    return _solve(chain_problem("jacobian_transpose", figure, target, options, max_iterations=2000), TRANSPOSE)


def pseudoinverse(figure: Figure, target: TargetLike, **options: Unpack[Options]) -> ChainResult:
    """Take the shortest joint step that meets the goal to first order: Δ = J⁺ e. Steps oscillate near singularities.

    It takes the arguments of `jacobian_transpose`.
    """
    return _solve(chain_problem("pseudoinverse", figure, target, options, max_iterations=300), PSEUDOINVERSE)


def dls(figure: Figure, target: TargetLike, **options: Unpack[Options]) -> ChainResult:
    """Damped least squares with the smallest damping that keeps each step short [Maciejewski & Klein 1988].

    It takes the arguments of `jacobian_transpose`.
    """
    return _solve(chain_problem("dls", figure, target, options, max_iterations=300), DAMPED_LEAST_SQUARES)


def sdls(figure: Figure, target: TargetLike, **options: Unpack[Options]) -> ChainResult:
    """Selectively damped least squares: each singular direction has its own bound on the step [Buss & Kim 2005].

    It takes the arguments of `jacobian_transpose`.
    """
    return _solve(chain_problem("sdls", figure, target, options, max_iterations=300), SELECTIVELY_DAMPED)


def _solve(problem: ChainProblem, method: int) -> ChainResult:
    path, tolerance = problem.path, problem.settings.tolerance
    longest = MAX_ERROR_SHARE * path.length if problem.goal.kind == "position" else MAX_ERROR_ANGLE
    damping = (float(method), longest, MAX_JOINT_STEP, MAX_DAMPED_STEP)

    def run(goal: GoalNumbers, begin: FloatArray, most: int, rows: FloatArray, q: FloatArray) -> tuple[float, int]:
        return jacobian_steps(path.memory, begin, goal, damping, tolerance, most, rows, q)

    return problem.solve(run)
