"""A client's connection: reads messages, answers them one after another, and forgets everything when it ends."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from poise.errors import PoiseError
from poise.service.inbox import Inbox, Message
from poise.service.requests import Requests
from poise.service.wire import pack, unpack

CAME_AS_BYTES = " binary"
"""Key that notes of a message whether it came as bytes; no client can send it, as the reader sets it."""
AT_ONCE = "stop"
"""What is not to wait for answers to earlier messages: servos stop at once."""
log = logging.getLogger(__name__)


class Connection:
    """One client."""

    def __init__(self, socket: WebSocket, solver: Executor) -> None:
        """Begin with no figures; `solver` runs what takes time."""
        self._socket, self._solver = socket, solver
        self._inbox = Inbox()
        self._sending = asyncio.Lock()
        loop = asyncio.get_running_loop()

        def event(word: str) -> Callable[[str], object]:
            def tell(sentence: str) -> None:
                with contextlib.suppress(RuntimeError):  # the loop has ended
                    asyncio.run_coroutine_threadsafe(self._send({"event": word, "text": sentence}), loop)

            return tell

        self._requests = Requests(event("dry run"), event("servos"))

    async def run(self) -> None:
        """Read and answer until the client goes."""
        await self._socket.accept()
        worker = asyncio.create_task(self._work())
        try:
            await self._read()
        finally:
            worker.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await worker
            await asyncio.to_thread(self._requests.servos.stop_all)  # without waiting for a solve that goes on
            await asyncio.get_running_loop().run_in_executor(self._solver, self._requests.close)

    async def _read(self) -> None:
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):
            while True:
                received = await self._socket.receive()
                if received["type"] == "websocket.disconnect":
                    return
                text = received.get("text")
                try:
                    message = unpack(received["bytes"] if text is None else text)
                except PoiseError as problem:
                    await self._send({"error": str(problem)})
                    continue
                message |= {CAME_AS_BYTES: text is None}
                if message.get("do") == AT_ONCE:
                    await self._reply(message, await asyncio.to_thread(self._answer, message))
                    continue
                replaced = await self._inbox.put(message)
                if replaced is not None:
                    await self._reply(replaced, _named(replaced) | {"replaced": True})

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            message = await self._inbox.get()
            answer = await loop.run_in_executor(self._solver, self._answer, message)
            await self._reply(message, answer)

    def _answer(self, message: Message) -> dict[str, Any]:
        try:
            return self._requests.answer({key: value for key, value in message.items() if key != CAME_AS_BYTES})
        except Exception as problem:
            log.exception("a request failed")
            return _named(message) | {"error": f"poise failed, which is its fault: {type(problem).__name__}: {problem}"}

    async def _reply(self, message: Message, answer: dict[str, Any]) -> None:
        await self._send(answer, binary=message[CAME_AS_BYTES])

    async def _send(self, answer: dict[str, Any], *, binary: bool = False) -> None:
        packed = pack(answer, binary=binary)
        async with self._sending:
            with contextlib.suppress(WebSocketDisconnect, RuntimeError):  # the client has gone
                await (self._socket.send_bytes(packed) if isinstance(packed, bytes) else self._socket.send_text(packed))


def _named(message: Message) -> dict[str, Any]:
    """The fields of a message that its answer repeats."""
    return {key: message[key] for key in ("id", "do") if key in message}
