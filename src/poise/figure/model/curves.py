"""Functions of one joint value, for couplings that are not linear."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from poise.errors import FigureError
from poise.figure.model.pose import FloatArray
from poise.kernels.body.curves import DEGREE, curve_at

Pair = tuple[float, float]


@dataclass(frozen=True)
class Curve:
    """A function of a joint value: a smooth curve through points, or a polynomial.

    The curve through points is a cubic between each two of them, is monotone wherever they are [Fritsch & Carlson
    1980], and goes on straight beyond them.
    """

    points: tuple[Pair, ...] = ()
    """Joint values, increasing, and the value of the function at each."""
    polynomial: tuple[float, ...] = ()
    """Coefficients of 1, x, x², … up to x⁵."""

    def __post_init__(self) -> None:
        """Check the numbers."""
        points = tuple((float(x), float(y)) for x, y in self.points)
        polynomial = tuple(float(c) for c in self.polynomial)
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "polynomial", polynomial)
        if bool(points) == bool(polynomial):
            raise FigureError("a curve needs either points or the coefficients of a polynomial.")
        if not all(math.isfinite(number) for number in (*polynomial, *(part for point in points for part in point))):
            raise FigureError("the numbers of a curve must be finite.")
        if len(polynomial) > DEGREE + 1:
            raise FigureError(f"a polynomial may have {DEGREE + 1} coefficients, up to x⁵, not {len(polynomial)}.")
        if points and len(points) < 2:
            raise FigureError("a curve needs at least two points.")
        if any(after[0] - before[0] < 1e-9 for before, after in pairwise(points)):
            raise FigureError(f"the joint values of a curve's points must increase, not be {[x for x, _ in points]}.")

    @cached_property
    def pieces(self) -> FloatArray:
        """(p, 7) start and coefficients of each piece, for the kernels."""
        if self.polynomial:
            return np.array([[0.0, *self.polynomial, *[0.0] * (DEGREE + 1 - len(self.polynomial))]])
        return _pieces_through(np.array(self.points))

    def at(self, x: float) -> tuple[float, float, float]:
        """Value, slope and second derivative at a joint value."""
        found: tuple[float, float, float] = curve_at(np.array([0, len(self.pieces)]), self.pieces, 0, float(x))
        return found

    def __call__(self, x: float) -> float:
        """Value at a joint value."""
        return self.at(x)[0]


def _pieces_through(points: FloatArray) -> FloatArray:
    """(p, 7) the pieces of the curve through points (k, 2)."""
    x, y = points.T
    slope = _slopes(np.diff(x), np.diff(y) / np.diff(x))
    pieces = np.zeros((len(x) + 1, DEGREE + 2))
    pieces[0, :3] = x[0], y[0], slope[0]
    for i in range(len(x) - 1):
        h = x[i + 1] - x[i]
        rise = (y[i + 1] - y[i]) / h
        square = (3.0 * rise - 2.0 * slope[i] - slope[i + 1]) / h
        cube = (slope[i] + slope[i + 1] - 2.0 * rise) / (h * h)
        pieces[i + 1, :5] = x[i], y[i], slope[i], square, cube
    pieces[-1, :3] = x[-1], y[-1], slope[-1]
    # The straight continuation before the first point holds up to it.
    pieces[0, 0], pieces[0, 1] = x[0] - 1.0, y[0] - slope[0]
    return pieces


def _slopes(width: FloatArray, rise: FloatArray) -> FloatArray:
    """(k,) slopes at the points: harmonic means of those on both sides, 0 where these differ in sign."""
    if len(rise) == 1:
        return np.array([rise[0], rise[0]])
    slopes = np.zeros(len(rise) + 1)
    for i in range(1, len(rise)):
        if rise[i - 1] * rise[i] > 0.0:
            left, right = width[i - 1] + 2.0 * width[i], 2.0 * width[i - 1] + width[i]
            slopes[i] = (left + right) / (left / rise[i - 1] + right / rise[i])
    slopes[0] = _end_slope(width[:2], rise[:2])
    slopes[-1] = _end_slope(width[:-3:-1], rise[:-3:-1])
    return slopes


def _end_slope(width: Sequence[float] | FloatArray, rise: Sequence[float] | FloatArray) -> float:
    """The slope at an end from the two intervals next to it, limited so that the curve stays monotone."""
    slope = ((2.0 * width[0] + width[1]) * rise[0] - width[0] * rise[1]) / (width[0] + width[1])
    if slope * rise[0] <= 0.0:
        return 0.0
    if rise[0] * rise[1] <= 0.0 and abs(slope) > abs(3.0 * rise[0]):
        return float(3.0 * rise[0])
    return float(slope)
