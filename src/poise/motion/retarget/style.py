"""How a retargeted motion follows its clip: closely, smoothly, how hastily."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.errors import TaskError


@dataclass(frozen=True)
class Style:
    """How a motion follows."""

    still: float = 1e-7
    """Weight of joint speeds, against metres [s²]."""
    near: float = 1e-4
    """Weight of the neutral posture, against metres."""
    smooth: float = 0.008
    """Width of the smoothing in time [s]; 0 for none."""
    acceleration: float = np.inf
    """Greatest acceleration of every joint but a floating base [rad/s² or m/s²]."""

    def __post_init__(self) -> None:
        """Refuse what is no weight."""
        for what in ("still", "near", "smooth"):
            value = getattr(self, what)
            if not 0.0 <= value < np.inf:
                raise TaskError(f"the {what} of a retargeting's style must be zero or a positive number, not {value}.")
        if not self.acceleration > 0.0:
            raise TaskError(f"the acceleration of a style must be a positive number, not {self.acceleration}.")
