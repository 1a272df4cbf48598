"""Driver that writes one line of text for each frame, for a board with your own sketch.

    0:1500 1:1432 2:988 3:1500 4:1710

Each servo is `channel:tick`; a line ends with a newline. A connection begins with the line `!`. If an earlier
connection left a line unfinished, the `!` ends it and makes it invalid: a sketch must ignore every line that contains
anything but servos. The board need not answer; everything it prints is read and ignored.
"""

from __future__ import annotations

from collections.abc import Sequence

from poise.robots.driver import DeviceLostError
from poise.robots.port import Port
from poise.robots.servo import Servo

SERIAL_LINE_BAUD = 115200
LINE_SEPARATOR = b"!\n"
"""Ends an unfinished line; otherwise one that ends in `1`, followed by `1:1500`, would move servo 11."""


def line(servos: Sequence[Servo], ticks: Sequence[int]) -> bytes:
    """The line of text for a frame."""
    return " ".join(f"{s.channel}:{tick}" for s, tick in zip(servos, ticks, strict=True)).encode() + b"\n"


class SerialLineDriver:
    """Writes text lines to a serial port."""

    arming_gap = 0.0

    def __init__(self, path: str, baud: int = SERIAL_LINE_BAUD, *, patience: float = 2.0) -> None:
        """Set the port; `patience` is the time after which a device that reads nothing counts as lost [s]."""
        self._port = Port(path, baud)
        self._patience = patience
        self._servos: Sequence[Servo] = ()

    @property
    def name(self) -> str:
        """The name for messages."""
        return f"serial line {self._port.path}"

    def open(self, servos: Sequence[Servo]) -> None:
        """Open the port and end any unfinished line, so that it does not merge with the first command."""
        self._servos = servos
        self._port.open()
        self._port.write(LINE_SEPARATOR)

    def measure(self, number: int) -> int | None:
        """None: the protocol has no position reports."""
        return None

    def arm(self, number: int, tick: int) -> None:
        """Do nothing: servos are switched on by the board."""

    def send(self, ticks: Sequence[int], values: Sequence[float]) -> bool:
        """Write one line with all commands."""
        return self._port.write_newest(line(self._servos, ticks))

    def poll(self, now: float) -> Sequence[str]:
        """Discard everything the board prints; raises if the board has stopped reading."""
        self._port.read()
        if self._port.stuck_for() > self._patience:
            self.close()
            raise DeviceLostError(f"{self.name} has not read anything for {self._patience:g} s.")
        return ()

    def close(self) -> None:
        """Close the port."""
        self._port.close()
