"""The interface that every driver implements, for any protocol."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from poise.errors import RobotError
from poise.robots.servo import Servo


class DeviceLostError(RobotError):
    """The connection was lost or the device stopped answering; the robot tries to connect again."""


class Driver(Protocol):
    """Sends commands to one device in one protocol."""

    @property
    def name(self) -> str:
        """A name for messages, such as 'firmata on /dev/ttyACM0'."""

    @property
    def arming_gap(self) -> float:
        """Time between switching on two servos whose position cannot be measured [s]."""

    def open(self, servos: Sequence[Servo]) -> None:
        """Connect to the device without moving anything; every servo has a finite speed limit.

        Raises:
            RobotError: The device does not exist or does not answer.
        """

    def measure(self, number: int) -> int | None:
        """The measured position of a servo [ticks], or None if the device cannot measure it.

        Raises:
            RobotError: The servo does not answer, or the connection was lost.
        """

    def arm(self, number: int, tick: int) -> None:
        """Switch one servo on and command it to this tick.

        Raises:
            RobotError: The servo rejects the command, or the connection was lost.
        """

    def send(self, ticks: Sequence[int], values: Sequence[float]) -> bool:
        """Command every servo without waiting; False if the device is still busy with earlier commands and skips these.

        Args:
            ticks: One command for each servo, in the order given to `open`.
            values: The joint values of those ticks [rad or m].

        Raises:
            DeviceLostError: The connection was lost.
        """

    def poll(self, now: float) -> Sequence[str]:
        """Read the device's messages without waiting; returns one sentence for each warning a user should see.

        Raises:
            DeviceLostError: The connection was lost, or the device has not answered for too long.
        """

    def close(self) -> None:
        """Close the connection; does nothing if it is closed already."""
