"""The task that keeps a figure clear of obstacles and of itself."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from poise.errors import TaskError
from poise.figure.collision.pairs import Names
from poise.figure.collision.soles import ground_height
from poise.figure.model.pose import unit_vector
from poise.tasks.amounts import length
from poise.tasks.form import MARGIN, FormField, MenuEntry, Setting, field
from poise.tasks.obstacles import Obstacle, Plane
from poise.tasks.task import Comparison, Goal, Task

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure
    from poise.figure.model.posture import Posture

SELF = "self"
"""Stands for the figure's own bodies among the things to avoid."""
FLOOR = "floor"
"""Name of the plane on which a solid figure stands."""
UPRIGHT = 0.99
"""Component of a plane's normal along the vertical from which on the plane is a floor."""

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


def solid_task(figure: Figure, obstacles: Iterable[Obstacle | Plane] = ()) -> Avoid | None:
    """The task that makes a figure solid: its bodies touch each other, the floor and obstacles, but do not pass.

    A figure that nothing holds stands on a floor, the ground on which it stands in its posture "standing", unless one
    of the obstacles is a plane that faces up. The task is None if there is nothing that could meet.
    """
    given = list(obstacles)
    given += [floor for floor in floors_of(figure, given) if floor not in given]
    is_solid = _has_solids(figure)
    if not given and not is_solid:
        return None
    return Avoid([*given, *([SELF] if is_solid else [])], margin=0.0, name="solid bodies")


def floors_of(figure: Figure, obstacles: Iterable[Obstacle | Plane] = ()) -> list[Plane]:
    """The floors of a solid figure: planes that face up, else the ground of a figure that nothing holds."""
    up = figure.up_vector
    floors = [each for each in obstacles if isinstance(each, Plane) and float(unit_vector(each.normal) @ up) > UPRIGHT]
    is_held = not any(joint.kind == "free" and joint.parent is None for joint in figure.joints)
    if floors or is_held or not _has_solids(figure):
        return floors
    return [Plane(figure.up_vector, ground_height(figure), name=FLOOR)]


def _has_solids(figure: Figure) -> bool:
    return any(shape.role != "visual" for body in figure.bodies for shape in body.shapes)


@dataclass(frozen=True, eq=False)
class Avoid(Task):
    """Keeps bodies of the figure clear of obstacles, or, with "self", of each other.

    It is above every priority: no task moves a body nearer than `margin`, and bodies that are nearer at the start are
    separated first. Its priority, weight, gain and joints have no effect. Two bodies of the figure that overlap, or are
    nearer than `margin`, in its neutral posture need only keep the distance that they have there.
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
    """Folder of mesh files; None for that of the figure, and for the current folder for the meshes of obstacles."""

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
        given = [self.what] if isinstance(self.what, str | Obstacle | Plane | None) else list(self.what)
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
        """0: the task is above every priority."""
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
