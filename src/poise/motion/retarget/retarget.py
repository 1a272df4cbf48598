"""Retargeting: an animation of one skeleton becomes a motion that another figure can perform.

1. *Mapping*: which joint leads which part (`poise.motion.mapping.mapping`).
2. *Calibration*: up, heading, scale and ground, from the whole clip (`poise.motion.retarget.calibration`).
3. *Contacts*: when heels and balls of feet stand (`poise.motion.clip.contacts`).
4. *Plan*: bones of the figure's length in the clip's directions (`plan`), feet planted (`feet`), and if asked the way
   of the centre of mass over what stands (`balance`).
5. *Solving* (`perform`): a draft of all frames by weights, smoothed, then by levels: feet that stand
   first, so that nothing makes them slip, the centre of mass next. A foot that no leg can hold is let go.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from poise.errors import TaskError
from poise.figure.model.figure import Figure
from poise.motion.clip.clip import Clip
from poise.motion.clip.contacts import Contacts, ContactSettings
from poise.motion.clip.motion import Motion
from poise.motion.clip.source import Source
from poise.motion.filter.filter import MotionFilter
from poise.motion.mapping.mapping import JointMap
from poise.motion.retarget.balance import unhurried
from poise.motion.retarget.build import Build
from poise.motion.retarget.draft import Progress, ignored
from poise.motion.retarget.pace import haste
from poise.motion.retarget.perform import Manner, Performance
from poise.motion.retarget.plan import Plan
from poise.motion.retarget.resample import at_rate
from poise.motion.retarget.style import Style

STRIDES = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3)
"""Shares of the length that legs tell to try steps of."""
BALANCED = 0.8
"""The longest of them for a balanced motion: swaying from foot to foot takes some of the legs' reach."""
HELD = 0.9
"""Share of standing frames that must hold for steps to be short enough; all where balance hangs on it."""
SLOWER = 5
"""How often a motion that is too fast for its joints is slowed down."""
FINE = 100.0
"""Frames for a second of a recording with which feet that stand do so between frames too."""
ROOM = 1.001
"""By how much slower than need be a motion is played that is too fast for its joints."""


class _Asked(NamedTuple):
    """What is asked of a retargeting besides the clip, the figure and the mapping."""

    contacts: Contacts | ContactSettings | None
    style: Style
    balance: bool


def retarget(
    clip: Clip,
    figure: Figure,
    mapping: JointMap | Mapping[str, str] | str | Path | None = None,
    *,
    rate: float | None = None,
    tempo: float = 1.0,
    balance: bool = False,
    contacts: Contacts | ContactSettings | None = None,
    style: Style | None = None,
    motion_filter: MotionFilter | None = None,
    progress: Progress | None = None,
) -> Motion:
    """A motion of `figure` after `clip`.

    Args:
        clip: The animation, of any skeleton, in any unit, whichever axis is up.
        figure: Who shall perform it. A figure that stands on feet and is held at its pelvis gets a floating base.
        mapping: Which joint leads which part: a `JointMap`, sites by joint, or a TOML file; proposed if not given.
        rate: Frames per second of the result; the clip's, or as slow as joints need, unless given.
        tempo: Speed, 1 for the clip's, 0.25 for four times as slow; the motion is slower still where the joints' limits
            of speed need it.
        balance: Whether the centre of mass stays over the feet that stand, as slow walking needs.
        contacts: When feet stand, or thresholds to find out.
        style: How closely joints follow, and how smoothly.
        motion_filter: Passes over the result, for figures of hinges and slides without loops: its limits of speed,
            acceleration and jerk hold, and what it eases comes late.
        progress: Called with frames done and frames in all.

    Returns:
        The motion, with a frame for every one of the clip unless a rate is given; `motion.track` says what was asked.
        What stops it half way, Ctrl-C or an error of `progress`, has the frames solved by then in its `motion`.
    """
    _check(clip, tempo)
    asked = _Asked(contacts, style or Style(), balance)
    fine = clip if rate is None or isinstance(contacts, Contacts) else _with_more_frames(clip, rate / tempo)
    played = Clip(fine.figure, fine.q, fine.rate * tempo, fine.name)
    motion = _performed(played, figure, mapping, asked, tempo, progress)
    for _ in range(SLOWER):
        timed = motion if rate is None else at_rate(motion, rate)
        slower = haste(timed.figure, timed._q, timed.rate, asked.style)
        if slower <= 1.0:
            break
        motion = Motion(motion.figure, motion.q, motion.rate / (ROOM * slower), motion.name, track=motion.track)
    return timed if motion_filter is None else _filtered(timed, motion_filter)


