"""How fast the joints of a motion go, where they jerk, and how to smooth that without being late."""

from __future__ import annotations

import math

import numpy as np

from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.kernels.motion.posture_curves import clip_rates, smooth_clip
from poise.motion.clip.contacts import BoolArray
from poise.motion.retarget.feet import eased, frames_from
from poise.motion.retarget.style import Style

JERKY, USUAL = 7.5, 95.0
"""A frame jerks if a joint's jerk is as many times the usual, which is this percentile of all frames."""


def smoothed(figure: Figure, clip: FloatArray, width: FloatArray) -> FloatArray:
    """(frames, nq) the clip with every frame averaged over a width (frames,) of frames, and none late."""
    if not width.any():
        return clip
    out = np.zeros_like(clip)
    smooth_clip(figure.compiled.tree, clip, np.maximum(width, 1e-3), out)
    return out


def jerks(figure: Figure, clip: FloatArray) -> BoolArray:
    """(frames,) whether some joint jerks unlike elsewhere."""
    found = np.zeros(len(clip), dtype=np.bool_)
    if len(clip) < 5:
        return found
    jerk = np.abs(np.diff(rates_of(figure, clip), n=2, axis=0))
    usual = np.maximum(np.percentile(jerk, USUAL, axis=0), np.percentile(jerk, USUAL))
    found[1:-2] = (jerk > JERKY * usual).any(axis=1)
    return found


def rates_of(figure: Figure, clip: FloatArray) -> FloatArray:
    """(frames - 1, nv) way of every joint from frame to frame [rad or m]."""
    rates = np.zeros((len(clip) - 1, figure.nv))
    clip_rates(figure.compiled.tree, clip, rates)
    return rates


def haste(figure: Figure, clip: FloatArray, rate: float, style: Style) -> float:
    """How many times too fast a motion is for its joints' speeds and the style's acceleration; 1 if it is not."""
    rates = np.abs(rates_of(figure, clip)) * rate
    gained = np.abs(np.diff(rates_of(figure, clip), axis=0)) * rate**2
    most = 1.0
    for name in figure.moving_joints:
        joint, where = figure.joints[name], figure.v_slice(name)
        most = max(most, float(np.linalg.norm(rates[:, where], axis=1).max(initial=0.0)) / joint.speed)
        if joint.kind != "free":
            most = max(most, math.sqrt(float(gained[:, where].max(initial=0.0)) / style.acceleration))
    return most


def gains(figure: Figure, acceleration: float) -> FloatArray:
    """(nv,) the same greatest acceleration for every joint, none for a floating base."""
    most = np.full(figure.nv, acceleration)
    for joint in figure.joints:
        if joint.kind == "free":
            most[figure.v_slice(joint.name)] = np.inf
    return most


def around(mask: BoolArray, reach: float) -> FloatArray:
    """(frames,) 1 where the mask is true, easing to 0 within `reach` frames of it."""
    return eased(np.clip(1.0 - frames_from(mask) / (reach + 1.0), 0.0, 1.0))
