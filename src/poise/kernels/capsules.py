"""Distances between capsules, exact: the nearest points of two segments.

The squared distance of the points a + s u and b + t v, 0 ≤ s, t ≤ 1, is a convex quadratic on a square. Its minimum is
its stationary point where that lies inside the square, and otherwise lies on an edge: an end of one segment and its
nearest point on the other. Four such candidates and the stationary point are all there is to compare.

Of two nearly parallel capsules the nearest points run from one end of the overlap to the other at the slightest turn.
Both ends of the overlap then get rows of their own: each is a distance of a part of the solids, so that keeping it is
asked for nothing that keeping the distance of the whole does not ask for.
"""

from typing import NamedTuple

import numpy as np

from poise.kernels.compile import kernel
from poise.kernels.solids import NEARLY_PARALLEL, Placed, Rows, Solids, Watched, put_row
from poise.kernels.vector import Vector, add, cross, dot, length, normalized, orthogonal, scale, subtract, vector_at

Array = np.ndarray

_SAME = 1e-9
"""Shares of a segment this close are the same point."""
_CROSSING = 1e-12
"""Axes nearer than this have no direction between them [m]."""


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
        trial = _on_edge(a, u, b, v, edge)
        apart = _between(a, u, b, v, trial)
        square = dot(apart, apart)
        if square < least:
            least = square
            best = trial
    return best


@kernel
def _on_edge(a: Vector, u: Vector, b: Vector, v: Vector, edge: int) -> Shares:
    """The best shares with s = 0, s = 1, t = 0 or t = 1, for edges 0 to 3."""
    if edge < 2:
        s = float(edge)
        return Shares(s, inside(share_of_nearest(add(a, scale(u, s)), b, v)))
    t = float(edge - 2)
    return Shares(inside(share_of_nearest(add(b, scale(v, t)), a, u)), t)


@kernel
def _between(a: Vector, u: Vector, b: Vector, v: Vector, shares: Shares) -> Vector:
    """From the point of the second segment to that of the first."""
    return subtract(add(a, scale(u, shares.s)), add(b, scale(v, shares.t)))


@kernel
def _ends_overlap(a: Vector, u: Vector, b: Vector, v: Vector, edge: int) -> bool:
    """Whether an end of one segment lies beside the other; where two ends meet, only the first segment's counts."""
    if edge < 2:
        share = share_of_nearest(add(a, scale(u, float(edge))), b, v)
        return -_SAME <= share <= 1.0 + _SAME
    share = share_of_nearest(add(b, scale(v, float(edge - 2))), a, u)
    return _SAME < share < 1.0 - _SAME


@kernel
def nearest_capsules(
    solids: Solids,
    watched: Watched,
    placed: Placed,
    reach: float,
    # outputs
    rows: Rows,
    left: Array,
) -> tuple[int, int]:
    """Rows of all pairs of capsules nearer than `reach`, and the pairs that need more than capsules to be told apart.

    Args:
        solids: The solids.
        watched: Their pairs.
        placed: Where they are.
        reach: Distance from which on a pair is left out [m].
        rows: Written from row 0.
        left: (p,) written with the pairs whose bounding capsules are nearer than `reach`.

    Returns:
        How many rows and how many pairs were written.
    """
    first, second, exact = watched.first, watched.second, watched.exact
    start, end, middle = placed.start, placed.end, placed.middle
    radius, extent = solids.radius, solids.extent
    count = 0
    more = 0
    for p in range(first.shape[0]):
        i, j = first[p], second[p]
        span = reach + extent[i] + extent[j]
        x, y, z = middle[i, 0] - middle[j, 0], middle[i, 1] - middle[j, 1], middle[i, 2] - middle[j, 2]
        if x * x + y * y + z * z >= span * span:
            continue
        a, b = vector_at(start, i), vector_at(start, j)
        u, v = subtract(vector_at(end, i), a), subtract(vector_at(end, j), b)
        near = reach + radius[i] + radius[j]
        shares = nearest_of_segments(a, u, b, v)
        apart = _between(a, u, b, v, shares)
        if dot(apart, apart) >= near * near:
            continue
        if exact[p] == 0:
            left[more] = p
            more += 1
            continue
        count = _put_capsules(solids, p, (i, j), (a, u, b, v), shares, count, rows)
        uu, uv, vv = dot(u, u), dot(u, v), dot(v, v)
        if uu * vv - uv * uv < NEARLY_PARALLEL * NEARLY_PARALLEL * uu * vv:
            for edge in range(4):
                other = _on_edge(a, u, b, v, edge)
                same = abs(other.s - shares.s) < _SAME and abs(other.t - shares.t) < _SAME
                if _ends_overlap(a, u, b, v, edge) and not same:
                    apart = _between(a, u, b, v, other)
                    if dot(apart, apart) < near * near:
                        count = _put_capsules(solids, p, (i, j), (a, u, b, v), other, count, rows)
    return count, more


@kernel
def _put_capsules(
    solids: Solids,
    pair: int,
    who: tuple[int, int],
    segments: tuple[Vector, Vector, Vector, Vector],
    shares: Shares,
    count: int,
    # outputs
    rows: Rows,
) -> int:
    """The row of two points on the axes of two capsules."""
    a, u, b, v = segments
    i, j = who
    apart = _between(a, u, b, v, shares)
    gap = length(apart)
    normal = scale(apart, 1.0 / gap) if gap > _CROSSING else _across(u, v)
    point = subtract(add(a, scale(u, shares.s)), scale(normal, solids.radius[i]))
    distance = gap - solids.radius[i] - solids.radius[j]
    return put_row(count, pair, (solids.node[i], solids.node[j]), point, normal, distance, rows)


@kernel
def _across(u: Vector, v: Vector) -> Vector:
    """A direction at right angles to both axes, where they cross."""
    n = normalized(cross(u, v))
    if dot(n, n) > 0.5:
        return n
    longer = normalized(u) if dot(u, u) >= dot(v, v) else normalized(v)
    return orthogonal(longer)
