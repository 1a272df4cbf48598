"""Regulariser tasks: they keep a motion smooth in the freedom that the other tasks of their level leave.

All compare the posture with that from which a step, or a whole solve, starts [Schumacher et al. 2021, eq. 3-5].
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from poise.errors import TaskError
from poise.figure.model.pose import Pose
from poise.kernels.goals.goals import DRIFT_GOAL, POINT_GOAL, SLOW_GOAL, TURN_GOAL
from poise.tasks.form import FormField, MenuEntry, field
from poise.tasks.task import Goal, Seat, Task, Weight, name_list

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure

SQUARED_QUATERNION_SHARE = 0.25
"""Squared vector part of the quaternion of a small rotation, as a share of its squared angle."""
NEW_SPEED, NEW_RATE = 3.0, 60.0
"""Angular speed [rad/s] and solves per second in a new task that slows bodies down."""
NEW_LINEAR_SPEED = 1.0
"""Speed in a new task that slows the positions of bodies down [m/s]."""
BODIES = FormField(
    label="Only these bodies",
    control="choices",
    get=lambda task: [] if task.bodies is None else name_list(task.bodies),
    put=lambda task, names, setting: replace(task, bodies=tuple(names) or None),
    options=lambda setting: [body.name for body in setting.posture.figure.bodies],
)
"""The form field of the bodies concerned."""


@dataclass(frozen=True, eq=False, kw_only=True)
class _Steady(Task):
    """The common part of the regulariser tasks."""

    wants_start: ClassVar = True
    without_target: ClassVar = "has no target of its own: its target is the posture that a solve starts from"

    bodies: str | Iterable[str] | None = None
    """Names of the bodies concerned; all that can move if not given."""

    def nodes(self, figure: Figure) -> list[int]:
        """Nodes of the compiled tree that carry the bodies, each once."""
        if self.bodies is None:
            return list(range(1, figure.compiled.tree.parent.shape[0]))
        names = name_list(self.bodies)
        attached = figure.compiled.attached
        found = sorted({int(attached.node[figure.frame_row(name)]) for name in names} - {0})
        if not found:
            raise TaskError(f"{self.label}: none of {', '.join(names) or 'no bodies'} can move.")
        return found


@dataclass(frozen=True, eq=False, kw_only=True)
class StayStill(_Steady):
    """Keeps bodies where they are at the start of a solve, in the freedom that the other tasks of the level leave.

    It adds ½ weight Σ (|c - c₀|² + |q - q₀|²), with c and q the position and the quaternion of each body.
    """

    former_kinds: ClassVar[tuple[str, ...]] = ("still",)
    menu: ClassVar = (MenuEntry("Stay still", lambda posture, site: StayStill()),)
    form: ClassVar = (BODIES,)

    weight: Weight = 1e-3

    def describe(self) -> str:
        """The name for reports."""
        return "stay still"

    def goals(self, figure: Figure) -> list[Goal]:
        """Two goals for every body, with three rows each: its position and its rotation."""
        weight = self.weights_of(1)[0]
        made = []
        for node in self.nodes(figure):
            for kind, share in ((POINT_GOAL, 1.0), (TURN_GOAL, SQUARED_QUATERNION_SHARE)):
                weights = np.full(3, share * weight)
                made.append(Goal(kind=kind, directions=np.eye(3), weights=weights, seat=Seat(node)))
        return made


@dataclass(frozen=True, eq=False, kw_only=True)
class _Slow(_Steady):
    """The common part of `TurnSlowly` and `MoveSlowly`: a cost above a speed, which grows like ln(x / t)³."""

    speed: float
    """Speed of a body above which it costs something [rad/s, or m/s]."""
    rate: float
    """Solves per second, one for each frame."""
    weight: Weight = 1e-4

    def __post_init__(self) -> None:
        """Check that speed and rate are positive."""
        super().__post_init__()
        for name, value in (("speed", self.speed), ("rate", self.rate)):
            if not (math.isfinite(value) and value > 0.0):
                raise TaskError(f"{self.label}: {name} must be a positive number, not {value}.")

    def unit(self) -> str:
        """None: its error is a number."""
        return ""


@dataclass(frozen=True, eq=False, kw_only=True)
class TurnSlowly(_Slow):
    """Lets bodies turn only slowly: above `speed` the cost of turning grows like the cube of a logarithm.

    With x = 3 - tr R₀ᵀR for the rotation of a body since the solve started, and t the value of x that `speed` makes in
    one frame, it adds weight Σ ln(x / t)³ over all bodies with x > t. Unlike a limit it gives way smoothly, and spreads
    the motion over all bodies that are too fast: use it where a motion comes close to a singularity.
    """

    former_kinds: ClassVar[tuple[str, ...]] = ("slow",)
    menu: ClassVar = (MenuEntry("Turn slowly", lambda posture, site: TurnSlowly(speed=NEW_SPEED, rate=NEW_RATE)),)
    form: ClassVar = (BODIES, field("speed", "Speed limit [rad/s]", low=0.01, step=0.5))

    def __post_init__(self) -> None:
        """Check that the speed is at most half a turn per frame."""
        super().__post_init__()
        if self.speed / self.rate > math.pi:
            raise TaskError(f"{self.label}: {self.speed} rad/s is more than half a turn in each of {self.rate} frames.")

    def describe(self) -> str:
        """The name for reports."""
        return "turn slowly"

    @property
    def threshold(self) -> float:
        """The threshold t: the x of a rotation at `speed` for one frame."""
        return 4.0 * math.sin(0.5 * self.speed / self.rate) ** 2

    def goals(self, figure: Figure) -> list[Goal]:
        """One goal with one row for every body."""
        weight, value = self.weights_of(1), self.threshold
        rows = np.zeros((1, 3))
        return [
            Goal(kind=SLOW_GOAL, directions=rows, weights=weight, seat=Seat(node), value=value)
            for node in self.nodes(figure)
        ]


@dataclass(frozen=True, eq=False, kw_only=True)
class MoveSlowly(_Slow):
    """Lets bodies move only slowly: above `speed` the cost of moving grows like the cube of a logarithm.

    It is to positions what `TurnSlowly` is to rotations: with x = |c - c₀|² for the centre of mass c of a body, and t
    the square of the way at `speed` in one frame, it adds weight Σ ln(x / t)³ over all bodies with x > t. A body
    without mass counts by its origin.
    """

    menu: ClassVar = (
        MenuEntry("Move slowly", lambda posture, site: MoveSlowly(speed=NEW_LINEAR_SPEED, rate=NEW_RATE)),
    )
    form: ClassVar = (BODIES, field("speed", "Speed limit [m/s]", low=0.01, step=0.1))

    def describe(self) -> str:
        """The name for reports."""
        return "move slowly"

    @property
    def threshold(self) -> float:
        """The threshold t: the x of a motion at `speed` for one frame [m²]."""
        return (self.speed / self.rate) ** 2

    def goals(self, figure: Figure) -> list[Goal]:
        """One goal with one row for every body."""
        weight, value = self.weights_of(1), self.threshold
        rows, centers = np.zeros((1, 3)), figure.compiled.tree.center
        return [
            Goal(kind=DRIFT_GOAL, directions=rows, weights=weight, seat=Seat(node, Pose(centers[node])), value=value)
            for node in self.nodes(figure)
        ]
