"""Projection of a posture onto the joint limits and couplings of a figure.

In a figure without couplings, every joint is moved inside its own limits. Otherwise one problem has the limits and the
couplings of all coupled joints as constraints. Its unknowns are joint values, and s_x, s_y and τ of ball joints. With
intervals only, the legal points form a polyhedron, and `nearest_in_polyhedron` finds the nearest of them. The swing
region of a ball joint is curved. It is approximated from outside by tangent half-planes; every solution outside the
region adds the tangent at the boundary point nearest to it (Kelley's cutting-plane method). For convex regions this
converges to the nearest point that is legal. If a region is concave and the method finds no point, alternating
projections follow: onto the regions, then onto the polyhedron, until both agree, from several start values.

Couplings with curves are linearised where the last solution was, and all of this is done again, until they hold.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.body.limits import (
    ANYWHERE,
    JOINT_LIMIT_TOLERANCE,
    POLYGON,
    SINGULAR_SWING,
    Bounds,
    ball_split,
    clamp_split,
    couplings_excess,
    nearest_on_ellipse,
    nearest_on_region,
    pass_through_middle,
    set_ball,
    term_curve_at,
    twist_interval,
    twist_slopes,
    unwound,
)
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.nearest_point import nearest_in_polyhedron
from poise.kernels.maths.quaternion import SwingTwist, direction_swing, swing_direction
from poise.kernels.maths.vector import add, cross, normalized, scale, subtract, vector_at

Array = np.ndarray


@kernel
def clamp(
    bounds: Bounds,
    previous: Array,
    # outputs
    q: Array,
) -> int:
    """Move `q` (nq,) to the nearest posture inside all limits and couplings.

    Args:
        bounds: The limits and couplings.
        previous: (nq,) the legal posture before the motion to `q`, so that no limb jumps across a gap of a concave
            swing region; or an empty array.
        q: The posture to change.

    Returns:
        1, or 0 when no posture was found that satisfies the couplings too.
    """
    if bounds.coupling_lower.shape[0] == 0:
        _clamp_each_joint(bounds, previous, q)
        return 1
    if _is_inside(bounds, previous, q) and couplings_excess(bounds, q) <= JOINT_LIMIT_TOLERANCE:
        return 1
    return _clamp_with_couplings(bounds, previous, q)


@kernel
def clamp_joints(
    bounds: Bounds,
    # outputs
    q: Array,
) -> bool:
    """Move every joint of `q` (nq,) inside its own limits; returns whether the couplings are satisfied then.

    Compiles in a fraction of the time of `clamp`, which gives the same posture where the answer is True.
    """
    _clamp_each_joint(bounds, q[:0], q)
    return couplings_excess(bounds, q) <= JOINT_LIMIT_TOLERANCE


@kernel(counts_references=True)
def _clamp_with_couplings(bounds: Bounds, previous: Array, q: Array) -> int:
    """`clamp` for a posture outside the limits of a figure with couplings."""
    wanted = q.copy()
    _clamp_each_joint(bounds, previous, q)
    return 1 if couplings_excess(bounds, q) <= JOINT_LIMIT_TOLERANCE else clamp_coupled(bounds, wanted, q)


@kernel(inline=True)
def _clamp_each_joint(bounds: Bounds, previous: Array, q: Array) -> None:
    """Move every joint inside its own limits."""
    lower, upper = bounds.lower, bounds.upper
    for k in range(q.shape[0]):
        q[k] = min(max(q[k], lower[k]), upper[k])
    for b in range(bounds.ball_start.shape[0]):
        split = ball_split(bounds, b, q)
        allowed = _allowed(bounds, b, previous, split)
        if allowed != split:
            set_ball(bounds, b, allowed, q)


@kernel(inline=True)
def _is_inside(bounds: Bounds, previous: Array, q: Array) -> bool:
    """Whether every joint is inside its own limits."""
    lower, upper = bounds.lower, bounds.upper
    for k in range(q.shape[0]):
        if not lower[k] <= q[k] <= upper[k]:
            return False
    for b in range(bounds.ball_start.shape[0]):
        split = ball_split(bounds, b, q)
        if _allowed(bounds, b, previous, split) != split:
            return False
    return True


@kernel
def _allowed(bounds: Bounds, b: int, previous: Array, split: SwingTwist) -> SwingTwist:
    """The swing and twist inside the limits of ball joint `b` that are nearest to `split`."""
    allowed = clamp_split(bounds, b, split)
    if previous.shape[0] > 0 and bounds.swing_kind[b] == POLYGON:
        return pass_through_middle(bounds, b, ball_split(bounds, b, previous), allowed)
    return allowed


CUTS_PER_BALL = 40
"""Largest number of tangent half-planes per ball joint."""
MAX_CUT_ITERATIONS = 200
"""Largest number of iterations of the cutting-plane method."""
SETTLED_LINEARISATION = 1e-6
"""Distance between two linearisations below which their solution counts as the nearest point [rad or m]."""
MAX_LINEARISATIONS, MAX_NEWTON_ROUNDS = 40, 40
"""Largest number of linearisations of couplings with curves: for the nearest point, and for any point nearby."""
MAX_PROJECTIONS = 200
"""Largest number of alternating projections between the regions and the polyhedron."""
SEARCH_STARTS = 48
"""Number of start values of the alternating projections."""
GOLDEN_SHARE = 0.5 * (math.sqrt(5.0) - 1.0)
"""Golden-ratio conjugate: the fractional parts of its multiples fill the interval from 0 to 1 evenly."""
GOLDEN_ANGLE = math.pi * (3.0 - math.sqrt(5.0))
"""Angle whose multiples are spread evenly over the circle [rad]."""
MET_LIMIT_EXCESS = 1e-11
"""Violation of a ball joint's limits that counts as none [rad]."""
LARGEST_BALL_ANGLE = math.pi - SINGULAR_SWING
"""Largest swing or twist that a solution may use: at π, rounding could flip its sign [rad]."""
TANGENT_PROBE = 1e-5
"""Step of the finite difference that gives the tangent of a boundary [rad]."""


