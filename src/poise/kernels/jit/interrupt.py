"""Ctrl-C while a kernel is being compiled: it takes effect as soon as that kernel is stored.

LLVM calls back into Python. An interruption inside such a call is lost, and numba then fails with 200 to 370 lines
about something else. Nobody needs the lines of the calls that led to the compiler either, so one line says what
happened to a program that does not catch the exception.
"""

from __future__ import annotations

import signal
import sys
import threading
from types import TracebackType
from typing import Any

INTERRUPTED = "stopped while compiling; the kernels that are compiled are kept"


class DeferredInterrupt:
    """Remembers the first Ctrl-C between `start` and `stop`; a second one takes effect at once."""

    def __init__(self) -> None:
        self.happened = False
        self._is_active = False

    def start(self) -> None:
        """Defer Ctrl-C, unless the program handles it in a way of its own."""
        self.happened = False
        main = threading.current_thread() is threading.main_thread()
        if main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._remember)
            self._is_active = True

    def stop(self) -> None:
        """Let Ctrl-C take effect at once again."""
        if self._is_active:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            self._is_active = False

    def _remember(self, number: int, frame: Any) -> None:
        if self.happened:
            signal.default_int_handler(number, frame)
        self.happened = True


interrupt = DeferredInterrupt()
"""The interruption of this process."""


def stopped() -> KeyboardInterrupt:
    """The exception for a Ctrl-C while compiling; where nothing catches it, Python prints one line and no traceback."""
    if sys.excepthook is sys.__excepthook__:
        sys.excepthook = _print_one_line
    return KeyboardInterrupt(INTERRUPTED)


def _print_one_line(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if kind is KeyboardInterrupt and error.args == (INTERRUPTED,):
        print(f"poise: {INTERRUPTED}", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)
