"""A clip whose figure watches something: each frame's posture is the wanted one, and the gaze is that of the target."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Real
from typing import TypeAlias, cast

import numpy as np

from poise.chains.targets import Gaze, GazeLike, gaze
from poise.errors import TaskError
from poise.expressive.expressive import Expressive, ExpressiveSettings, Hold
from poise.motion.clip.clip import Clip, checked_clip

TURN_SPEED = math.radians(300.0)
"""Largest speed at which a joint turns for the sake of the gaze [rad/s]."""

Watched: TypeAlias = "GazeLike | Callable[[float], GazeLike] | Sequence[GazeLike]"
"""A target, a function of the time [s], or one target for each frame."""


def watching(
    clip: Clip,
    target: Watched,
    *,
    tip: str | None = None,
    hold: Hold = "gaze",
    settings: ExpressiveSettings | None = None,
) -> Clip:
    """The motion of a clip, with the figure looking at a target in every frame.

        poise.watching(dance, lambda time: poise.at([math.sin(time), 1.5, 2.0]))

    The figure looks with `poise.Expressive`, so the shape of every frame is kept as far as the gaze allows.

    Args:
        clip: The motion.
        target: What to look at: a target as for `Expressive.solve`, a function of the time in seconds that gives one,
            or one for each frame.
        tip: The part that looks; see `Expressive`.
        hold: What is kept where gaze and shape cannot both be: see `Expressive`.
        settings: Parameters of the search. Without them, joints turn for the gaze by at most 300° per second.
    """
    targets = _targets(checked_clip(clip, "watching"), target)
    chosen = settings or replace(ExpressiveSettings(), rate=min(TURN_SPEED / clip.rate, math.pi))
    solver = Expressive(clip.figure, tip=tip, hold=hold, settings=chosen)
    result, frames = None, list(clip)
    rows = []
    for k, (wanted, aim) in enumerate(zip(frames, targets, strict=True)):
        result = solver.solve(wanted, aim) if result is None else solver.follow(wanted, aim, frames[k - 1], result)
        rows.append(result.posture.q)
    return Clip(clip.figure, np.array(rows), clip.rate, clip.name)


def _targets(clip: Clip, target: Watched) -> list[Gaze]:
    """The target of every frame."""
    if callable(target):
        return [gaze(target(float(time))) for time in clip.times]
    if not _are_many(target):
        return [gaze(cast("GazeLike", target))] * len(clip)
    found = [gaze(one) for one in cast("Sequence[GazeLike]", target)]
    if len(found) != len(clip):
        raise TaskError(f"a clip of {len(clip)} frames needs as many targets, or one for all, not {len(found)}.")
    return found


def _are_many(target: object) -> bool:
    """Whether this is a sequence of targets, rather than a single one."""
    if isinstance(target, np.ndarray):
        return target.ndim == 2
    return isinstance(target, (list, tuple)) and len(target) > 0 and not isinstance(target[0], Real)
