"""Flow control for messages to a page: at most two are sent without an acknowledgement from the page."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

from fastapi import WebSocket, WebSocketDisconnect

from poise.studio.session.session import Session

MESSAGES_IN_FLIGHT = 2
"""Largest number of messages that a page has not acknowledged yet."""
ACKNOWLEDGED = "seen"
"""The page's answer to every message, once it has processed it."""


class Feed:
    """Makes a sender wait until there is a change and the page is ready; a slow page skips states in between."""

    def __init__(self, session: Session) -> None:
        """Listen to a session from the running event loop; `close` ends that."""
        self._loop = asyncio.get_running_loop()
        self._changed, self._free = asyncio.Event(), asyncio.BoundedSemaphore(MESSAGES_IN_FLIGHT)
        self._changed.set()
        self.close = session.subscribe(self._wake)

    def _wake(self) -> None:
        with contextlib.suppress(RuntimeError):  # the event loop was closed during a solver step
            self._loop.call_soon_threadsafe(self._changed.set)

    async def turn(self) -> None:
        """Wait until the state has changed and the page has acknowledged enough messages."""
        await self._changed.wait()
        await self._free.acquire()
        self._changed.clear()

    async def receive(self, socket: WebSocket, handle: Callable[[str], object]) -> None:
        """Call `handle` with every message of a page until the page disconnects; count its acknowledgements here."""
        with contextlib.suppress(WebSocketDisconnect, KeyError, RuntimeError):
            while True:
                text = await socket.receive_text()
                if text == ACKNOWLEDGED:
                    self.acknowledge()
                else:
                    handle(text)

    def acknowledge(self) -> None:
        """Note that the page has acknowledged a message."""
        with contextlib.suppress(ValueError):  # more acknowledgements than messages
            self._free.release()
