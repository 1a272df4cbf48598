"""The connection of modes: sends plots and drawings to pages, and receives what users do in them."""

from __future__ import annotations

import asyncio
import json
import tempfile
from pathlib import Path

from fastapi import APIRouter, WebSocket
from fastapi.responses import PlainTextResponse, Response

from poise.errors import PoiseError
from poise.formats.table.posture_json import posture_text
from poise.studio.control.modes import Known, Modes
from poise.studio.modes.retarget.retarget import exported
from poise.studio.wire.connection import Connection

MESSAGE_INTERVAL = 1.0 / 40.0
"""Shortest time between two messages [s]."""


def mode_routes(modes: Modes) -> APIRouter:
    """The routes of the modes: their connection, and downloads of motions, mappings and postures."""
    router = APIRouter(prefix="/studio")

    @router.websocket("/mode")
    async def talk(socket: WebSocket) -> None:
        known = Known()
        await Connection(socket, modes.session).run(
            lambda: news_text(modes, known), modes.hear, interval=MESSAGE_INTERVAL
        )

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


def news_text(modes: Modes, known: Known) -> str | None:
    """The changes that a page does not know yet, as JSON; None if there are none."""
    news = modes.news(known)
    return json.dumps(news) if news else None
