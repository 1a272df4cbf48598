"""`poise retarget`: transfer an animation, or all animations of a folder on several cores, to another figure."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from poise.cli.cluster import cluster
from poise.cli.console import print_error, print_note, print_result, stderr
from poise.cli.show import FigureArgument, load_figure
from poise.errors import FormatError, PoiseError, UnmappedWarning

if TYPE_CHECKING:
    from rich.progress import Progress

    from poise.evaluation.retarget.data_set import Record
    from poise.figure.model.figure import Figure
    from poise.motion.clip.clip import Clip
    from poise.motion.clip.motion import Motion
    from poise.motion.report.report import Quality
    from poise.motion.retarget.smoothing import Style

EXIT_LOST = 3
"""Exit code for a motion that was written but does not follow its clip."""


class FolderRun(NamedTuple):
    """How the clips of a folder are retargeted."""

    cores: int | None
    resume: bool
    shard: str | None
    dask: str | None
    body_model: Path | None


def retarget(  # noqa: PLR0913
    clip: Annotated[
        Path,
        typer.Argument(help="The animation: .bvh, .gltf, .glb, .npz, .pt, .pkl, .csv or .json, or a folder of them."),
    ],
    figure: FigureArgument,
    *,
    mapping: Annotated[
        Path | None, typer.Option("--mapping", help="TOML file that maps joints of the clip to sites of the figure.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the motion: .csv, .bvh, .json or .npz, or as --for says."),
    ] = None,
    trainer: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="TRAINER",
            help="Write the file of a program that trains robots: gmr, unitree, beyondmimic, mjlab, holosoma, "
            "isaaclab, protomotions or mimickit.",
        ),
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", help="Write an .html page with pictures and plots of the result.")
    ] = None,
    propose: Annotated[
        Path | None, typer.Option("--propose", help="Write the mapping that was used to a TOML file you can edit.")
    ] = None,
    name: Annotated[
        str | None,
        typer.Option("--name", help="Animation of a glTF file, or number of a person in a result of WHAM."),
    ] = None,
    body_model: Annotated[
        Path | None,
        typer.Option("--body-model", help="Your SMPL body model (.npz), for bones of AMASS, GVHMR and WHAM clips."),
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
    solid: Annotated[
        bool | None, typer.Option("--solid/--no-solid", help="Keep parts of the figure apart; default: of robots.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Leave out the clips of a folder that were retargeted before.")
    ] = False,
    shard: Annotated[
        str | None, typer.Option("--shard", metavar="K/N", help="Retarget part K of N of a folder, such as 3/16.")
    ] = None,
    dask: Annotated[
        str | None, typer.Option("--dask", metavar="ADDRESS", help="Retarget a folder on a Dask cluster.")
    ] = None,
) -> None:
    """Transfer an animation to a figure: its feet stay planted and its joints stay inside their limits.

    [bold]poise retarget walk.bvh human -o walk.csv --report walk.html[/] writes the motion and a report.

    [bold]poise retarget walk.bvh walker --tempo 0.2 --balance -o walk.csv[/] walks slowly enough not to fall.

    [bold]poise retarget walk.bvh g1 -o walk --for mjlab[/] writes the motion of a Unitree G1 for a trainer.

    [bold]poise retarget clips/ g1 -o motions/ --resume[/] retargets every clip of a folder, on all cores, and lists
    how good each is in motions/manifest.csv; stopped and started again, it goes on.

    [bold]poise retarget walk.bvh human --propose links.toml[/] writes the mapping; edit it and pass it as --mapping.
    """
    rate = _usual_rate(trainer) if rate is None and trainer is not None else rate
    options: dict[str, Any] = {
        "mapping": mapping,
        "rate": rate,
        "tempo": tempo,
        "balance": balance,
        "solid": solid,
        "style": _style_with(acceleration),
    }
    if clip.is_dir():
        run = FolderRun(cores, resume, shard, dask, body_model)
        raise typer.Exit(retarget_folder(clip, load_figure(figure), output, trainer, options, run))
    output = output if trainer is None else _trainer_file(output, trainer)
    _check_endings(None if trainer else output, report)
    from poise.figures import BUILT_IN
    from poise.formats import load_clip, uses_body_model
    from poise.motion.report.report import measure
    from poise.motion.retarget.retarget import retarget as perform

    if str(clip) in BUILT_IN:
        raise PoiseError(f"poise retarget takes the clip first, then the figure: poise retarget {figure} {clip}.")
    source, performer = load_clip(clip, name=name, body_model=body_model), load_figure(figure)
    if body_model is None and uses_body_model(clip):
        print_note(f"{clip.name} states no lengths of bones: they are an average person's; --body-model takes yours.")
    with _progress() as bar:
        task = bar.add_task("frames", total=None)
        with _save_on_interruption(None if trainer else output), warnings.catch_warnings():
            # Printed with the result.
            warnings.simplefilter("ignore", UnmappedWarning)
            motion = perform(
                source,
                performer,
                **options,
                progress=lambda done, total: bar.update(task, completed=done, total=total),
            )
        # The motion took minutes to compute: save it before a later step can fail.
        if output is not None:
            _save(motion, output, trainer)
        if propose is not None and motion.track is not None:
            motion.track.mapping.save(propose)
        quality = measure(motion)
        if report is not None:
            _write_report(source, motion, report, quality, bar)
    if propose is not None:
        print_note(str(propose))
    raise typer.Exit(_print_outcome(quality, (output, report)))


def _print_outcome(quality: Quality, files: tuple[Path | None, ...]) -> int:
    """Print how good a motion is, what it leaves out and the files written; returns the exit code."""
    print_result(quality.sentence())
    for sentence in quality.unmapped:
        print_error(sentence)
    for written in files:
        if written is not None:
            print_result(str(written))
    if quality.is_lost:
        print_error("The motion does not follow the clip: --propose writes the mapping, to be edited and used again.")
    return EXIT_LOST if quality.is_lost else 0


def _usual_rate(trainer: str) -> float:
    """Frames per second that a trainer's files usually have."""
    from poise.formats.trainers.kinds import KINDS, path_for

    path_for("x", trainer)  # refuses a trainer that is not known
    return KINDS[trainer].rate


