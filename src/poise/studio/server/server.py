"""The studio's web server: the pages, their connections, and the guard in front of them."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import socket
import threading
import webbrowser
from collections.abc import Callable, Sequence

import uvicorn
from fastapi import FastAPI
from nicegui import app as nicegui_app
from nicegui import ui

from poise.studio.control.modes import Modes
from poise.studio.server.animation_routes import animation_routes
from poise.studio.server.autosave import Autosave, autosave_file, dropped_files, forget_unused
from poise.studio.server.file_routes import file_routes
from poise.studio.server.mode_routes import mode_routes
from poise.studio.server.page import StudioPage
from poise.studio.server.waiting import WaitingPage
from poise.studio.session.readiness import Progress, all_ready
from poise.studio.session.session import Session
from poise.studio.session.stepping import SolverThread
from poise.studio.wire.joints import joint_routes
from poise.studio.wire.viewport import viewport_routes
from poise.web.guard import KEY_PARAMETER, Guard
from poise.web.keys import new_key, stored_key
from poise.web.listening import host_in_address, is_local, listening

RECONNECT_TIME = 60.0
"""Time within which a page can reconnect without being reloaded; a compiling server may be silent that long [s]."""
SHUTDOWN_TIME = 1
"""Time that open connections may delay the end of the server [s]."""


def serve(
    session: Session | Callable[[], Session],
    *,
    host: str = "127.0.0.1",
    port: int = 8123,
    open_browser: bool = True,
    progress: Progress = all_ready,
    recover: bool = False,
) -> None:
    """Print the studio's address and serve it until Ctrl-C.

    Args:
        session: The session that the pages show, or a function that makes it; a page says what is being got ready
            until the function returns.
        host: The address to listen at; 127.0.0.1 can be reached from this machine only.
        port: The port to listen at; if it is in use, the next free one.
        open_browser: Whether to open the page in a browser.
        progress: How far the studio has got with getting ready, which the pages show.
        recover: Whether to open the scene that the studio at this port showed last.
    """
    listener = listening(host, port)
    found = int(listener.getsockname()[1])
    if port not in (found, 0):
        print(f"port {port} is in use, so the studio listens at port {found}.", flush=True)
    key = stored_key() if is_local(host) else new_key()
    address = f"http://{host_in_address(host)}:{found}/?{KEY_PARAMETER}={key}"
    if not is_local(host):
        print(f"everyone who can reach {host} over the network and has the key can use the studio.", flush=True)
    print(f"poise studio: {address}", flush=True)
    if open_browser:
        threading.Timer(0.5, webbrowser.open, [address]).start()
    if not isinstance(session, Session):
        with WaitingPage(listener, progress):
            session = session()
    modes = Modes(session, dropped_files(found) if port else None)
    autosave = Autosave(modes, autosave_file(found)) if port else None
    if autosave is not None and recover:
        autosave.recover()
    if port:
        forget_unused(modes)
    guarded = Guard(application(modes, progress), key=key, port=found, local=is_local(host))
    config = uvicorn.Config(
        guarded, log_level="warning", timeout_graceful_shutdown=SHUTDOWN_TIME, ws_per_message_deflate=False
    )
    with contextlib.suppress(KeyboardInterrupt):
        _Server(config, [SolverThread(session), *([autosave] if autosave else [])]).run(sockets=[listener])


class ClosedPages:
    """Frees the memory of closed pages, 4 MB each.

    Their parts refer to each other, and Python would look for such garbage only once there is a quarter more of it than
    of everything else: after dozens of pages.
    """

    def __init__(self) -> None:
        self._is_planned = False

    def collect_soon(self) -> None:
        """A page is being deleted: look for garbage when that is done, once for pages that go at one moment."""
        if not self._is_planned:
            self._is_planned = True
            asyncio.get_running_loop().call_soon(self._collect)

    def _collect(self) -> None:
        self._is_planned = False
        gc.collect()


class _Server(uvicorn.Server):
    """A server that runs the solver thread and the one that saves while it serves.

    The threads start after the server: NiceGUI's startup walks through all objects of the process, and a thread that
    creates tuples meanwhile may fail.
    """

    def __init__(self, config: uvicorn.Config, threads: Sequence[SolverThread | Autosave]) -> None:
        super().__init__(config)
        self.threads = threads

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        nicegui_app.on_delete(ClosedPages().collect_soon)
        for thread in self.threads:
            thread.start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for thread in self.threads:
            thread.stop()
        await super().shutdown(sockets)


def application(modes: Modes, progress: Progress = all_ready) -> FastAPI:
    """The application with all pages and routes, without the guard."""
    session = modes.session
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.include_router(viewport_routes(session))
    app.include_router(file_routes(modes))
    app.include_router(mode_routes(modes))
    app.include_router(animation_routes(modes))
    app.include_router(joint_routes(session))

    @ui.page("/")
    def _page() -> None:
        StudioPage(session, modes, progress)

    # Tailwind would scan the page's styles again whenever a panel changes.
    ui.run_with(
        app,
        title="poise studio",
        favicon="🦩",
        dark=None,
        tailwind=False,
        show_welcome_message=False,
        reconnect_timeout=RECONNECT_TIME,
    )
    return app
