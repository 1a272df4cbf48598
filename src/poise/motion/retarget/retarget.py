"""Retargeting: turns an animation of one skeleton into a motion that another figure can perform.

1. *Mapping*: which joint of the clip drives which site of the figure (`poise.motion.mapping.mapping`).
2. *Calibration*: up, heading, scale and ground, from the whole clip (`poise.motion.retarget.calibration`).
3. *Contacts*: when heels and balls of feet stand (`poise.motion.clip.contacts`).
4. *Plan*: bones of the figure's length in the clip's directions (`plan`), fixed standing feet (`feet`), and with
   `balance` a path of the centre of mass over the support polygon (`balance`).
5. *Solving* (`perform`): a weighted draft of all frames, smoothed, then solved by priority: standing feet first, so
   that no other task makes them slip, then the centre of mass. A contact that no leg can hold is released.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from poise.arguments import kind_of, positive, shown, whole
from poise.cores import usable_cores
from poise.errors import PoiseError, TaskError, UnmappedWarning
from poise.figure.model.figure import Figure, checked_figure
from poise.motion.clip.calibration_pose import without_calibration_pose
from poise.motion.clip.clip import Clip, Source, checked_clip
from poise.motion.clip.contacts import Contacts, ContactSettings
from poise.motion.clip.motion import Motion
from poise.motion.filter.filter import MotionFilter
from poise.motion.mapping.mapping import JointMap
from poise.motion.retarget.balance import with_longer_contacts
from poise.motion.retarget.build import Build
from poise.motion.retarget.draft import Progress, at_rate, no_progress
from poise.motion.retarget.fingers import with_fingers
from poise.motion.retarget.floor import Floor
from poise.motion.retarget.perform import MotionSolver, SolveSettings
from poise.motion.retarget.plan import Plan
from poise.motion.retarget.self_collision import is_made_of_hinges
from poise.motion.retarget.smoothing import Style, slowdown_needed

STRIDES = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3)
"""Step lengths to try in turn, as shares of those that the ratio of the legs gives."""
LONGEST_BALANCED_STRIDE = 0.8
"""Longest stride to try for a balanced motion: swaying over each foot needs some of the legs' reach."""
HELD_CONTACT_SHARE = 0.9
"""Share of contacts that a draft must hold for its stride to be accepted; a balanced motion must hold all."""
SLOWDOWN_ROUNDS = 5
"""Largest number of rounds of slowing down a motion that exceeds its joints' speed limits."""
FINE_RATE = 100.0
"""Frames per recorded second from which standing feet do not slip between frames either [1/s]."""
SLOWDOWN_MARGIN = 1.001
"""Margin on the factor by which such a motion is slowed down."""


class _Options(NamedTuple):
    """Options of a retargeting besides the clip, the figure and the mapping."""

    contacts: Contacts | ContactSettings | None
    style: Style
    balance: bool
    solid: bool
    floor: Floor | None = None


