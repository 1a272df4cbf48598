"""`poise studio`: the application in the browser."""

from __future__ import annotations

from typing import Annotated

import typer

from poise.cli.compiling import compiling_noted
from poise.cli.show import folder_of, loaded

PORT = 8123


def studio(
    figure: Annotated[str, typer.Argument(help="A built-in figure, or a file with a figure or a scene.")] = "human",
    port: Annotated[int, typer.Option(help="Where to listen; the next free port where this one is busy.")] = PORT,
    host: Annotated[str, typer.Option(help="Who may connect: 127.0.0.1 is this machine only.")] = "127.0.0.1",
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open a browser.")] = False,
) -> None:
    """Open the studio: pose figures in the browser.

    [bold]poise studio[/] starts with the human; Ctrl-C ends it.

    [bold]poise studio robot.urdf --port 9000 --no-browser[/]
    """
    with compiling_noted():
        from poise.engine.scene import Scene
        from poise.studio.control.files import is_scene
        from poise.studio.server.server import serve
        from poise.studio.session.session import Session

        start = Scene.load(figure) if is_scene(figure) else loaded(figure)
        session = Session(start, folder=folder_of(figure))
        session.tick()
    serve(session, host=host, port=port, open_browser=not no_browser)
