"""What all pages share: the state, what it was before, and who wants to know when it changes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from poise.studio.session.history import History
from poise.studio.session.live import Live
from poise.studio.session.state import State


class Shared:
    """One state after another; `Pulling`, `Asking` and `Session` say which may follow."""

    def __init__(self, state: State) -> None:
        """Begin with a state."""
        self._lock = threading.RLock()
        self._listeners: list[Callable[[], object]] = []
        self._history: History[State] = History()
        self._live: Live | None = None
        self._restless = True
        self._state = state

    @property
    def state(self) -> State:
        """The state now; it never changes, there will be another."""
        return self._state

    @property
    def can_undo(self) -> bool:
        """Whether there is a change to undo."""
        return bool(self._history.past)

    @property
    def can_redo(self) -> bool:
        """Whether there is a change to do again."""
        return bool(self._history.future)

    @property
    def rests(self) -> bool:
        """Whether the figure stays as it is until somebody does something."""
        return not self._restless

    def _put(self, *, wake: bool = True, **fields: Any) -> None:
        self._restless = self._restless or wake
        self._state = replace(self._state, step=self._state.step + 1, **fields)

    def _show(self, moment: State) -> None:
        """Show the state of another moment; the counters of what is shown go on."""
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
        self._restless = True

    def show(self, what: str, shown: bool) -> None:
        """Draw something more or less on all pages, such as "torques"; nothing that could be undone."""
        with self._lock:
            others = self._state.shown - {what}
            self._put(wake=False, shown=others | {what} if shown else others)
        self._tell()

    def subscribe(self, listener: Callable[[], object]) -> Callable[[], None]:
        """Call `listener` after every change, in the thread that made it; the answer ends that."""
        with self._lock:
            self._listeners.append(listener)

        def unsubscribe() -> None:
            with self._lock:
                self._listeners.remove(listener)

        return unsubscribe

    def _tell(self) -> None:
        with self._lock:
            listeners = tuple(self._listeners)
        for listener in listeners:
            listener()
