"""Backward cyclic descent: see `poise.kernels.bwcd` for the method."""

from __future__ import annotations

from typing import Literal, Unpack

import numpy as np

from poise.chains.chain import Limb, chain_of
from poise.chains.goals import Goal, GoalKind, TargetLike, goal_of
from poise.chains.options import Options, Settings, settle
from poise.chains.result import ChainResult
from poise.errors import TaskError
from poise.figure.figure import Figure
from poise.figure.pose import FloatArray
from poise.kernels.bwcd import bwcd as bwcd_kernel

CAN: dict[str, tuple[GoalKind, ...]] = {
    "solution": ("direction", "orientation"),
    "posture": ("direction",),
}


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
    if form not in CAN:
        raise TaskError(f"bwcd has the forms 'solution' and 'posture', not {form!r}.")
    goal = goal_of(target, "bwcd" if form == "solution" else "bwcd of postures", CAN[form])
    settings = settle("bwcd", figure, options, 500)
    limb = chain_of(figure, settings.tip, solver="bwcd", needs_lengths=False)
    for name in limb.joints:
        if name in settings.held:
            raise TaskError(f"bwcd turns every joint of a chain and cannot hold {name!r}; poise.chains.ccd can.")
    return _solve(limb, goal, settings, limited=form == "solution" and settings.limits)


def _solve(limb: Limb, goal: Goal, settings: Settings, *, limited: bool) -> ChainResult:
    angles = limb.angles(settings.start).copy()
    most = settings.max_iterations
    rows = np.empty((most if settings.trace else 0, len(angles)))
    assert goal.gaze is not None
    aim = goal.gaze.aim(limb.figure.up_vector, np.zeros(3))
    error, taken = bwcd_kernel(limb.chain, aim.rotation, aim.kind, int(limited), settings.tolerance, most, rows, angles)
    posture = limb.posture(angles, settings.start)
    trace = _postures(limb, rows[:taken], settings) if settings.trace else None
    return ChainResult(posture, "solved" if error <= settings.tolerance else "stalled", error, taken, trace)


def _postures(limb: Limb, rows: FloatArray, settings: Settings) -> FloatArray:
    """Whole postures from rows of angles."""
    whole = np.repeat(settings.start.q[None], len(rows), axis=0)
    whole[:, limb.places] = rows
    return whole
