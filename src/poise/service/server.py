"""The server: one address for programs of this machine, with a key."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import uvicorn
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket

import poise
from poise.service.connection import Connection
from poise.service.requests import PROTOCOL
from poise.web.guard import KEY_PARAMETER, Guard
from poise.web.keys import new_key
from poise.web.listening import listening

HOST, PATH = "127.0.0.1", "/poise"
LONGEST_REQUEST = 256 * 1024 * 1024
"""Longest message that is accepted [bytes]: half an hour of a hundred bones."""
SHUTDOWN_TIME = 1
"""Time that open connections may delay the end of the server [s]."""


def serve(*, port: int = 0, until: Callable[[], object] | None = None) -> None:
    """Print the address as JSON on one line, and serve until Ctrl-C.

    Args:
        port: The port to listen at; if it is in use, the next free one. 0 lets the system choose.
        until: A function that is called in a thread of its own; the server ends when it returns.
    """
    listener = listening(HOST, port, "poise serve")
    found, key = int(listener.getsockname()[1]), new_key()
    config = uvicorn.Config(
        Guard(application(), key=key, port=found, for_programs=True, who="poise serve"),
        log_level="critical",  # uvicorn calls every refused client an error
        lifespan="off",
        timeout_graceful_shutdown=SHUTDOWN_TIME,
        ws_max_size=LONGEST_REQUEST,
        ws_per_message_deflate=False,
    )
    server = uvicorn.Server(config)
    if until is not None:
        threading.Thread(target=_end_after, args=(until, server), name="poise parent", daemon=True).start()
    print(json.dumps(_about(found, key)), flush=True)
    try:
        server.run(sockets=[listener])
    except KeyboardInterrupt:
        return
    finally:
        listener.close()


def application() -> Starlette:
    """The application, without the guard."""

    async def talk(socket: WebSocket) -> None:
        # A thread for each client, so that nobody waits for a long clip of another one.
        solver = ThreadPoolExecutor(max_workers=1, thread_name_prefix="poise solver")
        try:
            await Connection(socket, solver).run()
        finally:
            solver.shutdown(wait=False)

    return Starlette(routes=[WebSocketRoute(PATH, talk)])


def parent_is_gone() -> None:
    """Return when standard input is closed, as it is when the program at its other end has ended."""
    while sys.stdin.buffer.read(4096):
        pass


def _about(port: int, key: str) -> dict[str, object]:
    """What a client needs to know."""
    address = f"ws://{HOST}:{port}{PATH}?{KEY_PARAMETER}={key}"
    return {"poise": poise.__version__, "protocol": PROTOCOL, "address": address, "port": port, "key": key}


def _end_after(until: Callable[[], object], server: uvicorn.Server) -> None:
    until()
    server.should_exit = True
