"""One fuzzing process: mutates, feeds a target, and reports what it should not have done."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import random
import re
import signal
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType

from poise.errors import FormatError
from tests.fuzz.corpus import seeds
from tests.fuzz.mutate import mutated
from tests.fuzz.targets import READERS, TARGETS

PATIENCE = 5.0
"""Seconds of processor time that one input may take; a busy machine does not count against it."""
MEMORY = 6 << 30
"""Bytes of address space a worker may have."""
POOL = 2000
"""Inputs kept for further mutation."""


class TooSlowError(Exception):
    """An input took longer than `PATIENCE`."""


@dataclass
class Report:
    """What one worker has seen."""

    runs: int = 0
    refusals: set[str] = field(default_factory=set)
    """Different complaints of the reader, with names and numbers taken out."""
    failures: dict[str, bytes] = field(default_factory=dict)
    """The first input of every different failure."""


@contextlib.contextmanager
def patience(seconds: float) -> Iterator[None]:
    """Interrupt what takes too long, where the system can."""

    def too_slow(signum: int, frame: FrameType | None) -> None:
        raise TooSlowError(f"took more than {seconds:g} s")

    if not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGPROF, too_slow)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def failure_of(target: str, data: bytes) -> str | None:
    """One line about what the target did wrong with an input, or None."""
    try:
        with patience(PATIENCE):
            TARGETS[target](data)
    except (Exception, TooSlowError) as problem:
        frames = [frame for frame in traceback.extract_tb(problem.__traceback__) if "poise" in frame.filename]
        where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"
        return f"{type(problem).__name__} at {where}: {str(problem)[:120]}"
    return None


def complaint(target: str, data: bytes) -> str:
    """What the reader says about an input, with names and numbers taken out: a cheap measure of novelty."""
    try:
        with contextlib.suppress(Warning), patience(PATIENCE):
            READERS[target](data)
    except FormatError as problem:
        return re.sub(r"'[^']*'|\"[^\"]*\"|\d+", "…", problem.reason)
    except Exception as problem:
        return type(problem).__name__
    return "accepted"


def fuzz(target: str, seconds: float, seed: int, current: Path | None = None, runs: int | None = None) -> Report:
    """Feed a target for some seconds, or so many inputs; `current` receives every input before it is tried."""
    rng = random.Random(f"{target} {seed}")
    pool = list(seeds(target).values())
    for data in pool:
        # Kernels compile on their first call, which would only try the patience of the first inputs.
        TARGETS[target](data)
    report = Report()
    end = time.monotonic() + seconds
    while time.monotonic() < end and (runs is None or report.runs < runs):
        data = mutated(rng, pool)
        if current is not None:
            current.write_bytes(data)
        report.runs += 1
        if (failure := failure_of(target, data)) is not None:
            kind = failure.partition(": ")[0]
            report.failures.setdefault(kind, data)
            continue
        said = complaint(target, data) if report.runs % 4 == 0 else ""
        if said and said not in report.refusals:
            report.refusals.add(said)
            pool = [*pool[-POOL:], data]
    return report


def limit_memory() -> None:
    """Turn memory bombs into MemoryErrors, where the system can."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def serve(target: str, seconds: float, seed: int, current: Path, sender: Connection) -> None:
    """Fuzz in a process of its own."""
    limit_memory()
    logging.disable(logging.WARNING)
    sender.send(fuzz(target, seconds, seed, current))


def name_of(target: str, data: bytes) -> str:
    """A file name for an input."""
    return f"{target}-{hashlib.sha256(data).hexdigest()[:12]}"