def retarget(  # noqa: PLR0913
    clip: Clip,
    figure: Figure,
    mapping: JointMap | Mapping[str, str] | str | Path | None = None,
    *,
    rate: float | None = None,
    tempo: float = 1.0,
    balance: bool = False,
    solid: bool | None = None,
    contacts: Contacts | ContactSettings | None = None,
    floor: Floor | None = None,
    style: Style | None = None,
    motion_filter: MotionFilter | None = None,
    progress: Progress | None = None,
) -> Motion:
    """Turn `clip` into a motion of `figure`.

    A clip that begins with a calibration pose, from which the person jumps into the motion, begins with its second
    posture instead.

    Args:
        clip: The animation, of any skeleton, in any unit, with any axis up.
        figure: The figure that performs it. A figure with feet and a fixed base gets a floating base.
        mapping: Which joint of the clip drives which site: a `JointMap`, a table of sites by joint, or a TOML file;
            proposed if not given.
        rate: Frames per second of the result. Without it, the clip's rate, or a lower one if joints need more time.
        tempo: Playback speed: 1 for the clip's, 0.25 for a quarter of it. The motion is slower still if the joints'
            speed limits require it.
        balance: Whether the centre of mass stays over the standing feet, as slow walking needs.
        solid: Whether parts of the figure are kept out of each other: hands out of the body, legs out of each other. By
            default they are in trees of hinges and slides, as most robots are; the flesh of people gives way where
            they touch themselves. It needs shapes; those whose mesh cannot be read do not count.
        contacts: When feet stand, or thresholds for the detection.
        floor: Heights of the floor and boxes to stand on; by default the ground is flat. A foot stands at the height of
            the floor under it, whether the person stood there at that height or on flat ground.
        style: Weights, smoothing and the acceleration limit.
        motion_filter: Filter for the result, for figures of hinges and slides without loops. It enforces limits of
            speed, acceleration and jerk, and delays the motion.
        progress: Called with the number of frames done and the number of all frames.

    Returns:
        The motion, with one frame per frame of the clip unless a rate is given; `motion.track` has its targets. If
        Ctrl-C or an error in `progress` interrupts the solve, the exception's `motion` has the frames solved so far.

    Warns:
        UnmappedWarning: Legs, arms or other joints of the figure are not mapped and will not follow the clip.
    """
    _check(clip, figure, style, floor)
    clip = without_calibration_pose(clip)
    tempo = positive(tempo, "the tempo of a retargeting")
    rate = None if rate is None else positive(rate, "the rate of a retargeting", unit="frames per second")
    options = _Options(
        contacts, style or Style(), balance, is_made_of_hinges(figure) if solid is None else solid, floor
    )
    dense = clip if rate is None or isinstance(contacts, Contacts) else _with_more_frames(clip, rate / tempo)
    played = Clip(dense.figure, dense.q, dense.rate * tempo, dense.name)
    motion = _solved(played, figure, mapping, options, tempo, progress)
    for _ in range(SLOWDOWN_ROUNDS):
        timed = motion if rate is None else at_rate(motion, rate)
        slower = slowdown_needed(timed.figure, timed._q, timed.rate, options.style)
        if slower <= 1.0:
            break
        slowed = motion.rate / (SLOWDOWN_MARGIN * slower)
        motion = Motion(motion.figure, motion.q, slowed, motion.name, track=motion.track)
    return timed if motion_filter is None else _filtered(timed, motion_filter)


def _with_more_frames(clip: Clip, rate: float) -> Clip:
    """The clip resampled to at least `FINE_RATE`, or to `rate` if that is lower; unchanged if it has as many frames."""
    few = clip.rate < min(FINE_RATE, rate)
    return clip.resampled(min(rate, clip.rate * math.ceil(FINE_RATE / clip.rate))) if few else clip


