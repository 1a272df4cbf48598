"""The last thing before the wire: no command leaves a servo's limits or its speed, whatever is asked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from poise.figure.figure import Figure
from poise.figure.pose import FloatArray
from poise.robots.servo import Servo, allowed

LONGEST_FRAME = 0.1
"""A pause earns no more movement than this [s]."""
RAMP = 0.5
"""How long a robot that has caught up takes from its starting speed to its full one [s]."""
FASTEST = 1e9
"""Stands for no limit [ticks/s]."""

Ticks = NDArray[np.int64]


class Governor:
    """Commands that follow a target inside limits and speeds.

    Between two commands a servo's tick changes by at most its speed times the time between them; where that is less
    than one tick, by one tick after the time that one tick takes.
    """

    def __init__(self, figure: Figure, servos: Sequence[Servo], slow: float) -> None:
        """Take the limits of every servo.

        Args:
            figure: Whose joints they move.
            servos: The servos.
            slow: Speed of a start and of the way to safety [rad/s or m/s].
        """
        ranges = [allowed(servo, figure) for servo in servos]
        self.low = np.array([r.low for r in ranges], dtype=np.int64)
        self.high = np.array([r.high for r in ranges], dtype=np.int64)
        self.speed = np.minimum([r.speed for r in ranges], FASTEST)
        self.scale = np.array([servo.scale for servo in servos])
        self.slow = np.minimum(self.speed, slow * np.abs(self.scale))
        self._middle = np.array([servo.middle for servo in servos])
        self._zero = np.array([servo.zero for servo in servos])
        self.ticks = self.low.copy()
        self._saved = np.zeros(len(servos))
        self._pace = 0.0

    def nearest(self, values: FloatArray) -> Ticks:
        """The allowed ticks nearest to joint values [rad or m], finite ones."""
        ticks = np.rint(self._middle + self.scale * (values - self._zero))
        return np.asarray(np.clip(ticks, self.low, self.high), dtype=np.int64)

    def start(self, ticks: Sequence[int]) -> None:
        """Stand at ticks that the servos are known, or must be assumed, to have."""
        self.ticks = np.clip(np.array(ticks, dtype=np.int64), self.low, self.high)
        self._saved[:] = 0.0

    def advance(self, target: Ticks, dt: float, *, slowly: bool) -> Ticks:
        """The next commands towards a target, `dt` seconds after the last ones."""
        frame = min(max(dt, 0.0), LONGEST_FRAME)
        self._pace = 0.0 if slowly else min(self._pace + frame / RAMP, 1.0)
        earned = (self.slow + self._pace * (self.speed - self.slow)) * frame
        whole = np.floor(earned).astype(np.int64)
        self._saved = np.where(whole > 0, 0.0, np.minimum(self._saved + earned, 1.0))
        room = np.maximum(whole, (self._saved >= 1.0).astype(np.int64))
        change = np.clip(np.clip(target, self.low, self.high) - self.ticks, -room, room)
        self._saved[change != 0] = 0.0
        self.ticks = self.ticks + change
        return self.ticks

    def has_caught_up(self, target: Ticks) -> bool:
        """Whether every servo could be at its target in one ordinary frame of a fiftieth of a second."""
        return bool((np.abs(target - self.ticks) <= np.maximum(0.02 * self.speed, 1.0)).all())
