"""Messages that wait for their answers: of those that ask for a solve of the same figure, the newest counts."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any

Message = dict[str, Any]
MOST_WAITING = 1000
"""Messages that may wait; a client that sends more is read again when there is room."""


class Inbox:
    """A queue in which a solve takes the place of one that waits directly before it."""

    def __init__(self) -> None:
        """Begin empty."""
        self._waiting: deque[Message] = deque()
        self._changed = asyncio.Condition()

    async def put(self, message: Message) -> Message | None:
        """Add a message; returns the one whose place it takes, if any, with whose targets it begins."""
        async with self._changed:
            await self._changed.wait_for(lambda: len(self._waiting) < MOST_WAITING)
            replaced = None
            if self._waiting and replaces(message, self._waiting[-1]):
                replaced = self._waiting.pop()
                message = message | merged(replaced, message)
            self._waiting.append(message)
            self._changed.notify_all()
            return replaced

    async def get(self) -> Message:
        """The message that has waited longest."""
        async with self._changed:
            await self._changed.wait_for(lambda: bool(self._waiting))
            message = self._waiting.popleft()
            self._changed.notify_all()
            return message


def replaces(new: Message, old: Message) -> bool:
    """Whether a message makes one that waits before it superfluous."""
    same = all(message.get("do") == "solve" for message in (new, old)) and new.get("figure") == old.get("figure")
    return same and all(isinstance(message.get("targets", {}), dict) for message in (new, old))


def merged(old: Message, new: Message) -> Message:
    """What a new message takes over from the one whose place it takes: its posture, and targets of other tasks."""
    found: Message = {}
    if "targets" in old:
        found["targets"] = old["targets"] | new.get("targets", {})
    if "pose" in old and "pose" not in new:
        found["pose"] = old["pose"]
    return found
