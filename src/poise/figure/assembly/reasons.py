"""Why a mechanism is not as it was asked to be."""

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

UNMOVED = 1e-6
"""Share of a motion that counts as none."""
FLAT = 1e-9
"""Slope that counts as none."""


def widest_gap(figure: Figure, posture: Posture) -> str:
    """The loop joint that is open by most, or the coupling that is further off."""
    frames, bounds = figure.frames(posture), figure.compiled.bounds
    gaps = {loop.name: closure_residual(figure, loop, frames) for loop in figure.loops}
    for i, coupling in enumerate(figure.couplings):
        if coupling.is_equality:
            gaps[coupling.name] = abs(coupling_value(bounds, i, posture._q) - coupling.lower)
    return max(gaps, key=lambda name: gaps[name])


def fighting_motors(ways: FloatArray, missed: FloatArray, motors: Mapping[str, slice]) -> tuple[str, ...]:
    """Those of the motors that missed their values because of each other, none where something else is in the way.

    In the closest posture no closed motion brings the motors nearer on the whole, unless a limit is in its way. Those
    that could still move by themselves are then held back by others; at the end of a workspace none can.

    Args:
        ways: (k, nv) motions that keep the loops closed.
        missed: (nv,) what motors lack, 0 for other joints [rad or m].
        motors: Motors that missed their values, and where their velocities are.
    """
    if np.abs(ways @ missed).max(initial=0.0) > FLAT + UNMOVED * np.abs(missed).max():
        return ()
    moving = [name for name, place in motors.items() if np.abs(ways[:, place]).max(initial=0.0) > UNMOVED]
    return tuple(moving) if len(moving) > 1 else ()
