"""The result of assembling a mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture

Status = Literal["assembled", "closest", "open"]


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