class Variables(NamedTuple):
    """The unknowns of the projection: coupled joint values, and s_x, s_y, τ of every coupled ball joint."""

    size: int
    """Number of unknowns."""
    linear: int
    """Number of constant rows of the polyhedron: couplings, intervals, and unlimited twists."""
    of_coordinate: Array
    """(c,) index of the unknown of each coupled coordinate."""
    of_ball: Array
    """(b,) index of the first of a ball joint's three unknowns, or -1 for one without couplings."""


class Polyhedron(NamedTuple):
    """lower ≤ rows x ≤ upper: first the constant rows, then twist limits, then tangents of swing regions."""

    rows: Array
    lower: Array
    upper: Array


@kernel(counts_references=True)
def _variables(bounds: Bounds) -> Variables:
    """Number the unknowns that the couplings of a figure involve."""
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
    """Move `q` (nq,), which satisfies each joint's own limits, to satisfy the couplings too; 0 when that fails.

    Joint values end as near as possible to `wanted` (nq,), ball joints as near as possible to their values in `q`.
    """
    v = _variables(bounds)
    target = _target(bounds, v, wanted, q)
    polyhedron, used = _linear_limits(bounds, v)
    x = target.copy()
    if bounds.pieces.shape[0] > 0:
        _follow_curves(bounds, v, polyhedron, used, target, x)
    elif not _cutting_planes(bounds, v, polyhedron, used, target, x):
        _search(bounds, v, polyhedron, used, target, x)
    _write(bounds, v, x, q)
    return 1 if couplings_excess(bounds, q) <= 10.0 * JOINT_LIMIT_TOLERANCE else 0


@kernel(counts_references=True)
def _follow_curves(bounds: Bounds, v: Variables, polyhedron: Polyhedron, used: int, target: Array, x: Array) -> None:
    """Set `x` to the point nearest to `target` that satisfies couplings with curves, linearised again and again.

    The place of linearisation moves a share of the way to each solution, less where it goes back and forth: nearest
    points of a strongly curved set would otherwise be overshot. Where that does not settle, or a tangent misses the
    limits, couplings are satisfied from there and from values spread over the limits, and the nearest point counts.
    """
    at, before, bent = target.copy(), np.zeros(x.shape[0]), np.zeros(x.shape[0])
    for t in range(bounds.term_curve.shape[0]):
        if bounds.term_curve[t] >= 0:
            bent[v.of_coordinate[bounds.term_coordinate[t]]] = 1.0
    share = 1.0
    for _ in range(MAX_LINEARISATIONS):
        _linearise_couplings(bounds, v, at, polyhedron)
        if not _cutting_planes(bounds, v, polyhedron, used, target, x):
            break
        turn, square, moved = 0.0, 0.0, 0.0
        for k in range(x.shape[0]):
            way = bent[k] * (x[k] - at[k])
            turn += way * before[k]
            square += before[k] * before[k]
            moved = max(moved, abs(way))
            before[k] = way
        if moved <= SETTLED_LINEARISATION and _curved_excess(bounds, v, x) <= MET_LIMIT_EXCESS:
            return
        share *= 0.5 if turn < -0.5 * square else 1.0
        for k in range(x.shape[0]):
            at[k] += share * before[k] if bent[k] == 1.0 else x[k] - at[k]
    best = math.inf
    for draw in range(SEARCH_STARTS):
        if draw > 0:
            _spread(bounds, v, draw, target, at)
        if _satisfy_curves(bounds, v, polyhedron, used, at) and _distance(at, target) < best:
            best = _distance(at, target)
            x[:] = at
        if draw == 0 and best < math.inf:
            return


