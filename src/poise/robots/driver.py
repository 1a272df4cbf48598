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

    def open(self, servos: Sequence[Servo]) -> Sequence[int | None]:
        """Connect and say where each servo is [ticks], None where the device cannot tell; nothing moves.

        Raises:
            RobotError: The device is not there or does not answer.
        """

    def arm(self, ticks: Sequence[int]) -> None:
        """Switch the servos on, at these ticks.

        Raises:
            RobotError: A servo refuses, or the device went away.
        """

    def send(self, ticks: Sequence[int], values: Sequence[float]) -> None:
        """Command every servo, without waiting.

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
