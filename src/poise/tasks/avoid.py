"""The task that keeps a figure clear of obstacles and of itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from poise.errors import TaskError
from poise.figure.collision.pairs import Names
from poise.tasks.obstacles import Obstacle, Plane
from poise.tasks.task import Goal, Task

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure

SELF = "self"
"""Stands for the figure's own bodies among the things to avoid."""

Hazard: TypeAlias = str | Obstacle | Plane
Hazards: TypeAlias = Hazard | Sequence[Hazard]


@dataclass(frozen=True, eq=False)
class Avoid(Task):
    """Bodies of the figure keep clear of obstacles, or, with "self", of each other.

    It is above every priority: no task moves a body nearer than `margin`, and bodies that are nearer at the start are
    separated first. Its priority, weight, gain and joints have no effect. Bodies of the figure that are nearer than
    `margin`, or inside each other, in its neutral posture may stay as near as they are there.
    """

    what: Hazards = SELF
    """The things to avoid: an obstacle, a plane, "self", or a list of those."""
    margin: float = 0.01
    """Distance to keep [m]."""
    reach: float = 0.1
    """Distance below which bodies limit a step [m]; no two bodies approach by more than this in one step."""
    exclude: Names = ()
    """Pairs of names of bodies or obstacles that may touch."""
    include: Names = ()
    """Pairs of names to keep apart although a joint connects them or they always touch."""
    folder: str | None = None
    """Folder of mesh files; usually the folder of the figure's file."""

    def __post_init__(self) -> None:
        """Check the margin and the reach."""
        super().__post_init__()
        if not (math.isfinite(self.margin) and self.margin >= 0.0):
            raise TaskError(f"{self.label}: margin must be a length of 0 m or more, not {self.margin}.")
        if not (math.isfinite(self.reach) and self.reach > self.margin):
            raise TaskError(
                f"{self.label}: reach must be greater than the margin of {self.margin} m, not {self.reach}."
            )

    @property
    def hazards(self) -> list[Hazard]:
        """The things to avoid, as a list; raises `TaskError` for anything else."""
        given = [self.what] if isinstance(self.what, str | Obstacle | Plane) else list(self.what)
        for hazard in given:
            if hazard != SELF and not isinstance(hazard, Obstacle | Plane):
                raise TaskError(f'a figure can avoid an obstacle, a plane or "self", not {hazard!r}.')
        return given

    @property
    def itself(self) -> bool:
        """Whether the figure keeps clear of itself."""
        return SELF in self.hazards

    @property
    def obstacles(self) -> list[Obstacle | Plane]:
        """The obstacles and planes to avoid."""
        return [hazard for hazard in self.hazards if not isinstance(hazard, str)]

    def describe(self) -> str:
        """The name for reports: "avoid" and the names of the obstacles."""
        named = ["itself" if hazard == SELF else getattr(hazard, "name", "") for hazard in self.hazards]
        return f"avoid {', '.join(name or 'an obstacle' for name in named)}"

    def goals(self, figure: Figure) -> list[Goal]:
        """An empty list: the task becomes limits of a step instead of goals."""
        return []
