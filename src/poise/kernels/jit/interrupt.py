"""Ctrl-C while a kernel is being compiled: it takes effect as soon as that kernel is stored.

LLVM calls back into Python. An interruption inside such a call is lost, and numba then fails with 200 to 370 lines
about something else.
"""

from __future__ import annotations

import signal
import threading
from typing import Any


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
