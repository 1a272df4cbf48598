"""The routes that upload files to the studio and download files from it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response

from poise.errors import PoiseError
from poise.studio.control.files import LARGEST_FILE, saved_figure, saved_scene
from poise.studio.control.modes import Modes


def file_routes(modes: Modes) -> APIRouter:
    """The routes that open an uploaded file, and download the scene or the figure."""
    router = APIRouter(prefix="/studio")
    session = modes.session

    @router.post("/open")
    async def open_file(request: Request, name: str) -> Response:
        try:
            path = modes.inbox.place(name)
            await store(request, path)
        except PoiseError as problem:
            return PlainTextResponse(str(problem), status_code=422)
        return await answered(lambda: modes.inbox.open(path))

    @router.post("/choose")
    async def choose(name: str) -> Response:
        return await answered(lambda: modes.inbox.choose(name))

    async def answered(opens: Callable[[], str]) -> Response:
        """What the page has to show after a file was opened: a sentence, and files to choose from; or the reason."""
        try:
            said = await asyncio.to_thread(opens)
        except PoiseError as problem:
            return PlainTextResponse(str(problem), status_code=422)
        return JSONResponse({"said": said, "choices": list(modes.inbox.choices)})

    @router.get("/scene.toml")
    async def saved() -> Response:
        return await asyncio.to_thread(_download, lambda: saved_scene(session, modes.inbox.folder))

    @router.get("/figure.toml")
    async def figure() -> Response:
        return await asyncio.to_thread(_download, lambda: saved_figure(session))

    return router


async def store(request: Request, path: Path) -> None:
    """Write what a page sends to a file; raises `PoiseError` if it is too large, or cannot be written."""
    try:
        with path.open("wb") as file:
            async for chunk in request.stream():
                file.write(chunk)
                if file.tell() > LARGEST_FILE:
                    raise PoiseError(f"{path.name} is larger than {LARGEST_FILE >> 20} MB.")
    except OSError as problem:
        raise PoiseError(f"{path.name} cannot be stored: {(problem.strerror or str(problem)).lower()}.") from None


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
