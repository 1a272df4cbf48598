"""The task that keeps a figure clear of obstacles and of itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from poise.errors import TaskError
from poise.figure.collision.pairs import Names
from poise.tasks.form import MARGIN, FormField, MenuEntry, Setting, field
from poise.tasks.obstacles import Obstacle, Plane
from poise.tasks.task import Comparison, Goal, Task
from poise.tasks.words import length

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure
    from poise.figure.model.posture import Posture

SELF = "self"
"""Stands for the figure's own bodies among the things to avoid."""

Hazard: TypeAlias = str | Obstacle | Plane
Hazards: TypeAlias = Hazard | Sequence[Hazard]


def _hazards_by_name(setting: Setting) -> dict[str, Hazard]:
    """Everything that a figure can avoid: itself and the obstacles."""
    named = {obstacle.name or f"obstacle {k + 1}": obstacle for k, obstacle in enumerate(setting.obstacles)}
    return {"itself": SELF, **named}


def _with_hazards(task: Avoid, names: Sequence[str], setting: Setting) -> Task:
    if not names:
        raise TaskError(f"{task.label}: choose what to keep clear of, or remove the task.")
    by_name = _hazards_by_name(setting)
    return replace(task, what=[by_name[name] for name in names])


@dataclass(frozen=True, eq=False)
class Avoid(Task):
    """Bodies of the figure keep clear of obstacles, or, with "self", of each other.

    It is above every priority: no task moves a body nearer than `margin`, and bodies that are nearer at the start are
    separated first. Its priority, weight, gain and joints have no effect. Bodies of the figure that are nearer than
    `margin`, or inside each other, in its neutral posture may stay as near as they are there.
    """

    chooses_joints: ClassVar[bool] = False
    menu: ClassVar = (MenuEntry("Avoid self-collision", lambda posture, site: Avoid()),)
    form: ClassVar = (
        FormField(
            label="Keep clear of",
            control="choices",
            get=lambda task: task.hazard_names,
            put=_with_hazards,
            options=lambda setting: list(_hazards_by_name(setting)),
        ),
        MARGIN,
        field("reach", "Detection distance [m]", low=0.02, step=0.02),
    )

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

    @property
    def hazard_names(self) -> list[str]:
        """The names of the things to avoid; "" for an obstacle without a name."""
        return ["itself" if hazard == SELF else getattr(hazard, "name", "") for hazard in self.hazards]

    @property
    def rank(self) -> int:
        """0: it is above every priority."""
        return 0

    def describe(self) -> str:
        """The name for reports: "avoid" and the names of the obstacles."""
        return f"avoid {', '.join(name or 'an obstacle' for name in self.hazard_names)}"

    def compare(self, posture: Posture) -> Comparison:
        """The margin; the error says by how much it is violated."""
        return Comparison(f"{length(self.margin)} clear")

    def goals(self, figure: Figure) -> list[Goal]:
        """An empty list: the task becomes limits of a step instead of goals."""
        return []
