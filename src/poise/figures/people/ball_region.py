"""Limits of a ball joint from the ranges a physiotherapist measures.

A range of motion says how far a limb goes from rest in four directions, as in "flexion 120°, extension 20°, abduction
45°, adduction 30°". The spherical ellipse through these four directions is centred elsewhere than at rest, which is
found here by solving for its centre and radii.

Rotation of the limb about itself is measured from a direct swing from rest. The joint measures it from the middle of
its ellipse; the difference, the *induced twist* [Baerlocher 2001, 3.7.1], is a smooth function of the swing, and the
twist limits carry it as a fitted quadratic (within 1.5° r.m.s. for the human shoulder).

Limb frames: z along the limb, x to the figure's left. For a limb that hangs down, y is forward, a positive swing about
x extends and a positive swing about y abducts a left limb. For one that stands up, y is backward, a positive swing
about x bends forward and one about y bends to the left.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from poise.figure.model.limits import BallLimits, Ellipse, Twist
from poise.figure.model.pose import FloatArray, turn
from poise.kernels.maths.quaternion import Quaternion, conjugate, from_rotation_vector, multiply, rotate
from poise.kernels.maths.swing_twist import (
    SwingTwist,
    direction_swing,
    from_swing_twist,
    swing_direction,
    to_swing_twist,
)
from poise.kernels.maths.vector import Vector

DOWN = turn("x", 90.0)
"""Frame of a limb that hangs down."""
UP = turn("x", -90.0)
"""Frame of a limb that stands up."""


class Range(NamedTuple):
    """Extreme swings about x and y, each alone, and extreme twists, from rest [degrees]."""

    x: tuple[float, float]
    y: tuple[float, float]
    twist: tuple[float, float]


class Region(NamedTuple):
    """An ellipse in swing space [rad]."""

    center: tuple[float, float]
    """Swing from rest to its middle."""
    radii: tuple[float, float]


@cache
def region_through(motion: Range) -> Region:
    """The ellipse, axes along x and y, through the four extreme swings."""
    extremes = [(math.radians(x), 0.0) for x in motion.x] + [(0.0, math.radians(y)) for y in motion.y]
    middle = [0.5 * math.radians(sum(motion.x)), 0.5 * math.radians(sum(motion.y))]
    reach = [0.5 * math.radians(high - low) for low, high in (motion.x, motion.y)]

    def misses(unknowns: FloatArray) -> FloatArray:
        cx, cy, rx, ry = unknowns.tolist()
        splits = [seen_from((cx, cy), swing) for swing in extremes]
        return np.array([(split.x / rx) ** 2 + (split.y / ry) ** 2 - 1.0 for split in splits])

    cx, cy, rx, ry = _root(misses, np.array([*middle, *reach])).tolist()
    return Region((cx, cy), (rx, ry))


def _root(misses: Callable[[FloatArray], FloatArray], start: FloatArray) -> FloatArray:
    """Newton's method with central differences, for a start near the root."""
    at, step = start, 1e-6
    for _ in range(50):
        miss = misses(at)
        if np.abs(miss).max() < 1e-14:
            break
        slopes = [(misses(at + nudge) - misses(at - nudge)) / (2.0 * step) for nudge in step * np.eye(at.size)]
        at = at - np.linalg.solve(np.array(slopes).T, miss)
    return at


def seen_from(center: tuple[float, float], swing: tuple[float, float]) -> SwingTwist:
    """A direct swing from rest, as swing and induced twist measured from the middle of a region."""
    back = from_rotation_vector(Vector(-center[0], -center[1], 0.0))
    return to_swing_twist(multiply(back, from_rotation_vector(Vector(swing[0], swing[1], 0.0))))


@cache
def _induced_twist(motion: Range) -> tuple[float, ...]:
    """Coefficients of 1, s_x, s_y, s_x², s_x s_y, s_y² of the induced twist over the region."""
    center, radii = region_through(motion)
    out = from_rotation_vector(Vector(*center, 0.0))
    rows, twists = [], []
    for k in np.sqrt(np.linspace(0.0, 1.0, 12)):
        for a in np.linspace(0.0, 2.0 * math.pi, 24, endpoint=False):
            x, y = k * radii[0] * math.cos(a), k * radii[1] * math.sin(a)
            swing = direction_swing(rotate(out, swing_direction(x, y)))
            rows.append([1.0, x, y, x * x, x * y, y * y])
            twists.append(seen_from(center, swing).twist)
    return tuple(np.linalg.lstsq(np.array(rows), np.array(twists), rcond=None)[0].tolist())


def limits_of(motion: Range, limb: FloatArray, *, right: bool = False) -> BallLimits:
    """Limits of a ball joint with this range; `right` mirrors those of a left limb."""
    center, radii = region_through(motion)
    side = -1.0 if right else 1.0
    tilt = from_rotation_vector(Vector(center[0], side * center[1], 0.0))
    cone = np.array(multiply(Quaternion(*limb.tolist()), tilt))
    # In the mirror s_y and the twist change sign.
    induced = side * np.array(_induced_twist(motion)) * np.array([1.0, 1.0, side, 1.0, side, 1.0])
    low, high = sorted(side * math.radians(angle) for angle in motion.twist)
    constant = np.eye(6)[0]
    return BallLimits(Ellipse(*radii), Twist.between(induced + low * constant, induced + high * constant), cone, limb)


def limb_turn(limb: FloatArray, x: float, y: float, twist: float = 0.0, *, right: bool = False) -> tuple[float, ...]:
    """Quaternion of a ball joint that swings its limb directly from rest and turns it about itself [degrees]."""
    side = -1.0 if right else 1.0
    split = SwingTwist(math.radians(x), side * math.radians(y), side * math.radians(twist))
    frame = Quaternion(*limb.tolist())
    return tuple(multiply(multiply(frame, from_swing_twist(split)), conjugate(frame)))
