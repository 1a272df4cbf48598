"""Weighted least-squares fits to all targets: the first draft of a motion, and a motion at another rate.

Each frame is warm-started from the last one. Compiling tasks to arrays takes as long as solving hundreds of frames, so
compiled problems are kept for clips that use the same tasks on the same figure: they only need new targets and weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from poise.engine.problem import Problem, StepSize
from poise.engine.weighted_fit import make_weighted_fit
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.kernels.motion.follow_clip import Course, perform_clip
from poise.kernels.motion.posture_curves import curve_clip
from poise.kernels.motion.separation import Separation, clip_depths
from poise.motion.clip.clip import frame_times, interpolated
from poise.motion.clip.contacts import BoolArray
from poise.motion.clip.motion import Motion
from poise.motion.retarget.frame_fits import FrameFits
from poise.motion.retarget.sides import choose_sides
from poise.motion.retarget.smoothing import Style
from poise.motion.retarget.task_tracks import SWING_PRIORITY, TaskTrack, TaskTracks
from poise.tasks.place import Orientation
from poise.tasks.posture import Hold
from poise.tasks.task import Task

Progress = Callable[[int, int], None]

PROGRESS_FRAMES = 100
"""Frames that are solved between two calls of `progress`."""
DRAFT_STEP_SIZE = StepSize(error=1e3)
"""Task errors are not clamped in a draft, since the fit damps its steps itself."""
WARM_UP_TIME = 0.2
"""Start of the clip that is solved forward and backward once before the draft begins [s]."""
CACHED_PROBLEMS = 16
"""Largest number of problems in the cache."""
_IDLE: list[tuple[Figure, tuple[object, ...], CachedProblem]] = []
"""Problems that are not in use, oldest first, with figure and key; a thread takes one out while it uses it."""
GIVING_WAY, TURNING_AWAY = 0.01, 0.1
"""Factors on the square roots of the weights of a swinging foot's place along the ground, and of its rotation, where
they give way to keeping parts of the figure apart."""
RESAMPLE_STEPS = 4
"""Largest number of steps of the fit per frame."""
RESAMPLE_STEP_TOLERANCE = 1e-4
"""Step length below which a frame is solved [rad or m]."""


class Pace(NamedTuple):
    """How fast a draft may move, and which parts it keeps apart."""

    rate: float
    """Frames per second at which the clip was recorded."""
    most_change: FloatArray
    """(nv,) greatest change of each coordinate between frames [rad or m]; inf without a limit."""
    apart: Separation | None
    """Parts of the figure to keep apart; None for none."""


class Draft(NamedTuple):
    """Postures of all frames."""

    free: FloatArray
    """(frames, nq) postures in which parts of the figure may be in each other."""
    held: FloatArray
    """(frames, nq) postures in which they are kept apart; the same array if none are."""


def free_draft(  # noqa: PLR0917
    figure: Figure, tracks: TaskTracks, pace: Pace, style: Style, progress: Progress, out: FloatArray
) -> None:
    """Solve all frames into `out` (frames, nq), with no parts kept apart.

    Args:
        figure: The figure that moves.
        tracks: Tasks and their targets.
        pace: Frames per second, and the greatest change between frames.
        style: Weights of the neutral posture and of joint velocity.
        progress: Called with the number of frames in `out` that are solved, and the number of all frames.
        out: Output.
    """
    count, q = tracks.count, tracks.start()._q.copy()
    with _fits(figure, tracks, pace, style) as fits:
        fits.free.start(0, q)
        warm = min(count, round(WARM_UP_TIME * pace.rate))
        parts = [(begin, min(begin + PROGRESS_FRAMES, count)) for begin in range(0, count, PROGRESS_FRAMES)]
        for span in [(0, warm), (warm - 1, -1), *parts]:
            fits.free.follow(span, q, out)
            progress(max(span[1], 0), count)


def with_parts_apart(figure: Figure, tracks: TaskTracks, pace: Pace, style: Style, free: FloatArray) -> Draft:
    """A draft with this free one, in which parts are kept apart."""
    if pace.apart is None:
        return Draft(free, free)
    with _fits(figure, tracks, pace, style) as fits:
        return Draft(free, _held(fits, pace, free, free, np.zeros(len(free), dtype=np.bool_)))


def redraft(  # noqa: PLR0917
    figure: Figure, tracks: TaskTracks, pace: Pace, style: Style, known: Draft, changed: BoolArray
) -> Draft:
    """The draft `known` with the frames of the mask `changed` (frames,) solved again.

    A joint at its speed limit trails its targets. So the frames after these follow, until they are as before.
    """
    with _fits(figure, tracks, pace, style) as fits:
        free, _ = fits.free.solved_again(changed, known.free)
        return Draft(free, free if pace.apart is None else _held(fits, pace, free, known.held, changed))


def _held(fits: _Fits, pace: Pace, free: FloatArray, known: FloatArray, changed: BoolArray) -> FloatArray:
    """(frames, nq) postures with parts kept apart, for a new free draft.

    Args:
        fits: The fits of the draft.
        pace: The parts, and frames per second.
        free: (frames, nq) the free draft.
        known: (frames, nq) earlier postures; the free ones if there are none.
        changed: (frames,) frames of these to solve again.
    """
    assert pace.apart is not None
    if known is free:
        depth, pair = np.zeros(len(free)), np.zeros(len(free), dtype=np.int64)
        clip_depths(fits.held.figure.compiled.tree, free, pace.apart, depth, pair)
        changed = depth > 0.0
    held, solved = fits.held.solved_again(changed, known)
    choose_sides(fits.held, fits.free, pace.rate, free, solved, held)
    return held


class _Fits(NamedTuple):
    """The fits of a draft."""

    held: FrameFits
    """With parts kept apart."""
    free: FrameFits
    """Without."""


@contextmanager
def _fits(figure: Figure, tracks: TaskTracks, pace: Pace, style: Style) -> Iterator[_Fits]:
    """The fits of a draft; exclusive until the block ends."""
    with cached_problem(figure, tracks.draft, DRAFT_STEP_SIZE) as cached:
        course, still = cached.course(tracks.draft, tracks.count), style.still * pace.rate**2
        held, free = (
            FrameFits(cached.problem, course, style.near, still, pace.most_change, apart)
            for apart in (pace.apart, None)
        )
        yield _Fits(held, free)


def no_progress(done: int, total: int) -> None:
    """Progress callback that does nothing."""


class CachedProblem:
    """A compiled problem, and the rows of each of its tasks."""

    def __init__(self, figure: Figure, tasks: Sequence[Task], step: StepSize) -> None:
        """Compile the tasks, and below them a task that holds a posture."""
        last = 1 + max((task.priority for task in tasks), default=0)
        self.problem = Problem(figure, [*tasks, Hold(figure.neutral(), priority=last)], step=step)
        self._compiled_tasks = [self.problem._by_task[task] for task in tasks]

    def course(self, tracks: Sequence[TaskTrack], count: int) -> Course:
        """Targets and weights of all goals for `count` frames; `tracks` are in the order of the compiled tasks."""
        goals = self.problem.engine.goals
        position, rotation = (np.tile(table, (count, 1, 1)) for table in (goals.position, goals.rotation))
        weight, slack = np.tile(goals.weight, (count, 1)), np.full((count, len(goals.position)), np.inf)
        for compiled, track in zip(self._compiled_tasks, tracks, strict=True):
            (position if track.values.shape[1] == 3 else rotation)[:, compiled.first_goal] = track.values
            weight[:, compiled.rows] = np.sqrt(np.broadcast_to(track.weights, count))[:, None]
            slack[:, compiled.first_goal] = track.slack
        return Course(position, rotation, weight, slack)

    def yielding(self, tracks: Sequence[TaskTrack]) -> FloatArray:
        """(rows,) factors on the square roots of the weights, below 1 for what gives way to keeping parts apart.

        Swinging feet give way along the ground first, then by turning, and never in height.
        """
        factors = np.ones(len(self.problem.engine.goals.weight))
        up = np.abs(self.problem.figure.up_vector) > 0.5
        for compiled, track in zip(self._compiled_tasks, tracks, strict=True):
            rows = np.arange(len(factors))[compiled.rows]
            if track.task.priority != SWING_PRIORITY:
                continue
            if isinstance(track.task, Orientation):
                factors[rows] = TURNING_AWAY
            elif len(rows) == 3:
                factors[rows[~up]] = GIVING_WAY
        return factors


@contextmanager
def cached_problem(figure: Figure, tracks: Sequence[TaskTrack], step: StepSize) -> Iterator[CachedProblem]:
    """A compiled problem for the tasks of `tracks`, from the cache if it has one; exclusive until the block ends."""
    key = (step, *(_task_key(track.task) for track in tracks))
    cached = _take(figure, key) or CachedProblem(figure, [track.task for track in tracks], step)
    cached.problem.forget()
    yield cached
    _IDLE.append((figure, key, cached))
    del _IDLE[:-CACHED_PROBLEMS]


def _take(figure: Figure, key: tuple[object, ...]) -> CachedProblem | None:
    """Take an idle problem with this figure and key out of the cache; None if there is none."""
    for i, (whose, kind, cached) in enumerate(_IDLE):
        if kind == key and whose == figure:
            del _IDLE[i]
            return cached
    return None


def _task_key(task: Task) -> tuple[object, ...]:
    """Key of a task: its type and all its settings except the target."""
    parts = (getattr(task, name, None) for name in ("site", "axes", "own_axes", "offset", "priority", "weight"))
    return (type(task), *(part if isinstance(part, str | int | float | None) else repr(part) for part in parts))


def at_rate(motion: Motion, rate: float) -> Motion:
    """The motion and its targets at another rate [1/s].

    A higher rate samples the cubic B-spline of the postures, which is smooth and near to each of them; a lower rate
    interpolates between two postures. Between frames a standing foot moves by an error of second order in the joint
    differences from frame to frame.
    """
    figure = motion.figure
    times = frame_times(figure, motion.duration, rate)
    if rate > motion.rate and len(motion) > 2:
        before = np.clip(np.floor(times * motion.rate).astype(np.int64), 0, len(motion) - 2)
        q = np.empty((len(times), figure.nq))
        curve_clip(figure.compiled.tree, motion._q, before, np.minimum(times * motion.rate - before, 1.0), q)
    else:
        q = interpolated(figure, motion.times, motion._q, times)
    track = None if motion.track is None else motion.track.at(times * motion.rate)
    return Motion(figure, _with_limits_and_loops(figure, q), rate, motion.name, track=track)


def _with_limits_and_loops(figure: Figure, q: FloatArray) -> FloatArray:
    """(frames, nq) the nearest postures inside the joint limits with their loops, which interpolation opens, closed."""
    out = np.zeros_like(q)
    with cached_problem(figure, [], DRAFT_STEP_SIZE) as cached:
        fit, course = make_weighted_fit(cached.problem, 1.0, 0.0), cached.course([], len(q))
        perform_clip(
            cached.problem.handle, fit, course, q, np.arange(len(q)), cached.yielding([]), RESAMPLE_STEPS,
            RESAMPLE_STEP_TOLERANCE, out,
        )  # fmt: skip
    return out