@kernel
def _spread(bounds: Bounds, v: Variables, draw: int, target: Array, at: Array) -> None:
    """Set `at` to the target, with joint values spread over their limits in the order of `draw`."""
    for i in range(at.shape[0]):
        at[i] = target[i]
    for c in range(v.of_coordinate.shape[0]):
        k = bounds.coordinate_q[c]
        if bounds.coordinate_ball[c] < 0 and bounds.upper[k] - bounds.lower[k] < math.inf:
            share = (GOLDEN_SHARE * draw * (c + 1)) % 1.0
            at[v.of_coordinate[c]] = bounds.lower[k] + share * (bounds.upper[k] - bounds.lower[k])


@kernel(counts_references=True)
def _satisfy_curves(bounds: Bounds, v: Variables, polyhedron: Polyhedron, used: int, at: Array) -> bool:
    """Move `at` to a point near it that satisfies couplings with curves, by Newton's method; False if that fails."""
    x = at.copy()
    for _ in range(MAX_NEWTON_ROUNDS):
        _linearise_couplings(bounds, v, at, polyhedron)
        if not _cutting_planes(bounds, v, polyhedron, used, at, x):
            return False
        at[:] = x
        if _curved_excess(bounds, v, at) <= MET_LIMIT_EXCESS:
            return True
    return False


@kernel
def _linearise_couplings(bounds: Bounds, v: Variables, x: Array, polyhedron: Polyhedron) -> None:
    """Set the rows and bounds of the couplings to those of their tangents at `x`."""
    for k in range(bounds.coupling_lower.shape[0]):
        polyhedron.rows[k, :] = 0.0
        shift = 0.0
        for t in range(bounds.term_start[k], bounds.term_start[k + 1]):
            i, factor = v.of_coordinate[bounds.term_coordinate[t]], bounds.term_factor[t]
            if bounds.term_curve[t] >= 0:
                value, slope, _ = term_curve_at(bounds, t, x[i])
                shift += factor * (value - slope * x[i])
                factor *= slope
            polyhedron.rows[k, i] += factor
        polyhedron.lower[k] = bounds.coupling_lower[k] - shift
        polyhedron.upper[k] = bounds.coupling_upper[k] - shift


@kernel
def _curved_excess(bounds: Bounds, v: Variables, x: Array) -> float:
    """Largest violation of a coupling at the unknowns `x`."""
    worst = 0.0
    for k in range(bounds.coupling_lower.shape[0]):
        value = 0.0
        for t in range(bounds.term_start[k], bounds.term_start[k + 1]):
            part = x[v.of_coordinate[bounds.term_coordinate[t]]]
            if bounds.term_curve[t] >= 0:
                part = term_curve_at(bounds, t, part)[0]
            value += bounds.term_factor[t] * part
        worst = max(worst, value - bounds.coupling_upper[k], bounds.coupling_lower[k] - value)
    return worst


@kernel(counts_references=True)
def _cutting_planes(bounds: Bounds, v: Variables, polyhedron: Polyhedron, used: int, target: Array, x: Array) -> bool:
    """Add tangents to the polyhedron until its point `x` nearest to `target` is legal; False when that fails."""
    for _ in range(MAX_CUT_ITERATIONS):
        x[:] = target
        if nearest_in_polyhedron(polyhedron.rows[:used], polyhedron.lower[:used], polyhedron.upper[:used], x) == 0:
            return False
        used, worst = _cut(bounds, v, x, polyhedron, used)
        if worst <= MET_LIMIT_EXCESS:
            return True
        if used == polyhedron.rows.shape[0]:
            return False
    return False


