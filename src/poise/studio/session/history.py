"""Undo and redo."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

Moment = TypeVar("Moment")
DEPTH = 200
"""How many changes can be undone."""


@dataclass
class History(Generic[Moment]):
    """Moments one can go back to, and forth again."""

    past: list[Moment] = field(default_factory=list)
    future: list[Moment] = field(default_factory=list)
    gesture: object = None
    """What is being done; going on with it adds no moment."""

    def remember(self, moment: Moment, gesture: object = None) -> None:
        """Keep the moment before a change; changes of one gesture are undone together."""
        if gesture is not None and gesture == self.gesture:
            return
        self.gesture = gesture
        self.past = [*self.past, moment][-DEPTH:]
        self.future = []

    def back(self, now: Moment) -> Moment | None:
        """The moment before the last change, if there was one."""
        return self._between(self.past, self.future, now)

    def forth(self, now: Moment) -> Moment | None:
        """The moment that was undone last, if there is one."""
        return self._between(self.future, self.past, now)

    def _between(self, source: list[Moment], other: list[Moment], now: Moment) -> Moment | None:
        self.gesture = None
        if not source:
            return None
        other.append(now)
        return source.pop()
