"""`poise retarget`: an animation becomes a motion of another figure."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from poise.cli.compiling import compiling_noted
from poise.cli.console import answer, remark, remarks
from poise.cli.show import FigureArgument, loaded


def retarget(
    clip: Annotated[Path, typer.Argument(help="The animation: .bvh, .gltf, .glb or .csv.")],
    figure: FigureArgument,
    *,
    mapping: Annotated[Path | None, typer.Option("--mapping", help="A TOML file of links.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write .csv, .bvh, .json or .npz.")] = None,
    propose: Annotated[Path | None, typer.Option("--propose", help="Write the mapping that was used, to edit.")] = None,
    rate: Annotated[float | None, typer.Option("--rate", help="Frames per second of the result.")] = None,
    tempo: Annotated[float, typer.Option("--tempo", help="Speed; 0.25 is four times as slow.")] = 1.0,
    balance: Annotated[bool, typer.Option("--balance", help="Keep the centre of mass over the feet.")] = False,
) -> None:
    """Make a figure move as an animation does: feet planted, inside all limits.

    [bold]poise retarget walk.bvh human -o walk.csv[/]

    [bold]poise retarget walk.bvh walker --tempo 0.2 --balance -o walk.csv[/] walks slowly enough not to fall.

    [bold]poise retarget walk.bvh human --propose links.toml[/] writes the mapping; edit it and give it as --mapping.
    """
    from rich.progress import Progress

    with compiling_noted():
        from poise.formats import load_clip
        from poise.motion.report import measure
        from poise.motion.retarget import retarget as perform

        source, performer = load_clip(clip), loaded(figure)
    with Progress(console=remarks(), transient=True, disable=not remarks().is_terminal) as bar:
        task = bar.add_task("frames", total=None)
        motion = perform(
            source,
            performer,
            mapping,
            rate=rate,
            tempo=tempo,
            balance=balance,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    answer(measure(motion).sentence())
    if propose is not None and motion.track is not None:
        motion.track.mapping.save(propose)
        remark(str(propose))
    if output is not None:
        motion.save(output)
        answer(str(output))
