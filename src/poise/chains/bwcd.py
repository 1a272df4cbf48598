"""Backward cyclic descent: see `poise.kernels.gaze.erik.bwcd` for the method."""

from __future__ import annotations

from typing import Literal, Unpack

from poise.chains.facing import ask_to_face
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
    """Turn one joint at a time, from the root to the tip, until the tip faces where it should.

    For chains of hinges. Turns the chain as a whole where CCD would bend its end. Iterations are sweeps.

    Args:
        figure: Whose posture to find.
        target: A unit quaternion (4,) or `poise.facing(…)`.
        form: "solution" stays inside the limits. "posture" faces a direction regardless of them, which warps an
            animator's posture with the least change of its shape.
        **options: See `Options`.
    """
    if form == "solution":
        question = ask_to_face("bwcd", figure, target, options, max_iterations=500)
    elif form == "posture":
        question = ask_to_face("bwcd of postures", figure, target, options, max_iterations=500, can=("direction",))
    else:
        raise TaskError(f"bwcd has the forms 'solution' and 'posture', not {form!r}.")
    tolerance, most = question.settings.tolerance, question.settings.max_iterations
    aim, rows, angles = question.aim, question.rows(), question.start()
    error, taken = bwcd_kernel(
        question.chain, aim.rotation, aim.kind, int(form == "solution"), tolerance, most, rows, angles
    )
    return question.answer(angles, error, taken, rows)
