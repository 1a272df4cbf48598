"""Style of a retargeted motion: weights, smoothing and the acceleration limit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.errors import TaskError


@dataclass(frozen=True)
class Style:
    """Style of a retargeted motion."""

    still: float = 1e-7
    """Weight of squared joint speeds against squared position errors [s²]."""
    near: float = 1e-4
    """Weight of squared deviations from the neutral posture against squared position errors."""
    smooth: float = 0.008
    """Width of the smoothing in time [s]; 0 turns it off."""
    acceleration: float = np.inf
    """Greatest acceleration of every joint but a floating base [rad/s² or m/s²]."""

    def __post_init__(self) -> None:
        """Refuse numbers that are negative or not finite."""
        for what in ("still", "near", "smooth"):
            value = getattr(self, what)
            if not 0.0 <= value < np.inf:
                raise TaskError(f"the {what} of a retargeting's style must be zero or a positive number, not {value}.")
        if not self.acceleration > 0.0:
            raise TaskError(f"the acceleration of a style must be a positive number, not {self.acceleration}.")
