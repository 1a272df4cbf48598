"""Tasks about distances: between two parts of the figure, and of a part from an ellipsoid."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from poise.arguments import shown
from poise.errors import TaskError
from poise.figure.model.pose import FloatArray, Pose, vector
from poise.kernels.goals.goals import DISTANCE_GOAL, SURFACE_GOAL
from poise.kernels.maths.ellipsoid import distance_to_ellipsoid
from poise.kernels.maths.vector import Vector
from poise.tasks.amounts import length
from poise.tasks.form import RELATIVE_TO, SITE, MenuEntry, field, parts_of, rotation_field, vector_field
from poise.tasks.place import rotation_of
from poise.tasks.target import Target, part_from_world, world_from_part
from poise.tasks.task import Comparison, Goal, Task, base_seat, finite_vector, seat_of

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure
    from poise.figure.model.posture import Posture

NEW_RADII = (0.3, 0.3, 0.3)
"""Radii of the ellipsoid of a new task [m]."""
ON_SURFACE = 1e-6
"""Distance below which a point counts as on the ellipsoid, in words [m]."""


def _new_distance(posture: Posture, site: str) -> Distance:
    """The present distance of a site from the part that is farthest away from it."""
    here = world_from_part(posture, site).position
    away = {part: world_from_part(posture, part).position - here for part in parts_of(posture.figure)}
    lengths = {part: float(np.linalg.norm(way)) for part, way in away.items()}
    farthest = max(lengths, key=lambda part: lengths[part])
    return Distance(site, farthest, lengths[farthest])


def _new_ellipsoid(posture: Posture, site: str) -> OnEllipsoid:
    """A ball on whose top a site is."""
    top = world_from_part(posture, site).position
    return OnEllipsoid(site, top - NEW_RADII[0] * posture.figure.up_vector, NEW_RADII)


@dataclass(frozen=True, eq=False)
class Distance(Task):
    """Keeps two parts of the figure at a distance from each other, in any direction."""

    target_fields: ClassVar = ("distance",)
    menu: ClassVar = (MenuEntry("Distance", _new_distance, needs_site=True),)
    form: ClassVar = (
        SITE,
        field("to", "To", "choice", options=lambda setting: parts_of(setting.posture.figure)),
        field("distance", "Distance [m]", low=0.001, step=0.01),
    )

    site: str
    """Name of a site or body."""
    to: str
    """Name of the other site or body."""
    distance: float
    """Wanted distance between their origins [m]."""

    def __post_init__(self) -> None:
        """Check the distance."""
        super().__post_init__()
        number = np.asarray(self.distance)
        if number.ndim > 0 or number.dtype.kind not in "iuf" or not 0.0 < number < math.inf:
            raise TaskError(
                f"{self.label}: distance must be a positive number, not {shown(self.distance)}; "
                "to bring two parts together, use Position(…, relative_to=…)."
            )

    def describe(self) -> str:
        """The name for reports."""
        return f"distance of {self.site} from {self.to}"

    def goals(self, figure: Figure) -> list[Goal]:
        """One goal with one row."""
        seat, base = seat_of(figure, self.site), seat_of(figure, self.to)
        if seat.node == base.node:
            raise TaskError(f"{self.label}: no joint is between the two, so their distance is always the same.")
        weights = self.weights_of(1)
        return [
            Goal(
                kind=DISTANCE_GOAL,
                directions=np.zeros((1, 3)),
                weights=weights,
                seat=seat,
                base=base,
                value=float(self.distance),
            )
        ]

    def way_in(self, posture: Posture) -> FloatArray:
        """(3,) the vector from the other part to the site, in the world [m]."""
        way: FloatArray = world_from_part(posture, self.site).position - world_from_part(posture, self.to).position
        return way

    def compare(self, posture: Posture) -> Comparison:
        """The two distances."""
        return Comparison(length(self.distance), length(float(np.linalg.norm(self.way_in(posture)))))

    def target_in(self, posture: Posture) -> Target | None:
        """The point at the wanted distance in the present direction; none while the parts are at the same place."""
        way, got = self.way_in(posture), world_from_part(posture, self.site).position
        size = float(np.linalg.norm(way))
        return Target(got + (self.distance / size - 1.0) * way, got) if size > 0.0 else None

    def dragged(self, posture: Posture, pose: Pose) -> Task:
        """The task with the distance of a pose from the other part."""
        return self.with_target(float(np.linalg.norm(pose.position - world_from_part(posture, self.to).position)))


@dataclass(frozen=True, eq=False)
class OnEllipsoid(Task):
    """Keeps a site on the surface of an ellipsoid, at any point of it, as a shoulder blade slides on the ribs.

    `relative_to` names a site or body that carries the ellipsoid, in whose frame `center` and `rotation` are given. The
    error is the distance from the surface, inside or outside [Baerlocher 2001, 7.3.1].
    """

    target_fields: ClassVar = ("center",)
    menu: ClassVar = (MenuEntry("On an ellipsoid", _new_ellipsoid, needs_site=True),)
    form: ClassVar = (
        SITE,
        vector_field("center", "Centre [m]"),
        vector_field("radii", "Radii [m]", low=0.001, step=0.01),
        rotation_field(
            lambda task: rotation_of(task.rotation, task.label), lambda task, value: replace(task, rotation=value)
        ),
        RELATIVE_TO,
    )

    site: str
    """Name of a site or body."""
    center: ArrayLike
    """(3,) centre of the ellipsoid [m]."""
    radii: ArrayLike
    """(3,) half axes of the ellipsoid along its own x, y and z [m]."""
    rotation: ArrayLike = (1.0, 0.0, 0.0, 0.0)
    """(4,) rotation of the ellipsoid, a quaternion (w, x, y, z)."""
    relative_to: str | None = None
    """Name of the site or body that carries the ellipsoid; the world if None."""

    def __post_init__(self) -> None:
        """Check the ellipsoid."""
        super().__post_init__()
        finite_vector(self.center, f"{self.label}: center")
        rotation_of(self.rotation, self.label)
        if finite_vector(self.radii, f"{self.label}: radii").min() <= 0.0:
            raise TaskError(f"{self.label}: radii must be positive, not {self.radii!r}.")

    def describe(self) -> str:
        """The name for reports."""
        return f"{self.site} on an ellipsoid"

    @property
    def pose(self) -> Pose:
        """Pose of the ellipsoid in the frame in which it is given."""
        return Pose(vector(self.center), rotation_of(self.rotation, self.label))

    def goals(self, figure: Figure) -> list[Goal]:
        """One goal with one row."""
        seat, base, pose = seat_of(figure, self.site), base_seat(figure, self.relative_to), self.pose
        if seat.node == base.node:
            raise TaskError(f"{self.label}: no joint is between the site and the ellipsoid.")
        return [
            Goal(
                kind=SURFACE_GOAL,
                directions=vector(self.radii)[None],
                weights=self.weights_of(1),
                seat=seat,
                base=base,
                position=pose.position,
                rotation=pose.rotation,
            )
        ]

    def distance_in(self, posture: Posture) -> float:
        """Distance of the site from the surface, negative inside [m]."""
        world_from_ellipsoid = world_from_part(posture, self.relative_to) @ self.pose
        here = world_from_ellipsoid.inverse().apply(world_from_part(posture, self.site).position)
        return float(distance_to_ellipsoid(Vector(*here.tolist()), Vector(*vector(self.radii).tolist())).distance)

    def compare(self, posture: Posture) -> Comparison:
        """How far inside or outside the site is."""
        distance = self.distance_in(posture)
        side = "outside" if distance > 0.0 else "inside"
        got = "on the surface" if abs(distance) < ON_SURFACE else f"{length(abs(distance))} {side}"
        return Comparison("on the surface", got)

    def target_in(self, posture: Posture) -> Target:
        """The centre, by which the ellipsoid is moved and turned; the site is not meant to be there."""
        ellipsoid = world_from_part(posture, self.relative_to) @ self.pose
        got = world_from_part(posture, self.site).position
        return Target(ellipsoid.position, got, ellipsoid.rotation, turns=True, is_seen=True)

    def dragged(self, posture: Posture, pose: Pose) -> Task:
        """The task with its ellipsoid at another pose in the world."""
        there = part_from_world(posture, self.relative_to) @ pose
        return replace(self, center=there.position, rotation=there.rotation)
