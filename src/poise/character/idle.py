"""Idle life: a slow breath through all joints and a little drift of each, so that nobody stands like a statue."""

from __future__ import annotations

import math

import numpy as np

from poise.figure.model.pose import FloatArray

BREATH = 0.25
"""Breaths per second."""
BREATHING = math.radians(1.2)
"""Of each joint, at amount 1 [rad]."""
DRIFT = math.radians(1.5)
"""[rad]"""
SLOWEST, FASTEST = 0.05, 0.21
"""Frequencies of the drift [1/s]."""
WAVES = 3


class Idle:
    """Small motion, the same for the same seed."""

    def __init__(self, joints: int, seed: int = 0) -> None:
        """Choose the waves of each joint."""
        rng = np.random.default_rng(seed)
        self._turning = 2.0 * np.pi * rng.uniform(SLOWEST, FASTEST, (WAVES, joints))
        self._phase = rng.uniform(0.0, 2.0 * np.pi, (WAVES, joints))
        self._breath = rng.uniform(0.4, 1.0, joints) * rng.choice([-1.0, 1.0], joints)

    def at(self, time: float) -> FloatArray:
        """(n,) offsets of the joints at a time [s], each within ±2.7° [rad]."""
        drift = np.sin(self._turning * time + self._phase).mean(axis=0)
        return np.asarray(DRIFT * drift + BREATHING * self._breath * math.sin(2.0 * math.pi * BREATH * time))
