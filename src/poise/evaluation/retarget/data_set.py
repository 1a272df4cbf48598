"""Retargets whole folders of clips, on one machine or on a cluster, and can go on where it stopped.

Every clip becomes a motion in the same place of the output folder, and a *record*: what was written and how good it is,
or why there is no motion. A record is written once, after its motion, in one step, so that a process that ends at any
time leaves either both or none; a clip that has a record is not solved again. `manifest.csv` lists all records. The
folders must be the same for all workers.
"""

from __future__ import annotations

import csv
import json
import os
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from poise.arguments import whole
from poise.cores import usable_cores
from poise.errors import FormatError, PoiseError, TaskError
from poise.figure.model.figure import Figure
from poise.formats import ANIMATION_ENDINGS, is_animation, load_clip
from poise.formats.trainers.kinds import path_for, write_for
from poise.motion.clip.motion import Motion
from poise.motion.report.report import Quality, measure
from poise.motion.retarget.retarget import retarget

RECORDS, MANIFEST = "records", "manifest.csv"
"""Folder of the records, and file that lists them, in the output folder."""
POOL_ROUNDS = 3
"""How often the remaining clips are given to new worker processes after one has died."""


@dataclass(frozen=True)
class Record:
    """What became of one clip."""

    clip: str
    """The clip, relative to its folder."""
    motion: str = ""
    """The motion, relative to the output folder; empty if there is none."""
    error: str = ""
    """Why there is no motion, or what is wrong with it."""
    frames: int = 0
    rate: float = 0.0
    """Frames per second of the motion."""
    seconds: float = 0.0
    """Time that it took [s]."""
    tracking_mm: float = 0.0
    """Mean distance from the targets."""
    worst_tracking_mm: float = 0.0
    drift_mm: float = 0.0
    skate_mm: float = 0.0
    below_ground_mm: float = 0.0
    self_depth_mm: float = 0.0
    penetrating: float = 0.0
    """Share of frames; see `poise.motion.report.training`."""
    sliding: float = 0.0
    contact_precision: float = 0.0
    contact_recall: float = 0.0
    jerk: float = 0.0
    limits_broken: int = 0
    """Frames beyond a position limit."""
    too_fast: int = 0
    """Frames beyond a speed limit."""
    spikes: int = 0
    unbalanced: int = 0
    lost: bool = False
    """Whether the motion does not follow the clip."""
    rejections: str = ""
    """Why ProtoMotions would reject it."""
    unmapped: str = ""
    """What does not follow the clip because it is not mapped."""


@dataclass(frozen=True)
class Job:
    """A clip to retarget."""

    clip: Path
    name: str
    """The clip, relative to its folder."""
    output: Path
    """Folder of all motions."""
    trainer: str | None
    """Trainer whose file is written; None for NPZ."""
    body_model: Path | None = None
    """The user's body model, for clips of the SMPL family."""

    @property
    def motion(self) -> Path:
        """The file to write."""
        plain = self.output / Path(self.name).with_suffix("")
        return plain.with_name(f"{plain.name}.npz") if self.trainer is None else path_for(plain, self.trainer)

    @property
    def record(self) -> Path:
        """The file of the record."""
        return self.output / RECORDS / f"{self.name}.json"


def find_jobs(
    folder: Path,
    output: Path,
    trainer: str | None = None,
    shard: tuple[int, int] = (1, 1),
    body_model: Path | None = None,
) -> list[Job]:
    """The clips of a folder, and of the folders in it, that belong to part `shard[0]` of `shard[1]`.

    What is in the output folder is left out, and so are NPZ files of other content than the SMPL family's.
    """
    written = output.resolve()
    paths = sorted(
        path
        for path in folder.rglob("*")
        if path.is_file() and is_animation(path) and written not in path.resolve().parents
    )
    if not paths:
        raise FormatError(f"this folder has no animations; poise reads {', '.join(ANIMATION_ENDINGS)}.", folder)
    part, parts = shard
    if not 1 <= part <= parts:
        raise TaskError(f"a shard is a part of all clips, such as 3/16, not {part}/{parts}.")
    jobs = [Job(path, path.relative_to(folder).as_posix(), output, trainer, body_model) for path in paths]
    targets: dict[Path, str] = {}
    for job in jobs:
        if (other := targets.setdefault(job.motion, job.name)) != job.name:
            raise FormatError(
                f"{other!r} and {job.name!r} would be written to the same file {job.motion.name!r}.", folder
            )
    return jobs[part - 1 :: parts]


def retarget_jobs(  # noqa: PLR0917
    jobs: Sequence[Job],
    figure: Figure,
    options: dict[str, Any],
    executor: Executor | None = None,
    cores: int | None = None,
    report: Callable[[Record], None] = lambda record: None,
) -> list[Record]:
    """Retarget clips, and write their motions, records and the manifest.

    Args:
        jobs: The clips. Those that have a record without an error are left out.
        figure: The figure that performs them.
        options: Keyword arguments of `retarget`.
        executor: Computes the clips; None for processes of this machine.
        cores: Number of those processes; by default the number of cores.
        report: Called with every record, those that were there before included, as soon as it is known.

    Returns:
        One record for each clip, in the order of `jobs`.
    """
    for folder in {job.motion.parent for job in jobs} | {job.record.parent for job in jobs}:
        folder.mkdir(parents=True, exist_ok=True)
    found: dict[str, Record] = {}
    for name, record in _results(jobs, partial(retarget_job, figure=figure, options=options), executor, cores):
        found[name] = record
        report(record)
    if jobs:
        write_manifest(jobs[0].output)
    return [found[job.name] for job in jobs]


