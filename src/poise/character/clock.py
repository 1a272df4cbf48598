"""A clock that ticks at a steady rate without drift."""

from __future__ import annotations

import time


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
