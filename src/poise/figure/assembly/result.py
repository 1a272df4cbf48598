"""The result of assembling a mechanism, and reasons why it misses its motor values or stays open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from poise.figure.assembly.loop_values import closure_residual
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.kernels.body.limits import coupling_value

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure

Status = Literal["assembled", "closest", "open"]
ZERO_MOTION_SHARE = 1e-6
"""Motions of a motor below this share count as zero."""
ZERO_SLOPE = 1e-9
"""Slope of the distance to the target that counts as zero."""


@dataclass(frozen=True)
class Assembly:
    """The posture of an assembled mechanism, and whether its motors reached their values."""

    posture: Posture
    """The posture found."""
    status: Status
    """assembled: all named motors have the wanted values. closest: the values are impossible, and the motors are as
    near to them as loops and limits allow. open: no closed posture was found."""
    motors: dict[str, float | FloatArray]
    """Values of all motors, those on loop joints included; angles are continuous from the start posture on."""
    missed: dict[str, float]
    """Distances of the named motors that do not have the wanted values [rad or m]."""
    gap: float
    """Largest gap of a loop joint, or of a coupling that is an equality [m or rad]."""
    widest: str | None = None
    """The loop joint or coupling with that gap, if the status is open."""
    fighting: tuple[str, ...] = ()
    """Named motors whose values contradict each other."""
    stopped: tuple[str, ...] = ()
    """Joints at limits and couplings at bounds that keep the motors from the wanted values."""

    def report(self) -> str:
        """The result in one or two sentences."""
        name = self.posture.figure.name
        if self.status == "assembled":
            return f"{name} is assembled."
        if self.status == "open":
            what = "loop joint" if self.widest in self.posture.figure.loops else "coupling"
            return (
                f"{name} could not be assembled: its {what} {self.widest!r} stays open by {self.gap:.3g} m or rad. "
                "Another `near`, or `restarts`, may find a closed posture."
            )
        missed = ", ".join(f"{motor!r} by {value:.3g}" for motor, value in self.missed.items())
        return f"{name} cannot reach these motor values{self._why()}; the closest assembled posture misses {missed}."

    def _why(self) -> str:
        """The reason as a subordinate clause, or nothing if it is not known."""
        if self.fighting:
            return f", because {_listed(self.fighting)} drive the same freedom to different values"
        if self.stopped:
            return f", because of the limit of {_listed(self.stopped)}"
        return ""


def _listed(names: Sequence[str]) -> str:
    """'a', 'b' and 'c'."""
    *first, last = map(repr, names)
    return f"{', '.join(first)} and {last}" if first else last


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
