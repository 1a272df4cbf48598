"""Retargets several clips in parallel, one process per core."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from poise.errors import PoiseError, TaskError
from poise.figure.model.figure import Figure
from poise.motion.clip.clip import Clip
from poise.motion.clip.motion import Motion
from poise.motion.mapping.mapping import JointMap
from poise.motion.retarget.retarget import retarget


def retarget_all(
    clips: Iterable[Clip],
    figure: Figure,
    mapping: JointMap | Mapping[str, str] | str | Path | None = None,
    *,
    cores: int | None = None,
    **options: Any,
) -> Iterator[Motion | PoiseError]:
    """Retarget several clips to `figure` and yield the motions in the order of the clips.

    Args:
        clips: The animations.
        figure: The figure that performs them.
        mapping: Which joint drives which site, for all clips alike; proposed for each clip if not given.
        cores: Number of clips solved in parallel; by default the number of cores.
        options: Other keyword arguments of `retarget`.

    Yields:
        For each clip its motion, or the error that stopped it; an error in one clip does not affect the others.
    """
    most = (os.cpu_count() or 1) if cores is None else cores
    if most < 1:
        raise TaskError(f"retargeting needs one core or more, not {cores}.")
    asked, queue = partial(_attempt, figure=figure, mapping=mapping, options=options), list(clips)
    if min(most, len(queue)) <= 1:
        yield from map(asked, queue)
        return
    # Spawned, not forked: a forked process would inherit locks that other threads hold here, and never release them.
    with ProcessPoolExecutor(min(most, len(queue)), mp_context=get_context("spawn")) as pool:
        for clip, result in [(clip, pool.submit(asked, clip)) for clip in queue]:
            yield _result(clip, result)


def _attempt(
    clip: Clip,
    figure: Figure,
    mapping: JointMap | Mapping[str, str] | str | Path | None,
    options: dict[str, Any],
) -> Motion | PoiseError:
    try:
        return retarget(clip, figure, mapping, **options)
    except PoiseError as problem:
        return problem


def _result(clip: Clip, result: Future[Motion | PoiseError]) -> Motion | PoiseError:
    try:
        return result.result()
    except BrokenProcessPool:
        return PoiseError(f"the process that retargeted clip {clip.name!r} ended without a result.")
