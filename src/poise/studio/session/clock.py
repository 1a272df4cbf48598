"""The thread that keeps the session's figure on its tasks."""

from __future__ import annotations

import logging
import threading
import time

from poise.studio.session.session import Session

TICK = 1.0 / 60.0
"""Time from one step to the next [s]."""


class SolverThread:
    """Steps a session sixty times per second while there is something to do."""

    def __init__(self, session: Session) -> None:
        """Make the thread; `start` starts it."""
        self._session = session
        self._awake, self._over = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="poise studio solver", daemon=True)

    def start(self) -> None:
        """Begin to step."""
        self._leave = self._session.subscribe(self._awake.set)
        self._awake.set()
        self._thread.start()

    def stop(self) -> None:
        """End after the step that is being taken."""
        self._leave()
        self._over.set()
        self._awake.set()
        self._thread.join()

    def _run(self) -> None:
        due = time.perf_counter()
        while not self._over.is_set():
            self._awake.clear()
            if not self._tick():
                self._awake.wait()
                due = time.perf_counter()
                continue
            due = max(due + TICK, time.perf_counter() - TICK)
            self._over.wait(max(0.0, due - time.perf_counter()))

    def _tick(self) -> bool:
        try:
            return self._session.tick()
        except Exception:
            logging.getLogger(__name__).exception("the solver of the studio failed")
            self._session.give_up("The solver failed; what it said is in the terminal. Undo, or change a task.")
            return False
