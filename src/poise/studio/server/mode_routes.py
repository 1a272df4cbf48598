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
from poise.studio.modes.retarget.retarget import exported, exported_for, motion_stem
from poise.studio.server.file_routes import attachment
from poise.studio.session.edits.temporary_figures import file_stem
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

    @router.get("/motion/for/{kind}")
    async def motion_for(kind: str) -> Response:
        return await asyncio.to_thread(_file_for, modes, kind)

    @router.get("/pairs.toml")
    async def pairs() -> Response:
        return await asyncio.to_thread(_file, modes, "pairs.toml")

    @router.get("/posture.json")
    async def posture() -> Response:
        state = modes.session.state
        return attachment(f"{file_stem(f'{state.figure.name} posture')}.json", posture_text(state.posture).encode())

    return router


def _file(modes: Modes, name: str) -> Response:
    """A response with the motion or mapping of the retarget mode as a file to download."""
    with tempfile.TemporaryDirectory(prefix="poise-export-") as folder:
        path = Path(folder) / name
        try:
            exported(modes.session.state, path)
        except PoiseError as problem:
            return PlainTextResponse(str(problem).replace(f"{folder}/", ""), status_code=422)
        ending = "_pairs.toml" if path.suffix == ".toml" else path.suffix
        return attachment(f"{file_stem(motion_stem(modes.session.state))}{ending}", path.read_bytes())


def _file_for(modes: Modes, kind: str) -> Response:
    """A response with the motion of the retarget mode for a program that trains robots."""
    with tempfile.TemporaryDirectory(prefix="poise-export-") as folder:
        state = modes.session.state
        stem = file_stem(motion_stem(state))
        try:
            path = exported_for(state, Path(folder) / f"{stem}_{file_stem(kind)}", kind)
        except PoiseError as problem:
            return PlainTextResponse(str(problem).replace(f"{folder}/", ""), status_code=422)
        return attachment(path.name, path.read_bytes())


def news_text(modes: Modes, known: Known) -> str | None:
    """The changes that a page does not know yet, as JSON; None if there are none."""
    news = modes.news(known)
    return json.dumps(news) if news else None
