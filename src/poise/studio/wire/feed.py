"""When a page is told something: after every change, and never more than it can take in."""

from __future__ import annotations

import asyncio
import contextlib

from poise.studio.session.session import Session

UNDER_WAY = 2
"""Messages that a page may not have seen yet."""
SEEN = "seen"
"""What a page says of every message once it has taken it in."""


class Feed:
    """Lets a sender wait for its turn; a page that is slow misses what came between, and is not behind for long."""

    def __init__(self, session: Session) -> None:
        """Listen to a session from the event loop that runs; `close` ends that."""
        self._loop = asyncio.get_running_loop()
        self._changed, self._free = asyncio.Event(), asyncio.BoundedSemaphore(UNDER_WAY)
        self._changed.set()
        self.close = session.subscribe(self._wake)

    def _wake(self) -> None:
        with contextlib.suppress(RuntimeError):  # the server ends while a step is taken
            self._loop.call_soon_threadsafe(self._changed.set)

    async def turn(self) -> None:
        """Wait until there is something new and the page has seen enough of what it was told."""
        await self._changed.wait()
        await self._free.acquire()
        self._changed.clear()

    def seen(self) -> None:
        """One message less is under way."""
        with contextlib.suppress(ValueError):  # it was never sent
            self._free.release()
