"""`poise studio`: start the studio, an application in the browser."""

from __future__ import annotations

from typing import Annotated

import typer

from poise.cli.show import folder_of, load_figure

PORT = 8123


def studio(
    figure: Annotated[str, typer.Argument(help="A built-in figure, a figure file, or a scene file.")] = "human",
    port: Annotated[int, typer.Option(help="Port to listen on; if it is in use, the next free one.")] = PORT,
    host: Annotated[
        str, typer.Option(help="Address to listen on: 127.0.0.1 for this machine only, 0.0.0.0 for the network.")
    ] = "127.0.0.1",
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open the page in a browser.")] = False,
) -> None:
    """Open the studio in the browser: drag a figure into postures, add tasks, retarget clips.

    [bold]poise studio[/] starts with the human; stop it with Ctrl-C.

    [bold]poise studio reach.toml[/] opens a scene file.

    [bold]poise studio robot.urdf --port 9000 --no-browser[/] prints the address to open.
    """
    from poise.engine.scene import Scene
    from poise.studio.control.files import is_scene
    from poise.studio.server.server import serve
    from poise.studio.session.session import Session

    start = Scene.load(figure) if is_scene(figure) else load_figure(figure)
    session = Session(start, folder=folder_of(figure))
    session.tick()
    serve(session, host=host, port=port, open_browser=not no_browser)
