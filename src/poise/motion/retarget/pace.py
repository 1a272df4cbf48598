"""Speeds, accelerations and jerk of a motion's joints, and zero-phase smoothing."""

from __future__ import annotations

import math

import numpy as np

from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.kernels.motion.posture_curves import clip_rates, smooth_clip
from poise.motion.clip.contacts import BoolArray
from poise.motion.report.joints import USUAL_JERK_PERCENTILE
from poise.motion.retarget.feet import frames_to_nearest, smootherstep
from poise.motion.retarget.style import Style

JERKY_FACTOR = 7.5
"""A frame is jerky if the jerk of a coordinate exceeds this many times its usual jerk.

It is below the `SPIKE_FACTOR` of the report, so that a motion without jerky frames has no spikes.
"""


def smoothed(figure: Figure, clip: FloatArray, width: FloatArray) -> FloatArray:
    """(frames, nq) the postures smoothed symmetrically in time over a `width` (frames,) of frames around each."""
    if not width.any():
        return clip
    out = np.zeros_like(clip)
    smooth_clip(figure.compiled.tree, clip, np.maximum(width, 1e-3), out)
    return out


def jerky_frames(figure: Figure, clip: FloatArray) -> BoolArray:
    """(frames,) whether the jerk of some coordinate is far above its usual jerk."""
    found = np.zeros(len(clip), dtype=np.bool_)
    if len(clip) < 5:
        return found
    jerk = np.abs(np.diff(frame_differences(figure, clip), n=2, axis=0))
    usual = np.maximum(np.percentile(jerk, USUAL_JERK_PERCENTILE, axis=0), np.percentile(jerk, USUAL_JERK_PERCENTILE))
    found[1:-2] = (jerk > JERKY_FACTOR * usual).any(axis=1)
    return found


def frame_differences(figure: Figure, clip: FloatArray) -> FloatArray:
    """(frames - 1, nv) difference of every joint between consecutive frames [rad or m]."""
    rates = np.zeros((len(clip) - 1, figure.nv))
    clip_rates(figure.compiled.tree, clip, rates)
    return rates


def slowdown_needed(figure: Figure, clip: FloatArray, rate: float, style: Style) -> float:
    """Factor, at least 1, by which to slow a motion down to the joints' speed limits and the style's acceleration."""
    rates = np.abs(frame_differences(figure, clip)) * rate
    accelerations = np.abs(np.diff(frame_differences(figure, clip), axis=0)) * rate**2
    most = 1.0
    for name in figure.moving_joints:
        joint, where = figure.joints[name], figure.v_slice(name)
        most = max(most, float(np.linalg.norm(rates[:, where], axis=1).max(initial=0.0)) / joint.speed)
        if joint.kind != "free":
            most = max(most, math.sqrt(float(accelerations[:, where].max(initial=0.0)) / style.acceleration))
    return most


def acceleration_limits(figure: Figure, acceleration: float) -> FloatArray:
    """(nv,) acceleration limits: the same for every coordinate, inf for a floating base."""
    most = np.full(figure.nv, acceleration)
    for joint in figure.joints:
        if joint.kind == "free":
            most[figure.v_slice(joint.name)] = np.inf
    return most


def eased_window(mask: BoolArray, reach: float) -> FloatArray:
    """(frames,) 1 where the mask is true, falling smoothly to 0 within `reach` frames before and after."""
    return smootherstep(np.clip(1.0 - frames_to_nearest(mask) / (reach + 1.0), 0.0, 1.0))
