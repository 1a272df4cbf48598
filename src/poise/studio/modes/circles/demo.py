"""The base class of the demos of the circles mode, and helpers for the side view."""

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
"""A point in the side view: forward and up [m]."""
SIDE_VIEW_AXES = [2, 1]
"""World axes of the side view: z is forward, y is up."""
EXACT_DISTANCE = 1e-9
"""Distance to its target below which an end-point counts as exactly there [m]."""


class Placed(NamedTuple):
    """The result of one step of a demo."""

    posture: Posture
    """The new posture."""
    status: tuple[Light, str]
    """The status light and its sentence."""
    placements: int
    """Number of joints that the solver placed."""
    error: float
    """Largest distance of an end-point from its target [m]."""
    more: bool
    """Whether the figure still moves."""


class Demo(ABC):
    """A demo: one figure, its side view, and a thing that is dragged there."""

    name: str
    """Name of the demo, and of its figure if that is built in."""
    start: str | None
    """Name of the start posture; None for the neutral one."""
    first: Spot
    """Position of the dragged thing at the start."""
    description: str
    """A hint for the user."""
    box: tuple[float, float, float, float]
    """The visible part of the side view: smallest forward and up, largest forward and up [m]."""
    has_ball = False
    """Whether the dragged thing is a ball."""

    @property
    def figure(self) -> Figure:
        """The figure of the demo."""
        return built_in(self.name)

    def obstacles(self, at: Spot) -> list[Obstacle]:
        """The obstacles of the scene when the dragged thing is at a point."""
        del at
        return []

    @abstractmethod
    def kept(self, at: Spot, posture: Posture) -> Spot:
        """The point nearest to the pointer that the dragged thing may have."""

    @abstractmethod
    def placed(self, posture: Posture, at: Spot, *, turn: float, advance: float) -> Placed:
        """The next posture; `turn` is the angle of a turntable and `advance` the automatic turn of a crank [rad]."""

    @abstractmethod
    def drawn(self, posture: Posture, at: Spot) -> dict[str, Any]:
        """The contents of the side view."""

    def _drawn(self, chains: list[FloatArray], at: Spot, **more: Any) -> dict[str, Any]:
        """The contents of the side view: links, and the circles whose intersections are the joints."""
        found = [circle for chain in chains for circle in joint_circles(chain)]
        return {"box": self.box, "chains": [rounded(chain) for chain in chains], "circles": found, "at": at, **more}


def joint_circles(chain: FloatArray) -> list[dict[str, Any]]:
    """Two circles for every inner joint: one around the next joint, one around the base."""
    found = []
    base = chain[0]
    for k in range(len(chain) - 2, 0, -1):
        for center, colour in ((chain[k + 1], k), (base, k)):
            radius = float(np.linalg.norm(chain[k] - center))
            found.append({"center": rounded(center), "radius": round(radius, 5), "pair": colour})
    return found


def rounded(values: FloatArray) -> Any:
    """Numbers rounded for sending."""
    return np.round(values, 5).tolist()


def side_view_points(posture: Posture, names: tuple[str, ...]) -> FloatArray:
    """(k, 2) positions of parts in the side view [m]."""
    frames = posture.figure.frames(posture)
    return np.array([frames[name].position for name in names])[:, SIDE_VIEW_AXES]
