"""The task that keeps a figure in static equilibrium under forces."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import numpy as np

from poise.errors import TaskError
from poise.figure.model.pose import FloatArray
from poise.forces.acting import Acting, acting_on, floats, footholds_of
from poise.forces.equilibrium import level_axes
from poise.forces.loads import Load
from poise.kernels.forces.statics import Wrenches
from poise.kernels.goals.goals import BALANCE_GOAL, CUSTOM_GOAL, STAND_GOAL
from poise.tasks.form import MARGIN, FormField, MenuEntry
from poise.tasks.task import Goal, Seat, Task

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure

Loads: TypeAlias = "Iterable[Load] | None"

MAX_OUTLINE_CORNERS = 32
"""Largest number of corners of the outline inside which supports without shares can balance the figure."""
MOMENT_AXES = {"Automatic": None, "Horizontal axes": True, "All three axes": False}
"""Values of `Equilibrium.level`, by option."""


@dataclass(frozen=True, eq=False)
class Equilibrium(Task):
    """Brings the figure into static equilibrium under its weight and all forces [Baerlocher 2001, 6.3].

    If some support has a share, every support carries its share, and the remaining moment must vanish. If none has, the
    ground may push anywhere inside the friction cones of the contacts, and the centre of mass stays in the region where
    such forces can balance it. A figure that is attached to the world and has no supports is carried by its root.

    The error is a length: the moment divided by the weight, the distance by which the centre of mass is off balance.
    Where no forces of the ground can balance the figure, whatever its centre of mass, the error is the least wrench
    that is missing, divided by the weight: the figure leans into its pushes as far as that helps.
    """

    without_target: ClassVar = "has no target to change; make another solver for other forces"
    menu: ClassVar = (MenuEntry("Equilibrium of forces", lambda posture, site: Equilibrium()),)
    form: ClassVar = (
        MARGIN,
        FormField(
            label="Balance moments about",
            control="choice",
            get=lambda task: next(option for option, level in MOMENT_AXES.items() if level is task.level),
            put=lambda task, option, setting: replace(task, level=MOMENT_AXES[option]),
            options=lambda setting: list(MOMENT_AXES),
        ),
    )

    forces: Loads = None
    """Forces, supports and gravity that act on the figure; those given to `solve` unless given here."""
    level: bool | None = None
    """Whether only the two moments across gravity must vanish. The third can arise only where forces are not parallel
    to gravity, and must vanish by default then; feet that do not slip balance it by themselves."""
    margin: float = 0.0
    """Distance to keep from the edge of the region that supports without shares can balance, inside [m]."""

    def __post_init__(self) -> None:
        """Freeze the forces and check the margin."""
        super().__post_init__()
        if self.forces is not None:
            object.__setattr__(self, "forces", tuple(self.forces))
        if not math.isfinite(self.margin) or self.margin < 0.0:
            raise TaskError(f"{self.label}: margin must be a length of 0 m or more, not {self.margin}.")

    def describe(self) -> str:
        """The name for reports."""
        return "equilibrium"

    def acting(self, figure: Figure, forces: Iterable[Load] = ()) -> Acting:
        """The forces, supports and gravity on the figure: the task's own ones, or else `forces`."""
        return acting_on(figure, forces if self.forces is None else self.forces)

    def goals(self, figure: Figure, forces: Iterable[Load] = ()) -> list[Goal]:
        """Two or three rows of moments; or two for a centre of mass inside a region, and six for what is missing."""
        acting = self.acting(figure, forces)
        if not acting.supports and floats(figure):
            raise TaskError(
                f"{self.label}: figure {figure.name!r} floats and can only rest on supports; "
                "add a Support for each foot to the forces."
            )
        if finds_reactions(acting):
            return [self._open_goal(acting), *self._missing_goals(acting)]
        return [self._shared_goal(acting)]

    def _shared_goal(self, acting: Acting) -> Goal:
        """The goal for supports with shares: moments that must vanish."""
        gravity = np.array(acting.gravity)
        level = _is_parallel(acting) if self.level is None else self.level
        axes = level_axes(gravity, acting.figure.up_vector) if level else np.eye(3)
        return Goal(
            kind=BALANCE_GOAL,
            directions=axes,
            weights=self.weights_of(len(axes)),
            position=acting.figure.center_of_mass(acting.figure.neutral()),
            value=1.0 / _load_size(acting),
            loads=acting.wrenches,
            gravity=gravity,
        )

    def _open_goal(self, acting: Acting) -> Goal:
        """The goal for supports without shares: a region whose corners are computed for every posture."""
        gravity = np.array(acting.gravity)
        if not acting.weight.any():
            raise TaskError(
                f"{self.label}: figure {acting.figure.name!r} has no weight to balance; give its supports shares."
            )
        return Goal(
            kind=STAND_GOAL,
            directions=np.zeros((2, 3)),
            weights=self.weights_of(1).repeat(2),
            position=acting.figure.center_of_mass(acting.figure.neutral()),
            corners=[Seat()] * MAX_OUTLINE_CORNERS,
            margin=self.margin,
            up=-gravity / np.linalg.norm(gravity),
            loads=acting.applied(),
            gravity=gravity,
        )

    def _missing_goals(self, acting: Acting) -> list[Goal]:
        """Goals for the moment and the force that are missing where supports without shares cannot balance the figure.

        Their directions, forces and errors are computed for every posture.
        """
        given, holds = acting.applied(), footholds_of(acting)
        count, weights = len(holds.node), self.weights_of(1).repeat(3)
        loads = Wrenches(
            np.concatenate([given.node, holds.node]),
            np.concatenate([given.point, holds.point]),
            np.concatenate([given.force, np.zeros((count, 3))]),
            np.concatenate([given.torque, np.zeros((count, 3))]),
            np.concatenate([given.local, np.zeros(count, dtype=np.int64)]),
            np.zeros((len(given.node) + count, 2)),
        )
        moment = Goal(
            kind=BALANCE_GOAL,
            directions=np.zeros((3, 3)),
            weights=weights,
            value=1.0 / float(np.linalg.norm(acting.weight)),
            loads=loads,
            gravity=np.array(acting.gravity),
        )
        return [moment, Goal(kind=CUSTOM_GOAL, directions=np.zeros((3, 3)), weights=weights)]


def finds_reactions(acting: Acting) -> bool:
    """Whether the forces of the ground are unknown: there are supports, and none of them has a share."""
    return bool(acting.supports) and all(s.share is None and s.brace is None for s in acting.supports)


def _is_parallel(acting: Acting) -> bool:
    """Whether no moment along gravity can arise: all forces are parallel to it and all torques across it."""
    gravity = np.array(acting.gravity)
    return bool(gravity.any()) and all(
        force.axes == "world"
        and not np.cross(force.force, gravity).any()
        and float(np.dot(force.torque, gravity)) == 0.0
        for force in acting.forces
    )


def _load_size(acting: Acting) -> float:
    """The weight, or where there is none the size of the forces [N]."""
    weight = float(np.linalg.norm(acting.weight))
    if weight > 0.0:
        return weight
    sizes: FloatArray = np.array([np.linalg.norm(force.force) for force in acting.forces])
    return float(sizes.sum()) or 1.0
