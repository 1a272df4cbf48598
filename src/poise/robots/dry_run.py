"""A robot that only prints what it would be told."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from poise.robots.servo import Servo


class DryRunDriver:
    """Prints a line when a command changes, and moves nothing."""

    arming_gap = 0.0

    def __init__(self, name: str, say: Callable[[str], object] = print) -> None:
        """Name what it stands for, and where its lines go."""
        self._name, self._say = name, say
        self._servos: Sequence[Servo] = ()
        self._last: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """What people call it."""
        return f"dry run of {self._name}"

    def open(self, servos: Sequence[Servo]) -> None:
        """Nothing to connect."""
        self._servos, self._last = servos, ()

    def measure(self, number: int) -> int | None:
        """Nothing to measure."""
        return None

    def arm(self, number: int, tick: int) -> None:
        """Nothing to switch on."""

    def send(self, ticks: Sequence[int], values: Sequence[float]) -> bool:
        """Print what each servo would be told, if that is new."""
        told = tuple(int(tick) for tick in ticks)
        if told != self._last:
            self._last = told
            parts = zip(self._servos, told, values, strict=True)
            self._say("  ".join(f"{s.joint} {math.degrees(v):+.1f}° → {s.channel}:{tick}" for s, tick, v in parts))
        return True

    def poll(self, now: float) -> Sequence[str]:
        """Nothing comes back."""
        return ()

    def close(self) -> None:
        """Nothing to close."""
