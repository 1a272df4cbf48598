"""A serial port whose reads and writes never block.

pyserial opens and configures the port. On POSIX, reads and writes use the file descriptor directly: pyserial's `write`
either blocks or does not return the number of bytes written, and a message that was written in part has to be completed
before the next one starts.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import time
from types import ModuleType
from typing import Any

from poise.errors import RobotError
from poise.extras import require
from poise.figure.model.names import listing, suggestion
from poise.robots.driver import DeviceLostError

_POSIX = os.name == "posix"
_READ_SIZE = 4096
_LARGEST_BACKLOG = 4096
"""Largest number of bytes buffered for a device that does not read; messages beyond it are dropped whole."""


class Port:
    """A serial port, open or closed."""

    def __init__(self, path: str, baud: int) -> None:
        """Set the port's path and speed; `open` opens it."""
        if baud <= 0:
            raise RobotError(f"a serial line has a positive speed in baud, not {baud}.")
        self.path, self.baud = path, baud
        self._line: Any = None
        self._pending = b""
        self._stuck_since: float | None = None

    def open(self) -> None:
        """Open the port; raises `RobotError` with the reason if that fails."""
        serial = _pyserial()
        self.close()
        try:
            self._line = serial.Serial(self.path, self.baud, timeout=0, write_timeout=0, exclusive=_POSIX or None)
        except (OSError, ValueError) as problem:
            raise RobotError(_open_error(self.path, problem)) from None
        if _POSIX:
            os.set_blocking(self._line.fileno(), False)

    def close(self) -> None:
        """Close the port and discard unsent bytes; does nothing if it is closed."""
        line, self._line = self._line, None
        self._pending, self._stuck_since = b"", None
        if line is not None:
            with contextlib.suppress(OSError):
                line.close()

    def read(self) -> bytes:
        """The bytes that have arrived, possibly none."""
        line = self._opened()
        try:
            return os.read(line.fileno(), _READ_SIZE) if _POSIX else line.read(_READ_SIZE)
        except BlockingIOError:
            return b""
        except (OSError, TypeError) as problem:
            raise self._lost(problem) from None

    def write(self, data: bytes) -> bool:
        """Send a message whole and in order; False if an earlier message is still unsent and this one is dropped."""
        if len(self._pending) + len(data) > _LARGEST_BACKLOG or (self._pending and not self._flush()):
            return False
        self._pending += data
        self._flush()
        return True

    def write_newest(self, data: bytes) -> bool:
        """Send a message that the next one replaces; False if the device lags behind and this one is dropped.

        A device lags behind while the operating system still holds at least as many unsent bytes as the message has.
        Otherwise frames would pile up for a device that pauses, and reach its servos all at once.
        """
        if _unsent_bytes(self._opened()) < len(data):
            return self.write(data)
        if self._stuck_since is None:
            self._stuck_since = time.monotonic()
        return False

    def stuck_for(self) -> float:
        """Time since the device last accepted all bytes, 0 if none are waiting [s]."""
        return 0.0 if self._stuck_since is None else time.monotonic() - self._stuck_since

    def _flush(self) -> bool:
        """Write the pending bytes; returns whether all of them were written."""
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
        return DeviceLostError(f"{self.path} was disconnected ({reason.lower()}).")


def _unsent_bytes(line: Any) -> int:
    """Bytes that the operating system has not sent to the device yet; 0 if it does not report them."""
    try:
        return int(line.out_waiting)
    except (OSError, TypeError):
        return 0


def _pyserial() -> ModuleType:
    require("serial", "a robot on a serial line")
    import serial

    return serial


def _open_error(path: str, problem: Exception) -> str:
    """A sentence that says why a port did not open and what to do about it."""
    from serial.tools.list_ports import comports

    known = sorted(port.device for port in comports())
    text = str(problem).lower()
    if "permission" in text:
        return f"{path} may not be opened: give your user access to it, on Linux by joining its group (dialout)."
    if "lock" in text or "busy" in text or "temporarily" in text:
        return f"{path} is in use by another program: close that one first."
    if pathlib.Path(path).exists():
        return f"{path} is not a serial port that can be opened."
    return f"there is no port {path}.{suggestion(path, known)} Ports: {listing(known)}."
