"""The undo and redo stacks of a session, bounded by their number and by their memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from poise.studio.session.state import State

HISTORY_LENGTH = 200
"""Largest number of changes that can be undone."""
HISTORY_BYTES = 64 << 20
"""Largest memory of the states that undo restores; the oldest are forgotten beyond it [bytes]."""
FIGURE_BYTES = 400 << 10
"""Memory of a figure with its arrays [bytes]; states of the same figure share it."""


@dataclass
class History:
    """The undo and redo stacks of a session."""

    past: list[State] = field(default_factory=list)
    """States that undo restores, the newest last."""
    future: list[State] = field(default_factory=list)
    """States that redo restores, the newest last."""
    gesture: object = None
    """Identifies the present gesture, such as one drag; its further changes add no state to undo."""

    def remember(self, state: State, gesture: object = None) -> None:
        """Store the state before a change; changes with the same gesture are undone together."""
        if gesture is not None and gesture == self.gesture:
            return
        self.gesture = gesture
        self.past = [*self.past, state][-HISTORY_LENGTH:]
        while len(self.past) > 1 and memory_of(self.past) > HISTORY_BYTES:
            self.past = self.past[1:]
        self.future = []

    def back(self, now: State) -> State | None:
        """The state before the last change, to be restored by undo; None if there is none."""
        return self._move_last(self.past, self.future, now)

    def forth(self, now: State) -> State | None:
        """The state that was undone last, to be restored by redo; None if there is none."""
        return self._move_last(self.future, self.past, now)

    def _move_last(self, source: list[State], other: list[State], now: State) -> State | None:
        self.gesture = None
        if not source:
            return None
        other.append(now)
        return source.pop()


def memory_of(states: Iterable[State]) -> int:
    """Memory of the figures and of the modes' results in some states; what they share is counted once [bytes]."""
    parts: dict[int, int] = {}
    for state in states:
        parts[id(state.figure)] = FIGURE_BYTES
        held, size = state.mode.memory()
        parts[id(held)] = size
    return sum(parts.values())
