"""What assembling a mechanism comes to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from poise.figure.pose import FloatArray
from poise.figure.posture import Posture

Status = Literal["assembled", "closest", "open"]


@dataclass(frozen=True)
class Assembly:
    """A mechanism put together."""

    posture: Posture
    status: Status
    """assembled: motors are where they were asked to be. closest: they cannot be, and are as close as loops and limits
    let them. open: no closed posture was found."""
    motors: dict[str, float | FloatArray]
    """Where all motors are, those at loop joints included; angles go on counting from the start posture's."""
    missed: dict[str, float]
    """How far motors that were named are from what was asked [rad or m], where they are not there."""
    gap: float
    """Largest gap of a loop joint [m or rad]."""

    def report(self) -> str:
        """One sentence."""
        name = self.posture.figure.name
        if self.status == "assembled":
            return f"{name} is assembled."
        if self.status == "open":
            return (
                f"{name} could not be assembled: a loop joint stays open by {self.gap:.3g}. "
                "Another `near`, or `restarts`, may find a closed posture."
            )
        missed = ", ".join(f"{motor!r} by {value:.3g}" for motor, value in self.missed.items())
        return f"{name} cannot have its motors there; the closest assembled posture misses {missed}."