def _trainer_file(output: Path | None, trainer: str) -> Path:
    """The file to write for a trainer, with the ending that its files have."""
    from poise.formats.trainers.kinds import path_for

    if output is None:
        raise FormatError(f"--for {trainer} needs a file to write: name it with --output.")
    file = path_for(output, trainer)
    if not file.absolute().parent.is_dir():
        raise FormatError(f"there is no folder {str(file.parent)!r} to write a motion to.", file)
    return file


def _save(motion: Motion, output: Path, trainer: str | None) -> None:
    from poise.formats.trainers.kinds import write_for

    if trainer is None:
        motion.save(output)
    else:
        write_for(motion, output, trainer)


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
    from poise.evaluation.retarget.report import write_report

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


def retarget_folder(  # noqa: PLR0917
    folder: Path, figure: Figure, output: Path | None, trainer: str | None, options: dict[str, Any], run: FolderRun
) -> int:
    """Retarget every animation of a folder and write each to `output`, as NPZ or as the file of a trainer.

    Returns:
        The exit code: 0, or 2 if a clip could not be read or retargeted, or its motion does not follow it.
    """
    from poise.evaluation.retarget.data_set import MANIFEST, find_jobs, retarget_jobs

    if output is None or output.suffix:
        raise FormatError("the motions of a folder of clips go to a folder: name one with --output.", folder)
    jobs = find_jobs(folder, output, trainer, _shard(run.shard), run.body_model)
    if not run.resume:
        for job in jobs:
            job.record.unlink(missing_ok=True)
    failed = 0
    with cluster(run.dask) as executor, _progress() as bar:
        task = bar.add_task("clips", total=len(jobs))

        def tell(record: Record) -> None:
            nonlocal failed
            failed += bool(record.error) or record.lost
            bar.update(task, advance=1)
            _print_record(record)

        retarget_jobs(jobs, figure, options, executor, run.cores, tell)
    print_result(f"{len(jobs) - failed} of {len(jobs)} clips are retargeted; {output / MANIFEST} lists them.")
    return 2 if failed else 0


def _print_record(record: Record) -> None:
    """Print how well a clip of a folder was retargeted, with its warnings, or why it was not."""
    if record.error:
        print_error(f"{record.clip}: {record.error}")
        return
    print_result(
        f"{record.motion}: {record.frames} frames, tracking error {record.tracking_mm:.1f} mm, self-penetration "
        f"{record.self_depth_mm:.1f} mm, {record.spikes} spikes"
    )
    for sentence in (record.unmapped, record.rejections, "the motion does not follow the clip." if record.lost else ""):
        if sentence:
            print_error(f"{record.clip}: {sentence}")


def _shard(text: str | None) -> tuple[int, int]:
    """Which part of a folder to retarget, and in how many parts it is divided, from text such as 3/16."""
    if text is None:
        return 1, 1
    part, slash, parts = text.partition("/")
    if not (slash and part.isdigit() and parts.isdigit()):
        raise PoiseError(f"--shard takes a part of all clips, such as 3/16, not {text!r}.")
    return int(part), int(parts)


def convert_motion(
    source: Annotated[Path, typer.Argument(metavar="IN", help="A motion of a robot, in the file of a trainer.")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write.")],
    *,
    robot: Annotated[str, typer.Option("--robot", help="The robot: a name (see: poise robots) or a file.")],
    to: Annotated[str, typer.Option("--to", metavar="TRAINER", help="The trainer to write for, as in poise retarget.")],
    kind: Annotated[
        str | None,
        typer.Option("--from", metavar="TRAINER", help="The trainer of IN; found from its keys if it has any."),
    ] = None,
    rate: Annotated[
        float | None, typer.Option("--rate", help="Frames per second of OUT; default: usual for the trainer.")
    ] = None,
    source_rate: Annotated[
        float | None, typer.Option("--source-rate", help="Frames per second of IN, if it does not state them.")
    ] = None,
) -> None:
    """Convert a robot's motion between the files of programs that train robots.

    [bold]poise convert-motion walk.csv walk.npz --robot g1 --from unitree --to mjlab[/] makes 50 frames a second of 30.

    [bold]poise convert-motion walk.pkl walk.npz --robot g1 --to beyondmimic[/] reads a pickle of GMR.
    """
    from poise.formats.trainers.kinds import read_from, write_for

    wanted = _usual_rate(to) if rate is None else rate
    motion = read_from(source, load_figure(robot), kind, source_rate)
    print_result(str(write_for(motion, target, to, wanted)))
