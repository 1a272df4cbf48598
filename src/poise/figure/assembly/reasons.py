"""Reasons why an assembly misses its motor values or stays open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from poise.figure.assembly.closure import closure_residual
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.kernels.body.couplings import coupling_value

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure

ZERO_MOTION_SHARE = 1e-6
"""Motions of a motor below this share count as zero."""
ZERO_SLOPE = 1e-9
"""Slope of the distance to the target that counts as zero."""


def widest_gap(figure: Figure, posture: Posture) -> str:
    """Name of the loop joint or equality coupling with the largest gap."""
    frames, bounds = figure.frames(posture), figure.compiled.bounds
    gaps = {loop.name: closure_residual(figure, loop, frames) for loop in figure.loops}
    for i, coupling in enumerate(figure.couplings):
        if coupling.is_equality:
            gaps[coupling.name] = abs(coupling_value(bounds, i, posture._q) - coupling.lower)
    return max(gaps, key=lambda name: gaps[name])


def fighting_motors(motions: FloatArray, missed: FloatArray, motors: Mapping[str, slice]) -> tuple[str, ...]:
    """Motors that miss their values because of each other; empty if something else is the reason.

    In the closest posture no closed motion brings the motors nearer to the target on the whole, unless a limit blocks
    it. A motor that could still move by itself is then held back by other motors; at the boundary of the workspace no
    motor can move.

    Args:
        motions: (k, nv) basis of the motions that keep the loops closed.
        missed: (nv,) distances of the motors from their targets, 0 for other joints [rad or m].
        motors: Motors that missed their values, with the slices of their velocities.
    """
    if np.abs(motions @ missed).max(initial=0.0) > ZERO_SLOPE + ZERO_MOTION_SHARE * np.abs(missed).max():
        return ()
    moving = [name for name, place in motors.items() if np.abs(motions[:, place]).max(initial=0.0) > ZERO_MOTION_SHARE]
    return tuple(moving) if len(moving) > 1 else ()
