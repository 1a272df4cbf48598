"""The thread that runs the solver of a character at its own rate."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable

from poise.character.mind import Requests, TargetSolver

LATE_AFTER = 0.5
"""A solve that takes longer than this is reported as late [s]."""


class SolverThread:
    """Solves at a steady rate, and at once for a new request while the solution is at rest.

    During a motion a new request waits for the next regular solve, because solvers that move by a fixed amount per
    solve would otherwise move faster.
    """

    def __init__(
        self, target_solver: TargetSolver, requests: Callable[[], Requests], now: Callable[[], float], rate: float
    ) -> None:
        """Prepare to solve for the result of `requests()` at the time `now()`, `rate` times per second."""
        self._target_solver, self._requests, self._now = target_solver, requests, now
        self._period = 1.0 / rate
        self._changed = threading.Event()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._was_late = False

    def start(self) -> None:
        """Start the thread."""
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(self._stop,), name="poise solver", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread; a solve that does not return within a second is abandoned."""
        self._stop.set()
        self._changed.set()
        thread, self._thread = self._thread, None
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout=2.0 * LATE_AFTER)

    def wake(self) -> None:
        """Signal a new request."""
        self._changed.set()

    def solve_if_due(self, last: float, now: float) -> None:
        """Without a thread: solve if a regular solve is due between two times, or for a new request at rest."""
        turn = int(now / self._period + 1e-9) > int(last / self._period + 1e-9)
        if turn or (self._changed.is_set() and self._target_solver.is_resting):
            self._changed.clear()
            self._target_solver.solve_once(self._requests(), now)

    def has_become_late(self) -> bool:
        """Whether the current solve has just become late; True once for each late solve."""
        since = self._target_solver.solving_since
        late = since is not None and time.monotonic() - since > LATE_AFTER
        became, self._was_late = late and not self._was_late, late
        return became

    def _run(self, stop: threading.Event) -> None:
        start = time.monotonic()
        while not stop.is_set():
            self._changed.clear()
            self._target_solver.solve_once(self._requests(), self._now())
            now = time.monotonic()
            # Half-way between the ticks of a frame clock of the same rate, so that the two do not compete for a core.
            turn = math.floor((now - start) / self._period - 0.5) + 1.5
            (self._changed if self._target_solver.is_resting else stop).wait(
                max(0.0, start + turn * self._period - now)
            )
