"""`poise serve`: pose figures for other programs of this machine."""

from __future__ import annotations

from typing import Annotated

import typer

from poise.cli.console import print_note


def serve(
    port: Annotated[int, typer.Option(help="Port to listen on; 0 for any free one.")] = 0,
    until_stdin_closes: Annotated[
        bool,
        typer.Option(
            "--until-stdin-closes", help="End when standard input is closed, as it is when the calling program ends."
        ),
    ] = False,
) -> None:
    r"""Pose figures for other programs on this machine: JSON messages over a web socket.

    [bold]poise serve[/] prints one line of JSON whose "address" has the key; programs connect to that.

    A program sends a figure, {"do": "figure", "bones": \[…]}, and gets a number for it.

    Then tasks: {"do": "tasks", "figure": 1, "tasks": \[{"kind": "position", "site": "hand", "at": \[0.4, 1, 1]}]}.

    Then targets, as often as it likes: {"do": "solve", "figure": 1, "targets": {"position of hand": \[0.4, 1, 1]}}.

    Each answer has the rotations of all bones. Other words: hello, pose, settle, retarget, gaze, servos, stop, forget.

    docs/serve.md describes every message, and has a client of thirty lines of Python.

    The Blender add-on starts the server by itself, with [bold]--until-stdin-closes[/].
    """
    from poise.kernels.jit.machine_code import is_complete
    from poise.service.server import parent_is_gone
    from poise.service.server import serve as run

    if not is_complete():
        print_note("kernels are compiled when first needed, so first answers take minutes; poise compile does it now.")
    run(port=port, until=parent_is_gone if until_stdin_closes else None)
