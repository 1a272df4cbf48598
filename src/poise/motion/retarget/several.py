"""Several clips at once, each on a core of its own."""

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
    """Motions of `figure` after several clips, in their order, each as soon as it and those before it are done.

    Args:
        clips: The animations.
        figure: Who shall perform them.
        mapping: Which joint leads which part, of all clips alike; proposed for each of them if not given.
        cores: How many are solved at once; as many as there are cores unless given.
        options: What `retarget` takes besides.

    Yields:
        For each clip its motion, or what is wrong with the clip: one that cannot be performed costs no other anything.
    """
    most = (os.cpu_count() or 1) if cores is None else cores
    if most < 1:
        raise TaskError(f"retargeting needs one core or more, not {cores}.")
    asked, queue = partial(_attempt, figure=figure, mapping=mapping, options=options), list(clips)
    if min(most, len(queue)) <= 1:
        yield from map(asked, queue)
        return
    # Started anew, not forked: threads of this process may hold locks that nobody would release in a copy of it.
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
        return PoiseError(f"the process that was to retarget clip {clip.name!r} ended before it was done.")
