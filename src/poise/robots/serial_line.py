"""A plain text line per frame, for a board with a sketch of one's own.

    0:1500 1:1432 2:988 3:1500 4:1710

Each servo is `channel:tick`; a line ends with a newline. A connection begins with the line `!`, which spoils half a
line that was cut off before it: a sketch leaves out every line that holds anything but servos. Nothing is asked and no
answer is needed; what the board prints is read and dropped, so that it can talk as it likes.
"""

from __future__ import annotations

from collections.abc import Sequence

from poise.errors import RobotError
from poise.robots.driver import DeviceLostError
from poise.robots.port import Port
from poise.robots.servo import Servo

BAUD = 115200
SPOILER = b"!\n"
"""Without it, half a line that ends in `1` and a line that starts with `1:1500` would move servo 11."""


def line(servos: Sequence[Servo], ticks: Sequence[int]) -> bytes:
    """The text of a frame."""
    return " ".join(f"{s.channel}:{tick}" for s, tick in zip(servos, ticks, strict=True)).encode() + b"\n"


class SerialLineDriver:
    """Text on a serial line."""

    arming_gap = 0.0

    def __init__(self, path: str, baud: int = BAUD, *, patience: float = 2.0) -> None:
        """Name the line; `patience` is how long the device may not read [s]."""
        self._port = Port(path, baud)
        self._patience = patience
        self._servos: Sequence[Servo] = ()

    @property
    def name(self) -> str:
        """What people call it."""
        return f"serial line {self._port.path}"

    def open(self, servos: Sequence[Servo]) -> None:
        """Open the line, and make sure that what was cut off does not run into the first command."""
        self._servos = servos
        self._port.open()
        self._port.write(SPOILER)

    def measure(self, number: int) -> int | None:
        """What the board prints is not understood."""
        return None

    def arm(self, number: int, tick: int) -> None:
        """Nothing to switch on."""

    def send(self, ticks: Sequence[int], values: Sequence[float]) -> bool:
        """Write one line."""
        return self._port.write_newest(line(self._servos, ticks))

    def poll(self, now: float) -> Sequence[str]:
        """Drop what the board prints."""
        self._port.read()
        if self._port.stuck_for() > self._patience:
            self.close()
            raise DeviceLostError(f"{self.name} has not taken anything for {self._patience:g} s.")
        return ()

    def close(self) -> None:
        """Close the line."""
        self._port.close()


def parsed_line(text: str) -> dict[int, int]:
    """Ticks by channel of a line, for boards and tests in Python."""
    try:
        return {int(channel): int(tick) for channel, tick in (item.split(":") for item in text.split())}
    except ValueError:
        raise RobotError(f"{text!r} is no line of servos such as '0:1500 1:1432'.") from None
