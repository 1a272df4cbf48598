"""A first draft of a motion: all that leads, by its weights, each frame from the one before."""

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
from poise.motion.retarget.problem_cache import cast_for
from poise.motion.retarget.style import Style
from poise.motion.retarget.task_tracks import Leads

Progress = Callable[[int, int], None]

STEPS, STILL = 4, 1e-3
"""Most steps for one frame, and step at which it is done [rad or m]; the next would be far smaller."""
FIRST_STEPS, FIRST_STILL = 200, 1e-5
"""The same of the first frame."""
AT_ONCE = 100
"""Frames that are solved between two calls of `progress`."""
STEP = StepSize(error=1e3)
"""Errors are not cut off in a draft, which damps its steps itself."""
WARM = 0.2
"""Time that is solved forward and back before the first frame counts [s]."""


def draft_clip(  # noqa: PLR0917
    figure: Figure, leads: Leads, rate: float, style: Style, progress: Progress, out: FloatArray
) -> None:
    """Fill `out` (frames, nq) with postures by weights alone; those that `progress` is told of are done."""
    count = leads.count
    neutral, q = figure.neutral()._q.copy(), leads.start()._q.copy()
    with cast_for(figure, leads.draft, STEP) as cast:
        problem, course = cast.problem, cast.course(leads.draft, count)
        fit = fit_of(problem, style.near, style.still * rate**2)
        aim(problem.engine.goals, course, 0)
        fit.slack[:] = course.slack[0]
        first = fit._replace(still=np.zeros(figure.nv))
        fit_posture(problem.handle, first, q, neutral, FIRST_STEPS, FIRST_STILL, q)
        warm = min(count, round(WARM * rate))
        parts = [(begin, min(begin + AT_ONCE, count)) for begin in range(0, count, AT_ONCE)]
        for span in [(0, warm), (warm - 1, -1), *parts]:
            fit_clip(problem.handle, fit, course, neutral, span, STEPS, STILL, q, out)
            progress(max(span[1], 0), count)


def redraft(  # noqa: PLR0917
    figure: Figure, leads: Leads, rate: float, style: Style, known: FloatArray, anew: BoolArray
) -> FloatArray:
    """(frames, nq) a draft that is known but for the frames that are true in `anew` (frames,)."""
    neutral, out = figure.neutral()._q.copy(), known.copy()
    with cast_for(figure, leads.draft, STEP) as cast:
        course, fit = cast.course(leads.draft, len(known)), fit_of(cast.problem, style.near, style.still * rate**2)
        for span in segments(anew):
            q = known[max(span[0] - 1, 0)].copy()
            fit_clip(cast.problem.handle, fit, course, neutral, span, STEPS, STILL, q, out)
    return out


def ignored(done: int, total: int) -> None:
    """Progress that nobody watches."""


def fit_of(problem: Problem, near: float, still: float, strict: float = 1.0) -> Fit:
    """A fit that is drawn to a posture by the weight `near`, to the frame before by `still`, to goals by `strict`."""
    engine, nv = problem.engine, problem.figure.nv
    limits = nv + engine.levels.general.shape[0]
    weights = near * engine.criteria.posture_weight[0], np.full(nv, still)
    for _, joint in taken_in(problem.figure):
        # It goes where its loop takes it, and was not asked before it had limits either.
        for weight in weights:
            weight[problem.figure.v_slice(joint.name)] = 0.0
    return make_fit(len(engine.goals.position), *weights, limits, problem.figure.nq, strict)
