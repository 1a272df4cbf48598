"""Joint states for other programs, in and out over a web socket: JSON objects of values by joint [rad or m]."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, WebSocket

from poise.errors import FigureError
from poise.studio.session.postures import with_joint_values
from poise.studio.session.session import Session
from poise.studio.session.state import State
from poise.studio.wire.connection import Connection, Message

INTERVAL = 1.0 / 60.0
"""Shortest time between two messages [s]."""
LONGEST_STATE = 100_000
"""Longest message that is accepted [characters]."""


def joint_routes(session: Session) -> APIRouter:
    """The route `/studio/joints`, which sends the values of all joints after every change, and takes new ones."""
    router = APIRouter(prefix="/studio")

    @router.websocket("/joints")
    async def joints(socket: WebSocket) -> None:
        connection = Connection(socket, session)

        def compose() -> str:
            connection.acknowledge()  # other programs acknowledge nothing
            return json.dumps({"figure": session.state.figure.name, "joints": joint_states(session.state)})

        await connection.run(compose, lambda message: _take(session, message), interval=INTERVAL, longest=LONGEST_STATE)

    return router


def joint_states(state: State) -> dict[str, list[float]]:
    """The values of every joint that moves, by name [rad or m]."""
    figure, q = state.figure, state.posture.q
    return {joint.name: [float(v) for v in q[figure.q_slice(joint.name)]] for joint in figure.joints if joint.nq}


def _take(session: Session, message: Message) -> None:
    with contextlib.suppress(FigureError):
        put_joint_states(session, message["joints"])


def put_joint_states(session: Session, values: Mapping[str, Any]) -> None:
    """Give joints values, inside their limits; names that the figure does not have, and wrong sizes, are left out."""
    figure = session.state.figure
    known: dict[str, tuple[float, ...]] = {}
    for name, value in values.items():
        numbers = [float(v) for v in (value if isinstance(value, list | tuple) else [value])]
        if name in figure.joints and len(numbers) == figure.joints[name].nq and all(map(math.isfinite, numbers)):
            known[name] = tuple(numbers)
    if not known:
        raise FigureError(f"figure {figure.name!r} has none of these joints.")
    session.update(lambda state: with_joint_values(state, known), gesture="joint states")
