"""The connection of modes: sends plots and drawings to pages, and receives what users do in them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import tempfile
from pathlib import Path

from fastapi import APIRouter, WebSocket, WebSocketDisconnect
from fastapi.responses import PlainTextResponse, Response

from poise.errors import PoiseError
from poise.formats.table.posture_json import posture_text
from poise.studio.control.modes import Known, Modes
from poise.studio.modes.retarget.retarget import exported
from poise.studio.wire.feed import Feed

MESSAGE_INTERVAL = 1.0 / 40.0
"""Shortest time between two messages [s]."""
LONGEST_MODE_MESSAGE = 1000
"""Longest message that is accepted from a page [characters]."""


def mode_routes(modes: Modes) -> APIRouter:
    """The routes of the modes: their connection, and downloads of motions, mappings and postures."""
    router = APIRouter(prefix="/studio")

    @router.websocket("/mode")
    async def talk(socket: WebSocket) -> None:
        await socket.accept()
        feed = Feed(modes.session)
        sender = asyncio.create_task(_send(socket, modes, feed))
        try:
            await feed.receive(socket, lambda text: hear(modes, text))
        finally:
            feed.close()
            sender.cancel()

    @router.get("/motion.{ending}")
    async def motion(ending: str) -> Response:
        return await asyncio.to_thread(_file, modes, f"motion.{ending}")

    @router.get("/pairs.toml")
    async def pairs() -> Response:
        return await asyncio.to_thread(_file, modes, "pairs.toml")

    @router.get("/posture.json")
    async def posture() -> Response:
        headers = {"Content-Disposition": "attachment; filename=posture.json", "Cache-Control": "no-store"}
        return Response(posture_text(modes.session.state.posture), media_type="application/json", headers=headers)

    return router


def _file(modes: Modes, name: str) -> Response:
    """A response with the motion or mapping of the retarget mode as a file to download."""
    with tempfile.TemporaryDirectory(prefix="poise-export-") as folder:
        path = Path(folder) / name
        try:
            exported(modes.session.state, path)
        except PoiseError as problem:
            return PlainTextResponse(str(problem).replace(f"{folder}/", ""), status_code=422)
        headers = {"Content-Disposition": f"attachment; filename={name}", "Cache-Control": "no-store"}
        return Response(path.read_bytes(), media_type="application/octet-stream", headers=headers)


async def _send(socket: WebSocket, modes: Modes, feed: Feed) -> None:
    known = Known()
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        while True:
            await feed.turn()
            news = modes.news(known)
            if news:
                await socket.send_text(json.dumps(news))
            else:
                feed.acknowledge()
            await asyncio.sleep(MESSAGE_INTERVAL)


def hear(modes: Modes, text: str) -> None:
    """Handle a message from a page; malformed and outdated messages are ignored."""
    with contextlib.suppress(ValueError, TypeError, KeyError, IndexError, PoiseError):
        modes.hear(json.loads(text) if len(text) <= LONGEST_MODE_MESSAGE else {})
