"""Retargeting: an animation of one skeleton becomes a motion that another figure can perform.

1. *Mapping*: which joint leads which part (`poise.motion.mapping`).
2. *Calibration*: up, heading, scale and ground, from the whole clip (`poise.motion.calibration`).
3. *Contacts*: when heels and balls of feet stand (`poise.motion.contacts`).
4. *Plan*: bones of the figure's length in the clip's directions (`poise.motion.plan`), feet planted
   (`poise.motion.feet`).
5. *Solving*, frame by frame, each from the last one's answer: feet on the first level, so that nothing makes them slip;
   then, if asked, the centre of mass over what stands (`poise.motion.balance`); then all the rest by its weights; what
   freedom is left goes to the neutral posture.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from poise.errors import TaskError
from poise.figure.figure import Figure
from poise.motion.build import Build
from poise.motion.clip import Clip
from poise.motion.contacts import Contacts, ContactSettings
from poise.motion.mapping import JointMap
from poise.motion.motion import Motion
from poise.motion.perform import Performance, Progress, Style, ignored
from poise.motion.plan import Plan
from poise.motion.source import Source

STRIDES = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3)
"""Shares of the length that legs tell to try steps of."""
HELD = 0.9
"""Share of standing frames that must hold for steps to be short enough; all where balance hangs on it."""


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
    progress: Progress | None = None,
) -> Motion:
    """A motion of `figure` after `clip`.

    Args:
        clip: The animation, of any skeleton, in any unit, whichever axis is up.
        figure: Who shall perform it. A figure that stands on feet and is held at its pelvis gets a floating base.
        mapping: Which joint leads which part: a `JointMap`, sites by joint, or a TOML file; proposed if not given.
        rate: Frames per second of the result; the clip's unless given.
        tempo: Speed, 1 for the clip's; 0.25 for four times as slow.
        balance: Whether the centre of mass stays over the feet that stand, as slow walking needs.
        contacts: When feet stand, or thresholds to find out.
        style: How closely joints follow, and how smoothly.
        progress: Called with frames done and frames in all.

    Returns:
        The motion, with a frame for every one of the clip; `motion.track` says what was asked.
    """
    _check(clip, tempo)
    timed = Clip(clip.figure, clip.q, clip.rate * tempo, clip.name)
    timed = timed if rate is None else timed.resampled(rate)
    links = JointMap.of(mapping, timed, figure)
    performer = _floating(figure, links)
    tell = progress or ignored
    count = len(timed)
    asked = _Asked(contacts, style or Style(), tempo, balance)
    performance = _planned(timed, performer, links, asked, lambda k, n: tell(k // 2, n))
    q = performance.run()
    tell(count, count)
    return Motion(performer, q, timed.rate, clip.name, track=performance.leads.track(links))


class _Asked(NamedTuple):
    """What is asked of a retargeting besides the clip, the figure and the mapping."""

    contacts: Contacts | ContactSettings | None
    style: Style
    tempo: float
    balance: bool


def _planned(clip: Clip, figure: Figure, links: JointMap, asked: _Asked, progress: Progress) -> Performance:
    """A performance with the longest strides that the figure's legs can follow."""
    source, build = Source(clip), Build.of(figure, links)
    given = asked.contacts if isinstance(asked.contacts, Contacts) else None
    settings = asked.contacts if isinstance(asked.contacts, ContactSettings) else None
    tried: list[tuple[float, Performance]] = []
    for stride in STRIDES:
        plan = Plan.of(source, links, build, given, settings, stride=stride, tempo=asked.tempo)
        performance = Performance(figure, links, plan, rate=clip.rate, style=asked.style, balance=asked.balance)
        tried.append((performance.sketch(progress), performance))
        given = plan.contacts
        if tried[-1][0] >= (1.0 if asked.balance else HELD):
            break
    return max(tried, key=lambda held: held[0])[1]


def _floating(figure: Figure, mapping: JointMap) -> Figure:
    """The figure, able to walk if it has feet."""
    walks = any(role.endswith("_ankle") for role in mapping.by_role())
    is_free = any(joint.kind == "free" for joint in figure.joints)
    return figure.with_floating_base() if walks and not is_free else figure


def _check(clip: Clip, tempo: float) -> None:
    if not (math.isfinite(tempo) and tempo > 0.0):
        raise TaskError(f"the tempo of a retargeting must be a positive number, not {tempo}.")
    if not isinstance(clip, Clip):
        raise TaskError(f"retarget takes a clip, such as poise.load_clip gives, not {type(clip).__name__}.")
