"""The support polygon: the convex hull of contact points on the ground, and how far a point is outside it."""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.jit.compile import kernel

Array = np.ndarray

SAME = 1e-18
"""Square of the distance at which two corners are one [m²]."""


SHORT, CROSSED = 1e-6, 1e-8
"""Edges that face anywhere, and how far outside an edge is still inside [m]."""


class Nearest(NamedTuple):
    """Where a hull is nearest to a point."""

    distance: float
    """Signed distance [m], positive outside, negative inside."""
    x: float
    """Unit direction away from the hull."""
    y: float
    a: int
    """The corners of the nearest edge."""
    b: int
    share: float
    """Where on the line through them: 0 at `a`, 1 at `b`."""


@kernel
def convex_hull(corners: Array, start: int, end: int, hull: Array) -> int:
    """Corners `start` … `end` of the hull, counter-clockwise, into `hull` from `start` on; returns how many.

    Gift wrapping: supports have a handful of corners. Corners in line make a hull of two, one place a hull of one.
    """
    if end == start:
        return 0
    first = start
    for c in range(start + 1, end):
        if corners[c, 0] < corners[first, 0] or (
            corners[c, 0] == corners[first, 0] and corners[c, 1] < corners[first, 1]
        ):
            first = c
    count, at = 0, first
    while count < end - start:
        hull[start + count] = at
        count += 1
        best = -1
        for c in range(start, end):
            if _apart(corners, at, c) <= SAME:
                continue
            if best < 0:
                best = c
                continue
            turn = _turn(corners, at, best, c)
            farther = _apart(corners, at, c) > _apart(corners, at, best)
            if turn < 0.0 or (turn == 0.0 and farther):
                best = c
        if best < 0 or best == first or _apart(corners, best, first) <= SAME:
            break
        at = best
    return count


@kernel
def _turn(corners: Array, o: int, a: int, b: int) -> float:
    """Positive when o → a → b turns left."""
    ax, ay = corners[a, 0] - corners[o, 0], corners[a, 1] - corners[o, 1]
    bx, by = corners[b, 0] - corners[o, 0], corners[b, 1] - corners[o, 1]
    return ax * by - ay * bx


@kernel
def _apart(corners: Array, a: int, b: int) -> float:
    x, y = corners[a, 0] - corners[b, 0], corners[a, 1] - corners[b, 1]
    return x * x + y * y


@kernel
def nearest_on_hull(corners: Array, hull: Array, start: int, count: int, x: float, y: float) -> Nearest:
    """The edge, or corner, of a hull that is nearest to (x, y); from inside, the edge that is left first.

    Corners almost in line make edges so short that rounding decides where they face: those are left out, and the others
    may be crossed by as much as rounding turns them.
    """
    best, inner = Nearest(1e300, 1.0, 0.0, 0, 0, 0.0), Nearest(-1e300, 1.0, 0.0, 0, 0, 0.0)
    for e in range(count):
        a, b = hull[start + e], hull[start + (e + 1) % count]
        ex, ey = corners[b, 0] - corners[a, 0], corners[b, 1] - corners[a, 1]
        size = math.sqrt(ex * ex + ey * ey)
        dx, dy = x - corners[a, 0], y - corners[a, 1]
        nx, ny = (ey / size, -ex / size) if size > 0.0 else (1.0, 0.0)
        height = nx * dx + ny * dy
        line = (ex * dx + ey * dy) / (size * size) if size > 0.0 else 0.0
        if size > SHORT and height > inner.distance:
            inner = Nearest(height, nx, ny, a, b, line)
        share = min(1.0, max(0.0, line))
        fx, fy = dx - share * ex, dy - share * ey
        away = math.sqrt(fx * fx + fy * fy)
        if away >= best.distance:
            continue
        if share != line and away > 1e-12:
            best = Nearest(away, fx / away, fy / away, a, b, share)
        elif height < 0.0:
            best = Nearest(away, -nx, -ny, a, b, line)
        else:
            best = Nearest(away, nx, ny, a, b, line)
    return inner if count > 2 and inner.distance <= CROSSED else best
