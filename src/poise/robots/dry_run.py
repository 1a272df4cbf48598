"""A driver that prints commands instead of sending them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from poise.robots.servo import Servo


class DryRunDriver:
    """Prints one line whenever a command changes; no device is opened."""

    arming_gap = 0.0

    def __init__(self, name: str, say: Callable[[str], object] = print) -> None:
        """Set the name of the device that is replaced, and the function that prints a line."""
        self._name, self._say = name, say
        self._servos: Sequence[Servo] = ()
        self._last: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """The name for messages."""
        return f"dry run of {self._name}"

    def open(self, servos: Sequence[Servo]) -> None:
        """Store the servos; there is no device to connect to."""
        self._servos, self._last = servos, ()

    def measure(self, number: int) -> int | None:
        """None: there is no device to measure."""
        return None

    def arm(self, number: int, tick: int) -> None:
        """Do nothing: there is no servo to switch on."""

    def send(self, ticks: Sequence[int], values: Sequence[float]) -> bool:
        """Print each servo's command if any of them has changed."""
        commands = tuple(int(tick) for tick in ticks)
        if commands != self._last:
            self._last = commands
            parts = zip(self._servos, commands, values, strict=True)
            self._say("  ".join(f"{s.joint} {math.degrees(v):+.1f}° → {s.channel}:{tick}" for s, tick, v in parts))
        return True

    def poll(self, now: float) -> Sequence[str]:
        """No messages: there is no device."""
        return ()

    def close(self) -> None:
        """Do nothing: there is no connection to close."""
