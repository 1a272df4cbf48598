"""What every chain solver gives back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture

ChainStatus = Literal["solved", "unreachable", "stalled"]


def worst_of(statuses: Iterable[ChainStatus]) -> ChainStatus:
    """The status of several end-points together."""
    found = set(statuses)
    return "unreachable" if "unreachable" in found else "stalled" if "stalled" in found else "solved"


@dataclass(frozen=True)
class ChainResult:
    """The posture a chain solver ended in, and how near it came."""

    posture: Posture
    """Inside the limits, unless they were switched off."""
    status: ChainStatus
    """"solved": the error is within the tolerance. "unreachable": the target is farther than the segments are long, or
    nearer than they can fold. "stalled": it may be reachable, and this solver did not get there."""
    error: float
    """Distance from the target [m], or angle from it [rad]; the largest of several end-points."""
    iterations: int
    """Sweeps, steps, passes or placements it took, as each solver counts."""
    trace: FloatArray | None = None
    """(iterations, nq) posture after each iteration, where a trace was asked for."""
    errors: Mapping[str, float] = field(default_factory=dict)
    """Error of each end-point, where several were asked for."""
