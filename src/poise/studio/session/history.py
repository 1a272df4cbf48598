"""Undo and redo."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

Moment = TypeVar("Moment")
HISTORY_LENGTH = 200
"""Number of changes that can be undone."""


@dataclass
class History(Generic[Moment]):
    """The undo and redo stacks of a state."""

    past: list[Moment] = field(default_factory=list)
    """States that undo restores, the newest last."""
    future: list[Moment] = field(default_factory=list)
    """States that redo restores, the newest last."""
    gesture: object = None
    """Identifies the present gesture, such as one drag; its further changes add no state to undo."""

    def remember(self, moment: Moment, gesture: object = None) -> None:
        """Store the state before a change; changes with the same gesture are undone together."""
        if gesture is not None and gesture == self.gesture:
            return
        self.gesture = gesture
        self.past = [*self.past, moment][-HISTORY_LENGTH:]
        self.future = []

    def back(self, now: Moment) -> Moment | None:
        """The state before the last change, to be restored by undo; None if there is none."""
        return self._move_last(self.past, self.future, now)

    def forth(self, now: Moment) -> Moment | None:
        """The state that was undone last, to be restored by redo; None if there is none."""
        return self._move_last(self.future, self.past, now)

    def _move_last(self, source: list[Moment], other: list[Moment], now: Moment) -> Moment | None:
        self.gesture = None
        if not source:
            return None
        other.append(now)
        return source.pop()
