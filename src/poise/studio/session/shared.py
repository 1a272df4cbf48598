"""The base of the session: the present state, its undo history, and the listeners to its changes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from poise.studio.session.history import History
from poise.studio.session.live import Live
from poise.studio.session.state import State


class Shared:
    """Holds an immutable state and replaces it; `Asking`, `Pulling` and `Session` add the operations."""

    def __init__(self, state: State) -> None:
        """Start with a state."""
        self._lock = threading.RLock()
        self._listeners: list[Callable[[], object]] = []
        self._history: History[State] = History()
        self._live: Live | None = None
        self._needs_step = True
        self._state = state

    @property
    def state(self) -> State:
        """The present state, an immutable object that every change replaces."""
        return self._state

    @property
    def can_undo(self) -> bool:
        """Whether there is a change to undo."""
        return bool(self._history.past)

    @property
    def can_redo(self) -> bool:
        """Whether there is a change to redo."""
        return bool(self._history.future)

    @property
    def rests(self) -> bool:
        """Whether the figure stays in its posture until something changes."""
        return not self._needs_step

    def _set(self, *, wake: bool = True, **fields: Any) -> None:
        """Replace fields of the state; `wake` makes the solver step again."""
        self._needs_step = self._needs_step or wake
        self._state = replace(self._state, step=self._state.step + 1, **fields)

    def _restore(self, moment: State) -> None:
        """Replace the state by another one, as undo does; its counters continue from the present ones."""
        now = self._state
        self._live = None
        is_new = moment.figure is not now.figure or moment.look is not now.look
        self._state = replace(
            moment,
            pulls=(),
            shown=now.shown,
            figure_number=now.figure_number + is_new,
            scene_number=now.scene_number + 1,
            step=now.step + 1,
        )
        self._needs_step = True

    def show(self, what: str, shown: bool) -> None:
        """Show or hide an optional drawing on all pages, such as "torques"; this cannot be undone."""
        with self._lock:
            others = self._state.shown - {what}
            self._set(wake=False, shown=others | {what} if shown else others)
        self._notify()

    def subscribe(self, listener: Callable[[], object]) -> Callable[[], None]:
        """Call `listener` after every change, in the thread that made it; returns a function that unsubscribes it."""
        with self._lock:
            self._listeners.append(listener)

        def unsubscribe() -> None:
            with self._lock:
                self._listeners.remove(listener)

        return unsubscribe

    def _notify(self) -> None:
        with self._lock:
            listeners = tuple(self._listeners)
        for listener in listeners:
            listener()