def retarget_job(job: Job, figure: Figure, options: dict[str, Any]) -> Record:
    """Retarget one clip and write its motion and its record, unless it has one; a record of an error is replaced."""
    known = read_record(job.record)
    if known is not None and not known.error:
        return known
    begin = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the record has them
            motion = retarget(load_clip(job.clip, body_model=job.body_model), figure, **options)
        _write_at_once(job.motion, partial(_save, motion, job.trainer))
        record = _record(job, motion, measure(motion), time.perf_counter() - begin)
    except (PoiseError, OSError) as problem:
        record = Record(job.name, error=" ".join(str(problem).split()), seconds=time.perf_counter() - begin)
    text = json.dumps(asdict(record), indent=1)
    _write_at_once(job.record, lambda path: path.write_text(text, encoding="utf-8"))
    return record


def read_record(path: Path) -> Record | None:
    """The record in a file; None if there is none that can be read."""
    try:
        return Record(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def write_manifest(output: Path) -> Path:
    """Write all records of an output folder to one CSV file, in the order of their names."""
    paths = sorted((output / RECORDS).rglob("[!.]*.json"))
    rows = [asdict(record) for path in paths if (record := read_record(path)) is not None]

    def write(path: Path) -> None:
        with path.open("w", newline="", encoding="utf-8") as stream:
            table = csv.DictWriter(stream, list(Record.__dataclass_fields__))
            table.writeheader()
            table.writerows(rows)

    _write_at_once(output / MANIFEST, write)
    return output / MANIFEST


def _results(
    jobs: Sequence[Job], work: Callable[[Job], Record], executor: Executor | None, cores: int | None
) -> Iterator[tuple[str, Record]]:
    """The name and the record of every clip, as they come."""
    most = usable_cores() if cores is None else whole(cores, "the number of cores", least=1)
    left = {job.name: job for job in jobs}
    if executor is None and min(most, len(jobs)) <= 1:
        for job in jobs:
            yield job.name, work(job)
        return
    for _ in range(POOL_ROUNDS):
        # Spawned, not forked: a forked process would inherit locks that other threads hold and never release them.
        pool = executor or ProcessPoolExecutor(min(most, len(left)), mp_context=get_context("spawn"))
        for name, record in _answers(pool, work, list(left.values())):
            del left[name]
            yield name, record
        if executor is None:
            pool.shutdown()
        if not left:
            return
    for name in left:
        yield name, Record(name, error="the process that retargeted it ended without a result.")


def _answers(pool: Executor, work: Callable[[Job], Record], jobs: Sequence[Job]) -> Iterator[tuple[str, Record]]:
    """Name and record of each clip as it is finished; clips whose local worker process died are left out."""
    asked: dict[Future[Record], Job] = {pool.submit(work, job): job for job in jobs}
    for future in as_completed(asked):
        name = asked[future].name
        try:
            yield name, future.result()
        except BrokenProcessPool:
            continue
        except Exception as problem:
            # A worker that ends, or an error of the cluster, must not stop the other clips.
            yield name, Record(name, error=f"no result came back: {type(problem).__name__}: {problem}")


def _save(motion: Motion, trainer: str | None, path: Path) -> None:
    if trainer is None:
        motion.save(path)
    else:
        write_for(motion, path, trainer)


def _write_at_once(path: Path, write: Callable[[Path], object]) -> None:
    """Write a file under another name, then rename it, so that it is never there in part."""
    draft = path.with_name(f".{os.getpid()}.{path.name}")
    try:
        write(draft)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _record(job: Job, motion: Motion, quality: Quality, seconds: float) -> Record:
    training = quality.training
    return Record(
        clip=job.name,
        motion=job.motion.relative_to(job.output).as_posix(),
        frames=len(motion),
        rate=float(motion.rate),
        seconds=round(seconds, 3),
        tracking_mm=_millimetres(quality.tracking.mean()),
        worst_tracking_mm=_millimetres(quality.tracking.max()),
        drift_mm=_millimetres(quality.drift),
        skate_mm=_millimetres(quality.skate.max(initial=0.0)),
        below_ground_mm=_millimetres(quality.penetration.max(initial=0.0)),
        self_depth_mm=_millimetres(training.self_depth.max(initial=0.0)),
        penetrating=training.penetrating,
        sliding=training.sliding,
        contact_precision=_known(training.contact_precision),
        contact_recall=_known(training.contact_recall),
        jerk=training.jerk,
        limits_broken=quality.violations,
        too_fast=len(quality.hurried),
        spikes=len(quality.spikes),
        unbalanced=quality.unbalanced,
        lost=quality.is_lost,
        rejections=" ".join(training.rejections),
        unmapped=" ".join(quality.unmapped),
    )


def _known(share: float) -> float:
    """The share, or 1 where nothing was in contact."""
    return float(share) if np.isfinite(share) else 1.0


def _millimetres(length: float) -> float:
    return round(1e3 * float(length), 4)