def _solved(  # noqa: PLR0917
    clip: Clip,
    figure: Figure,
    mapping: JointMap | Mapping[str, str] | str | Path | None,
    options: _Options,
    tempo: float,
    progress: Progress | None,
) -> Motion:
    """Solve the motion, one frame per frame of the clip; `tempo` is the clip's speed as a share of the recorded one."""
    report = progress or no_progress
    links = JointMap.of(mapping, clip, figure)
    for sentence in links.warnings:
        warnings.warn(sentence, UnmappedWarning, stacklevel=3)
    solver = _with_longest_strides(clip, floating(figure, links), links, options, tempo, lambda k, n: report(k // 2, n))
    q = solver.solve()
    motion = solver.motion(with_fingers(Source(clip), solver.figure, q, clip.rate, solver.penetrating))
    report(len(clip), len(clip))
    return motion


def _filtered(motion: Motion, motion_filter: MotionFilter) -> Motion:
    """The motion after a motion filter."""
    figure = motion.figure
    if len(figure.loops):
        raise TaskError(
            f"a motion filter would open the loops of figure {figure.name!r}; leave motion_filter out for this figure."
        )
    limited = motion_filter.within(figure)
    limited.reset(motion.q[0])
    steps = [motion.q[0], *(limited.step(q, 1.0 / motion.rate) for q in motion.q[1:])]
    return Motion(figure, np.array(steps), motion.rate, motion.name, track=motion.track)


def _with_longest_strides(  # noqa: PLR0917
    clip: Clip, figure: Figure, links: JointMap, options: _Options, tempo: float, progress: Progress
) -> MotionSolver:
    """A solver with its draft solved, for the longest strides whose contacts the figure's legs can hold."""
    source, build = Source(clip), Build.of(figure, links)
    given = options.contacts if isinstance(options.contacts, Contacts) else None
    settings = options.contacts if isinstance(options.contacts, ContactSettings) else None
    tried: list[tuple[float, MotionSolver]] = []
    for stride in (stride for stride in STRIDES if not options.balance or stride <= LONGEST_BALANCED_STRIDE):
        plan = Plan.of(source, links, build, given, settings, stride=stride, tempo=tempo, floor=options.floor)
        if options.balance and given is None:
            plan = with_longer_contacts(plan)
        chosen = SolveSettings(options.style, options.balance, tempo, options.solid, clip.name)
        solver = MotionSolver(figure, links, plan, settings=chosen)
        tried.append((solver.solve_draft(progress), solver))
        given = plan.contacts
        if tried[-1][0] >= (1.0 if options.balance else HELD_CONTACT_SHARE):
            break
    return max(tried, key=lambda held: held[0])[1]


def floating(figure: Figure, mapping: JointMap) -> Figure:
    """The figure, with a floating base if the mapping has ankles and the figure no free joint."""
    walks = any(role.endswith("_ankle") for role in mapping.by_role())
    is_free = any(joint.kind == "free" for joint in figure.joints)
    return _with_floating_base(figure) if walks and not is_free else figure


@lru_cache(maxsize=8)
def _with_floating_base(figure: Figure) -> Figure:
    """The figure with a floating base, cached so that all clips share one figure and its compiled problems."""
    return figure.with_floating_base()


def _check(clip: Clip, figure: Figure, style: Style | None, floor: Floor | None) -> None:
    checked_clip(clip, "retarget")
    checked_figure(figure, "retarget")
    if style is not None and not isinstance(style, Style):
        raise TaskError(f"the style of a retargeting is a Style(smooth=…, acceleration=…), not {shown(style)}.")
    kind_of(floor, Floor, "the floor of a retargeting")


def retarget_all(
    clips: Iterable[Clip],
    figure: Figure,
    mapping: JointMap | Mapping[str, str] | str | Path | None = None,
    *,
    cores: int | None = None,
    executor: Executor | None = None,
    **options: Any,
) -> Iterator[Motion | PoiseError]:
    """Retarget several clips to `figure` and yield the motions in the order of the clips.

    Args:
        clips: The animations.
        figure: The figure that performs them.
        mapping: Which joint drives which site, for all clips alike; proposed for each clip if not given.
        cores: Number of clips solved in parallel; by default the number of cores.
        executor: Solves the clips, such as `distributed.Client(…).get_executor()`; None for processes of this machine.
        options: Other keyword arguments of `retarget`.

    Yields:
        For each clip its motion, or the error that stopped it; an error in one clip does not affect the others.
    """
    most = usable_cores() if cores is None else whole(cores, "the number of cores", least=1)
    asked, queue = partial(_attempt, figure=figure, mapping=mapping, options=options), list(clips)
    if executor is not None:
        for clip, result in [(clip, executor.submit(asked, clip)) for clip in queue]:
            yield _result(clip, result)
        return
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
        with warnings.catch_warnings():
            # Each motion has them in its mapping; a worker process could only print them.
            warnings.simplefilter("ignore", UnmappedWarning)
            return retarget(clip, figure, mapping, **options)
    except PoiseError as problem:
        return problem


def _result(clip: Clip, result: Future[Motion | PoiseError]) -> Motion | PoiseError:
    try:
        return result.result()
    except BrokenProcessPool:
        return PoiseError(f"the process that retargeted clip {clip.name!r} ended without a result.")
