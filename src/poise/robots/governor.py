"""Limits every servo command in position and speed; the last step before commands are sent.

A command differs from the last known position of its servo by at most speed × elapsed time, and elapsed times longer
than `LONGEST_FRAME` count as `LONGEST_FRAME`. The last known position is the command the device accepted last or, if
the device can measure, the position measured when the servo was switched on. Nothing else changes it: not a lost
connection, a stop and restart, the watchdog, or a new target posture.
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
"""Longest elapsed time that one command may use, after a pause or a jump of the clock [s]."""
SPEED_RAMP_TIME = 0.5
"""Time in which the speed limit rises from the starting speed to the full speed, once the target is reached [s]."""
LARGEST_TICK_SPEED = 2.0 * LARGEST_TICK
"""Upper bound of all speeds: it crosses the whole range of ticks in one second [ticks/s]."""

Ticks = NDArray[np.int64]


class Step(NamedTuple):
    """The next commands, and the governor's state if the device accepts them."""

    ticks: Ticks
    """(n,) the commands."""
    saved: FloatArray
    """(n,) fractions of a tick that slow servos have accumulated and not yet moved."""
    pace: float
    """Speed limit, from 0 (starting speed) to 1 (full speed)."""


class Governor:
    """Computes commands that follow a target inside position and speed limits.

    Between two commands a servo's tick changes by at most its speed times the time between them. A servo slower than
    one tick per frame accumulates fractions and moves by one tick when they add up to one.
    """

    def __init__(self, figure: Figure, servos: Sequence[Servo], slow: float, start: FloatArray) -> None:
        """Compute the limits of every servo.

        Args:
            figure: The figure whose joints the servos move.
            servos: The servos.
            slow: Speed limit at the start and on the way to the safe posture [rad/s or m/s].
            start: (n,) Joint values assumed until servos are measured or commanded [rad or m].
        """
        ranges = [allowed(servo, figure) for servo in servos]
        self.low = np.array([r.low for r in ranges], dtype=np.int64)
        self.high = np.array([r.high for r in ranges], dtype=np.int64)
        self.speed = np.minimum([r.speed for r in ranges], LARGEST_TICK_SPEED)
        self.scale = np.array([servo.scale for servo in servos])
        self.slow = np.minimum(self.speed, slow * np.abs(self.scale))
        self._middle = np.array([servo.middle for servo in servos])
        self._zero = np.array([servo.zero for servo in servos])
        self._near = np.maximum(self.slow * LONGEST_FRAME, 1.0)
        self.ticks = self.nearest(start)
        self.begin()

    def nearest(self, values: FloatArray) -> Ticks:
        """(n,) the allowed ticks nearest to finite joint values [rad or m]."""
        ticks = np.rint(self._middle + self.scale * (values - self._zero))
        return np.asarray(np.clip(ticks, self.low, self.high), dtype=np.int64)

    def assume(self, values: FloatArray) -> None:
        """Set the last known positions from joint values, which may be outside the limits [rad or m]."""
        ticks = np.rint(self._middle + self.scale * (values - self._zero))
        self.ticks = np.clip(ticks, -LARGEST_TICK, LARGEST_TICK).astype(np.int64)

    def begin(self) -> None:
        """Reset the speed limit to the starting speed."""
        self._saved = np.zeros(len(self.low))
        self._pace = 0.0
        self._reached = np.zeros(len(self.low), dtype=bool)

    def measured(self, number: int, tick: int) -> None:
        """Set the last known position of a servo to a measured tick.

        A servo outside its limits returns at the starting speed: its first command is one frame of movement closer to
        the limits than the measured position.
        """
        inside = min(max(tick, int(self.low[number])), int(self.high[number]))
        room = int(self.slow[number] * LONGEST_FRAME)
        self.ticks[number] = tick + min(max(inside - tick, -room), room)

    def step(self, target: Ticks, dt: float, *, slowly: bool) -> Step:
        """The next commands towards a target, `dt` seconds after the last; call `took` if the device accepts them."""
        frame = min(dt, LONGEST_FRAME) if dt > 0.0 else 0.0
        pace = 0.0 if slowly else min(self._pace + frame / SPEED_RAMP_TIME, 1.0)
        earned = (self.slow + pace * (self.speed - self.slow)) * frame
        whole = np.floor(earned)
        saved = np.where(whole > 0.0, 0.0, np.minimum(self._saved + earned, 1.0))
        room = np.maximum(whole, saved >= 1.0).astype(np.int64)
        inside = np.minimum(np.maximum(target, self.low), self.high)
        change = np.minimum(np.maximum(inside - self.ticks, -room), room)
        saved[change != 0] = 0.0
        return Step(self.ticks + change, saved, pace)

    def took(self, step: Step) -> None:
        """Set the last known positions to commands that the device has accepted."""
        self.ticks, self._saved, self._pace = step

    def has_caught_up(self, target: Ticks) -> bool:
        """Whether every servo has been within one longest frame of movement of its target since `begin`.

        Each servo needs to have been near its target once, but not all at the same time: a target that keeps moving may
        never be near all of them at once.
        """
        self._reached |= np.abs(target - self.ticks) <= self._near
        return bool(self._reached.all())
