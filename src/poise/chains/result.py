"""The result of every chain solver."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture

ChainStatus = Literal["solved", "unreachable", "stalled"]


def worst_of(statuses: Iterable[ChainStatus]) -> ChainStatus:
    """The worst status of several end-points."""
    found = set(statuses)
    return "unreachable" if "unreachable" in found else "stalled" if "stalled" in found else "solved"


@dataclass(frozen=True)
class ChainResult:
    """The final posture of a chain solver, and its error."""

    posture: Posture
    """The solution, within limits unless they were disabled."""
    status: ChainStatus
    """"solved": the error is within the tolerance. "unreachable": the target is farther than the segments are long, or
    nearer than they can fold. "stalled": it may be reachable, and this solver did not get there."""
    error: float
    """Distance from the target [m], or angle from it [rad]; the largest of several end-points."""
    iterations: int
    """Number of sweeps, steps, passes or placements, depending on the solver."""
    trace: FloatArray | None = None
    """(iterations, nq) posture after each iteration, if a trace was requested."""
    errors: Mapping[str, float] = field(default_factory=dict)
    """Error of each end-point, if there are several."""