def _with_more_frames(clip: Clip, rate: float) -> Clip:
    """A clip of few frames with some in between, if as many as a `rate` are asked for."""
    few = clip.rate < min(FINE, rate)
    return clip.resampled(min(rate, clip.rate * math.ceil(FINE / clip.rate))) if few else clip


def _performed(  # noqa: PLR0917
    clip: Clip,
    figure: Figure,
    mapping: JointMap | Mapping[str, str] | str | Path | None,
    asked: _Asked,
    tempo: float,
    progress: Progress | None,
) -> Motion:
    """The motion, frame by frame of the clip, which is played as a share `tempo` of how fast it was recorded."""
    tell = progress or ignored
    links = JointMap.of(mapping, clip, figure)
    performance = _planned(clip, _floating(figure, links), links, asked, tempo, lambda k, n: tell(k // 2, n))
    motion = performance.motion(performance.run())
    tell(len(clip), len(clip))
    return motion


def _filtered(motion: Motion, motion_filter: MotionFilter) -> Motion:
    """The motion as a filter lets it through."""
    figure = motion.figure
    if len(figure.loops):
        raise TaskError(f"figure {figure.name!r} has loops, which a motion filter would open; leave it out.")
    passing = motion_filter.within(figure)
    passing.reset(motion.q[0])
    steps = [motion.q[0], *(passing.step(q, 1.0 / motion.rate) for q in motion.q[1:])]
    return Motion(figure, np.array(steps), motion.rate, motion.name, track=motion.track)


def _planned(  # noqa: PLR0917
    clip: Clip, figure: Figure, links: JointMap, asked: _Asked, tempo: float, progress: Progress
) -> Performance:
    """A performance with the longest strides that the figure's legs can follow."""
    source, build = Source(clip), Build.of(figure, links)
    given = asked.contacts if isinstance(asked.contacts, Contacts) else None
    settings = asked.contacts if isinstance(asked.contacts, ContactSettings) else None
    tried: list[tuple[float, Performance]] = []
    for stride in (stride for stride in STRIDES if not asked.balance or stride <= BALANCED):
        plan = Plan.of(source, links, build, given, settings, stride=stride, tempo=tempo)
        if asked.balance and given is None:
            plan = unhurried(plan)
        performance = Performance(figure, links, plan, manner=Manner(asked.style, asked.balance, tempo, clip.name))
        tried.append((performance.sketch(progress), performance))
        given = plan.contacts
        if tried[-1][0] >= (1.0 if asked.balance else HELD):
            break
    return max(tried, key=lambda held: held[0])[1]


def _floating(figure: Figure, mapping: JointMap) -> Figure:
    """The figure, able to walk if it has feet."""
    walks = any(role.endswith("_ankle") for role in mapping.by_role())
    is_free = any(joint.kind == "free" for joint in figure.joints)
    return _freed(figure) if walks and not is_free else figure


@lru_cache(maxsize=8)
def _freed(figure: Figure) -> Figure:
    """The figure with a floating base, the same one for every clip."""
    return figure.with_floating_base()


def _check(clip: Clip, tempo: float) -> None:
    if not (math.isfinite(tempo) and tempo > 0.0):
        raise TaskError(f"the tempo of a retargeting must be a positive number, not {tempo}.")
    if not isinstance(clip, Clip):
        raise TaskError(f"retarget takes a clip, such as poise.load_clip gives, not {type(clip).__name__}.")
