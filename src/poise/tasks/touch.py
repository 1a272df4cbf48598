"""The task that brings two surfaces into contact."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from poise.errors import FigureError, TaskError
from poise.figure.collision.soles import ground_height
from poise.figure.collision.solids import HalfSpace, Solid
from poise.figure.collision.touching import Contact, Touching, part_near, solids_of
from poise.figure.model.names import listing, suggestion
from poise.figure.model.pose import FloatArray
from poise.tasks.avoid import FLOOR
from poise.tasks.custom import ComputedTask
from poise.tasks.form import SITE, FormField, MenuEntry, Setting, parts_of, vector_field
from poise.tasks.obstacles import Obstacle, Plane
from poise.tasks.task import Comparison, Goal, finite_vector, seat_of

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure
    from poise.figure.model.posture import Posture


def _surfaces(setting: Setting) -> list[str]:
    """Names of everything that a body can touch."""
    named = [obstacle.name or f"obstacle {k + 1}" for k, obstacle in enumerate(setting.obstacles)]
    return [FLOOR, *named, *parts_of(setting.posture.figure)]


@dataclass(frozen=True, eq=False)
class Touch(ComputedTask):
    """The surface of a body touches that of another body, of an obstacle, or of the floor.

    Surfaces are those of the colliding shapes. The contact may be anywhere on both, unless points say where: `offset`
    on the body, `at` on the other surface. An `Avoid` task keeps no margin between the two, but does not let one pass
    into the other.
    """

    kind: ClassVar = "touch"
    precision: ClassVar = 1e-5
    menu: ClassVar = (MenuEntry("Touch", lambda posture, site: Touch(site, FLOOR), needs_site=True),)
    form: ClassVar = (
        SITE,
        FormField(
            label="Surface",
            control="choice",
            get=lambda task: task.surface,
            put=lambda task, name, setting: replace(task, surface=name),
            options=_surfaces,
        ),
        vector_field("offset", "Contact on the body near [m]"),
        vector_field("at", "Contact on the surface near [m]"),
    )

    site: str
    """Name of a body, or of a site on it."""
    surface: str
    """Name of another body or site, of an obstacle, or "floor"; an obstacle with a name may be given itself."""
    at: ArrayLike | None = None
    """(3,) point of the other surface, in the axes of the other part, or in the world for obstacles [m]: the contact is
    at the point of the surface nearest to it."""
    offset: ArrayLike | None = None
    """(3,) point of the body in the site's own axes [m]: the contact is at the point of its surface nearest to it."""

    def __post_init__(self) -> None:
        """Check the names and the points."""
        if isinstance(self.surface, Obstacle | Plane):
            if not self.surface.name:
                raise TaskError(f"{self.describe()}: give {self.surface!r} a name, as in Obstacle(…, name='table').")
            object.__setattr__(self, "surface", self.surface.name)
        super().__post_init__()
        for name in ("at", "offset"):
            if getattr(self, name) is not None:
                finite_vector(getattr(self, name), f"{self.label}: {name}")

    @property
    def size(self) -> int:  # type: ignore[override]
        """One row for the distance; three if it is known where on the other surface the contact is."""
        return 1 if self.at is None else 3

    def describe(self) -> str:
        """The name for reports."""
        return f"{self.site} touches {getattr(self.surface, 'name', self.surface)}"

    def unit(self) -> str:
        """Unit of its error."""
        return "m"

    def goals(self, figure: Figure) -> list[Goal]:
        """One goal, computed outside the kernels; raises `FigureError` for a site that the figure does not have."""
        figure.frame_row(self.site)
        return super().goals(figure)

    def compare(self, posture: Posture) -> Comparison:
        """What it should touch; the error says how far it is away."""
        return Comparison(f"touches {self.surface}")

    def bound_to(self, figure: Figure, obstacles: Mapping[str, Obstacle | Plane]) -> BoundTouch:
        """The task with the geometry of its surfaces; raises `TaskError` for a surface that does not exist."""
        return BoundTouch(self, figure, obstacles)


class BoundTouch:
    """A `Touch` task for one figure and its obstacles."""

    kinks: ClassVar[float] = 0.2
    """By how much its error may exceed the prediction per size of a step: the nearest points of flat parts jump."""

    def __init__(self, task: Touch, figure: Figure, obstacles: Mapping[str, Obstacle | Plane]) -> None:
        """Find the two surfaces; raises `TaskError` if there is none."""
        self.task = task
        self.body = figure.body_of(task.site)
        """Name of the body that touches."""
        self.obstacle = None if task.surface in figure.compiled.frame_index else _obstacle(task, figure, obstacles)
        """The obstacle or plane that it touches, if it is one."""
        self.other = task.surface if self.obstacle is not None else figure.body_of(task.surface)
        """Name of the other body, or of the obstacle."""
        try:
            own: Sequence[Solid] = solids_of(figure, self.body)
            if task.offset is not None:
                own = [part_near(own, _in_node(figure, task.site, task.offset))]
            self._touching = Touching(figure, own, self._other_solids(figure, self.obstacle))
        except FigureError as problem:
            raise TaskError(f"{task.label}: {problem}") from problem

    def _other_solids(self, figure: Figure, obstacle: Obstacle | Plane | None) -> list[Solid | HalfSpace]:
        """The solids to touch: those of the other surface, or the part of it near a point."""
        task = self.task
        found: list[Solid | HalfSpace] = (
            [*solids_of(figure, self.other)] if obstacle is None else [obstacle.solid(self.other, None)]
        )
        if task.at is None:
            return found
        near = finite_vector(task.at, task.label) if obstacle is not None else _in_node(figure, task.surface, task.at)
        return [part_near(found, near)]

    def contact(self, posture: Posture) -> Contact:
        """The nearest points of the two surfaces."""
        return self._touching.at(posture)

    def error_at(self, posture: Posture) -> FloatArray:
        """(size,) the distance of the surfaces; with `at`, the vector from there to the body [m]."""
        contact = self.contact(posture)
        if self.task.at is None:
            return np.array([contact.distance])
        return np.asarray(contact.distance * contact.normal, dtype=np.float64)

    def jacobian_at(self, posture: Posture) -> FloatArray:
        """(size, nv) derivative of the error."""
        contact = self.contact(posture)
        return self._touching.rates(posture, contact, contact.normal[None] if self.task.at is None else np.eye(3))

    def move(self, obstacle: Obstacle | Plane, there: Obstacle | Plane) -> None:
        """Move an obstacle, if it is the one to touch; a point on it stays where it is in the world."""
        if obstacle is self.obstacle:
            found = self._other_solids(self._touching.figure, there)[0]
            self._touching.move(found)


def _obstacle(task: Touch, figure: Figure, obstacles: Mapping[str, Obstacle | Plane]) -> Obstacle | Plane:
    """The obstacle that a task names; the floor exists without being given."""
    found = obstacles.get(task.surface)
    if found is None and task.surface == FLOOR:
        found = Plane(figure.up_vector, ground_height(figure), name=FLOOR)
    if found is None:
        known = [FLOOR, *obstacles, *parts_of(figure)]
        raise TaskError(
            f"{task.label}: there is no body, site or obstacle called {task.surface!r}."
            f"{suggestion(task.surface, known)} It can touch {listing(known)}."
        )
    return found


def _in_node(figure: Figure, part: str, point: ArrayLike) -> FloatArray:
    """(3,) a point in the axes of a site or body, in the frame of its node [m]."""
    return np.asarray(seat_of(figure, part, point).pose.position, dtype=np.float64)
