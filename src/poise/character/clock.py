"""A clock that ticks at a steady rate without drift."""

from __future__ import annotations

import time

from poise.arguments import positive
from poise.errors import TaskError

FASTEST_RATE = 10_000.0
"""Largest number of frames per second; an operating system cannot wake a program much more often."""


def frame_rate(rate: float) -> float:
    """A number of frames per second that a clock can keep, or an error."""
    checked = positive(rate, "the rate of a character", unit="frames per second")
    if checked > FASTEST_RATE:
        raise TaskError(f"the rate must be at most {FASTEST_RATE:g} frames per second, not {checked:g}.")
    return checked


class FrameClock:
    """Ticks at multiples of a period from its start; ticks that have already passed are skipped and counted."""

    def __init__(self, rate: float) -> None:
        """Start now, at `rate` ticks per second."""
        self.period = 1.0 / rate
        self.start = time.monotonic()
        self.ticks = 0
        self.missed = 0

    def wait(self) -> float:
        """Sleep until the next tick; returns the delay of the wake-up [s]."""
        due = self.start + self.ticks * self.period
        now = time.monotonic()
        behind = int((now - due) / self.period)
        if behind > 0:
            self.missed += behind
            self.ticks += behind
            due += behind * self.period
        while (left := due - time.monotonic()) > 0.0:
            time.sleep(left)
        self.ticks += 1
        return time.monotonic() - due
