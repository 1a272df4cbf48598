"""What assembling a mechanism comes to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture

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
    """Largest gap of a loop joint, or of a coupling that is an equality [m or rad]."""
    widest: str | None = None
    """The loop joint or coupling with that gap, where one is open."""
    fighting: tuple[str, ...] = ()
    """Motors that were named and want the same freedom for different things."""
    stopped: tuple[str, ...] = ()
    """Joints at limits, and couplings at bounds, that keep motors from where they were asked to be."""

    def report(self) -> str:
        """One sentence."""
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
        return f"{name} cannot have its motors there{self._why()}; the closest assembled posture misses {missed}."

    def _why(self) -> str:
        if self.fighting:
            return f", where {_listed(self.fighting)} fight for the same freedom"
        if self.stopped:
            return f", beyond the limit of {_listed(self.stopped)}"
        return ""


def _listed(names: Sequence[str]) -> str:
    *first, last = map(repr, names)
    return f"{', '.join(first)} and {last}" if first else last
