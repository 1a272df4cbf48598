"""Jacobian methods: see `poise.kernels.chains.jacobian` for the four kinds of step."""

from __future__ import annotations

import math
from numbers import Real
from typing import Unpack, cast

from poise.chains.goals import GoalNumbers, TargetLike
from poise.chains.options import Options
from poise.chains.problem import chain_problem
from poise.chains.result import ChainResult
from poise.errors import TaskError
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
STEP_BOUNDS = ("max_error", "max_joint_step", "max_damped_step")
"""Names of the bounds of a step, in the order of the kernel's settings."""


class JacobianOptions(Options, total=False):
    """Options that the Jacobian methods take besides those of all chain solvers; each bounds a single step."""

    max_error: float
    """D_max: largest error that one step tries to correct [m or rad]; by default half of the limb's length, or 45°."""
    max_joint_step: float
    """γ_max: largest change of any joint in one step [rad]; 45° by default [Buss & Kim 2005]."""
    max_damped_step: float
    """b_max: largest length of a damped step, which determines the damping of `dls` [rad]; 1 by default."""


def jacobian_transpose(figure: Figure, target: TargetLike, **options: Unpack[JacobianOptions]) -> ChainResult:
    """Follow the gradient: Δ = α Jᵀ e. It is always stable, and converges slowly.

    Args:
        figure: The figure to solve for; hinges, slides and ball joints.
        target: A position (3,) [m], a unit quaternion (4,), `poise.facing(…)` or `poise.at(…)`.
        **options: See `JacobianOptions` and `poise.chains.options.Options`.
    """
    return _solve("jacobian_transpose", figure, target, options, max_iterations=2000, method=TRANSPOSE)


def pseudoinverse(figure: Figure, target: TargetLike, **options: Unpack[JacobianOptions]) -> ChainResult:
    """Take the shortest joint step that meets the goal to first order: Δ = J⁺ e. Steps oscillate near singularities.

    It takes the arguments of `jacobian_transpose`.
    """
    return _solve("pseudoinverse", figure, target, options, max_iterations=300, method=PSEUDOINVERSE)


def dls(figure: Figure, target: TargetLike, **options: Unpack[JacobianOptions]) -> ChainResult:
    """Damped least squares with the smallest damping that keeps each step short [Maciejewski & Klein 1988].

    It takes the arguments of `jacobian_transpose`.
    """
    return _solve("dls", figure, target, options, max_iterations=300, method=DAMPED_LEAST_SQUARES)


def sdls(figure: Figure, target: TargetLike, **options: Unpack[JacobianOptions]) -> ChainResult:
    """Selectively damped least squares: each singular direction has its own bound on the step [Buss & Kim 2005].

    It takes the arguments of `jacobian_transpose`.
    """
    return _solve("sdls", figure, target, options, max_iterations=300, method=SELECTIVELY_DAMPED)


def _solve(
    name: str, figure: Figure, target: TargetLike, options: JacobianOptions, *, max_iterations: int, method: int
) -> ChainResult:
    shared = cast("Options", {key: value for key, value in options.items() if key not in STEP_BOUNDS})
    problem = chain_problem(name, figure, target, shared, max_iterations=max_iterations)
    path, tolerance = problem.path, problem.settings.tolerance
    longest = MAX_ERROR_SHARE * path.length if problem.goal.kind == "position" else MAX_ERROR_ANGLE
    defaults = (longest, MAX_JOINT_STEP, MAX_DAMPED_STEP)
    bounds = [_bound(name, key, options.get(key, default)) for key, default in zip(STEP_BOUNDS, defaults, strict=True)]
    damping = (float(method), *bounds)

    def run(goal: GoalNumbers, begin: FloatArray, most: int, rows: FloatArray, q: FloatArray) -> tuple[float, int]:
        return jacobian_steps(path.memory, begin, goal, damping, tolerance, most, rows, q)

    return problem.solve(run)


def _bound(solver: str, name: str, value: object) -> float:
    """A checked bound of a step."""
    if not isinstance(value, Real) or not 0.0 < float(value) < math.inf:
        raise TaskError(f"{name} of {solver} must be a positive number, not {value!r}.")
    return float(value)
