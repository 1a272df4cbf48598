"""`poise figures`, `poise robots`, `poise describe`, `poise convert`: list, describe and convert figures."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType
from rich.table import Table

from poise.cli.console import print_note, print_result, stderr, stdout
from poise.cli.show import FigureArgument, load_figure
from poise.errors import PoiseError

if TYPE_CHECKING:
    from poise.figures.catalogue import Entry

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
    from poise.figures import BUILT_IN

    console = stdout()
    wanted = console.is_terminal and console.color_system in ("256", "truecolor") and not no_pictures
    thumbnails = wanted and _can_draw_now()
    console.print(_table(BUILT_IN, thumbnails=thumbnails))
    if wanted and not thumbnails:
        print_note("Thumbnails are shown once the kernels that draw are compiled: poise compile")
    if pictures is not None:
        _write_pictures(BUILT_IN, pictures)


def _table(entries: Mapping[str, Entry], *, thumbnails: bool) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 1 if thumbnails else 0, 0))
    if thumbnails:
        table.add_column("", width=THUMBNAIL_COLUMNS)
    table.add_column("figure", style="bold", no_wrap=True)
    for heading in ("DoF", "joints", "loops", "mass"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("description", ratio=1)
    for name, entry in entries.items():
        facts = [
            name,
            str(entry.degrees_of_freedom),
            str(entry.joints),
            str(entry.loops or "–"),
            f"{entry.mass:.3g} kg",
            entry.description,
        ]
        table.add_row(*([_thumbnail(name)] if thumbnails else []), *facts)
    return table


def _can_draw_now() -> bool:
    """Whether drawing has nothing to compile first."""
    from poise.kernels.jit.machine_code import is_complete

    return is_complete()


def _thumbnail(name: str) -> RenderableType:
    from poise.figures import built_in
    from poise.pictures import draw
    from poise.pictures.terminal import half_blocks

    size = (THUMBNAIL_COLUMNS * THUMBNAIL_PIXELS, 2 * THUMBNAIL_ROWS * THUMBNAIL_PIXELS)
    return half_blocks(draw(built_in(name), size=size, theme="dark", joints=False), THUMBNAIL_COLUMNS, THUMBNAIL_ROWS)


def _write_pictures(names: Collection[str], folder: Path) -> None:
    from rich.progress import track

    from poise.figures import built_in
    from poise.pictures import draw

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise PoiseError(f"the folder {str(folder)!r} cannot be created: {problem.strerror}.") from None
    for name in track(names, "drawing", console=stderr(), transient=True):
        draw(built_in(name), size=PICTURE_SIZE).save(folder / f"{name}.png")
    print_note(f"{len(names)} pictures are in {folder}.")


def robots(
    everything: Annotated[
        bool, typer.Option("--all", help="Also list robots that are not on this machine, with the command to get each.")
    ] = False,
) -> None:
    """List the robots on this machine that can be loaded by name.

    [bold]poise robots[/] lists them with their files; [bold]poise show g1[/] draws one.

    [bold]poise robots --all[/] also says how to get the others. Poise itself downloads nothing.
    """
    from poise.formats.catalog.robots import ROBOTS, command_for, robots_here

    here = robots_here()
    table = Table(box=None, pad_edge=False)
    table.add_column("robot", style="bold", no_wrap=True)
    table.add_column("from", no_wrap=True)
    table.add_column("file", overflow="fold")
    for found in here:
        table.add_row(found.name, found.source, "/".join(found.path.parts[-3:]))
    names = {found.name for found in here}
    for name in sorted(set(ROBOTS) - names) if everything else ():
        table.add_row(name, "not here", command_for(name))
    stdout().print(table)
    if not here and not everything:
        print_note("no robots are installed here: pip install example-robot-data, or see poise robots --all.")


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
