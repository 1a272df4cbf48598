"""`poise studio`: start the studio, an application in the browser."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from poise.cli.console import print_error, print_note
from poise.cli.show import load_figure

if TYPE_CHECKING:
    from poise.cli.preparation import Preparation
    from poise.studio.session.readiness import Readiness
    from poise.studio.session.session import Session

PORT = 8123
FIRST_FIGURE = "human"
READINESS = ("Getting ready to show the figure", "Getting ready to pull", "Getting all modes ready")
"""What pages say before each stage of the warm-up is done."""


def studio(
    figure: Annotated[
        str | None,
        typer.Argument(
            help="A built-in figure, a figure file, or a scene file; by default the last scene, or else the human.",
            show_default=False,
        ),
    ] = None,
    port: Annotated[int, typer.Option(help="Port to listen on; if it is in use, the next free one.")] = PORT,
    host: Annotated[
        str, typer.Option(help="Address to listen on: 127.0.0.1 for this machine only, 0.0.0.0 for the network.")
    ] = "127.0.0.1",
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open the page in a browser.")] = False,
) -> None:
    """Open the studio in the browser: drag a figure into postures, add tasks, retarget clips.

    [bold]poise studio[/] starts with the scene that it showed last, at first with the human; stop it with Ctrl-C.

    [bold]poise studio reach.toml[/] opens a scene file.

    [bold]poise studio robot.urdf --port 9000 --no-browser[/] prints the address to open.

    The first start on a machine compiles: the page shows the figure after a minute, and the rest follows meanwhile.
    """
    from poise.kernels.jit.machine_code import is_complete
    from poise.studio.server.server import serve

    first, recover = figure or FIRST_FIGURE, figure is None
    if is_complete():
        session = _session(first)
        session.tick()
        serve(session, host=host, port=port, open_browser=not no_browser, recover=recover)
        return
    from poise.cli.preparation import Preparation

    preparation = Preparation()
    preparation.on_stage, preparation.on_problem = _say_stage, print_error
    preparation.start()
    try:
        serve(
            partial(_first_session, first, preparation),
            host=host,
            port=port,
            open_browser=not no_browser,
            progress=partial(_readiness, preparation),
            recover=recover,
        )
    finally:
        preparation.stop()


def _session(figure: str) -> Session:
    """A session with a figure or a scene."""
    from poise.engine.scene import Origin, Scene
    from poise.studio.control.files import is_scene
    from poise.studio.scenes.openings import opening
    from poise.studio.session.session import Session

    start = Scene.load(figure) if is_scene(figure) else opening(load_figure(figure), Origin(figure))
    return Session(start)


def _first_session(figure: str, preparation: Preparation) -> Session:
    """A session whose page can be shown, as soon as the kernels for that are compiled."""
    from poise.cli.kernels import progress_bar
    from poise.studio.wire.rehearsal import rehearse

    with progress_bar(preparation):
        session = preparation.patiently(lambda: _session(figure))
        preparation.patiently(lambda: rehearse(session))
    print_note(f"ready to look at after {preparation.seconds:.0f} s")
    return session


def _say_stage(stage: int, seconds: float) -> None:
    from poise.warmup import LOOK, PURPOSES

    if stage != LOOK:
        print_note(f"ready {PURPOSES[stage]} after {seconds:.0f} s")


def _readiness(preparation: Preparation) -> Readiness | None:
    from poise.studio.session.readiness import Readiness

    if preparation.is_over:
        return None
    stage = len(preparation.times)
    share = preparation.share(stage)
    return Readiness(share, f"{READINESS[stage]}: {share:.0%}")
