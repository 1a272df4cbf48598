"""The thread in which a mind thinks, at its own pace."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable

from poise.character.mind import Mind, Wishes

LATE = 0.5
"""A solver that thinks for longer is said to be late [s]."""


class Thinker:
    """Thinks at a steady rate, and at once when there is something new for a mind at rest.

    In the middle of a motion a wish waits for its turn: solvers that move by so much a turn would hurry otherwise.
    """

    def __init__(self, mind: Mind, wishes: Callable[[], Wishes], now: Callable[[], float], rate: float) -> None:
        """Prepare to think about what `wishes` says at the time `now` says, `rate` times a second."""
        self._mind, self._wishes, self._now = mind, wishes, now
        self._period = 1.0 / rate
        self._news = threading.Event()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._was_late = False

    def start(self) -> None:
        """Think in a thread of its own."""
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._keep_on, args=(self._stop,), name="poise mind", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop; a solver that does not come back is left behind."""
        self._stop.set()
        self._news.set()
        thread, self._thread = self._thread, None
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout=2.0 * LATE)

    def wake(self) -> None:
        """There is something new."""
        self._news.set()

    def think_if_due(self, last: float, now: float) -> None:
        """Without a thread: think if a turn lies between two times, or there is something new."""
        turn = int(now / self._period + 1e-9) > int(last / self._period + 1e-9)
        if turn or (self._news.is_set() and self._mind.is_resting):
            self._news.clear()
            self._mind.think(self._wishes(), now)

    def has_become_late(self) -> bool:
        """Whether the solver has been thinking for too long, said once."""
        since = self._mind.thinking_since
        late = since is not None and time.monotonic() - since > LATE
        became, self._was_late = late and not self._was_late, late
        return became

    def _keep_on(self, stop: threading.Event) -> None:
        start = time.monotonic()
        while not stop.is_set():
            self._news.clear()
            self._mind.think(self._wishes(), self._now())
            now = time.monotonic()
            # Half-way between the ticks of an output clock of the same rate: the two then do not wait for each other.
            turn = math.floor((now - start) / self._period - 0.5) + 1.5
            (self._news if self._mind.is_resting else stop).wait(max(0.0, start + turn * self._period - now))
