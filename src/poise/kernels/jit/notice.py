"""What poise says on stderr while it compiles; `POISE_QUIET=1` silences it."""

from __future__ import annotations

import os
import sys
import threading
import time

from poise.kernels.jit.interrupt import interrupt

NOTICE_AFTER = 2.0
"""Compiling longer than this in one process is announced [s]."""
REDRAW_EVERY = 0.2
"""Time between two looks at the progress [s]."""
LINGER = 1.0
"""The progress line disappears when nothing has been compiled for this long [s]."""


def is_quiet() -> bool:
    """Whether the user wants no notices."""
    return os.environ.get("POISE_QUIET", "") not in {"", "0"} or sys.stderr is None


def say(sentence: str) -> None:
    """Print a sentence on stderr."""
    if not is_quiet():
        print(f"poise: {sentence}", file=sys.stderr, flush=True)


class Progress:
    """Counts the kernels that this process compiles, and shows the count once that has taken `NOTICE_AFTER` seconds.

    On a terminal a line counts up in place; elsewhere one line is printed, once.
    """

    def __init__(self) -> None:
        self._open = 0
        self._finished = 0
        self._spent = 0.0
        self._changed = 0.0
        self._announced = False
        self._watcher: threading.Thread | None = None

    @property
    def is_nested(self) -> bool:
        """Whether a kernel is being compiled because another one calls it."""
        return self._open > 1

    def start(self) -> None:
        """A kernel starts to compile, perhaps while the kernel that calls it is being compiled."""
        self._open += 1
        if self._open == 1:
            interrupt.start()
            self._changed = time.monotonic()
            if self._watcher is None and not is_quiet():
                self._watcher = threading.Thread(target=self._watch, name="poise-progress", daemon=True)
                self._watcher.start()

    def stop(self) -> None:
        """The kernel that started last is compiled, or has failed to compile."""
        self._open -= 1
        self._finished += 1
        if self._open == 0:
            interrupt.stop()
            now = time.monotonic()
            self._spent, self._changed = self._spent + now - self._changed, now

    def _seconds(self) -> float:
        return self._spent + (time.monotonic() - self._changed if self._open else 0.0)

    def _watch(self) -> None:
        """Show the progress until nothing has been compiled for a while."""
        while self._open or time.monotonic() - self._changed < LINGER:
            if self._seconds() > NOTICE_AFTER and self._open:
                self._show()
            time.sleep(REDRAW_EVERY)
        self._watcher = None
        if self._announced and sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)

    def _show(self) -> None:
        what = "compiling kernels, which happens once on this machine"
        if sys.stderr.isatty():
            done = (
                "stopping after this one" if interrupt.happened else f"{self._finished} done, {self._seconds():.0f} s"
            )
            print(f"\r\033[Kpoise: {what}: {done} …", end="", file=sys.stderr, flush=True)
        elif not self._announced:
            say(f"{what} …")
        self._announced = True


progress = Progress()
"""The progress of this process."""
