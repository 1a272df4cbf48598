"""Nearest points of two line segments.

The squared distance of the points a + s u and b + t v, 0 ≤ s, t ≤ 1, is a convex quadratic on a square. Its minimum is
the stationary point if that lies inside the square, and otherwise lies on an edge of the square: an end of one segment
and its nearest point on the other. The minimum is therefore one of five candidates.
"""

from typing import NamedTuple

import numpy as np

from poise.kernels.jit.compile import kernel
from poise.kernels.maths.vector import Vector, add, dot, scale, subtract

SAME_SHARE = 1e-9
"""Two points of a segment count as one if their parameters differ by less than this."""


class Shares(NamedTuple):
    """Parameters of the points a + s u and b + t v of two segments."""

    s: float
    """Parameter on the first segment, 0 … 1."""
    t: float
    """Parameter on the second segment, 0 … 1."""


@kernel
def share_of_nearest(point: Vector, start: Vector, along: Vector) -> float:
    """Parameter t of the point start + t along of the infinite line nearest to `point`; 0 if `along` is 0."""
    square = dot(along, along)
    return dot(subtract(point, start), along) / square if square > 0.0 else 0.0


@kernel
def clamped_share(share: float) -> float:
    """`share` clamped to 0 … 1."""
    return min(max(share, 0.0), 1.0)


@kernel
def nearest_of_segments(a: Vector, u: Vector, b: Vector, v: Vector) -> Shares:
    """Parameters of the nearest points of the segments from a to a + u and from b to b + v."""
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
    """The nearest points under the condition s = 0, s = 1, t = 0 or t = 1, for edges 0 to 3."""
    if edge < 2:
        s = float(edge)
        return Shares(s, clamped_share(share_of_nearest(add(a, scale(u, s)), b, v)))
    t = float(edge - 2)
    return Shares(clamped_share(share_of_nearest(add(b, scale(v, t)), a, u)), t)


@kernel
def between(a: Vector, u: Vector, b: Vector, v: Vector, shares: Shares) -> Vector:
    """The vector from the point on the second segment to the point on the first."""
    return subtract(add(a, scale(u, shares.s)), add(b, scale(v, shares.t)))


@kernel
def ends_overlap(a: Vector, u: Vector, b: Vector, v: Vector, edge: int) -> bool:
    """Whether an end of one segment projects onto the other; for coinciding ends, only the first segment's counts."""
    if edge < 2:
        share = share_of_nearest(add(a, scale(u, float(edge))), b, v)
        return -SAME_SHARE <= share <= 1.0 + SAME_SHARE
    share = share_of_nearest(add(b, scale(v, float(edge - 2))), a, u)
    return SAME_SHARE < share < 1.0 - SAME_SHARE
