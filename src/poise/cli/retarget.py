"""`poise retarget`: transfer an animation, or all animations of a folder on several cores, to another figure."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from poise.cli.console import print_error, print_note, print_result, stderr
from poise.cli.show import FigureArgument, load_figure
from poise.errors import FormatError, PoiseError

if TYPE_CHECKING:
    from rich.progress import Progress

    from poise.figure.model.figure import Figure
    from poise.motion.clip.clip import Clip
    from poise.motion.clip.motion import Motion
    from poise.motion.report.report import Quality
    from poise.motion.retarget.smoothing import Style

ANIMATION_ENDINGS = (".bvh", ".gltf", ".glb")


def retarget(  # noqa: PLR0913
    clip: Annotated[Path, typer.Argument(help="The animation: .bvh, .gltf, .glb, .csv, .json or .npz, or a folder.")],
    figure: FigureArgument,
    *,
    mapping: Annotated[
        Path | None, typer.Option("--mapping", help="TOML file that maps joints of the clip to sites of the figure.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the motion: .csv, .bvh, .json or .npz.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", help="Write an .html page with pictures and plots of the result.")
    ] = None,
    propose: Annotated[
        Path | None, typer.Option("--propose", help="Write the mapping that was used to a TOML file you can edit.")
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", help="Animation to use from a glTF file that has several.")
    ] = None,
    rate: Annotated[
        float | None, typer.Option("--rate", help="Frames per second of the result; default: as the clip.")
    ] = None,
    tempo: Annotated[float, typer.Option("--tempo", help="Playback speed; 0.25 is four times as slow.")] = 1.0,
    balance: Annotated[
        bool, typer.Option("--balance", help="Keep the centre of mass over the feet, so that a robot does not fall.")
    ] = False,
    acceleration: Annotated[
        float | None, typer.Option("--acceleration", help="Largest joint acceleration, in rad/s² or m/s².")
    ] = None,
    cores: Annotated[
        int | None, typer.Option("--cores", help="Clips of a folder to solve in parallel; default: all cores.")
    ] = None,
) -> None:
    """Transfer an animation to a figure: its feet stay planted and its joints stay inside their limits.

    [bold]poise retarget walk.bvh human -o walk.csv --report walk.html[/] writes the motion and a report.

    [bold]poise retarget walk.bvh walker --tempo 0.2 --balance -o walk.csv[/] walks slowly enough not to fall.

    [bold]poise retarget clips/ human -o motions/[/] retargets every clip of a folder, on all cores.

    [bold]poise retarget walk.bvh human --propose links.toml[/] writes the mapping; edit it and pass it as --mapping.
    """
    if clip.is_dir():
        options = {
            "mapping": mapping,
            "rate": rate,
            "tempo": tempo,
            "balance": balance,
            "style": _style_with(acceleration),
        }
        raise typer.Exit(retarget_folder(clip, load_figure(figure), output, cores, **options))
    _check_endings(output, report)
    from poise.formats import load_clip
    from poise.motion.report.report import measure
    from poise.motion.retarget.retarget import retarget as perform

    source, performer = load_clip(clip, name=name), load_figure(figure)
    with _progress() as bar:
        task = bar.add_task("frames", total=None)
        with _save_on_interruption(output):
            motion = perform(
                source,
                performer,
                mapping,
                rate=rate,
                tempo=tempo,
                balance=balance,
                style=_style_with(acceleration),
                progress=lambda done, total: bar.update(task, completed=done, total=total),
            )
        # The motion took minutes to compute: save it before a later step can fail.
        if output is not None:
            motion.save(output)
        if propose is not None and motion.track is not None:
            motion.track.mapping.save(propose)
        quality = measure(motion)
        if report is not None:
            _write_report(source, motion, report, quality, bar)
    print_result(quality.sentence())
    if propose is not None:
        print_note(str(propose))
    for written in (output, report):
        if written is not None:
            print_result(str(written))


def _style_with(acceleration: float | None) -> Style:
    from poise.motion.retarget.smoothing import Style

    return Style() if acceleration is None else Style(acceleration=acceleration)


@contextmanager
def _save_on_interruption(output: Path | None) -> Iterator[None]:
    """Save the frames solved so far if the retargeting inside this block is interrupted or fails."""
    from poise.motion.retarget.perform import attached_motion

    try:
        yield
    except BaseException as stop:
        motion = attached_motion(stop)
        if motion is not None and output is not None:
            motion.save(output)
            print_note(f"{output} contains the {len(motion)} frames that were solved before the stop.")
        raise


def _write_report(source: Clip, motion: Motion, page: Path, quality: Quality, bar: Progress) -> None:
    from poise.evaluation.retarget_report import write_report

    bar.add_task("report", total=None)
    write_report(source, motion, page, quality)


def _progress() -> Progress:
    """Progress bars, shown only if standard error is a terminal."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=stderr(), transient=True, disable=not stderr().is_terminal)


def _check_endings(output: Path | None, report: Path | None) -> None:
    """Raise an error for output files that cannot be written, before minutes are spent on solving."""
    from poise.formats import MOTION_ENDINGS

    for path, endings, what in ((output, MOTION_ENDINGS, "a motion"), (report, (".html",), "a report")):
        if path is None:
            continue
        if path.suffix.lower() not in endings:
            ending = path.suffix or "a file without an ending"
            raise FormatError(f"{what} is written as {', '.join(endings)}, not as {ending}.", path)
        if not path.absolute().parent.is_dir():
            raise FormatError(f"there is no folder {str(path.parent)!r} to write {what} to.", path)


def retarget_folder(folder: Path, figure: Figure, output: Path | None, cores: int | None, **options: Any) -> int:
    """Retarget every animation of a folder and write each to `output` as NPZ.

    Returns:
        The exit code: 0, or 2 if a clip could not be read or retargeted.
    """
    from poise.motion.report.report import measure
    from poise.motion.retarget.retarget import retarget_all

    paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() in ANIMATION_ENDINGS)
    if not paths:
        raise FormatError(f"this folder has no animations; poise reads {', '.join(ANIMATION_ENDINGS)}.", folder)
    if output is None or output.suffix:
        raise FormatError("the motions of a folder of clips go to a folder: name one with --output.", folder)
    clips, failed = _readable_clips(paths)
    output.mkdir(parents=True, exist_ok=True)
    for path, motion in zip(clips, retarget_all(clips.values(), figure, cores=cores, **options), strict=True):
        if isinstance(motion, PoiseError):
            print_error(f"{path}: {motion}")
            failed += 1
            continue
        target = output / f"{path.stem}.npz"
        motion.save(target)
        print_result(f"{target}: {measure(motion).sentence()}")
    return 2 if failed else 0


def _readable_clips(paths: list[Path]) -> tuple[dict[Path, Clip], int]:
    """Load the clips; returns those that could be read, by path, and the number that could not."""
    from poise.formats import load_clip

    clips = {}
    for path in paths:
        try:
            clips[path] = load_clip(path)
        except PoiseError as problem:
            print_error(str(problem))
    return clips, len(paths) - len(clips)
