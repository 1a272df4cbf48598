"""Backward cyclic descent: see `poise.kernels.gaze.erik.bwcd` for the method."""

from __future__ import annotations

from typing import Literal, Unpack

from poise.chains.facing import facing_problem
from poise.chains.goals import TargetLike
from poise.chains.options import Options
from poise.chains.result import ChainResult
from poise.errors import TaskError
from poise.figure.model.figure import Figure
from poise.kernels.gaze.erik.bwcd import bwcd as bwcd_kernel


def bwcd(
    figure: Figure,
    target: TargetLike,
    *,
    form: Literal["solution", "posture"] = "solution",
    **options: Unpack[Options],
) -> ChainResult:
    """Turn one joint at a time, from the root to the tip, until the tip has the wanted direction or orientation.

    For chains of hinges. It turns the chain as a whole, where CCD would bend its end. Iterations are sweeps.

    Args:
        figure: The figure to solve for.
        target: A unit quaternion (4,) or `poise.facing(…)`.
        form: "solution" stays within the limits. "posture" turns to a direction and ignores limits, which warps an
            animator's posture with the least change of its shape.
        **options: See `Options`.
    """
    if form == "solution":
        problem = facing_problem("bwcd", figure, target, options, max_iterations=500)
    elif form == "posture":
        problem = facing_problem("bwcd of postures", figure, target, options, max_iterations=500, can=("direction",))
    else:
        raise TaskError(f"bwcd has the forms 'solution' and 'posture', not {form!r}.")
    tolerance, most = problem.settings.tolerance, problem.settings.max_iterations
    aim, trace_rows, angles = problem.aim, problem.trace_rows(), problem.start()
    error, taken = bwcd_kernel(
        problem.chain, aim.rotation, aim.kind, int(form == "solution"), tolerance, most, trace_rows, angles
    )
    return problem.result(angles, error, taken, trace_rows)
