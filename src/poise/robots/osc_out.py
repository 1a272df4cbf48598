"""Driver that sends joint values as Open Sound Control over UDP, to Max, TouchDesigner, a game or a servo bridge.

Each frame is one bundle with a message `/figure/joint value` for each joint [rad or m].
"""

from __future__ import annotations

import socket
from collections.abc import Sequence

from poise.errors import RobotError
from poise.formats.osc import joint_bundle
from poise.robots.driver import DeviceLostError
from poise.robots.servo import Servo

OSC_TICKS = (-3_141_593, 3_141_593)
"""Range of a joint's ticks: −π to π in microradians."""


class OscDriver:
    """Sends OSC bundles to one host and port."""

    arming_gap = 0.0

    def __init__(self, host: str, port: int, prefix: str) -> None:
        """Set the receiver; `prefix`, usually the figure's name, is the first part of every OSC address."""
        if not 0 < port < 65536:
            raise RobotError(f"an OSC port is a number from 1 to 65535, not {port}.")
        self._to = (host, port)
        self._prefix = prefix
        self._socket: socket.socket | None = None
        self._servos: Sequence[Servo] = ()

    @property
    def name(self) -> str:
        """The name for messages."""
        return f"OSC to {self._to[0]}:{self._to[1]}"

    def open(self, servos: Sequence[Servo]) -> None:
        """Look up the receiver's address; the receiver need not be running."""
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
        """None: OSC receivers report nothing."""
        return None

    def arm(self, number: int, tick: int) -> None:
        """Do nothing: there is no servo to switch on."""

    def send(self, ticks: Sequence[int], values: Sequence[float]) -> bool:
        """Send one bundle in one datagram, which may be lost in the network."""
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
        """No messages: OSC receivers report nothing."""
        return ()

    def close(self) -> None:
        """Close the socket."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
