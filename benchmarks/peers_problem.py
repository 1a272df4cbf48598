"""The problem of the whole-body benchmark as plain data that can be sent to other processes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np


@dataclass(frozen=True)
class Problem:
    """A robot on two fixed feet that balances, reaches, looks and keeps its posture, one step per frame.

    Coordinates are Pinocchio's: base position, base quaternion (x, y, z, w), then one value per joint.
    """

    urdf: Path
    """The robot without shapes, so that no solver looks for meshes."""
    joints: tuple[str, ...]
    """Names of the joints in the order of `start[7:]`."""
    start: np.ndarray
    """Posture at the start, which is also the one to keep (nq,)."""
    speeds: np.ndarray
    """Largest speed of each joint [rad/s], as `joints`."""
    feet: tuple[str, str]
    hand: str
    head: str
    feet_poses: np.ndarray
    """Where the feet stand (2, 4, 4)."""
    speed_limits: bool
    dt: float = 0.01
    """Duration of a frame [s]."""


class Targets(NamedTuple):
    """Targets in each of k frames."""

    hand: np.ndarray
    """Position of the hand [m] (k, 3)."""
    center: np.ndarray
    """Centre of mass [m] (k, 3)."""
    gaze: np.ndarray
    """Orientation of the head, as a matrix (k, 3, 3)."""


class Weights(NamedTuple):
    """Squared weights of the soft tasks, for solvers without priorities: factors of squared metres and radians."""

    feet: float = 200.0
    center: float = 30.0
    hand: float = 1.0
    gaze: float = 0.1
    posture: float = 1e-4
    rest: float = 1e-5
    """On the step itself."""


class Solver(Protocol):
    """One solver, ready to be timed."""

    def begin(self, targets: Targets) -> None:
        """Return to the start and store the targets."""

    def step(self, frame: int) -> Any:
        """Set the targets of a frame and take one step; only this is timed."""

    def coordinates(self, answer: Any) -> np.ndarray:
        """The result of a step in Pinocchio's coordinates, as a copy."""
