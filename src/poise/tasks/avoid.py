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

Hazard: TypeAlias = str | Obstacle | Plane
Hazards: TypeAlias = Hazard | Sequence[Hazard]


@dataclass(frozen=True, eq=False)
class Avoid(Task):
    """Bodies of the figure keep clear of obstacles, or, with "self", of each other.

    It stands above every priority: no task moves a body nearer than `margin`, and what is nearer at the start is parted
    first. Its priority, weight, gain and joints have no meaning. Bodies of the figure that are nearer than `margin`, or
    inside each other, in its neutral posture may stay as near as they are there.
    """

    what: Hazards = SELF
    """What to avoid: an obstacle, "self", or a list of those."""
    margin: float = 0.01
    """Distance to keep [m]."""
    reach: float = 0.1
    """Distance at which bodies are noticed [m]; no body moves farther than this in one step."""
    exclude: Names = ()
    """Pairs of names of bodies or obstacles that may touch."""
    include: Names = ()
    """Pairs of names to keep apart although a joint joins them or they always touch."""
    folder: str | None = None
    """Where mesh files are looked for; usually the folder of the file the figure came from."""

    def __post_init__(self) -> None:
        """Check what a type checker would."""
        super().__post_init__()
        if not (math.isfinite(self.margin) and self.margin >= 0.0):
            raise TaskError(f"{self.label}: margin must be a number of metres from 0 on, not {self.margin}.")
        if not (math.isfinite(self.reach) and self.reach > self.margin):
            raise TaskError(
                f"{self.label}: reach must be farther than the margin of {self.margin} m, not {self.reach}."
            )

    @property
    def hazards(self) -> list[Hazard]:
        """What to avoid, as a list; raises `TaskError` for what cannot be avoided."""
        given = [self.what] if isinstance(self.what, str | Obstacle | Plane) else list(self.what)
        for hazard in given:
            if hazard != SELF and not isinstance(hazard, Obstacle | Plane):
                raise TaskError(f'what can be avoided is an obstacle, a plane or "self", not {hazard!r}.')
        return given

    @property
    def itself(self) -> bool:
        """Whether the figure keeps clear of itself."""
        return SELF in self.hazards

    @property
    def obstacles(self) -> list[Obstacle | Plane]:
        """The obstacles it is about."""
        return [hazard for hazard in self.hazards if not isinstance(hazard, str)]

    def describe(self) -> str:
        """What is avoided."""
        named = ["itself" if hazard == SELF else getattr(hazard, "name", "") for hazard in self.hazards]
        return f"avoid {', '.join(name or 'an obstacle' for name in named)}"

    def goals(self, figure: Figure) -> list[Goal]:
        """None: it limits what other tasks may do."""
        return []
