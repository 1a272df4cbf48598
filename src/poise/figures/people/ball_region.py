"""Limits of ball joints from clinical ranges of motion.

A range of motion gives the largest swing of a limb from rest in four directions, as in "flexion 120°, extension 20°,
abduction 45°, adduction 30°". The spherical ellipse through these four directions is not centred at rest; this module
solves for its centre and radii.

Clinicians measure the twist of a limb from the direct swing from rest; the joint measures it from the middle of its
ellipse. The difference, the *induced twist* [Baerlocher 2001, 3.7.1], is a smooth function of the swing. The twist
limits contain it as a fitted quadratic form (within 1.5° r.m.s. for the human shoulder).

Limb frames have z along the limb and x to the figure's left. For a hanging limb y is forward: a positive swing about x
is extension, and a positive swing about y is abduction of a left limb. For a standing limb y is backward: a positive
swing about x bends forward, and one about y bends to the left.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from poise.figure.model.limits import BallLimits, Ellipse, Twist
from poise.figure.model.pose import FloatArray, turn
from poise.kernels.maths.quaternion import (
    Quaternion,
    SwingTwist,
    conjugate,
    direction_swing,
    from_rotation_vector,
    from_swing_twist,
    multiply,
    rotate,
    swing_direction,
    to_swing_twist,
)
from poise.kernels.maths.vector import Vector

DOWN = turn("x", 90.0)
"""Frame of a hanging limb."""
UP = turn("x", -90.0)
"""Frame of a standing limb."""


class Range(NamedTuple):
    """A clinical range of motion from rest [degrees]."""

    x: tuple[float, float]
    """Extreme swings about x, without swing about y."""
    y: tuple[float, float]
    """Extreme swings about y, without swing about x."""
    twist: tuple[float, float]
    """Extreme twists."""


class Region(NamedTuple):
    """An ellipse in swing space [rad]."""

    center: tuple[float, float]
    """Swing from rest to its middle."""
    radii: tuple[float, float]
    """Radii about x and y."""


@cache
def region_through(motion: Range) -> Region:
    """The ellipse with axes along x and y through the four extreme swings."""
    extremes = [(math.radians(x), 0.0) for x in motion.x] + [(0.0, math.radians(y)) for y in motion.y]
    middle = [0.5 * math.radians(sum(motion.x)), 0.5 * math.radians(sum(motion.y))]
    reach = [0.5 * math.radians(high - low) for low, high in (motion.x, motion.y)]

    def residuals(unknowns: FloatArray) -> FloatArray:
        """Residuals of the ellipse's equation at the four extreme swings."""
        cx, cy, rx, ry = unknowns.tolist()
        splits = [seen_from((cx, cy), swing) for swing in extremes]
        return np.array([(split.x / rx) ** 2 + (split.y / ry) ** 2 - 1.0 for split in splits])

    cx, cy, rx, ry = _root(residuals, np.array([*middle, *reach])).tolist()
    return Region((cx, cy), (rx, ry))


def _root(residuals: Callable[[FloatArray], FloatArray], start: FloatArray) -> FloatArray:
    """The root of `residuals` near `start`, by Newton's method with central differences."""
    at, step = start, 1e-6
    for _ in range(50):
        residual = residuals(at)
        if np.abs(residual).max() < 1e-14:
            break
        slopes = [
            (residuals(at + step_vector) - residuals(at - step_vector)) / (2.0 * step)
            for step_vector in step * np.eye(at.size)
        ]
        at = at - np.linalg.solve(np.array(slopes).T, residual)
    return at


def seen_from(center: tuple[float, float], swing: tuple[float, float]) -> SwingTwist:
    """Swing and induced twist, relative to the middle of a region, of a direct swing from rest."""
    back = from_rotation_vector(Vector(-center[0], -center[1], 0.0))
    return to_swing_twist(multiply(back, from_rotation_vector(Vector(swing[0], swing[1], 0.0))))


@cache
def _induced_twist(motion: Range) -> tuple[float, ...]:
    """Least-squares coefficients of 1, s_x, s_y, s_x², s_x s_y, s_y² of the induced twist over the region."""
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
    # Mirroring changes the signs of s_y and of the twist.
    induced = side * np.array(_induced_twist(motion)) * np.array([1.0, 1.0, side, 1.0, side, 1.0])
    low, high = sorted(side * math.radians(angle) for angle in motion.twist)
    constant = np.eye(6)[0]
    return BallLimits(Ellipse(*radii), Twist.between(induced + low * constant, induced + high * constant), cone, limb)


def limb_turn(limb: FloatArray, x: float, y: float, twist: float = 0.0, *, right: bool = False) -> tuple[float, ...]:
    """Quaternion of a ball joint for a direct swing from rest and a twist of its limb [degrees]."""
    side = -1.0 if right else 1.0
    split = SwingTwist(math.radians(x), side * math.radians(y), side * math.radians(twist))
    frame = Quaternion(*limb.tolist())
    return tuple(multiply(multiply(frame, from_swing_twist(split)), conjugate(frame)))
