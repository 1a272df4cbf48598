"""Mass, centre of mass and inertia of rigid bodies."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from poise.arguments import number
from poise.errors import FigureError
from poise.figure.model.pose import FloatArray, Pose, vector


def _no_inertia() -> FloatArray:
    """The zero tensor (3, 3)."""
    return np.zeros((3, 3))


@dataclass(frozen=True, eq=False)
class Mass:
    """Mass properties of a rigid body in its own frame."""

    mass: float = 0.0
    """[kg]"""
    center: FloatArray = field(default_factory=lambda: np.zeros(3))
    """(3,) centre of mass [m]."""
    inertia: FloatArray = field(default_factory=_no_inertia)
    """(3, 3) inertia about the centre of mass, in the body's axes [kg m²]."""

    def __post_init__(self) -> None:
        """Refuse negative masses and tensors that are not symmetric."""
        mass = number(self.mass, "a mass", least=0.0, unit="kilograms", error=FigureError)
        object.__setattr__(self, "mass", mass)
        object.__setattr__(self, "center", vector(self.center, "a centre of mass"))
        tensor = np.array(self.inertia, dtype=np.float64)
        if tensor.shape != (3, 3) or not np.isfinite(tensor).all():
            raise FigureError("an inertia must be 3 by 3 finite numbers.")
        if np.abs(0.5 * tensor - 0.5 * tensor.T).max() > 1e-9 * max(1.0, float(np.abs(tensor).max())):
            raise FigureError("an inertia tensor must be symmetric.")
        tensor = 0.5 * tensor + 0.5 * tensor.T
        tensor.flags.writeable = False
        object.__setattr__(self, "inertia", tensor)

    def __eq__(self, other: object) -> bool:
        """Equal numbers."""
        if not isinstance(other, Mass):
            return NotImplemented
        same_center = np.array_equal(self.center, other.center)
        return self.mass == other.mass and same_center and np.array_equal(self.inertia, other.inertia)

    def __hash__(self) -> int:
        """Hash of the numbers."""
        return hash((self.mass, self.center.tobytes(), self.inertia.tobytes()))

    def moved(self, pose: Pose) -> Mass:
        """The mass in another frame, in which the body's frame has this pose."""
        turn = pose.matrix
        return Mass(self.mass, pose.apply(self.center), turn @ self.inertia @ turn.T)


def combined(parts: Iterable[Mass]) -> Mass:
    """The mass of several bodies joined rigidly, all in the same frame, by the parallel-axis theorem."""
    pieces = list(parts)
    total = math.fsum(piece.mass for piece in pieces)
    if total == 0.0:
        return Mass(0.0, inertia=sum((piece.inertia for piece in pieces), np.zeros((3, 3))))
    center = sum((piece.mass * piece.center for piece in pieces), np.zeros(3)) / total
    inertia = np.zeros((3, 3))
    for piece in pieces:
        d = piece.center - center
        inertia += piece.inertia + piece.mass * (float(d @ d) * np.eye(3) - np.outer(d, d))
    return Mass(total, center, inertia)
