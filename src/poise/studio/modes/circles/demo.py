"""What a demo of the circles is: one figure, its side view, and what is dragged there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.figures import built_in
from poise.studio.session.outcome import Light
from poise.tasks.obstacles import Obstacle

Spot = tuple[float, float]
"""A place in the side view: forward and up [m]."""
SIDE = [2, 1]
"""Axes of the side view: z is forward, y is up."""
EXACT = 1e-9
"""End-points nearer than this are where they should be [m]."""


class Placed(NamedTuple):
    """What a step of a demo found."""

    posture: Posture
    said: tuple[Light, str]
    placements: int
    error: float
    """Farthest that an end-point is from where it should be [m]."""
    more: bool
    """Whether the figure still moves."""


class Demo(ABC):
    """One figure, and what is dragged in its side view."""

    name: str
    start: str | None
    first: Spot
    description: str
    box: tuple[float, float, float, float]
    """What the side view shows: least forward and up, greatest forward and up [m]."""
    has_ball = False

    @property
    def figure(self) -> Figure:
        """Who moves."""
        return built_in(self.name)

    def obstacles(self, at: Spot) -> list[Obstacle]:
        """What else is in the scene."""
        del at
        return []

    @abstractmethod
    def kept(self, at: Spot, posture: Posture) -> Spot:
        """The place nearest to the pointer at which what is dragged may be."""

    @abstractmethod
    def placed(self, posture: Posture, at: Spot, *, turn: float, advance: float) -> Placed:
        """The next posture; `advance` is how far a crank turns by itself [rad]."""

    @abstractmethod
    def drawn(self, posture: Posture, at: Spot) -> dict[str, Any]:
        """What the side view draws."""

    def _drawn(self, chains: list[FloatArray], at: Spot, **more: Any) -> dict[str, Any]:
        """Links, and the circles whose meeting points are their joints."""
        found = [circle for chain in chains for circle in joint_circles(chain)]
        return {"box": self.box, "chains": [rounded(chain) for chain in chains], "circles": found, "at": at, **more}


def joint_circles(chain: FloatArray) -> list[dict[str, Any]]:
    """Two circles for every joint but the ends: about its child, and about the base."""
    found = []
    base = chain[0]
    for k in range(len(chain) - 2, 0, -1):
        for center, colour in ((chain[k + 1], k), (base, k)):
            radius = float(np.linalg.norm(chain[k] - center))
            found.append({"center": rounded(center), "radius": round(radius, 5), "pair": colour})
    return found


def rounded(values: FloatArray) -> Any:
    """Numbers as they are sent."""
    return np.round(values, 5).tolist()


def seen(posture: Posture, names: tuple[str, ...]) -> FloatArray:
    """(k, 2) where parts are in the side view."""
    frames = posture.figure.frames(posture)
    return np.array([frames[name].position for name in names])[:, SIDE]
