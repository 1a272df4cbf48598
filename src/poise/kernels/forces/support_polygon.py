"""The support polygon: the convex hull of contact points on the ground, and the signed distance of a point to it."""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.jit.compile import kernel

Array = np.ndarray

SAME_CORNER = 1e-18
"""Squared distance below which two corners count as one [m²]."""
SHORTEST_EDGE = 1e-6
"""Edges up to this length have no reliable normal [m]."""
EDGE_TOLERANCE = 1e-8
"""A point this far outside an edge still counts as inside [m]."""


class Nearest(NamedTuple):
    """The point of a hull's boundary that is nearest to a given point."""

    distance: float
    """Signed distance [m], positive outside, negative inside."""
    x: float
    """x of the outward unit direction."""
    y: float
    """y of the outward unit direction."""
    a: int
    """First corner of the nearest edge."""
    b: int
    """Second corner of the nearest edge."""
    share: float
    """Place on the line through the corners: 0 at `a`, 1 at `b`."""


@kernel
def convex_hull(corners: Array, start: int, end: int, hull: Array) -> int:
    """Convex hull of corners `start` to `end` - 1; returns its number of corners.

    Writes their indices, counter-clockwise, to `hull` from entry `start` on. Gift wrapping is fast enough, since
    supports have few corners. Collinear corners give a hull of two corners, coincident ones a hull of one.
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
            if _squared_distance(corners, at, c) <= SAME_CORNER:
                continue
            if best < 0:
                best = c
                continue
            turn = _signed_area(corners, at, best, c)
            farther = _squared_distance(corners, at, c) > _squared_distance(corners, at, best)
            if turn < 0.0 or (turn == 0.0 and farther):
                best = c
        if best < 0 or best == first or _squared_distance(corners, best, first) <= SAME_CORNER:
            break
        at = best
    return count


@kernel
def _signed_area(corners: Array, o: int, a: int, b: int) -> float:
    """Twice the signed area of the triangle o, a, b: positive when o → a → b turns left."""
    ax, ay = corners[a, 0] - corners[o, 0], corners[a, 1] - corners[o, 1]
    bx, by = corners[b, 0] - corners[o, 0], corners[b, 1] - corners[o, 1]
    return ax * by - ay * bx


@kernel
def _squared_distance(corners: Array, a: int, b: int) -> float:
    """Squared distance of two corners [m²]."""
    x, y = corners[a, 0] - corners[b, 0], corners[a, 1] - corners[b, 1]
    return x * x + y * y


@kernel
def nearest_on_hull(corners: Array, hull: Array, start: int, count: int, x: float, y: float) -> Nearest:
    """The point of a hull's boundary that is nearest to (x, y), on an edge or at a corner.

    Nearly collinear corners may form edges so short that rounding errors determine their normals. The test whether the
    point is inside skips those, and lets it be outside the others by `EDGE_TOLERANCE`.
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
        if size > SHORTEST_EDGE and height > inner.distance:
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
    return inner if count > 2 and inner.distance <= EDGE_TOLERANCE else best
