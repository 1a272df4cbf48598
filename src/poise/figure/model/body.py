"""Rigid bodies, and sites: named frames on bodies."""

from __future__ import annotations

from dataclasses import dataclass, field

from poise.errors import FigureError
from poise.figure.model.mass import Mass
from poise.figure.model.pose import Pose
from poise.figure.model.shapes import Shape


@dataclass(frozen=True)
class Body:
    """A rigid part of a figure."""

    name: str
    mass: Mass = field(default_factory=Mass)
    """Mass, centre of mass and inertia."""
    shapes: tuple[Shape, ...] = ()
    """Solids that are drawn, that collide, or both."""

    def __post_init__(self) -> None:
        """Refuse a body without a name."""
        if not self.name:
            raise FigureError("a body needs a name.")


@dataclass(frozen=True)
class Site:
    """A named frame on a body, such as a hand's grip or the point between the eyes."""

    name: str
    body: str
    """Name of the body."""
    pose: Pose = field(default_factory=Pose)
    """The frame in the body's frame."""

    def __post_init__(self) -> None:
        """Refuse a site without a name."""
        if not self.name:
            raise FigureError("a site needs a name.")
