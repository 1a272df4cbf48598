"""A serial line that never waits.

pyserial opens and configures the line. On POSIX, reading and writing go past it: its own `write` either waits or does
not say how much was written, and half a message must be finished before the next one starts.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import time
from types import ModuleType
from typing import Any

from poise.errors import RobotError
from poise.figure.model.names import listing, suggestion
from poise.robots.driver import DeviceLostError

_POSIX = os.name == "posix"
_CHUNK = 4096
_MOST_PENDING = 4096
"""Bytes that may wait for a device that does not read; beyond it whole frames are left out."""


class Port:
    """A serial line, open or not."""

    def __init__(self, path: str, baud: int) -> None:
        """Name the line; `open` opens it."""
        if baud <= 0:
            raise RobotError(f"a serial line has a positive speed in baud, not {baud}.")
        self.path, self.baud = path, baud
        self._line: Any = None
        self._pending = b""
        self._stuck_since: float | None = None

    def open(self) -> None:
        """Open the line, or say why it cannot be."""
        serial = _pyserial()
        self.close()
        try:
            self._line = serial.Serial(self.path, self.baud, timeout=0, write_timeout=0, exclusive=_POSIX or None)
        except (OSError, ValueError) as problem:
            raise RobotError(_why(self.path, problem)) from None
        if _POSIX:
            os.set_blocking(self._line.fileno(), False)

    def close(self) -> None:
        """Close the line, whatever state it is in."""
        line, self._line = self._line, None
        self._pending, self._stuck_since = b"", None
        if line is not None:
            with contextlib.suppress(OSError):
                line.close()

    def read(self) -> bytes:
        """What has arrived, nothing when nothing has."""
        line = self._opened()
        try:
            return os.read(line.fileno(), _CHUNK) if _POSIX else line.read(_CHUNK)
        except BlockingIOError:
            return b""
        except (OSError, TypeError) as problem:
            raise self._lost(problem) from None

    def write(self, data: bytes) -> bool:
        """Send a message whole and in order; False when an earlier one is still on its way and this one is left out."""
        if len(self._pending) + len(data) > _MOST_PENDING or (self._pending and not self._flush()):
            return False
        self._pending += data
        self._flush()
        return True

    def write_newest(self, data: bytes) -> bool:
        """Send a message that only counts while it is new; False when the device is behind and it is left out.

        A device is behind while the system still holds as many bytes for it as the message has. Without this, frames
        would pile up for a device that pauses, and reach its servos all at once.
        """
        if _held(self._opened()) < len(data):
            return self.write(data)
        if self._stuck_since is None:
            self._stuck_since = time.monotonic()
        return False

    def stuck_for(self) -> float:
        """How long the device has not taken what was sent [s]."""
        return 0.0 if self._stuck_since is None else time.monotonic() - self._stuck_since

    def _flush(self) -> bool:
        """Send what is pending; whether nothing is left."""
        line = self._opened()
        try:
            sent = os.write(line.fileno(), self._pending) if _POSIX else line.write(self._pending)
        except BlockingIOError:
            sent = 0
        except (OSError, TypeError) as problem:
            raise self._lost(problem) from None
        self._pending = self._pending[sent:]
        if not self._pending:
            self._stuck_since = None
        elif self._stuck_since is None:
            self._stuck_since = time.monotonic()
        return not self._pending

    def _opened(self) -> Any:
        if self._line is None:
            raise DeviceLostError(f"{self.path} is not open.")
        return self._line

    def _lost(self, problem: Exception) -> DeviceLostError:
        self.close()
        reason = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
        return DeviceLostError(f"{self.path} went away ({reason.lower()}).")


def _held(line: Any) -> int:
    """Bytes that the system holds for the device; 0 where it cannot tell."""
    try:
        return int(line.out_waiting)
    except (OSError, TypeError):
        return 0


def _pyserial() -> ModuleType:
    try:
        import serial
    except ImportError:
        raise RobotError("robots on serial lines need pyserial: pip install 'poise[robots]'.") from None
    return serial


def _why(path: str, problem: Exception) -> str:
    """What keeps a line from opening, and what would do."""
    from serial.tools.list_ports import comports

    known = sorted(port.device for port in comports())
    text = str(problem).lower()
    if "permission" in text:
        return f"{path} may not be opened: give your user access to it, on Linux by joining its group (dialout)."
    if "lock" in text or "busy" in text or "temporarily" in text:
        return f"{path} is in use by another program: close that one first."
    if pathlib.Path(path).exists():
        return f"{path} is no serial line that can be opened."
    return f"there is no port {path}.{suggestion(path, known)} Ports: {listing(known)}."
