"""Couplings: linear forms of coordinates between bounds, and the nearest posture that meets them and the limits.

A coordinate is a joint value, or the s_x, s_y or τ of a ball joint. With intervals only, the legal coordinates form a
polyhedron and `nearest_in_polyhedron` ends at the nearest one. The region of a ball joint is curved: it is
approximated from outside by half-planes that touch it, and every solution that lies outside the region adds the one
that touches it nearest to there (Kelley's cutting planes), which closes in on the nearest common point of convex
regions. Where a region is concave and no such point is found, the coordinates go back and forth between the nearest
point of the regions and the nearest point of the polyhedron until both agree, from several starts.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.body.limits import (
    ANYWHERE,
    POLYGON,
    SINGULAR,
    TOLERANCE,
    Bounds,
    ball_split,
    clamp_split,
    nearest_turn,
    set_ball,
    twist_interval,
)
from poise.kernels.body.swing_limits import nearest_on_ellipse, nearest_on_polygon
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.nearest_point import nearest_in_polyhedron
from poise.kernels.maths.swing_twist import SwingTwist, direction_swing, swing_direction
from poise.kernels.maths.vector import add, cross, normalized, scale, subtract, vector_at

Array = np.ndarray

CUTS = 40
"""Half-planes that may close in on the region of one ball joint."""
ROUNDS = 200
"""Times the half-planes may be tightened."""
RETURNS = 200
"""Times the coordinates may go between the regions and the polyhedron."""
STARTS = 48
"""Places from which that is tried."""
GOLDEN_ANGLE = math.pi * (3.0 - math.sqrt(5.0))
"""A turn that, repeated, comes near every direction [rad]."""
MET = 1e-11
"""Excess of a ball joint that needs no other half-plane [rad]."""
FARTHEST = math.pi - SINGULAR
"""Where rounding might take a swing to its opposite, or a twist to its other end [rad]."""
PROBE = 1e-5
"""Step along a boundary that shows its direction [rad]."""


@kernel(inline=True)
def coordinate(bounds: Bounds, c: int, q: Array) -> float:
    """Value of coupled coordinate `c`; a limited twist within half a turn of the middle of its interval."""
    b = bounds.coordinate_ball[c]
    if b < 0:
        return q[bounds.coordinate_q[c]]
    return _unwound(bounds, b, ball_split(bounds, b, q))[bounds.coordinate_part[c]]


@kernel(inline=True)
def _unwound(bounds: Bounds, b: int, split: SwingTwist) -> SwingTwist:
    if bounds.twist_limited[b] == 0:
        return split
    low, high = twist_interval(bounds, b, split.x, split.y)
    return SwingTwist(split.x, split.y, nearest_turn(split.twist, 0.5 * (low + high)))


@kernel(inline=True)
def coupling_value(bounds: Bounds, k: int, q: Array) -> float:
    """Linear form of coupling `k`."""
    total = 0.0
    for t in range(bounds.term_start[k], bounds.term_start[k + 1]):
        total += bounds.term_factor[t] * coordinate(bounds, bounds.term_coordinate[t], q)
    return total


@kernel(inline=True)
def couplings_excess(bounds: Bounds, q: Array) -> float:
    """Largest amount by which a coupling is broken."""
    worst = 0.0
    for k in range(bounds.coupling_lower.shape[0]):
        value = coupling_value(bounds, k, q)
        worst = max(worst, value - bounds.coupling_upper[k], bounds.coupling_lower[k] - value)
    return worst


class Variables(NamedTuple):
    """What couplings move: joint values, and all three coordinates of every ball joint they name."""

    size: int
    """How many there are."""
    linear: int
    """Rows of a polyhedron that never change: couplings, intervals, and unlimited twists."""
    of_coordinate: Array
    """(c,) variable of each coupled coordinate."""
    of_ball: Array
    """(b,) first variable of each ball joint, or -1."""


class Polyhedron(NamedTuple):
    """lower ≤ rows x ≤ upper: what never changes, then twist limits, then half-planes of swing regions."""

    rows: Array
    lower: Array
    upper: Array


@kernel(counts_references=True)
def _variables(bounds: Bounds) -> Variables:
    of_coordinate = np.empty(bounds.coordinate_q.shape[0], dtype=np.int64)
    of_ball = np.full(bounds.ball_start.shape[0], -1)
    size = 0
    linear = bounds.coupling_lower.shape[0]
    for c in range(of_coordinate.shape[0]):
        b = bounds.coordinate_ball[c]
        if b < 0:
            of_coordinate[c] = size
            size += 1
            linear += 1
        else:
            if of_ball[b] < 0:
                of_ball[b] = size
                size += 3
                linear += 1 if bounds.twist_limited[b] == 0 else 0
            of_coordinate[c] = of_ball[b] + bounds.coordinate_part[c]
    return Variables(size, linear, of_coordinate, of_ball)


@kernel(counts_references=True)
def clamp_coupled(
    bounds: Bounds,
    wanted: Array,
    # outputs
    q: Array,
) -> int:
    """Move `q`, inside its joints' own limits, to meet the couplings too; 0 when no way was found.

    Joint values end nearest to `wanted` (nq,), ball joints nearest to where `q` has them.
    """
    v = _variables(bounds)
    target = _target(bounds, v, wanted, q)
    hull, used = _linear_limits(bounds, v)
    x = target.copy()
    if not _close_in(bounds, v, hull, used, target, x):
        _search(bounds, v, hull, used, target, x)
    _write(bounds, v, x, q)
    return 1 if couplings_excess(bounds, q) <= 10.0 * TOLERANCE else 0


@kernel(counts_references=True)
def _close_in(bounds: Bounds, v: Variables, hull: Polyhedron, used: int, target: Array, x: Array) -> bool:
    """Tighten the polyhedron until its point `x` nearest to `target` is legal; False when that does not happen."""
    for _ in range(ROUNDS):
        x[:] = target
        if nearest_in_polyhedron(hull.rows[:used], hull.lower[:used], hull.upper[:used], x) == 0:
            return False
        used, worst = _cut(bounds, v, x, hull, used)
        if worst <= MET:
            return True
        if used == hull.rows.shape[0]:
            return False
    return False


@kernel(counts_references=True)
def _target(bounds: Bounds, v: Variables, wanted: Array, q: Array) -> Array:
    target = np.empty(v.size)
    for c in range(v.of_coordinate.shape[0]):
        if bounds.coordinate_ball[c] < 0:
            target[v.of_coordinate[c]] = wanted[bounds.coordinate_q[c]]
    for b in range(v.of_ball.shape[0]):
        if v.of_ball[b] >= 0:
            _put_split(target, v.of_ball[b], _unwound(bounds, b, ball_split(bounds, b, q)))
    return target


@kernel
def _put_split(x: Array, i: int, split: SwingTwist) -> None:
    x[i], x[i + 1], x[i + 2] = split.x, split.y, split.twist


@kernel(counts_references=True)
def _linear_limits(bounds: Bounds, v: Variables) -> tuple[Polyhedron, int]:
    """Couplings and intervals, with room for what ball joints add, and how many rows are in use."""
    couplings = bounds.coupling_lower.shape[0]
    balls = 0
    for b in range(v.of_ball.shape[0]):
        balls += 1 if v.of_ball[b] >= 0 else 0
    rows = np.zeros((couplings + v.size + (CUTS + 2) * balls, v.size))
    lower, upper = np.full(rows.shape[0], -math.inf), np.full(rows.shape[0], math.inf)
    for k in range(couplings):
        lower[k], upper[k] = bounds.coupling_lower[k], bounds.coupling_upper[k]
        for t in range(bounds.term_start[k], bounds.term_start[k + 1]):
            rows[k, v.of_coordinate[bounds.term_coordinate[t]]] += bounds.term_factor[t]
    used = couplings
    for c in range(v.of_coordinate.shape[0]):
        if bounds.coordinate_ball[c] < 0:
            k = bounds.coordinate_q[c]
            rows[used, v.of_coordinate[c]] = 1.0
            lower[used], upper[used] = bounds.lower[k], bounds.upper[k]
            used += 1
    for b in range(v.of_ball.shape[0]):
        if v.of_ball[b] >= 0 and bounds.twist_limited[b] == 0:
            rows[used, v.of_ball[b] + 2] = 1.0
            lower[used], upper[used] = -FARTHEST, FARTHEST
            used += 1
    for b in range(v.of_ball.shape[0]):
        if v.of_ball[b] >= 0 and bounds.twist_limited[b] == 1:
            _lay_twist_rows(bounds, b, v.of_ball[b], 0.0, 0.0, Polyhedron(rows, lower, upper), used)
            used += 2
    return Polyhedron(rows, lower, upper), used


@kernel
def _lay_twist_rows(bounds: Bounds, b: int, i: int, x: float, y: float, hull: Polyhedron, row: int) -> None:
    """τ_min(s) ≤ τ ≤ τ_max(s) with both forms replaced by their tangents at swing (x, y), in two rows."""
    low, high = twist_interval(bounds, b, x, y)
    c = bounds.twist
    for side in range(2):
        k = 6 * side
        slope_x = c[b, k + 1] + 2.0 * c[b, k + 3] * x + c[b, k + 4] * y
        slope_y = c[b, k + 2] + c[b, k + 4] * x + 2.0 * c[b, k + 5] * y
        hull.rows[row + side, i] = -slope_x
        hull.rows[row + side, i + 1] = -slope_y
        hull.rows[row + side, i + 2] = 1.0
        offset = slope_x * x + slope_y * y
        if side == 0:
            hull.lower[row] = low - offset
        else:
            hull.upper[row + 1] = high - offset


@kernel
def _cut(bounds: Bounds, v: Variables, x: Array, hull: Polyhedron, used: int) -> tuple[int, float]:
    """Tighten the polyhedron where `x` leaves a ball joint's limits; returns rows in use and the largest excess."""
    worst = 0.0
    row = v.linear
    for b in range(v.of_ball.shape[0]):
        i = v.of_ball[b]
        if i < 0:
            continue
        edge, outward, excess = _nearest_edge(bounds, b, x[i], x[i + 1])
        worst = max(worst, excess)
        if bounds.twist_limited[b] == 1:
            low, high = twist_interval(bounds, b, edge[0], edge[1])
            worst = max(worst, low - x[i + 2], x[i + 2] - high)
            _lay_twist_rows(bounds, b, i, edge[0], edge[1], hull, row)
            row += 2
        if excess > MET and used < hull.rows.shape[0]:
            hull.rows[used, :] = 0.0
            hull.rows[used, i], hull.rows[used, i + 1] = outward
            hull.upper[used] = outward[0] * edge[0] + outward[1] * edge[1]
            used += 1
    return used, worst


