"""The routes that download the animation of the pose mode: as a motion file, and as frames for films."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import numpy as np
from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse, Response

from poise.errors import PoiseError
from poise.formats.trainers.kinds import write_for
from poise.studio.control.modes import Modes
from poise.studio.server.file_routes import store
from poise.studio.session.edits.temporary_figures import file_name
from poise.studio.wire.frames import bodies_table


def animation_routes(modes: Modes) -> APIRouter:
    """The routes of the animation: downloads, and the upload of a clip that plays under its keys."""
    router = APIRouter(prefix="/studio/animation")

    @router.get("/motion.{ending}")
    async def motion(ending: str) -> Response:
        return await asyncio.to_thread(_motion_file, modes, ending, None)

    @router.get("/for/{kind}")
    async def motion_for(kind: str) -> Response:
        return await asyncio.to_thread(_motion_file, modes, "", kind)

    @router.get("/frames")
    async def frames() -> Response:
        return await asyncio.to_thread(_frames, modes)

    @router.post("/clip")
    async def clip(request: Request, name: str) -> Response:
        try:
            path = modes.inbox.place(name)
            await store(request, path)
            await asyncio.to_thread(lambda: modes.take_clip_under_keys(path.name, path.read_bytes()))
        except PoiseError as problem:
            return PlainTextResponse(str(problem), status_code=422)
        return Response(status_code=204)

    return router


def _motion_file(modes: Modes, ending: str, kind: str | None) -> Response:
    """A response with the motion as a file, in a format of poise or for a program that trains robots."""
    with tempfile.TemporaryDirectory(prefix="poise-export-") as folder:
        try:
            motion = modes.pose.timeline.motion()
            stem = file_name(motion.figure).removesuffix(".figure.toml")
            path = Path(folder) / (f"{stem}.{ending}" if kind is None else f"{stem}_{kind}")
            if kind is None:
                motion.save(path)
            else:
                path = write_for(motion, path, kind)
        except PoiseError as problem:
            return PlainTextResponse(str(problem).replace(f"{folder}/", ""), status_code=422)
        headers = {"Content-Disposition": f"attachment; filename={path.name}", "Cache-Control": "no-store"}
        return Response(path.read_bytes(), media_type="application/octet-stream", headers=headers)


def _frames(modes: Modes) -> Response:
    """The table of bodies of every frame, as float32."""
    try:
        motion = modes.pose.timeline.motion()
    except PoiseError as problem:
        return PlainTextResponse(str(problem), status_code=422)
    figure = motion.figure
    rows = np.concatenate([np.ravel(bodies_table(figure, figure.frames(posture))) for posture in motion])
    headers = {"X-Frames": str(len(motion)), "X-Rate": f"{motion.rate:g}", "Cache-Control": "no-store"}
    return Response(rows.astype("<f4").tobytes(), media_type="application/octet-stream", headers=headers)
