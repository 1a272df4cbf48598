"""The task that points an axis of a part at a point, or along a direction."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from poise.errors import TaskError
from poise.figure.model.pose import FloatArray, Pose, vector
from poise.kernels.goals.goals import AIM_GOAL
from poise.tasks.form import AXIS, RELATIVE_TO, SITE, TARGET, FormField, MenuEntry, vector_field
from poise.tasks.target import Target, part_from_world, world_from_part
from poise.tasks.task import Comparison, Goal, Task, axes_of, base_seat, finite_vector, seat_of
from poise.tasks.words import place_words

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure
    from poise.figure.model.posture import Posture

AT_A_POINT, IN_A_DIRECTION = "at a point", "in a direction"
"""Options of how a gaze is given."""
NEW_TARGET = (0.0, 1.0, 0.0)
"""Target of a new task, in its site's axes [m]."""
DIRECTION_MARK_DISTANCE = 0.5
"""Distance from the eye at which the target of a direction is drawn [m]."""


@dataclass(frozen=True, eq=False)
class LookAt(Task):
    """An axis of a site points at a point, or along a direction."""

    target_fields: ClassVar = ("at", "direction")
    takes_arrays: ClassVar = True
    menu: ClassVar = (
        MenuEntry(
            "Look at", lambda posture, site: LookAt(site, world_from_part(posture, site).apply(NEW_TARGET)), True
        ),
    )
    form: ClassVar = (
        SITE,
        FormField(
            label="Look",
            control="choice",
            get=lambda task: AT_A_POINT if task.at is not None else IN_A_DIRECTION,
            put=lambda task, word, setting: task.looking(word, setting.posture),
            options=lambda setting: [AT_A_POINT, IN_A_DIRECTION],
        ),
        TARGET,
        vector_field("direction", "Direction", step=0.1),
        AXIS,
        replace(RELATIVE_TO, applies=lambda task: task.at is not None),
    )

    site: str
    """Name of a site or body."""
    at: ArrayLike | None = None
    """(3,) the point to look at [m]."""
    direction: ArrayLike | None = None
    """(3,) the direction to look in, in the world, instead of a point."""
    axis: ArrayLike = (0.0, 1.0, 0.0)
    """The axis to point with, in the site's own axes: three numbers, or a word such as "y" or "-z"."""
    relative_to: str | None = None
    """Name of the site or body in whose frame the point is given; the world if None."""

    def __post_init__(self) -> None:
        """Check that exactly one of point and direction is given, and the numbers."""
        super().__post_init__()
        if (self.at is None) == (self.direction is None):
            raise TaskError(f"{self.label}: give either a point (at=) or a direction (direction=) to look at.")
        if self.direction is not None and self.relative_to is not None:
            raise TaskError(
                f"{self.label}: a direction is always in world axes; only a point (at=) can be relative_to a part."
            )
        self._wanted()
        self.unit_axis()

    def _wanted(self) -> FloatArray:
        """(3,) the point, or the unit vector of the direction."""
        if self.at is not None:
            return finite_vector(self.at, f"{self.label}: at")
        return direction_of(self.direction if self.direction is not None else (), self.label)

    def unit_axis(self) -> FloatArray:
        """(3,) unit vector of the axis to point with, in the site's own axes."""
        axis: FloatArray = axes_of(finite_vector(self.axis, f"{self.label}: axis"), self.label)[0]
        return axis

    def describe(self) -> str:
        """The name for reports."""
        return f"gaze of {self.site}"

    def unit(self) -> str:
        """Unit of its error, an angle."""
        return "rad"

    def goals(self, figure: Figure) -> list[Goal]:
        """One goal with two rows, across the line of sight."""
        return [
            Goal(
                kind=AIM_GOAL,
                directions=np.repeat(self.unit_axis()[None], 2, axis=0),
                weights=self.weights_of(1).repeat(2),
                seat=seat_of(figure, self.site),
                base=base_seat(figure, self.relative_to),
                position=self._wanted(),
                value=0.0 if self.at is not None else 1.0,
            )
        ]

    def looking(self, word: str, posture: Posture) -> Task:
        """The task with the same gaze, given as the option `word` says: by a point or by a direction."""
        eye = world_from_part(posture, self.site).position
        if word == IN_A_DIRECTION and self.at is not None:
            direction = world_from_part(posture, self.relative_to).apply(vector(self.at)) - eye
            return replace(self, at=None, direction=direction, relative_to=None)
        if word == AT_A_POINT and self.at is None:
            return replace(self, at=eye + DIRECTION_MARK_DISTANCE * self._wanted(), direction=None)
        return self

    def compare(self, posture: Posture) -> Comparison:
        """Directions, or the point and that on the line of sight at the same distance."""
        eye = world_from_part(posture, self.site)
        sight = eye.matrix @ self.unit_axis()
        if self.at is None:
            return Comparison(f"along {place_words(self._wanted())}", f"along {place_words(sight)}")
        base_from_world = part_from_world(posture, self.relative_to)
        target = base_from_world.inverse().apply(vector(self.at))
        sighted = eye.position + float(np.linalg.norm(target - eye.position)) * sight
        return Comparison(place_words(vector(self.at)), place_words(base_from_world.apply(sighted)))

    def target_in(self, posture: Posture) -> Target:
        """The point to look at; that of a direction is near the eye."""
        eye = world_from_part(posture, self.site).position
        if self.at is None:
            return Target(eye + DIRECTION_MARK_DISTANCE * self._wanted(), eye, is_seen=True)
        return Target(world_from_part(posture, self.relative_to).apply(vector(self.at)), eye, is_seen=True)

    def dragged(self, posture: Posture, pose: Pose) -> Task:
        """The task that looks at another position in the world, or in its direction."""
        if self.at is not None:
            return super().dragged(posture, pose)
        return self.with_target(pose.position - world_from_part(posture, self.site).position)


def direction_of(value: ArrayLike, label: str) -> FloatArray:
    """A unit vector from three finite numbers, or from a word for an axis."""
    direction = finite_vector(value, f"{label}: direction")
    size = float(np.linalg.norm(direction))
    if size < 1e-9:
        raise TaskError(f"{label}: the direction to look in must not be the zero vector.")
    unit: FloatArray = direction / size
    return unit