@kernel
def _nearest_edge(bounds: Bounds, b: int, x: float, y: float) -> tuple[tuple[float, float], tuple[float, float], float]:
    """A swing, or the boundary point nearest to it when it is not allowed; the normal there; how far out it is."""
    kind = bounds.swing_kind[b]
    if kind == POLYGON:
        size = math.sqrt(x * x + y * y)
        near = FARTHEST / size if size > FARTHEST else 1.0
        edge, outward, excess = _nearest_polygon_edge(bounds, b, near * x, near * y)
        if excess > 0.0:
            return edge, outward, excess
    rx, ry = bounds.radii[b, 0], bounds.radii[b, 1]
    if kind == ANYWHERE or kind == POLYGON:
        rx, ry = FARTHEST, FARTHEST
    share = math.sqrt((x / rx) ** 2 + (y / ry) ** 2)
    if share <= 1.0:
        return (x, y), (1.0, 0.0), 0.0
    ex, ey = nearest_on_ellipse(x, y, rx, ry)
    nx, ny = ex / (rx * rx), ey / (ry * ry)
    length = math.sqrt(nx * nx + ny * ny)
    return (ex, ey), (nx / length, ny / length), share - 1.0


@kernel
def _nearest_polygon_edge(
    bounds: Bounds, b: int, x: float, y: float
) -> tuple[tuple[float, float], tuple[float, float], float]:
    """`_nearest_edge` of a polygon, whose arcs are curves in swing coordinates: their direction is probed."""
    d = swing_direction(x, y)
    near, outside = nearest_on_polygon(d, bounds.vertices, bounds.vertex_start[b], bounds.vertex_start[b + 1])
    if outside <= 0.0:
        return (x, y), (1.0, 0.0), 0.0
    ex, ey = direction_swing(near)
    along = scale(normalized(cross(near, d)), PROBE)
    ax, ay = direction_swing(normalized(subtract(near, along)))
    bx, by = direction_swing(normalized(add(near, along)))
    nx, ny = by - ay, ax - bx
    length = math.sqrt(nx * nx + ny * ny)
    if length < 1e-300:
        return (ex, ey), (x / math.pi, y / math.pi), outside
    if nx * (x - ex) + ny * (y - ey) < 0.0:
        length = -length
    return (ex, ey), (nx / length, ny / length), outside


