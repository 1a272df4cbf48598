"""The nearest points of two segments.

The squared distance of the points a + s u and b + t v, 0 ≤ s, t ≤ 1, is a convex quadratic on a square. Its minimum is
its stationary point where that lies inside the square, and otherwise lies on an edge: an end of one segment and its
nearest point on the other. Four such candidates and the stationary point are all there is to compare.
"""

from typing import NamedTuple

import numpy as np

from poise.kernels.jit.compile import kernel
from poise.kernels.maths.vector import Vector, add, dot, scale, subtract

SAME = 1e-9
"""Shares of a segment this close are the same point."""


class Shares(NamedTuple):
    """Points a + s u and b + t v of two segments."""

    s: float
    t: float


@kernel
def share_of_nearest(point: Vector, start: Vector, along: Vector) -> float:
    """t of the point start + t along of the whole line that is nearest to `point`; 0 for a segment without length."""
    square = dot(along, along)
    return dot(subtract(point, start), along) / square if square > 0.0 else 0.0


@kernel
def inside(share: float) -> float:
    """The nearest share of a segment."""
    return min(max(share, 0.0), 1.0)


@kernel
def nearest_of_segments(a: Vector, u: Vector, b: Vector, v: Vector) -> Shares:
    """Shares of the nearest points of the segments from a to a + u and from b to b + v."""
    uu, uv, vv = dot(u, u), dot(u, v), dot(v, v)
    gap = subtract(a, b)
    determinant = uu * vv - uv * uv
    if determinant > 1e-14 * uu * vv:
        gu, gv = dot(gap, u), dot(gap, v)
        s = (uv * gv - vv * gu) / determinant
        t = (uu * gv - uv * gu) / determinant
        if 0.0 <= s <= 1.0 and 0.0 <= t <= 1.0:
            return Shares(s, t)
    best = Shares(0.0, 0.0)
    least = np.inf
    for edge in range(4):
        trial = on_edge(a, u, b, v, edge)
        apart = between(a, u, b, v, trial)
        square = dot(apart, apart)
        if square < least:
            least = square
            best = trial
    return best


@kernel
def on_edge(a: Vector, u: Vector, b: Vector, v: Vector, edge: int) -> Shares:
    """The best shares with s = 0, s = 1, t = 0 or t = 1, for edges 0 to 3."""
    if edge < 2:
        s = float(edge)
        return Shares(s, inside(share_of_nearest(add(a, scale(u, s)), b, v)))
    t = float(edge - 2)
    return Shares(inside(share_of_nearest(add(b, scale(v, t)), a, u)), t)


@kernel
def between(a: Vector, u: Vector, b: Vector, v: Vector, shares: Shares) -> Vector:
    """From the point of the second segment to that of the first."""
    return subtract(add(a, scale(u, shares.s)), add(b, scale(v, shares.t)))


@kernel
def ends_overlap(a: Vector, u: Vector, b: Vector, v: Vector, edge: int) -> bool:
    """Whether an end of one segment lies beside the other; where two ends meet, only the first segment's counts."""
    if edge < 2:
        share = share_of_nearest(add(a, scale(u, float(edge))), b, v)
        return -SAME <= share <= 1.0 + SAME
    share = share_of_nearest(add(b, scale(v, float(edge - 2))), a, u)
    return SAME < share < 1.0 - SAME
