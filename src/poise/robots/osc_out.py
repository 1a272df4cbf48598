"""Joint values as Open Sound Control over UDP, for Max, TouchDesigner, a game, or a bridge to other servos.

Each frame is one bundle with a message `/name-of-the-figure/joint value` per joint [rad or m].
"""

from __future__ import annotations

import socket
from collections.abc import Sequence

from poise.errors import RobotError
from poise.formats.osc import joint_bundle
from poise.robots.driver import DeviceLostError
from poise.robots.servo import Servo

TICKS = (-3_141_593, 3_141_593)
"""A microradian each."""


class OscDriver:
    """Sends to an address and port."""

    arming_gap = 0.0

    def __init__(self, host: str, port: int, prefix: str) -> None:
        """Name the receiver; `prefix` starts every OSC address."""
        if not 0 < port < 65536:
            raise RobotError(f"an OSC port is a number from 1 to 65535, not {port}.")
        self._to = (host, port)
        self._prefix = prefix
        self._socket: socket.socket | None = None
        self._servos: Sequence[Servo] = ()

    @property
    def name(self) -> str:
        """What people call it."""
        return f"OSC to {self._to[0]}:{self._to[1]}"

    def open(self, servos: Sequence[Servo]) -> None:
        """Find the receiver's address; nobody need be there."""
        self.close()
        self._servos = servos
        try:
            family, kind, _, _, address = socket.getaddrinfo(*self._to, type=socket.SOCK_DGRAM)[0]
        except OSError:
            raise RobotError(f"{self.name}: the host {self._to[0]!r} is not known.") from None
        self._socket = socket.socket(family, kind)
        self._socket.setblocking(False)
        self._address = address

    def measure(self, number: int) -> int | None:
        """Nothing comes back."""
        return None

    def arm(self, number: int, tick: int) -> None:
        """Nothing to switch on."""

    def send(self, ticks: Sequence[int], values: Sequence[float]) -> bool:
        """Send one bundle; a datagram may still be lost on its way."""
        if self._socket is None:
            raise DeviceLostError(f"{self.name} is not open.")
        packet = joint_bundle(self._prefix, [servo.joint for servo in self._servos], values)
        try:
            self._socket.sendto(packet, self._address)
        except (BlockingIOError, ConnectionRefusedError):
            return False
        except OSError as problem:
            self.close()
            raise DeviceLostError(f"{self.name} cannot be reached ({(problem.strerror or 'error').lower()}).") from None
        return True

    def poll(self, now: float) -> Sequence[str]:
        """Nothing comes back."""
        return ()

    def close(self) -> None:
        """Close the socket."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
