"""Rigid bodies, and the sites marked on them."""

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
    shapes: tuple[Shape, ...] = ()

    def __post_init__(self) -> None:
        """A body needs a name."""
        if not self.name:
            raise FigureError("a body needs a name.")


@dataclass(frozen=True)
class Site:
    """A named frame on a body: a hand's grip, the point between the eyes."""

    name: str
    body: str
    pose: Pose = field(default_factory=Pose)

    def __post_init__(self) -> None:
        """A site needs a name."""
        if not self.name:
            raise FigureError("a site needs a name.")
