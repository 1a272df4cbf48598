"""The viewport's own connection: geometry on request, the newest frame after every change, the pointer back."""

from __future__ import annotations

import asyncio
import contextlib

from fastapi import APIRouter, WebSocket, WebSocketDisconnect
from fastapi.responses import Response

from poise.studio.frames import packed
from poise.studio.geometry import geometry
from poise.studio.pointer import point
from poise.studio.session import Session

FASTEST = 1.0 / 120.0
"""Shortest time between two frames [s]; what changes meanwhile is sent with the next."""


def stream_routes(session: Session) -> APIRouter:
    """The routes that feed a viewport."""
    router = APIRouter(prefix="/studio")

    @router.get("/geometry")
    async def geometry_now() -> Response:
        body = await asyncio.to_thread(geometry, session.state)
        return Response(body, media_type="application/octet-stream", headers={"Cache-Control": "no-store"})

    @router.websocket("/stream")
    async def stream(socket: WebSocket) -> None:
        await socket.accept()
        changed = asyncio.Event()
        loop = asyncio.get_running_loop()
        unsubscribe = session.subscribe(lambda: _call(loop, changed))
        sender = asyncio.create_task(_send_frames(socket, session, changed))
        try:
            while True:
                point(session, socket, await socket.receive_text())
        except (WebSocketDisconnect, KeyError, RuntimeError):
            pass
        finally:
            unsubscribe()
            sender.cancel()
            session.release(socket)

    return router


def _call(loop: asyncio.AbstractEventLoop, changed: asyncio.Event) -> None:
    with contextlib.suppress(RuntimeError):  # the server ends while a step is taken
        loop.call_soon_threadsafe(changed.set)


async def _send_frames(socket: WebSocket, session: Session, changed: asyncio.Event) -> None:
    """Send the state now, and again whenever it has changed, until nobody listens."""
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        while True:
            changed.clear()
            await socket.send_bytes(packed(session.state))
            await asyncio.sleep(FASTEST)
            await changed.wait()
