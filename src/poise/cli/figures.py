"""`poise figures`, `poise describe`, `poise convert`: list, describe and convert figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType
from rich.table import Table

from poise.cli.console import print_note, print_result, stderr, stdout
from poise.cli.show import FigureArgument, load_figure
from poise.errors import PoiseError

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure

THUMBNAIL_COLUMNS, THUMBNAIL_ROWS = 16, 8
THUMBNAIL_PIXELS = 4
"""Pixels rendered for each pixel of a thumbnail, in each direction."""
PICTURE_SIZE = (600, 600)


def figures(
    pictures: Annotated[
        Path | None,
        typer.Option("--pictures", metavar="FOLDER", help="Write a picture of each figure to this folder."),
    ] = None,
    no_pictures: Annotated[bool, typer.Option("--no-pictures", help="Print the table without thumbnails.")] = False,
) -> None:
    """List the figures that come with poise.

    [bold]poise figures[/] prints a table, with thumbnails if the terminal has colours.

    [bold]poise figures --pictures gallery[/] also writes gallery/human.png and one picture for every other figure.
    """
    from poise.figures import BUILT_IN, built_in

    all_figures = [built_in(name) for name in BUILT_IN]
    console = stdout()
    shown = console.is_terminal and console.color_system in ("256", "truecolor") and not no_pictures
    console.print(_table(all_figures, [_thumbnail(figure) for figure in all_figures] if shown else None))
    if pictures is not None:
        _write_pictures(all_figures, pictures)


def _table(all_figures: Sequence[Figure], thumbnails: Sequence[RenderableType] | None) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 1 if thumbnails else 0, 0))
    if thumbnails:
        table.add_column("", width=THUMBNAIL_COLUMNS)
    table.add_column("figure", style="bold", no_wrap=True)
    for heading in ("DoF", "joints", "loops", "mass"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("description", ratio=1)
    for k, figure in enumerate(all_figures):
        facts = [
            figure.name,
            str(figure.nv),
            str(len(figure.moving_joints)),
            str(len(figure.loops) or "–"),
            f"{figure.mass:.3g} kg" if figure.mass else "–",
            _first_sentence(figure.description),
        ]
        table.add_row(*([thumbnails[k]] if thumbnails else []), *facts)
    return table


def _first_sentence(text: str) -> str:
    return text.strip().splitlines()[0] if text.strip() else ""


def _thumbnail(figure: Figure) -> RenderableType:
    from poise.pictures import draw
    from poise.pictures.terminal import half_blocks

    size = (THUMBNAIL_COLUMNS * THUMBNAIL_PIXELS, 2 * THUMBNAIL_ROWS * THUMBNAIL_PIXELS)
    return half_blocks(draw(figure, size=size, theme="dark", joints=False), THUMBNAIL_COLUMNS, THUMBNAIL_ROWS)


def _write_pictures(all_figures: Sequence[Figure], folder: Path) -> None:
    from rich.progress import track

    from poise.pictures import draw

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise PoiseError(f"the folder {str(folder)!r} cannot be created: {problem.strerror}.") from None
    for figure in track(all_figures, "drawing", console=stderr(), transient=True):
        draw(figure, size=PICTURE_SIZE).save(folder / f"{figure.name}.png")
    print_note(f"{len(all_figures)} pictures are in {folder}.")


def describe(figure: FigureArgument) -> None:
    """Print a figure's bodies, joints, joint limits, loops, sites and named postures.

    [bold]poise describe human[/] lists the names that --posture, tasks and scene files use.

    [bold]poise describe robot.urdf[/] shows what poise reads from a file.
    """
    print_result(load_figure(figure).describe())


def convert(
    source: Annotated[
        str,
        typer.Argument(
            metavar="IN", help="A built-in figure, or a .urdf, .xml (MJCF), .bvh, .glb or .figure.toml file."
        ),
    ],
    target: Annotated[Path, typer.Argument(metavar="OUT.figure.toml", help="The file to write.")],
    closures: Annotated[Path | None, typer.Option(help="A YAML file that lists the loop closures of a URDF.")] = None,
) -> None:
    """Convert a figure to a .figure.toml file, a text format that you can read and edit.

    [bold]poise convert robot.urdf robot.figure.toml[/] converts a URDF robot.

    [bold]poise convert legs.urdf legs.figure.toml --closures legs.yaml[/] adds the loops that URDF cannot express.
    """
    from poise.formats import load

    load(source, closures=closures).save(target)
    print_result(str(target))
