"""Idle motion: slow breathing of all joints and a small drift of each, so that a figure at rest looks alive."""

from __future__ import annotations

import math

import numpy as np

from poise.figure.model.pose import FloatArray

BREATHS_PER_SECOND = 0.25
"""Breaths per second."""
BREATH_AMPLITUDE = math.radians(1.2)
"""Largest amplitude of the breathing of a joint at amount 1 [rad]."""
DRIFT_AMPLITUDE = math.radians(1.5)
"""Largest drift of a joint at amount 1 [rad]."""
DRIFT_MIN_FREQUENCY, DRIFT_MAX_FREQUENCY = 0.05, 0.21
"""Range of the frequencies of the drift [1/s]."""
DRIFT_WAVES = 3
"""Number of sine waves of the drift of each joint."""


class Idle:
    """Breathing and drift of every joint of a figure; the same seed gives the same motion."""

    def __init__(self, joints: int, seed: int = 0) -> None:
        """Choose the frequencies and phases of each joint."""
        rng = np.random.default_rng(seed)
        self._turning = 2.0 * np.pi * rng.uniform(DRIFT_MIN_FREQUENCY, DRIFT_MAX_FREQUENCY, (DRIFT_WAVES, joints))
        self._phase = rng.uniform(0.0, 2.0 * np.pi, (DRIFT_WAVES, joints))
        self._breath = rng.uniform(0.4, 1.0, joints) * rng.choice([-1.0, 1.0], joints)

    def at(self, time: float) -> FloatArray:
        """(n,) offsets of the joints at a time [s], each within ±2.7° [rad]."""
        drift = np.sin(self._turning * time + self._phase).mean(axis=0)
        return np.asarray(
            DRIFT_AMPLITUDE * drift
            + BREATH_AMPLITUDE * self._breath * math.sin(2.0 * math.pi * BREATHS_PER_SECOND * time)
        )