@kernel(counts_references=True)
def _target(bounds: Bounds, v: Variables, wanted: Array, q: Array) -> Array:
    """The point to project: joint values of `wanted`, and swings and twists of `q`."""
    target = np.empty(v.size)
    for c in range(v.of_coordinate.shape[0]):
        if bounds.coordinate_ball[c] < 0:
            target[v.of_coordinate[c]] = wanted[bounds.coordinate_q[c]]
    for b in range(v.of_ball.shape[0]):
        if v.of_ball[b] >= 0:
            _put_split(target, v.of_ball[b], unwound(bounds, b, ball_split(bounds, b, q)))
    return target


@kernel
def _put_split(x: Array, i: int, split: SwingTwist) -> None:
    """Write s_x, s_y, τ to x[i : i + 3]."""
    x[i], x[i + 1], x[i + 2] = split.x, split.y, split.twist


@kernel(counts_references=True)
def _linear_limits(bounds: Bounds, v: Variables) -> tuple[Polyhedron, int]:
    """The polyhedron of couplings, intervals and twist limits, with free rows for tangents; and its rows in use."""
    couplings = bounds.coupling_lower.shape[0]
    balls = 0
    for b in range(v.of_ball.shape[0]):
        balls += 1 if v.of_ball[b] >= 0 else 0
    rows = np.zeros((couplings + v.size + (CUTS_PER_BALL + 2) * balls, v.size))
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
            lower[used], upper[used] = -LARGEST_BALL_ANGLE, LARGEST_BALL_ANGLE
            used += 1
    for b in range(v.of_ball.shape[0]):
        if v.of_ball[b] >= 0 and bounds.twist_limited[b] == 1:
            _put_twist_rows(bounds, b, v.of_ball[b], 0.0, 0.0, Polyhedron(rows, lower, upper), used)
            used += 2
    return Polyhedron(rows, lower, upper), used


@kernel
def _put_twist_rows(bounds: Bounds, b: int, i: int, x: float, y: float, polyhedron: Polyhedron, row: int) -> None:
    """Write τ_min(s) ≤ τ ≤ τ_max(s), linearised at the swing (x, y), into rows `row` and `row` + 1."""
    low, high = twist_interval(bounds, b, x, y)
    for side in range(2):
        slope_x, slope_y = twist_slopes(bounds, b, side == 1, x, y)
        polyhedron.rows[row + side, i] = -slope_x
        polyhedron.rows[row + side, i + 1] = -slope_y
        polyhedron.rows[row + side, i + 2] = 1.0
        offset = slope_x * x + slope_y * y
        if side == 0:
            polyhedron.lower[row] = low - offset
        else:
            polyhedron.upper[row + 1] = high - offset


@kernel
def _cut(bounds: Bounds, v: Variables, x: Array, polyhedron: Polyhedron, used: int) -> tuple[int, float]:
    """Add tangents where `x` violates a ball joint's limits; returns the rows in use and the largest violation."""
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
            _put_twist_rows(bounds, b, i, edge[0], edge[1], polyhedron, row)
            row += 2
        if excess > MET_LIMIT_EXCESS and used < polyhedron.rows.shape[0]:
            polyhedron.rows[used, :] = 0.0
            polyhedron.rows[used, i], polyhedron.rows[used, i + 1] = outward
            polyhedron.upper[used] = outward[0] * edge[0] + outward[1] * edge[1]
            used += 1
    return used, worst


