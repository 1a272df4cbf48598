"""Middles and sizes of the joints' ranges."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from poise.figure.model.limits import BallLimits, Ellipse
from poise.figure.model.pose import FloatArray, turn
from poise.figure.model.posture import Posture
from poise.kernels.maths.quaternion import Quaternion, conjugate, multiply

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure


class Ranges(NamedTuple):
    """Middles and sizes of the ranges of all joints."""

    middle: Posture
    """Posture with every joint in the middle of its range."""
    size: FloatArray
    """(nv,) distance from one limit to the other [rad or m]; inf where a limit is missing."""


def ranges_of(figure: Figure) -> Ranges:
    """Middle and size of every joint's range; the middle of a joint without limits is its neutral position."""
    q, size = np.array(figure.neutral().q), np.full(figure.nv, math.inf)
    for joint in figure.joints:
        at, v = figure.compiled.q_slices[joint.name], figure.compiled.v_slices[joint.name]
        for i, (low, high) in enumerate(zip(joint.lower, joint.upper, strict=True)):
            if math.isfinite(high - low):
                q[at.start + i], size[v.start + i] = 0.5 * (low + high), high - low
        if joint.ball_limits is not None and joint.ball_limits.swing is not None:
            q[at] = _ball_middle(joint.ball_limits)
            size[v] = 2.0 * _swing_radius(joint.ball_limits)
    return Ranges(Posture(figure, q), size)


def _ball_middle(limits: BallLimits) -> FloatArray:
    """(4,) rotation of a ball joint with the limb in the middle of its cone and of its twist range."""
    twist = 0.0 if limits.twist is None else 0.5 * sum(limits.twist.at(0.0, 0.0))
    cone, limb = Quaternion(*limits.cone.tolist()), Quaternion(*limits.limb.tolist())
    about = Quaternion(*turn("z", math.degrees(twist)).tolist())
    return np.array(multiply(multiply(cone, about), conjugate(limb)))


def _swing_radius(limits: BallLimits) -> float:
    """Average angle from the middle of the swing region to its edge [rad]."""
    if isinstance(limits.swing, Ellipse):
        return 0.5 * (limits.swing.x + limits.swing.y)
    assert limits.swing is not None
    return float(np.mean([math.acos(min(1.0, max(-1.0, vertex[2]))) for vertex in limits.swing.vertices]))
