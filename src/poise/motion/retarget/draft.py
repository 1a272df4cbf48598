"""First draft of a motion: a weighted least-squares fit to all targets, each frame warm-started from the last one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from poise.engine.problem import Problem, StepSize
from poise.figure.assembly.cut_joint_guards import taken_in
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.kernels.motion.follow_clip import aim, fit_clip
from poise.kernels.motion.weighted_fit import fit_posture
from poise.kernels.motion.weighted_fit_step import Fit, make_fit
from poise.motion.clip.contacts import BoolArray, segments
from poise.motion.retarget.problem_cache import cached_problem
from poise.motion.retarget.style import Style
from poise.motion.retarget.task_tracks import TaskTracks

Progress = Callable[[int, int], None]

DRAFT_STEPS = 4
"""Most steps of the fit per frame."""
DRAFT_STEP_TOLERANCE = 1e-3
"""Step length below which a frame is solved [rad or m]; the next step would be far smaller."""
FIRST_FRAME_STEPS = 200
"""Most steps of the fit for the first frame."""
FIRST_FRAME_TOLERANCE = 1e-5
"""Step length below which the first frame is solved [rad or m]."""
PROGRESS_FRAMES = 100
"""Frames that are solved between two calls of `progress`."""
DRAFT_STEP_SIZE = StepSize(error=1e3)
"""Task errors are not clamped in a draft, since the fit damps its steps itself."""
WARM_UP_TIME = 0.2
"""Start of the clip that is solved forward and backward once before the draft begins [s]."""


def draft_clip(  # noqa: PLR0917
    figure: Figure, tracks: TaskTracks, rate: float, style: Style, progress: Progress, out: FloatArray
) -> None:
    """Solve the draft of all frames into `out` (frames, nq).

    Args:
        figure: The figure that moves.
        tracks: Tasks and their targets.
        rate: Frames per second.
        style: Weights of the neutral posture and of joint velocity.
        progress: Called with the number of frames in `out` that are solved, and the number of all frames.
        out: Output.
    """
    count = tracks.count
    neutral, q = figure.neutral()._q.copy(), tracks.start()._q.copy()
    with cached_problem(figure, tracks.draft, DRAFT_STEP_SIZE) as cached:
        problem, course = cached.problem, cached.course(tracks.draft, count)
        fit = make_weighted_fit(problem, style.near, style.still * rate**2)
        aim(problem.engine.goals, course, 0)
        fit.slack[:] = course.slack[0]
        first = fit._replace(still=np.zeros(figure.nv))
        fit_posture(problem.handle, first, q, neutral, FIRST_FRAME_STEPS, FIRST_FRAME_TOLERANCE, q)
        warm = min(count, round(WARM_UP_TIME * rate))
        parts = [(begin, min(begin + PROGRESS_FRAMES, count)) for begin in range(0, count, PROGRESS_FRAMES)]
        for span in [(0, warm), (warm - 1, -1), *parts]:
            fit_clip(problem.handle, fit, course, neutral, span, DRAFT_STEPS, DRAFT_STEP_TOLERANCE, q, out)
            progress(max(span[1], 0), count)


def redraft(  # noqa: PLR0917
    figure: Figure, tracks: TaskTracks, rate: float, style: Style, known: FloatArray, changed: BoolArray
) -> FloatArray:
    """(frames, nq) the draft `known` with the frames of the mask `changed` (frames,) solved again."""
    neutral, out = figure.neutral()._q.copy(), known.copy()
    with cached_problem(figure, tracks.draft, DRAFT_STEP_SIZE) as cached:
        course = cached.course(tracks.draft, len(known))
        fit = make_weighted_fit(cached.problem, style.near, style.still * rate**2)
        for span in segments(changed):
            q = known[max(span[0] - 1, 0)].copy()
            fit_clip(cached.problem.handle, fit, course, neutral, span, DRAFT_STEPS, DRAFT_STEP_TOLERANCE, q, out)
    return out


def no_progress(done: int, total: int) -> None:
    """Progress callback that does nothing."""


def make_weighted_fit(problem: Problem, near: float, still: float, strict: float = 1.0) -> Fit:
    """A weighted fit of the problem's goals.

    Args:
        problem: The compiled tasks.
        near: Weight of the reference posture.
        still: Weight of the posture of the last frame.
        strict: Factor on the weights of all goals.
    """
    engine, nv = problem.engine, problem.figure.nv
    limits = nv + engine.levels.general.shape[0]
    weights = near * engine.criteria.posture_weight[0], np.full(nv, still)
    for _, joint in taken_in(problem.figure):
        # The loop alone determines this joint: its coordinates exist only to limit it.
        for weight in weights:
            weight[problem.figure.v_slice(joint.name)] = 0.0
    return make_fit(len(engine.goals.position), *weights, limits, problem.figure.nq, strict)
