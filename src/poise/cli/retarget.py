"""`poise retarget`: an animation becomes a motion of another figure."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from poise.cli.compiling import compiling_noted
from poise.cli.console import answer, remark, remarks
from poise.cli.retarget_folder import retarget_folder
from poise.cli.show import FigureArgument, loaded
from poise.errors import FormatError

if TYPE_CHECKING:
    from rich.progress import Progress

    from poise.motion.clip.clip import Clip
    from poise.motion.clip.motion import Motion
    from poise.motion.report.report import Quality
    from poise.motion.retarget.style import Style


def retarget(  # noqa: PLR0913
    clip: Annotated[Path, typer.Argument(help="The animation: .bvh, .gltf, .glb, .csv, .json or .npz, or a folder.")],
    figure: FigureArgument,
    *,
    mapping: Annotated[Path | None, typer.Option("--mapping", help="A TOML file of links.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write .csv, .bvh, .json or .npz.")] = None,
    report: Annotated[Path | None, typer.Option("--report", help="Write a page of pictures and plots, .html.")] = None,
    propose: Annotated[Path | None, typer.Option("--propose", help="Write the mapping that was used, to edit.")] = None,
    name: Annotated[str | None, typer.Option("--name", help="Which animation of a glTF with several.")] = None,
    rate: Annotated[float | None, typer.Option("--rate", help="Frames per second of the result.")] = None,
    tempo: Annotated[float, typer.Option("--tempo", help="Speed; 0.25 is four times as slow.")] = 1.0,
    balance: Annotated[bool, typer.Option("--balance", help="Keep the centre of mass over the feet.")] = False,
    acceleration: Annotated[
        float | None, typer.Option("--acceleration", help="The most joints may accelerate, in rad/s² or m/s².")
    ] = None,
    cores: Annotated[int | None, typer.Option("--cores", help="How many clips of a folder are solved at once.")] = None,
) -> None:
    """Make a figure move as an animation does: feet planted, inside all limits.

    [bold]poise retarget walk.bvh human -o walk.csv --report walk.html[/]

    [bold]poise retarget walk.bvh walker --tempo 0.2 --balance -o walk.csv[/] walks slowly enough not to fall.

    [bold]poise retarget clips/ human -o motions/[/] makes a motion of every clip in a folder, on all cores.

    [bold]poise retarget walk.bvh human --propose links.toml[/] writes the mapping; edit it and give it as --mapping.
    """
    if clip.is_dir():
        with compiling_noted():
            options = {
                "mapping": mapping,
                "rate": rate,
                "tempo": tempo,
                "balance": balance,
                "style": _style(acceleration),
            }
            raise typer.Exit(retarget_folder(clip, loaded(figure), output, cores, **options))
    _check_endings(output, report)
    with compiling_noted():
        from poise.formats import load_clip
        from poise.motion.report.report import measure
        from poise.motion.retarget.retarget import retarget as perform

        source, performer = load_clip(clip, name=name), loaded(figure)
    with _progress() as bar:
        task = bar.add_task("frames", total=None)
        with _kept(output):
            motion = perform(
                source,
                performer,
                mapping,
                rate=rate,
                tempo=tempo,
                balance=balance,
                style=_style(acceleration),
                progress=lambda done, total: bar.update(task, completed=done, total=total),
            )
        # What took long is safe before anything else can go wrong.
        if output is not None:
            motion.save(output)
        if propose is not None and motion.track is not None:
            motion.track.mapping.save(propose)
        quality = measure(motion)
        if report is not None:
            _write_report(source, motion, report, quality, bar)
    answer(quality.sentence())
    if propose is not None:
        remark(str(propose))
    for written in (output, report):
        if written is not None:
            answer(str(written))


def _style(acceleration: float | None) -> Style:
    from poise.motion.retarget.style import Style

    return Style() if acceleration is None else Style(acceleration=acceleration)


@contextmanager
def _kept(output: Path | None) -> Iterator[None]:
    """What stops a retargeting half way loses none of the frames that are solved."""
    from poise.motion.retarget.stopped import left_by

    try:
        yield
    except BaseException as stop:
        motion = left_by(stop)
        if motion is not None and output is not None:
            motion.save(output)
            remark(f"{output} has the {len(motion)} frames that were solved before this stopped.")
        raise


def _write_report(source: Clip, motion: Motion, page: Path, quality: Quality, bar: Progress) -> None:
    from poise.evaluation.retarget_report import write_report

    bar.add_task("report", total=None)
    write_report(source, motion, page, quality)


def _progress() -> Progress:
    """Bars on a terminal, nothing elsewhere."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=remarks(), transient=True, disable=not remarks().is_terminal)


def _check_endings(output: Path | None, report: Path | None) -> None:
    """Refuse files that could not be written before minutes are spent on what should be in them."""
    from poise.formats import MOTION_ENDINGS

    for path, endings, what in ((output, MOTION_ENDINGS, "a motion"), (report, (".html",), "a report")):
        if path is None:
            continue
        if path.suffix.lower() not in endings:
            said = path.suffix or "a file without an ending"
            raise FormatError(f"{what} is written as {', '.join(endings)}, not as {said}.", path)
        if not path.absolute().parent.is_dir():
            raise FormatError(f"there is no folder {str(path.parent)!r} to write {what} to.", path)
