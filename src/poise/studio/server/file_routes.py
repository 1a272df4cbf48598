"""The routes that upload files to the studio and download files from it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse, Response

from poise.errors import PoiseError
from poise.studio.control.files import LARGEST_FILE, saved_figure, saved_scene
from poise.studio.control.modes import Modes


def file_routes(modes: Modes) -> APIRouter:
    """The routes that open an uploaded file, and download the scene or the figure."""
    router = APIRouter(prefix="/studio")
    session = modes.session

    @router.post("/open")
    async def open_file(request: Request, name: str) -> Response:
        data = bytearray()
        async for chunk in request.stream():
            data += chunk
            if len(data) > LARGEST_FILE:
                return PlainTextResponse(f"{name} is larger than {LARGEST_FILE >> 20} MB.", status_code=413)
        try:
            await asyncio.to_thread(modes.inbox.take, name, bytes(data))
        except PoiseError as problem:
            return PlainTextResponse(str(problem), status_code=422)
        return Response(status_code=204)

    @router.get("/scene.toml")
    async def saved() -> Response:
        return _download(lambda: saved_scene(session))

    @router.get("/figure.toml")
    async def figure() -> Response:
        return _download(lambda: saved_figure(session))

    return router


def _download(make: Callable[[], tuple[str, bytes]]) -> Response:
    """A response with a file to download, or with the reason why there is none."""
    try:
        return attachment(*make())
    except PoiseError as problem:
        return PlainTextResponse(str(problem), status_code=422)


def attachment(name: str, data: bytes) -> Response:
    """A response with a file to download."""
    # A header is ASCII; browsers take a name with other letters from `filename*`.
    plain = "".join(letter if letter.isascii() else "_" for letter in name)
    attached = f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name)}"
    headers = {"Content-Disposition": attached, "Cache-Control": "no-store"}
    return Response(data, media_type="application/octet-stream", headers=headers)
