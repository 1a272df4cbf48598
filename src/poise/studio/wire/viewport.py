"""The viewport: sends the geometry on request and a frame after every change, and receives the pointer."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, WebSocket
from fastapi.responses import Response

from poise.errors import NotReadyError, TaskError
from poise.figure.model.pose import Pose
from poise.studio.session.changes import scene_change, with_target, with_targets_moved
from poise.studio.session.edits.loads import with_arrow
from poise.studio.session.edits.obstacles import with_obstacle_at
from poise.studio.session.pulls import dragged, gripped, pressed, pull_of, released, twisted, with_pin
from poise.studio.session.session import Session
from poise.studio.wire.connection import Connection, Message
from poise.studio.wire.frames import packed
from poise.studio.wire.geometry import geometry

FRAME_INTERVAL = 1.0 / 120.0
"""Shortest time between two frames [s]."""


def viewport_routes(session: Session) -> APIRouter:
    """The routes that send geometry and frames to viewports."""
    router = APIRouter(prefix="/studio")

    @router.get("/geometry")
    async def geometry_now() -> Response:
        body = await asyncio.to_thread(geometry, session.state)
        return Response(body, media_type="application/octet-stream", headers={"Cache-Control": "no-store"})

    @router.websocket("/stream")
    async def stream(socket: WebSocket) -> None:
        try:
            await Connection(socket, session).run(
                lambda: packed(session.state), lambda message: point(session, socket, message), interval=FRAME_INTERVAL
            )
        finally:
            _release(session, socket, {})

    return router


def point(session: Session, owner: object, message: Message) -> None:
    """Handle a message from a pointer; does nothing if it is about a figure that is no longer shown."""
    what = message["do"]
    if what == "release" or message["figure"] == session.state.figure_number:
        try:
            ACTIONS[what](session, owner, message)
        except NotReadyError:
            session.say_not_ready()


def _press(session: Session, owner: object, message: Message) -> None:
    body = int(message["body"])
    session.update(lambda state: pressed(state, owner, body, message["point"]), undoable=False)


def _grip(session: Session, owner: object, message: Message) -> None:
    number = int(message["freedom"])
    session.update(lambda state: gripped(state, owner, number), undoable=False)


def _drag(session: Session, owner: object, message: Message) -> None:
    session.update(lambda state: dragged(state, owner, message["at"]), gesture=_gesture(session, owner))


def _twist(session: Session, owner: object, message: Message) -> None:
    number, amount = int(message["freedom"]), _finite(message["amount"])
    session.update(lambda state: twisted(state, owner, number, amount), gesture=_gesture(session, owner))


def _gesture(session: Session, owner: object) -> object:
    """Identifies the owner's drag, which is undone as a whole; its task stays the same from press to release."""
    pull = pull_of(session.state, owner)
    return None if pull is None else pull.task


def _release(session: Session, owner: object, message: Message) -> None:
    session.update(lambda state: released(state, owner), undoable=False)


def _pin(session: Session, owner: object, message: Message) -> None:
    body = int(message["body"])
    session.update(lambda state: with_pin(state, body, message["point"]))


def _aim(session: Session, owner: object, message: Message) -> None:
    number, gesture = int(message["task"]), ("aim", int(message["task"]), message["gesture"])
    others = [int(other) for other in message.get("with", ())]
    if others:
        session.update(lambda state: with_targets_moved(state, number, others, message["at"]), gesture=gesture)
    else:
        session.update(
            lambda state: with_target(state, number, message["at"], message.get("rotation")), gesture=gesture
        )


def _obstacle(session: Session, owner: object, message: Message) -> None:
    number, pose = int(message["obstacle"]), Pose(message["at"], message["rotation"])
    session.update(scene_change(with_obstacle_at, number, pose), gesture=("obstacle", number, message["gesture"]))


def _force(session: Session, owner: object, message: Message) -> None:
    number, kind, posture = int(message["force"]), str(message["part"]), session.state.posture
    change = scene_change(with_arrow, number, kind, message["arrow"], posture)
    session.update(change, gesture=("force", number, message["gesture"]))


ACTIONS: dict[str, Callable[[Session, object, Message], None]] = {
    "press": _press,
    "drag": _drag,
    "grip": _grip,
    "twist": _twist,
    "release": _release,
    "pin": _pin,
    "aim": _aim,
    "obstacle": _obstacle,
    "force": _force,
}
"""The function for each value of "do" in a message."""


def _finite(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise TaskError(f"the amount of a turn must be a finite number, not {value!r}.")
    return number
