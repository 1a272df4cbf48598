"""Rigid bodies, and sites: named frames on bodies."""

from __future__ import annotations

from dataclasses import dataclass, field

from numpy.typing import ArrayLike

from poise.errors import FigureError
from poise.figure.model.mass import Mass
from poise.figure.model.pose import Pose, unit_vector
from poise.figure.model.shapes import Shape


@dataclass(frozen=True)
class Body:
    """A rigid part of a figure."""

    name: str
    mass: Mass = field(default_factory=Mass)
    """Mass, centre of mass and inertia."""
    shapes: tuple[Shape, ...] = ()
    """Solids that are drawn, that collide, or both."""
    facing: tuple[float, float, float] | None = None
    """Axis with which it looks, in its own axes, as a unit vector or a word such as "z"; None if it is not known."""

    def __post_init__(self) -> None:
        """Refuse a body without a name; make the axis a unit vector."""
        if not self.name:
            raise FigureError("a body needs a name.")
        object.__setattr__(self, "facing", _unit(self.facing, f"'facing' of body {self.name!r}"))


@dataclass(frozen=True)
class Site:
    """A named frame on a body, such as a hand's grip or the point between the eyes."""

    name: str
    body: str
    """Name of the body."""
    pose: Pose = field(default_factory=Pose)
    """The frame in the body's frame."""
    facing: tuple[float, float, float] | None = None
    """Direction in which it faces, in its own axes, as a unit vector or a word such as "y"; None for its body's."""

    def __post_init__(self) -> None:
        """Refuse a site without a name; make the axis a unit vector."""
        if not self.name:
            raise FigureError("a site needs a name.")
        object.__setattr__(self, "facing", _unit(self.facing, f"'facing' of site {self.name!r}"))


def _unit(axis: ArrayLike | str | None, what: str) -> tuple[float, ...] | None:
    """A unit vector from three numbers or a word; None for None."""
    return None if axis is None else tuple(unit_vector(axis, what).tolist())
