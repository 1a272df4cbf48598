"""The task that points an axis of a part at a point, or along a direction.

Without an axis the part looks with its face: the axis that the figure states for it (`poise.figure.model.facing`), or
+Y, the pointing axis of chains, if it states none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from poise.errors import TaskError
from poise.figure.model.facing import POINTING, warn_of_crown
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
ITS_FACE, AN_AXIS = "its face", "an axis"
"""Options of what a part looks with."""
NEW_TARGET_DISTANCE = 1.0
"""Distance from the eye to the target of a new task [m]."""
DIRECTION_MARK_DISTANCE = 0.5
"""Distance from the eye at which the target of a direction is drawn [m]."""


def _ahead(posture: Posture, site: str) -> LookAt:
    """The task that looks where a part looks in a posture."""
    axis = posture.figure.facing_axis(site)
    sight = NEW_TARGET_DISTANCE * (vector(POINTING) if axis is None else axis)
    return LookAt(site, world_from_part(posture, site).apply(sight))


@dataclass(frozen=True, eq=False)
class LookAt(Task):
    """Turns a site to look at a point, or along a direction: with its face, or with an axis that is given."""

    target_fields: ClassVar = ("at", "direction")
    takes_arrays: ClassVar = True
    menu: ClassVar = (MenuEntry("Look at", _ahead, True),)
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
        FormField(
            label="Look with",
            control="choice",
            get=lambda task: ITS_FACE if task.axis is None else AN_AXIS,
            put=lambda task, word, setting: task.looking_with(word, setting.posture),
            options=lambda setting: [ITS_FACE, AN_AXIS],
        ),
        AXIS,
        replace(RELATIVE_TO, applies=lambda task: task.at is not None),
    )

    site: str
    """Name of a site or body."""
    at: ArrayLike | None = None
    """(3,) the point to look at [m]."""
    direction: ArrayLike | None = None
    """(3,) the direction to look in, in the world, instead of a point."""
    axis: ArrayLike | None = None
    """The axis to look with, in the site's own axes: three numbers, or a word such as "y" or "-z". If None, the one
    that the figure states for the site or its body (`Figure.facing_axis`), which for a head is its face; else +Y."""
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
        self._given_axis()

    def _wanted(self) -> FloatArray:
        """(3,) the point, or the unit vector of the direction."""
        if self.at is not None:
            return finite_vector(self.at, f"{self.label}: at")
        return direction_of(self.direction if self.direction is not None else (), self.label)

    def _given_axis(self) -> FloatArray | None:
        """(3,) unit vector of the axis that is given, in the site's own axes; None if none is."""
        if self.axis is None:
            return None
        axis: FloatArray = axes_of(finite_vector(self.axis, f"{self.label}: axis"), self.label)[0]
        return axis

    def axis_on(self, figure: Figure) -> FloatArray:
        """(3,) unit vector of the axis to look with, in the site's own axes."""
        given = self._given_axis()
        axis = figure.facing_axis(self.site) if given is None else given
        return vector(POINTING) if axis is None else axis

    def describe(self) -> str:
        """The name for reports."""
        return f"gaze of {self.site}"

    def unit(self) -> str:
        """Unit of its error, an angle."""
        return "rad"

    def goals(self, figure: Figure) -> list[Goal]:
        """One goal with two rows, across the line of sight; warns if a head would look with its crown."""
        if self.axis is None:
            warn_of_crown(figure, self.site, self.label, 'axis=, such as axis="z"')
        return [
            Goal(
                kind=AIM_GOAL,
                directions=np.repeat(self.axis_on(figure)[None], 2, axis=0),
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

    def looking_with(self, word: str, posture: Posture) -> Task:
        """The task that looks with what the option `word` says: with the face, or with an axis, the same at first."""
        return replace(self, axis=None if word == ITS_FACE else self.axis_on(posture.figure))

    def compare(self, posture: Posture) -> Comparison:
        """Directions, or the point and that on the line of sight at the same distance."""
        eye = world_from_part(posture, self.site)
        sight = eye.matrix @ self.axis_on(posture.figure)
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
