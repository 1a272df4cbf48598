"""The last thing before the wire: no command leaves a servo's limits or its speed, whatever is asked.

One rule: a command differs from the last known position of its servo by at most speed × time since then, and no time
counts for more than `LONGEST_FRAME`. The last known position is what the device took last or, where the device can
measure, what it measured when the servos were switched on. Nothing else sets it: not a lost line, not a stop and a new
start, not the watchdog and not a new posture.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.robots.servo import LARGEST_TICK, Servo, allowed

LONGEST_FRAME = 0.1
"""A pause, or a clock that leaps, earns no more movement than this [s]."""
RAMP = 0.5
"""How long a robot that has caught up takes from its starting speed to its full one [s]."""
FASTEST = 2.0 * LARGEST_TICK
"""No servo has more ticks than this, so that a higher speed means nothing [ticks/s]."""

Ticks = NDArray[np.int64]


class Step(NamedTuple):
    """Commands that may be sent next, and what is true once the device has taken them."""

    ticks: Ticks
    saved: FloatArray
    """Parts of a tick that slow servos have earned."""
    pace: float
    """From 0, the starting speed, to 1, the full speed."""


class Governor:
    """Commands that follow a target inside limits and speeds.

    Between two commands a servo's tick changes by at most its speed times the time between them; where that is less
    than one tick, by one tick after the time that one tick takes.
    """

    def __init__(self, figure: Figure, servos: Sequence[Servo], slow: float, start: FloatArray) -> None:
        """Take the limits of every servo.

        Args:
            figure: Whose joints they move.
            servos: The servos.
            slow: Speed of a start and of the way to safety [rad/s or m/s].
            start: (n,) Joint values that servos are assumed to have until they are measured or commanded [rad or m].
        """
        ranges = [allowed(servo, figure) for servo in servos]
        self.low = np.array([r.low for r in ranges], dtype=np.int64)
        self.high = np.array([r.high for r in ranges], dtype=np.int64)
        self.speed = np.minimum([r.speed for r in ranges], FASTEST)
        self.scale = np.array([servo.scale for servo in servos])
        self.slow = np.minimum(self.speed, slow * np.abs(self.scale))
        self._middle = np.array([servo.middle for servo in servos])
        self._zero = np.array([servo.zero for servo in servos])
        self._near = np.maximum(self.slow * LONGEST_FRAME, 1.0)
        self.ticks = self.nearest(start)
        self.begin()

    def nearest(self, values: FloatArray) -> Ticks:
        """The allowed ticks nearest to joint values [rad or m], finite ones."""
        ticks = np.rint(self._middle + self.scale * (values - self._zero))
        return np.asarray(np.clip(ticks, self.low, self.high), dtype=np.int64)

    def assume(self, values: FloatArray) -> None:
        """Take joint values for the last known positions [rad or m], inside the limits or not."""
        ticks = np.rint(self._middle + self.scale * (values - self._zero))
        self.ticks = np.clip(ticks, -LARGEST_TICK, LARGEST_TICK).astype(np.int64)

    def begin(self) -> None:
        """Start slowly from where the servos are."""
        self._saved = np.zeros(len(self.low))
        self._pace = 0.0
        self._reached = np.zeros(len(self.low), dtype=bool)

    def measured(self, number: int, tick: int) -> None:
        """Take a measured position for the last known one of a servo.

        A servo outside its limits comes back at the starting speed: the first command is nearer to the limits than the
        measured position by one frame of movement.
        """
        inside = min(max(tick, int(self.low[number])), int(self.high[number]))
        room = int(self.slow[number] * LONGEST_FRAME)
        self.ticks[number] = tick + min(max(inside - tick, -room), room)

    def step(self, target: Ticks, dt: float, *, slowly: bool) -> Step:
        """The next commands towards a target, `dt` seconds after the last ones; `took` says that they were sent."""
        frame = min(dt, LONGEST_FRAME) if dt > 0.0 else 0.0
        pace = 0.0 if slowly else min(self._pace + frame / RAMP, 1.0)
        earned = (self.slow + pace * (self.speed - self.slow)) * frame
        whole = np.floor(earned)
        saved = np.where(whole > 0.0, 0.0, np.minimum(self._saved + earned, 1.0))
        room = np.maximum(whole, saved >= 1.0).astype(np.int64)
        inside = np.minimum(np.maximum(target, self.low), self.high)
        change = np.minimum(np.maximum(inside - self.ticks, -room), room)
        saved[change != 0] = 0.0
        return Step(self.ticks + change, saved, pace)

    def took(self, step: Step) -> None:
        """Take commands for the last known position: the device has them."""
        self.ticks, self._saved, self._pace = step

    def has_caught_up(self, target: Ticks) -> bool:
        """Whether every servo has been near its target since `begin`: within one longest frame at the starting speed.

        Each needs to have been there once, not all at one time, or a target that never rests could not be caught.
        """
        self._reached |= np.abs(target - self.ticks) <= self._near
        return bool(self._reached.all())
