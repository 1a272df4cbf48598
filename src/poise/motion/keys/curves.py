"""Curves through the values of keys: points, rotations and postures.

All are cubic Hermite curves in the logarithm at the earlier key: with d = b ⊖ a the way from one key's value to the
next, T the time between them, s the share of it that has passed, and m, n the velocities at both keys,

    x(s) = a ⊕ ((s³ - 2s² + s) T m + (3s² - 2s³) d + (s³ - s²) T n).

The velocity at a key follows from its ease. "stop" is zero. "smooth" is the harmonic mean of the mean velocities before
and after, component by component, and zero where these differ in sign, so that a curve does not overshoot its keys
[Fritsch & Carlson 1980]. "linear" has the mean velocities themselves, one on each side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.engine.animation import Ease
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray, Pose
from poise.figure.model.posture import Posture


@dataclass(frozen=True)
class Manifold:
    """How values of a kind are subtracted and added."""

    difference: Callable[[Any, Any], FloatArray]
    """The way (n,) from one value to another."""
    moved: Callable[[Any, FloatArray], Any]
    """The value that a difference (n,) leads to from another value."""


class Curve:
    """A curve through values at times; constant before the first and after the last."""

    def __init__(
        self,
        space: Manifold,
        times: Sequence[float],
        values: Sequence[Any],
        eases: Sequence[Ease],
        *,
        loop: bool = False,
    ) -> None:
        """Compute the velocities at the keys; with `loop`, the last value is the first one again."""
        self._space, self.times, self.values = space, np.array(times), list(values)
        self._ways = [space.difference(a, b) for a, b in zip(self.values, self.values[1:], strict=False)]
        spans = np.diff(self.times)
        slopes = [way / span for way, span in zip(self._ways, spans, strict=True)]
        self._before, self._after = _velocities(slopes, eases, loop)

    def at(self, time: float) -> Any:
        """The value at a time [s]."""
        k = int(np.searchsorted(self.times, time, side="right")) - 1
        if k < 0:
            return self.values[0]
        if k >= len(self._ways):
            return self.values[-1]
        way, span = self._ways[k], self.times[k + 1] - self.times[k]
        s = (time - self.times[k]) / span
        if s == 0.0 or not way.any():
            return self.values[k]
        m, n = span * self._after[k], span * self._before[k + 1]
        moved = (s * (s - 1.0) ** 2) * m + (s * s * (3.0 - 2.0 * s)) * way + (s * s * (s - 1.0)) * n
        return self._space.moved(self.values[k], moved)

    def way_to(self, number: int, value: Any) -> FloatArray:
        """(n,) the way from the value of a key to another value."""
        return self._space.difference(self.values[number], value)


def _velocities(
    slopes: Sequence[FloatArray], eases: Sequence[Ease], loop: bool
) -> tuple[list[FloatArray], list[FloatArray]]:
    """The velocities just before and just after each key."""
    if not slopes:
        return [], []
    zero, count = np.zeros_like(slopes[0]), len(slopes) + 1
    before, after = [], []
    for k in range(count):
        slope_in = slopes[k - 1] if k > 0 else slopes[-1] if loop else zero
        slope_out = slopes[k] if k < count - 1 else slopes[0] if loop else zero
        ease = eases[k]
        if ease == "linear":
            before.append(slope_in)
            after.append(slope_out)
        else:
            velocity = zero if ease == "stop" else _harmonic_mean(slope_in, slope_out)
            before.append(velocity)
            after.append(velocity)
    return before, after


def _harmonic_mean(a: FloatArray, b: FloatArray) -> FloatArray:
    """Component by component, 0 where the signs differ."""
    product = a * b
    return np.where(product > 0.0, 2.0 * product / np.where(product > 0.0, a + b, 1.0), 0.0)


def rotation_way(a: FloatArray, b: FloatArray) -> FloatArray:
    """(3,) the rotation vector from one unit quaternion (w, x, y, z) to another, in the axes of the first [rad]."""
    w, xyz = float(a @ b), a[0] * b[1:] - b[0] * a[1:] - np.cross(a[1:], b[1:])
    if w < 0.0:
        w, xyz = -w, -xyz
    size = float(np.linalg.norm(xyz))
    return np.zeros(3) if size < 1e-15 else (2.0 * np.arctan2(size, w) / size) * xyz


def rotated(a: FloatArray, way: FloatArray) -> FloatArray:
    """(4,) a unit quaternion turned by a rotation vector in its own axes."""
    angle = float(np.linalg.norm(way))
    half = 0.5 * angle
    scale = 0.5 if angle < 1e-9 else np.sin(half) / angle
    w, xyz = np.cos(half), scale * way
    out = np.concatenate([[a[0] * w - a[1:] @ xyz], a[0] * xyz + w * a[1:] + np.cross(a[1:], xyz)])
    unit: FloatArray = out / np.linalg.norm(out)
    return unit


def _pose_way(a: Pose, b: Pose) -> FloatArray:
    return np.concatenate([b.position - a.position, rotation_way(a.rotation, b.rotation)])


NUMBERS = Manifold(lambda a, b: np.asarray(b, dtype=np.float64) - a, lambda a, way: np.asarray(a) + way)
"""Numbers and points."""
ROTATIONS = Manifold(rotation_way, rotated)
"""Unit quaternions."""
POSE_MANIFOLD = Manifold(_pose_way, lambda a, way: Pose(a.position + way[:3], rotated(a.rotation, way[3:])))
"""Positions with rotations."""


def postures(figure: Figure) -> Manifold:
    """Postures of a figure."""

    def moved(a: Posture, way: FloatArray) -> Posture:
        return figure.integrate(a, way)

    return Manifold(figure.difference, moved)
