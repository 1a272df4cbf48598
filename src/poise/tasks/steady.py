"""Tasks that tie a figure to where it was: they keep a motion smooth where the other tasks of their level do not care.

Both are about the posture that a step, or a whole solve, starts from [Schumacher et al. 2021, eq. 3-5].
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from poise.errors import TaskError
from poise.kernels.goals.goals import POINT_GOAL, SLOW_GOAL, TURN_GOAL
from poise.tasks.task import Goal, Seat, Task, Weight

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure

SQUARED_QUATERNION_SHARE = 0.25
"""Square of a small turn's quaternion, against the square of its angle."""


@dataclass(frozen=True, eq=False, kw_only=True)
class _Steady(Task):
    bodies: str | Iterable[str] | None = None
    """Names of the bodies it is about; all that can move if not said."""

    def nodes(self, figure: Figure) -> list[int]:
        """Nodes of the compiled tree that carry the bodies, each once."""
        if self.bodies is None:
            return list(range(1, figure.compiled.tree.parent.shape[0]))
        names = [self.bodies] if isinstance(self.bodies, str) else list(self.bodies)
        attached = figure.compiled.attached
        found = sorted({int(attached.node[figure.frame_row(name)]) for name in names} - {0})
        if not found:
            raise TaskError(f"{self.label}: none of {', '.join(names) or 'no bodies'} can move.")
        return found


@dataclass(frozen=True, eq=False, kw_only=True)
class Still(_Steady):
    """Bodies stay where a solve starts: what the other tasks of the level leave open is left as it was.

    It adds ½ weight Σ (|c - c₀|² + |q - q₀|²), c and q the place and the quaternion of each body.
    """

    weight: Weight = 1e-3

    def describe(self) -> str:
        """What it does."""
        return "stay still"

    def goals(self, figure: Figure) -> list[Goal]:
        """Three rows of place and three of turn for every body."""
        weight = self.weights_of(1)[0]
        made = []
        for node in self.nodes(figure):
            for kind, share in ((POINT_GOAL, 1.0), (TURN_GOAL, SQUARED_QUATERNION_SHARE)):
                weights = np.full(3, share * weight)
                made.append(Goal(kind=kind, directions=np.eye(3), weights=weights, seat=Seat(node)))
        return made


@dataclass(frozen=True, eq=False, kw_only=True)
class Slow(_Steady):
    """Bodies turn no faster than they must: past `speed` the cost of turning grows like the cube of a logarithm.

    It adds weight Σ ln(x / t)³ where x = 3 - tr R₀ᵀR, of the turn of a body since the solve started, is above t, which
    is what `speed` makes of x in one frame. Below it costs nothing. Unlike a limit it gives way smoothly, and spreads
    over all bodies that are too fast: use it where a motion comes close to a singularity.
    """

    speed: float
    """Turning speed of a body from which on it counts [rad/s]."""
    rate: float
    """Frames per second: a solve for each."""
    weight: Weight = 1e-4

    def __post_init__(self) -> None:
        """Check the numbers."""
        super().__post_init__()
        for name, value in (("speed", self.speed), ("rate", self.rate)):
            if not (math.isfinite(value) and value > 0.0):
                raise TaskError(f"{self.label}: {name} must be a positive number, not {value}.")
        if self.speed / self.rate > math.pi:
            raise TaskError(f"{self.label}: {self.speed} rad/s is more than half a turn in each of {self.rate} frames.")

    def describe(self) -> str:
        """What it does."""
        return "turn slowly"

    def unit(self) -> str:
        """Its error is no length."""
        return ""

    @property
    def threshold(self) -> float:
        """The x that `speed` makes in one frame."""
        return 4.0 * math.sin(0.5 * self.speed / self.rate) ** 2

    def goals(self, figure: Figure) -> list[Goal]:
        """One row for every body."""
        weight, value = self.weights_of(1), self.threshold
        rows = np.zeros((1, 3))
        return [
            Goal(kind=SLOW_GOAL, directions=rows, weights=weight, seat=Seat(node), value=value)
            for node in self.nodes(figure)
        ]
