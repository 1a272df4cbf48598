"""The viewport's connection: sends the geometry on request and a frame after every change, receives the pointer."""

from __future__ import annotations

import asyncio
import contextlib

from fastapi import APIRouter, WebSocket, WebSocketDisconnect
from fastapi.responses import Response

from poise.studio.session.session import Session
from poise.studio.wire.feed import Feed
from poise.studio.wire.frames import packed
from poise.studio.wire.geometry import geometry
from poise.studio.wire.pointer import point

FRAME_INTERVAL = 1.0 / 120.0
"""Shortest time between two frames; changes in between are sent with the next frame [s]."""


def stream_routes(session: Session) -> APIRouter:
    """The routes that send geometry and frames to viewports."""
    router = APIRouter(prefix="/studio")

    @router.get("/geometry")
    async def geometry_now() -> Response:
        body = await asyncio.to_thread(geometry, session.state)
        return Response(body, media_type="application/octet-stream", headers={"Cache-Control": "no-store"})

    @router.websocket("/stream")
    async def stream(socket: WebSocket) -> None:
        await socket.accept()
        feed = Feed(session)
        sender = asyncio.create_task(_send_frames(socket, session, feed))
        try:
            await feed.receive(socket, lambda text: point(session, socket, text))
        finally:
            feed.close()
            sender.cancel()
            session.release(socket)

    return router


async def _send_frames(socket: WebSocket, session: Session, feed: Feed) -> None:
    """Send a frame now and after every change, until the page disconnects."""
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        while True:
            await feed.turn()
            await socket.send_bytes(packed(session.state))
            await asyncio.sleep(FRAME_INTERVAL)
