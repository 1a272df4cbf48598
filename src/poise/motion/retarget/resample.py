"""Resamples a solved motion at another rate on a smooth curve, with loops closed and inside the joint limits."""

from __future__ import annotations

import numpy as np

from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.kernels.motion.follow_clip import perform_clip
from poise.kernels.motion.posture_curves import curve_clip
from poise.motion.clip.clip import frame_count, interpolated
from poise.motion.clip.motion import Motion
from poise.motion.retarget.draft import DRAFT_STEP_SIZE, make_weighted_fit
from poise.motion.retarget.problem_cache import cached_problem

RESAMPLE_STEPS = 4
"""Most steps of the fit per frame."""
RESAMPLE_STEP_TOLERANCE = 1e-4
"""Step length below which a frame is solved [rad or m]."""


def at_rate(motion: Motion, rate: float) -> Motion:
    """The motion and its targets at another rate [1/s].

    A higher rate samples the cubic B-spline of the postures, which is smooth and near to each of them; a lower rate
    interpolates between two postures. Between frames a standing foot moves by an error of second order in the joint
    differences from frame to frame.
    """
    figure = motion.figure
    times = np.arange(frame_count(motion.duration, rate)) / rate
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
            cached.problem.handle, fit, course, q, np.arange(len(q)), RESAMPLE_STEPS, RESAMPLE_STEP_TOLERANCE, out
        )
    return out
