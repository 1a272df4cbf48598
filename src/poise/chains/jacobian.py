"""Jacobian methods: see `poise.kernels.chains.jacobian` for the four kinds of step."""

from __future__ import annotations

import math
from typing import Unpack

from poise.chains.goals import GoalNumbers, TargetLike
from poise.chains.options import Options
from poise.chains.question import Question, ask
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

LARGEST_TURN = math.pi / 4.0
"""Greatest change of any joint in one step [Buss & Kim 2005]."""
LONGEST_ANGLE = math.pi / 4.0
"""How much of an angle one step tries to cover [rad]."""
LONGEST_SHARE = 0.5
"""How much of the limb's length one step tries to cover."""
BOUND = 1.0
"""Greatest length of a damped step [rad]; b_max of Maciejewski's damping."""


def jacobian_transpose(figure: Figure, target: TargetLike, **options: Unpack[Options]) -> ChainResult:
    """Follow the steepest way down: Δ = α Jᵀ e. Never unstable, and slow to arrive.

    Args:
        figure: Whose posture to find; hinges, slides and balls.
        target: A position (3,) [m], a unit quaternion (4,), `poise.facing(…)` or `poise.at(…)`.
        **options: See `Options`.
    """
    return _solve(ask("jacobian_transpose", figure, target, options, max_iterations=2000), TRANSPOSE)


def pseudoinverse(figure: Figure, target: TargetLike, **options: Unpack[Options]) -> ChainResult:
    """Take the shortest joint step that meets the goal to first order: Δ = J⁺ e. Swings wildly next to singularities.

    It takes what `jacobian_transpose` takes.
    """
    return _solve(ask("pseudoinverse", figure, target, options, max_iterations=300), PSEUDOINVERSE)


def dls(figure: Figure, target: TargetLike, **options: Unpack[Options]) -> ChainResult:
    """Damped least squares, with as little damping as keeps each step short [Maciejewski & Klein 1988].

    It takes what `jacobian_transpose` takes.
    """
    return _solve(ask("dls", figure, target, options, max_iterations=300), DAMPED_LEAST_SQUARES)


def sdls(figure: Figure, target: TargetLike, **options: Unpack[Options]) -> ChainResult:
    """Selectively damped least squares: each singular direction as far as it can be trusted [Buss & Kim 2005].

    It takes what `jacobian_transpose` takes.
    """
    return _solve(ask("sdls", figure, target, options, max_iterations=300), SELECTIVELY_DAMPED)


def _solve(question: Question, method: int) -> ChainResult:
    path, tolerance = question.path, question.settings.tolerance
    longest = LONGEST_SHARE * path.length if question.goal.kind == "position" else LONGEST_ANGLE
    damping = (float(method), longest, LARGEST_TURN, BOUND)

    def run(goal: GoalNumbers, begin: FloatArray, most: int, rows: FloatArray, q: FloatArray) -> tuple[float, int]:
        return jacobian_steps(path.integers, path.numbers, begin, goal, damping, tolerance, most, rows, q)

    return question.answer(run)
