"""The thread that steps the solver of a session."""

from __future__ import annotations

import logging
import threading
import time

from poise.studio.session.session import Session

TICK = 1.0 / 60.0
"""Time between two solver steps [s]."""


class SolverThread:
    """Steps a session sixty times per second until it rests, and again after every change."""

    def __init__(self, session: Session) -> None:
        """Create the thread; `start` starts it."""
        self._session = session
        self._has_work, self._stopped = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="poise studio solver", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._unsubscribe = self._session.subscribe(self._has_work.set)
        self._has_work.set()
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread after its current step."""
        self._unsubscribe()
        self._stopped.set()
        self._has_work.set()
        self._thread.join()

    def _run(self) -> None:
        due = time.perf_counter()
        while not self._stopped.is_set():
            self._has_work.clear()
            if not self._tick():
                self._has_work.wait()
                due = time.perf_counter()
                continue
            due = max(due + TICK, time.perf_counter() - TICK)
            self._stopped.wait(max(0.0, due - time.perf_counter()))

    def _tick(self) -> bool:
        try:
            return self._session.tick()
        except Exception:
            logging.getLogger(__name__).exception("the solver of the studio failed")
            self._session.give_up("The solver failed; see the terminal for the error. Undo, or change a task.")
            return False
