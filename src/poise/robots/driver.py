"""What every robot's device can do, whatever it speaks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from poise.errors import RobotError
from poise.robots.servo import Servo


class DeviceLostError(RobotError):
    """The device went away or fell silent; it may come back."""


class Driver(Protocol):
    """Speaks one protocol to one device."""

    @property
    def name(self) -> str:
        """What people call it, such as 'firmata on /dev/ttyACM0'."""

    @property
    def arming_gap(self) -> float:
        """Time between switching on two servos that cannot say where they are [s]."""

    def open(self, servos: Sequence[Servo]) -> None:
        """Connect; nothing moves. The servos have a finite speed limit each.

        Raises:
            RobotError: The device is not there or does not answer.
        """

    def measure(self, number: int) -> int | None:
        """Where a servo is [ticks], None where the device cannot tell.

        Raises:
            RobotError: The servo does not answer, or the device went away.
        """

    def arm(self, number: int, tick: int) -> None:
        """Switch one servo on, at this tick.

        Raises:
            RobotError: The servo refuses, or the device went away.
        """

    def send(self, ticks: Sequence[int], values: Sequence[float]) -> bool:
        """Command every servo, without waiting; False where the device is behind and these commands are left out.

        Args:
            ticks: What the servos understand, in their order.
            values: The joint values those ticks mean [rad or m].

        Raises:
            DeviceLostError: The device went away.
        """

    def poll(self, now: float) -> Sequence[str]:
        """Read what the device says, without waiting; what a person should know of it, a sentence each.

        Raises:
            DeviceLostError: The device went away, or has been silent for too long.
        """

    def close(self) -> None:
        """Let go of the device; safe to call at any time."""