@kernel
def _nearest_edge(bounds: Bounds, b: int, x: float, y: float) -> tuple[tuple[float, float], tuple[float, float], float]:
    """The allowed swing nearest to (x, y); the outward normal there; and the violation, 0 if (x, y) is allowed."""
    kind = bounds.swing_kind[b]
    if kind == POLYGON:
        size = math.sqrt(x * x + y * y)
        near = LARGEST_BALL_ANGLE / size if size > LARGEST_BALL_ANGLE else 1.0
        edge, outward, excess = _nearest_polygon_edge(bounds, b, near * x, near * y)
        if excess > 0.0:
            return edge, outward, excess
    rx, ry = bounds.radii[b, 0], bounds.radii[b, 1]
    if kind == ANYWHERE or kind == POLYGON:
        rx, ry = LARGEST_BALL_ANGLE, LARGEST_BALL_ANGLE
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
    """`_nearest_edge` of a polygon; its arcs are curved in swing coordinates, so finite differences give the normal."""
    d = swing_direction(x, y)
    near, outside = nearest_on_region(bounds, b, d)
    if outside <= 0.0:
        return (x, y), (1.0, 0.0), 0.0
    ex, ey = direction_swing(near)
    along = scale(normalized(cross(near, d)), TANGENT_PROBE)
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
def _search(bounds: Bounds, v: Variables, polyhedron: Polyhedron, used: int, target: Array, x: Array) -> None:
    """Set `x` to the legal point nearest to `target` that alternating projections find from `SEARCH_STARTS` starts.

    The first start is the target; the others spread the ball joints over their regions, in a fixed order.
    """
    start = target.copy()
    trial = target.copy()
    x[:] = target
    best = math.inf
    for draw in range(SEARCH_STARTS):
        if draw > 0:
            _start_value(bounds, v, draw, start)
        trial[:] = start
        met = _alternate_projections(bounds, v, polyhedron, trial)
        if not met:
            met = _cutting_planes(bounds, v, polyhedron, used, start, trial)
        if met and _distance(trial, target) < best:
            best = _distance(trial, target)
            x[:] = trial


@kernel
def _distance(a: Array, b: Array) -> float:
    """|a - b|."""
    square = 0.0
    for i in range(a.shape[0]):
        square += (a[i] - b[i]) ** 2
    return math.sqrt(square)


@kernel
def _start_value(bounds: Bounds, v: Variables, draw: int, x: Array) -> None:
    """Set each ball joint to start value number `draw`: a swing near a polygon's corner, or around an ellipse."""
    for b in range(v.of_ball.shape[0]):
        i = v.of_ball[b]
        if i < 0:
            continue
        first = bounds.vertex_start[bounds.loop_start[b]]
        corners = bounds.vertex_start[bounds.loop_start[b + 1]] - first
        share = 0.95 if draw % 2 == 0 else 0.5
        if corners > 0:
            sx, sy = direction_swing(vector_at(bounds.vertices, first + (draw // 2) % corners))
        else:
            angle = GOLDEN_ANGLE * draw
            sx, sy = bounds.radii[b, 0] * math.cos(angle), bounds.radii[b, 1] * math.sin(angle)
            if bounds.swing_kind[b] == ANYWHERE:
                sx, sy = math.pi * math.cos(angle), math.pi * math.sin(angle)
        x[i], x[i + 1] = share * sx, share * sy
        # The next ball joint uses another order, so that pairs of swings differ too.
        draw = draw * 5 + 3


@kernel
def _alternate_projections(bounds: Bounds, v: Variables, polyhedron: Polyhedron, x: Array) -> bool:
    """Project `x` in turn onto the constant rows and the ball joints' regions until it is in both; False if not."""
    linear = v.linear
    for _ in range(MAX_PROJECTIONS):
        if (
            nearest_in_polyhedron(polyhedron.rows[:linear], polyhedron.lower[:linear], polyhedron.upper[:linear], x)
            == 0
        ):
            return False
        moved = 0.0
        for b in range(v.of_ball.shape[0]):
            i = v.of_ball[b]
            if i >= 0:
                near = min(1.0, LARGEST_BALL_ANGLE / max(1e-300, math.sqrt(x[i] ** 2 + x[i + 1] ** 2)))
                moved = max(moved, 1.0 - near)
                before = SwingTwist(near * x[i], near * x[i + 1], x[i + 2])
                after = unwound(bounds, b, clamp_split(bounds, b, before))
                moved = max(moved, abs(after.x - before.x), abs(after.y - before.y), abs(after.twist - before.twist))
                _put_split(x, i, after)
        if moved <= MET_LIMIT_EXCESS:
            return True
    return False


@kernel
def _write(bounds: Bounds, v: Variables, x: Array, q: Array) -> None:
    """Write the unknowns `x` into the posture `q`."""
    for c in range(v.of_coordinate.shape[0]):
        if bounds.coordinate_ball[c] < 0:
            k = bounds.coordinate_q[c]
            q[k] = min(max(x[v.of_coordinate[c]], bounds.lower[k]), bounds.upper[k])
    for b in range(v.of_ball.shape[0]):
        i = v.of_ball[b]
        if i >= 0:
            set_ball(bounds, b, SwingTwist(x[i], x[i + 1], x[i + 2]), q)
