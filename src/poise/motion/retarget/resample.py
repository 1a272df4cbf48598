"""A motion at other moments than those it was solved at: on curves through its postures, loops closed, limits held."""

from __future__ import annotations

import numpy as np

from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.kernels.motion.follow_clip import perform_clip
from poise.kernels.motion.posture_curves import curve_clip
from poise.motion.clip.clip import interpolated
from poise.motion.clip.motion import Motion
from poise.motion.retarget.draft import STEP, fit_of
from poise.motion.retarget.problem_cache import cast_for

STEPS, STILL = 4, 1e-4
"""Most steps for one frame, and step at which it is done [rad or m]."""
_ON_TIME = 1e-6
"""Share of a frame by which the last may be after the end: rounding, not motion."""


def at_rate(motion: Motion, rate: float) -> Motion:
    """The motion at another rate [1/s], what was asked of it carried over.

    More frames than there are lie on a curve without corners that passes by each of them as closely as the motion bends
    little there; feet that stand do so between frames too, to second order in how far joints go from one to the next.
    """
    figure = motion.figure
    times = np.arange(int(np.floor(motion.duration * rate + _ON_TIME)) + 1) / rate
    if rate > motion.rate and len(motion) > 2:
        before = np.clip(np.floor(times * motion.rate).astype(np.int64), 0, len(motion) - 2)
        q = np.empty((len(times), figure.nq))
        curve_clip(figure.compiled.tree, motion._q, before, np.minimum(times * motion.rate - before, 1.0), q)
    else:
        q = interpolated(figure, motion.times, motion._q, times)
    track = None if motion.track is None else motion.track.at(times * motion.rate)
    return Motion(figure, _legal(figure, q), rate, motion.name, track=track)


def _legal(figure: Figure, q: FloatArray) -> FloatArray:
    """(frames, nq) the nearest postures inside the limits, with loops that mixing has opened closed again."""
    out = np.zeros_like(q)
    with cast_for(figure, [], STEP) as cast:
        fit, course = fit_of(cast.problem, 1.0, 0.0), cast.course([], len(q))
        perform_clip(cast.problem.handle, fit, course, q, np.arange(len(q)), STEPS, STILL, out)
    return out