@kernel(counts_references=True)
def _search(bounds: Bounds, v: Variables, hull: Polyhedron, used: int, target: Array, x: Array) -> None:
    """The nearest of what several starts lead to: the target, then swings all over the regions, in a fixed order."""
    start = target.copy()
    trial = target.copy()
    x[:] = target
    best = math.inf
    for draw in range(STARTS):
        if draw > 0:
            _spread(bounds, v, draw, start)
        trial[:] = start
        met = _go_back_and_forth(bounds, v, hull, trial)
        if not met:
            met = _close_in(bounds, v, hull, used, start, trial)
        if met and _distance(trial, target) < best:
            best = _distance(trial, target)
            x[:] = trial


@kernel
def _distance(a: Array, b: Array) -> float:
    square = 0.0
    for i in range(a.shape[0]):
        square += (a[i] - b[i]) ** 2
    return math.sqrt(square)


@kernel
def _spread(bounds: Bounds, v: Variables, draw: int, x: Array) -> None:
    """Put every ball joint at some swing of its region: near a corner of a polygon, or around an ellipse."""
    for b in range(v.of_ball.shape[0]):
        i = v.of_ball[b]
        if i < 0:
            continue
        corners = bounds.vertex_start[b + 1] - bounds.vertex_start[b]
        share = 0.95 if draw % 2 == 0 else 0.5
        if corners > 0:
            sx, sy = direction_swing(vector_at(bounds.vertices, bounds.vertex_start[b] + (draw // 2) % corners))
        else:
            angle = GOLDEN_ANGLE * draw
            sx, sy = bounds.radii[b, 0] * math.cos(angle), bounds.radii[b, 1] * math.sin(angle)
            if bounds.swing_kind[b] == ANYWHERE:
                sx, sy = math.pi * math.cos(angle), math.pi * math.sin(angle)
        x[i], x[i + 1] = share * sx, share * sy
        # The next ball joint follows another order, so that pairs of swings differ too.
        draw = draw * 5 + 3


@kernel
def _go_back_and_forth(bounds: Bounds, v: Variables, hull: Polyhedron, x: Array) -> bool:
    """Alternate between everything linear and the ball joints' regions until `x` is in both; False when it is not."""
    linear = v.linear
    for _ in range(RETURNS):
        if nearest_in_polyhedron(hull.rows[:linear], hull.lower[:linear], hull.upper[:linear], x) == 0:
            return False
        moved = 0.0
        for b in range(v.of_ball.shape[0]):
            i = v.of_ball[b]
            if i >= 0:
                near = min(1.0, FARTHEST / max(1e-300, math.sqrt(x[i] ** 2 + x[i + 1] ** 2)))
                moved = max(moved, 1.0 - near)
                before = SwingTwist(near * x[i], near * x[i + 1], x[i + 2])
                after = _unwound(bounds, b, clamp_split(bounds, b, before))
                moved = max(moved, abs(after.x - before.x), abs(after.y - before.y), abs(after.twist - before.twist))
                _put_split(x, i, after)
        if moved <= MET:
            return True
    return False


@kernel
def _write(bounds: Bounds, v: Variables, x: Array, q: Array) -> None:
    for c in range(v.of_coordinate.shape[0]):
        if bounds.coordinate_ball[c] < 0:
            k = bounds.coordinate_q[c]
            q[k] = min(max(x[v.of_coordinate[c]], bounds.lower[k]), bounds.upper[k])
    for b in range(v.of_ball.shape[0]):
        i = v.of_ball[b]
        if i >= 0:
            set_ball(bounds, b, SwingTwist(x[i], x[i + 1], x[i + 2]), q)
