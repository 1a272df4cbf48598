"""A page's connection: sends it the newest message after every change, and receives its messages.

At most two messages are sent without an acknowledgement from the page, so a slow page skips states in between.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Mapping
from typing import Any

from fastapi import WebSocket, WebSocketDisconnect

from poise.studio.session.session import Session

MESSAGES_IN_FLIGHT = 2
"""Largest number of messages that a page has not acknowledged yet."""
ACKNOWLEDGED = "seen"
"""The page's answer to every message, once it has processed it."""
LONGEST_MESSAGE = 1000
"""Longest message that is accepted from a page [characters]."""
Message = Mapping[str, Any]
Handler = Callable[[Message], object]


class Connection:
    """The only reader and writer of a web socket."""

    def __init__(self, socket: WebSocket, session: Session) -> None:
        """Listen to a session from the running event loop; `close` ends that."""
        self._socket, self._loop = socket, asyncio.get_running_loop()
        self._changed, self._free = asyncio.Event(), asyncio.BoundedSemaphore(MESSAGES_IN_FLIGHT)
        self._changed.set()
        self.close = session.subscribe(self._wake)

    def _wake(self) -> None:
        with contextlib.suppress(RuntimeError):  # the event loop was closed during a solver step
            self._loop.call_soon_threadsafe(self._changed.set)

    async def run(
        self,
        compose: Callable[[], bytes | str | None],
        handle: Handler,
        *,
        interval: float,
        longest: int = LONGEST_MESSAGE,
    ) -> None:
        """Send and receive until the page disconnects.

        Args:
            compose: The message about the newest state, None if there is nothing to send.
            handle: Called with every message of the page.
            interval: Shortest time between two messages; changes in between are sent with the next one [s].
            longest: Longest message that is accepted [characters].
        """
        await self._socket.accept()
        sender = asyncio.create_task(self.send(compose, interval))
        try:
            await self._receive(handle, longest)
        finally:
            self.close()
            sender.cancel()

    async def send(self, compose: Callable[[], bytes | str | None], interval: float) -> None:
        """Send a message now and after every change, until the page disconnects."""
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):
            while True:
                await self._changed.wait()
                await self._free.acquire()
                self._changed.clear()
                message = compose()
                if message is None:
                    self.acknowledge()
                elif isinstance(message, bytes):
                    await self._socket.send_bytes(message)
                else:
                    await self._socket.send_text(message)
                await asyncio.sleep(interval)

    async def _receive(self, handle: Handler, longest: int) -> None:
        with contextlib.suppress(WebSocketDisconnect, KeyError, RuntimeError):
            while True:
                text = await self._socket.receive_text()
                if text == ACKNOWLEDGED:
                    self.acknowledge()
                else:
                    take(text, handle, longest)

    def acknowledge(self) -> None:
        """Note that the page has acknowledged a message."""
        with contextlib.suppress(ValueError):  # more acknowledgements than messages
            self._free.release()


def take(text: str, handle: Handler, longest: int = LONGEST_MESSAGE) -> None:
    """Call `handle` with the message in a text; malformed and outdated messages are ignored."""
    with contextlib.suppress(ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RecursionError):
        handle(json.loads(text) if len(text) <= longest else {})
