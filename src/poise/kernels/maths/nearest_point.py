"""Nearest points of a polyhedron and of a convex hull in the plane.

A polyhedron is the set of points that satisfy linear inequalities. The projection of a point w onto it,

    minimise ½ |x - w|²   subject to   l ≤ A x ≤ u

is found by the dual active-set method [Goldfarb & Idnani 1983] with the identity as Hessian. It starts at the
unconstrained minimum w with an empty active set and adds violated rows to the set, one at a time. With N the normals of
the active rows and n the normal of the new row, x moves along -z = -(n - N r), which does not change the values of the
active rows, while their multipliers decrease at the rates r = N⁺ n. The step ends at the first of two events: the new
row is satisfied and becomes active, or the multiplier of an active row reaches zero and that row leaves the active set.
The objective grows with every row added, so no active set occurs twice and the method ends after finitely many steps.

The convex hull of contact points on the ground is a figure's support polygon.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.jit.compile import kernel

Array = np.ndarray

DEPENDENT_NORMAL = 1e-10
"""A normal is linearly dependent if its part orthogonal to the active normals is shorter than this share of it."""
ROW_TOLERANCE = 1e-12
"""Violation of a row, divided by the length of its normal, that still counts as satisfied."""


@kernel(counts_references=True)
def nearest_in_polyhedron(
    rows: Array,
    lower: Array,
    upper: Array,
    # outputs
    x: Array,
) -> int:
    """Move `x` (n,) to the nearest point with lower ≤ rows x ≤ upper, `rows` (m, n).

    Returns 1, or 0 when no point satisfies all rows.
    """
    m, n = rows.shape
    active, active_side, multiplier = np.empty(n, dtype=np.int64), np.empty(n), np.empty(n)
    basis, triangle = np.empty((n, n)), np.empty((n, n))
    z, along, rate = np.empty(n), np.empty(n), np.empty(n)
    count = 0
    for _ in range(50 * (m + n + 1)):
        p, side = _most_violated(rows, lower, upper, active, count, x)
        if p < 0:
            return 1
        new_multiplier = 0.0
        while True:
            size = _split_normal(rows, p, side, basis, count, z, along)
            _solve_triangle(triangle, count, along, rate)
            violation = _row_value(rows, p, x) - upper[p] if side > 0.0 else lower[p] - _row_value(rows, p, x)
            step = violation / (size * size) if size > 0.0 else math.inf
            leaving = -1
            for j in range(count):
                is_inequality = lower[active[j]] < upper[active[j]]
                if is_inequality and rate[j] > 0.0 and multiplier[j] < step * rate[j]:
                    step, leaving = multiplier[j] / rate[j], j
            if step == math.inf:
                return 0
            if size > 0.0:
                for i in range(n):
                    x[i] -= step * z[i]
            for j in range(count):
                multiplier[j] -= step * rate[j]
            new_multiplier += step
            if leaving < 0:
                active[count], active_side[count], multiplier[count] = p, side, new_multiplier
                _append_normal(basis, triangle, count, z, along, size)
                count += 1
                break
            count -= 1
            for j in range(leaving, count):
                active[j], active_side[j], multiplier[j] = active[j + 1], active_side[j + 1], multiplier[j + 1]
                size = _split_normal(rows, active[j], active_side[j], basis, j, z, along)
                if size == 0.0:
                    return 0
                _append_normal(basis, triangle, j, z, along, size)
    return 0


@kernel
def _row_value(rows: Array, p: int, x: Array) -> float:
    """rows[p] · x."""
    value = 0.0
    for i in range(x.shape[0]):
        value += rows[p, i] * x[i]
    return value


@kernel
def _most_violated(rows: Array, lower: Array, upper: Array, active: Array, count: int, x: Array) -> tuple[int, float]:
    """The most violated inactive row, or -1, and its violated side: 1 above the upper bound, -1 below the lower."""
    worst, found, side = 0.0, -1, 1.0
    for p in range(rows.shape[0]):
        square, magnitude, value = 0.0, 0.0, 0.0
        for i in range(x.shape[0]):
            square += rows[p, i] * rows[p, i]
            magnitude += abs(rows[p, i] * x[i])
            value += rows[p, i] * x[i]
        above, below = value - upper[p], lower[p] - value
        excess = max(above, below) - 1e-15 * magnitude
        if excess <= max(ROW_TOLERANCE, worst) * math.sqrt(square):
            continue
        is_active = False
        for j in range(count):
            is_active = is_active or active[j] == p
        if not is_active:
            worst, found, side = excess / math.sqrt(square), p, 1.0 if above > below else -1.0
    return found, side


@kernel
def _split_normal(
    rows: Array,
    p: int,
    side: float,
    basis: Array,
    count: int,
    # outputs
    z: Array,
    along: Array,
) -> float:
    """Split the normal of row `p` into Σ along_j basis_j + z; returns |z|, or 0 if the active rows span the normal.

    Gram–Schmidt twice, which is enough for orthogonality to rounding [Björck 1996, 2.4.5].
    """
    n = z.shape[0]
    square = 0.0
    for i in range(n):
        z[i] = side * rows[p, i]
        square += z[i] * z[i]
    along[:count] = 0.0
    for _ in range(2):
        for j in range(count):
            share = 0.0
            for i in range(n):
                share += basis[j, i] * z[i]
            along[j] += share
            for i in range(n):
                z[i] -= share * basis[j, i]
    rest = 0.0
    for i in range(n):
        rest += z[i] * z[i]
    return math.sqrt(rest) if rest > DEPENDENT_NORMAL * DEPENDENT_NORMAL * square else 0.0


@kernel
def _solve_triangle(triangle: Array, count: int, along: Array, rate: Array) -> None:
    """rate = R⁻¹ along, by back substitution."""
    for j in range(count - 1, -1, -1):
        value = along[j]
        for k in range(j + 1, count):
            value -= triangle[j, k] * rate[k]
        rate[j] = value / triangle[j, j]


@kernel
def _append_normal(basis: Array, triangle: Array, count: int, z: Array, along: Array, size: float) -> None:
    """Append one normal to the factorisation N = Bᵀ R of the active rows."""
    for i in range(z.shape[0]):
        basis[count, i] = z[i] / size
    for j in range(count):
        triangle[j, count] = along[j]
    triangle[count, count] = size


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
