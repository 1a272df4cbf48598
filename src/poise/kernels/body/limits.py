"""Joint limits: intervals of turns and slides, regions of ball joints, and couplings.

A limited ball joint has orientation q, a limb frame S in its moved axes and a cone frame F in its unmoved axes. The
swing of e = F⁻¹ ⊗ q ⊗ S must stay in the cone, and its twist in an interval that may depend on the swing,

    τ_min(s) ≤ τ ≤ τ_max(s),   each c₀ + c₁ s_x + c₂ s_y + c₃ s_x² + c₄ s_x s_y + c₅ s_y²   [Baerlocher 2001, 3.6],

or each given by a table (see `twist_tables`).

A cone is a region of allowed limb directions on the sphere, unit vectors in the frame F, whose z axis is the middle of
the region. A *spherical ellipse* is the image of (s_x / r_x)² + (s_y / r_y)² ≤ 1 in swing coordinates; a *spherical
polygon* is bounded by great arcs between vertices listed with the inside on their left [Baerlocher 2001, 3.6.1]. Some
such loops together bound a region of several parts, or one with holes; the nearest arc tells on which side a point is.

A coupling bounds a sum of *coordinates*: joint values, or the s_x, s_y, τ of a limited ball joint, each times a factor,
or functions of them (see `curves`).
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.body.curves import curve_at
from poise.kernels.body.twist_tables import table_at
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.quaternion import (
    Quaternion,
    SwingTwist,
    conjugate,
    direct_rotation,
    direction_swing,
    from_swing_twist,
    multiply,
    quaternion_at,
    swing_direction,
    to_swing_twist,
    unit,
)
from poise.kernels.maths.vector import Vector, add, angle_between, cross, dot, normalized, scale, subtract, vector_at

Array = np.ndarray

ANYWHERE, ELLIPSE, POLYGON = 0, 1, 2
"""Kinds of swing regions: unlimited, a spherical ellipse, a spherical polygon."""
JOINT_LIMIT_TOLERANCE = 1e-10
"""Violation that counts as inside [rad or m]: well under the 1e-9 that postures promise."""
SINGULAR_SWING = 1e-6
"""Within this angle of the direction opposite to z, rounding errors determine the twist [rad]."""


class Bounds(NamedTuple):
    """The limits of a figure as arrays."""

    lower: Array
    """(nq,) least value of each coordinate; -inf for parts of quaternions."""
    upper: Array
    """(nq,) greatest value."""
    ball_start: Array
    """(b,) first coordinate of each limited ball joint's quaternion."""
    cone: Array
    """(b, 4) frame F of the cone in the unmoved axes."""
    limb: Array
    """(b, 4) frame S of the limb in the moved axes."""
    swing_kind: Array
    """(b,) ANYWHERE, ELLIPSE or POLYGON."""
    radii: Array
    """(b, 2) r_x, r_y of an ellipse [rad]."""
    loop_start: Array
    """(b + 1,) range of the loops that bound each region."""
    vertex_start: Array
    """(l + 1,) range of each loop's vertices."""
    vertices: Array
    """(m, 3) unit vectors in the cone's frame."""
    twist_limited: Array
    """(b,) 1 where the twist is limited."""
    twist: Array
    """(b, 12) coefficients of τ_min, then of τ_max."""
    twist_table: Array
    """(b, 3) first number of each twist table, and its numbers of lines and columns; 0 lines for none."""
    table_numbers: Array
    """(n,) numbers of all tables: see `twist_tables`."""
    coordinate_q: Array
    """(c,) entry of q of each coupled coordinate; for a ball joint, the first entry of its quaternion."""
    coordinate_ball: Array
    """(c,) ball joint of each coupled coordinate, or -1 for a plain joint value."""
    coordinate_part: Array
    """(c,) 0, 1, 2 for s_x, s_y, τ of a ball joint."""
    term_start: Array
    """(k + 1,) range of each coupling's terms."""
    term_coordinate: Array
    """(t,) coordinate of each term."""
    term_factor: Array
    """(t,) factor of each term."""
    term_curve: Array
    """(t,) curve of each term, or -1 for the coordinate itself."""
    piece_start: Array
    """(n + 1,) range of each curve's pieces."""
    pieces: Array
    """(p, 7) start and coefficients of each piece: see `curves`."""
    coupling_lower: Array
    """(k,) least value of each coupling's sum."""
    coupling_upper: Array
    """(k,) greatest value."""


@kernel
def ball_split(bounds: Bounds, b: int, q: Array) -> SwingTwist:
    """Swing and twist of limited ball `b` at coordinates `q`."""
    k = bounds.ball_start[b]
    return split_of(bounds, b, Quaternion(q[k], q[k + 1], q[k + 2], q[k + 3]))


@kernel(inline=True)
def split_of(bounds: Bounds, b: int, rotation: Quaternion) -> SwingTwist:
    """Swing and twist of limited ball `b` at a rotation of its joint."""
    turned = multiply(rotation, quaternion_at(bounds.limb, b))
    return to_swing_twist(multiply(conjugate(quaternion_at(bounds.cone, b)), turned))


@kernel
def set_ball(bounds: Bounds, b: int, split: SwingTwist, q: Array) -> None:
    """Write the orientation of ball `b` with this swing and twist into `q`, with the sign nearer to the old value."""
    k = bounds.ball_start[b]
    turned = multiply(quaternion_at(bounds.cone, b), from_swing_twist(split))
    r = unit(multiply(turned, conjugate(quaternion_at(bounds.limb, b))))
    sign = 1.0 if r.w * q[k] + r.x * q[k + 1] + r.y * q[k + 2] + r.z * q[k + 3] >= 0.0 else -1.0
    q[k], q[k + 1], q[k + 2], q[k + 3] = sign * r.w, sign * r.x, sign * r.y, sign * r.z


@kernel
def twist_interval(bounds: Bounds, b: int, x: float, y: float) -> tuple[float, float]:
    """τ_min and τ_max of ball `b` at swing (x, y) [rad]."""
    if bounds.twist_table[b, 1] > 0:
        low, high = table_value(bounds, b, False, x, y)[0], table_value(bounds, b, True, x, y)[0]
        return low, max(low, high)
    c = bounds.twist
    low = c[b, 0] + c[b, 1] * x + c[b, 2] * y + c[b, 3] * x * x + c[b, 4] * x * y + c[b, 5] * y * y
    high = c[b, 6] + c[b, 7] * x + c[b, 8] * y + c[b, 9] * x * x + c[b, 10] * x * y + c[b, 11] * y * y
    return low, max(low, high)


@kernel
def table_value(bounds: Bounds, b: int, is_upper: bool, x: float, y: float) -> tuple[float, float, float]:
    """τ_max, or τ_min, of ball `b` from its table at swing (x, y), with its two slopes."""
    table = bounds.twist_table
    return table_at(bounds.table_numbers, table[b, 0], table[b, 1], table[b, 2], 4 if is_upper else 0, x, y)


@kernel
def twist_slopes(bounds: Bounds, b: int, is_upper: bool, x: float, y: float) -> tuple[float, float]:
    """∂/∂s_x and ∂/∂s_y at swing (x, y) of τ_max, or of τ_min, of ball `b`."""
    if bounds.twist_table[b, 1] > 0:
        _, across, along = table_value(bounds, b, is_upper, x, y)
        return across, along
    twist, k = bounds.twist, 6 if is_upper else 0
    slope_x = twist[b, k + 1] + 2.0 * twist[b, k + 3] * x + twist[b, k + 4] * y
    slope_y = twist[b, k + 2] + twist[b, k + 4] * x + 2.0 * twist[b, k + 5] * y
    return slope_x, slope_y


@kernel
def clamp_angle(angle: float, low: float, high: float) -> float:
    """`angle` if it lies in [low, high] up to whole turns, else the nearer of the two bounds."""
    turn = 2.0 * math.pi
    inside = angle - turn * math.floor((angle - low) / turn)
    above, below = inside - high, low + turn - inside
    if above <= JOINT_LIMIT_TOLERANCE or below <= JOINT_LIMIT_TOLERANCE:
        return angle
    return high if above <= below else low


@kernel
def nearest_turn(angle: float, middle: float) -> float:
    """`angle` moved by whole turns to within half a turn of `middle`."""
    turn = 2.0 * math.pi
    return angle - turn * math.floor((angle - middle) / turn + 0.5)


@kernel
def swing_excess(bounds: Bounds, b: int, x: float, y: float) -> float:
    """Angle by which the swing (x, y) lies outside the cone of ball `b` [rad]; 0 inside."""
    kind = bounds.swing_kind[b]
    d = swing_direction(x, y)
    if kind == ELLIPSE:
        rx, ry = bounds.radii[b, 0], bounds.radii[b, 1]
        if ellipse_excess(x, y, rx, ry) <= JOINT_LIMIT_TOLERANCE:
            return 0.0
        return angle_between(d, nearest_in_ellipse(d, rx, ry))
    if kind == POLYGON:
        _, outside = nearest_on_region(bounds, b, d)
        return outside if outside > JOINT_LIMIT_TOLERANCE else 0.0
    return 0.0


@kernel
def nearest_direction(bounds: Bounds, b: int, d: Vector) -> tuple[Vector, bool]:
    """The allowed direction of ball `b` nearest to the unit vector `d`, and whether it differs from `d`."""
    kind = bounds.swing_kind[b]
    if kind == ELLIPSE:
        rx, ry = bounds.radii[b, 0], bounds.radii[b, 1]
        x, y = direction_swing(d)
        if ellipse_excess(x, y, rx, ry) > JOINT_LIMIT_TOLERANCE:
            return nearest_in_ellipse(d, rx, ry), True
    elif kind == POLYGON:
        near, outside = nearest_on_region(bounds, b, d)
        if outside > JOINT_LIMIT_TOLERANCE:
            return near, True
    return d, False


@kernel
def clamp_split(bounds: Bounds, b: int, split: SwingTwist) -> SwingTwist:
    """Rotate to the nearest allowed swing, then to the nearest allowed twist [Baerlocher 2001, 3.7.2]."""
    d = swing_direction(split.x, split.y)
    near, moved = nearest_direction(bounds, b, d)
    if moved:
        turned = to_swing_twist(multiply(direct_rotation(d, near), from_swing_twist(split)))
        x, y = direction_swing(near)
        split = SwingTwist(x, y, turned.twist)
    if _has_twist_limit(bounds, b, split):
        low, high = twist_interval(bounds, b, split.x, split.y)
        split = SwingTwist(split.x, split.y, clamp_angle(split.twist, low, high))
    return split


@kernel
def _has_twist_limit(bounds: Bounds, b: int, split: SwingTwist) -> bool:
    """Whether the twist of ball `b` is limited and defined, which it is not opposite to z."""
    square = split.x * split.x + split.y * split.y
    return bounds.twist_limited[b] == 1 and square < (math.pi - SINGULAR_SWING) ** 2


@kernel
def twist_excess(bounds: Bounds, b: int, split: SwingTwist) -> float:
    """Angle by which a twist lies outside its interval [rad]; 0 inside."""
    if not _has_twist_limit(bounds, b, split):
        return 0.0
    low, high = twist_interval(bounds, b, split.x, split.y)
    return abs(nearest_turn(split.twist - clamp_angle(split.twist, low, high), 0.0))


@kernel
def ball_room(bounds: Bounds, b: int, q: Array) -> tuple[float, float]:
    """Lower bounds on the angles by which ball `b` can swing and twist up to a limit [rad]; inf if unlimited."""
    split = ball_split(bounds, b, q)
    swing = twist = math.inf
    if bounds.swing_kind[b] == ELLIPSE:
        rx, ry = bounds.radii[b, 0], bounds.radii[b, 1]
        swing = -ellipse_excess(split.x, split.y, rx, ry) * min(rx, ry)
    elif bounds.swing_kind[b] == POLYGON:
        d = swing_direction(split.x, split.y)
        _, outside = nearest_on_region(bounds, b, d)
        swing = -outside
    if _has_twist_limit(bounds, b, split):
        low, high = twist_interval(bounds, b, split.x, split.y)
        twist = min(abs(nearest_turn(split.twist - low, 0.0)), abs(nearest_turn(split.twist - high, 0.0)))
    return swing, twist


@kernel
def pass_through_middle(bounds: Bounds, b: int, start: SwingTwist, end: SwingTwist) -> SwingTwist:
    """`end`, or the nearest allowed swing to the midpoint between `start` and `end` if the midpoint is not allowed.

    This keeps a limb from jumping across the gap of a concave region [Baerlocher 2001, 3.7.3].
    """
    a, e = swing_direction(start.x, start.y), swing_direction(end.x, end.y)
    middle = halfway(a, e)
    if dot(middle, middle) < 0.5:
        return end
    near, moved = nearest_direction(bounds, b, middle)
    if not moved:
        return end
    x, y = direction_swing(near)
    return clamp_split(bounds, b, SwingTwist(x, y, end.twist))


GOLDEN_SECTION = 0.5 * (math.sqrt(5.0) - 1.0)
"""Ratio of golden-section search."""
ELLIPSE_SAMPLES = 48
"""Samples that bracket the nearest point of an ellipse, whose distance has at most four extrema."""


@kernel
def nearest_on_ellipse(px: float, py: float, rx: float, ry: float) -> tuple[float, float]:
    """Nearest point, in the plane, of the axis-aligned ellipse (rx, ry) about the origin [Baerlocher 2001, app. D].

    The foot of the normal from (px, py) is (rx² px / (t + rx²), ry² py / (t + ry²)) for the largest root t of
    (rx px / (t + rx²))² + (ry py / (t + ry²))² = 1: the same stationary points as the quartic of app. D. The left side
    decreases in t, so bisection finds the root without the cancellation of a quartic formula.
    """
    x, y = abs(px), abs(py)
    if rx < ry:
        qy, qx = _nearest_in_quadrant(y, x, ry, rx)
    else:
        qx, qy = _nearest_in_quadrant(x, y, rx, ry)
    return math.copysign(qx, px), math.copysign(qy, py)


@kernel
def _nearest_in_quadrant(x: float, y: float, major: float, minor: float) -> tuple[float, float]:
    """`nearest_on_ellipse` for x, y ≥ 0 and major ≥ minor, with t shifted by minor² so that no digits cancel."""
    focal = major * major - minor * minor
    if y <= 1e-30 * minor:
        if major * x < focal:
            qx = major * major * x / focal
            return qx, minor * math.sqrt(max(0.0, 1.0 - (qx / major) ** 2))
        return major, 0.0
    low = minor * y
    high = math.sqrt((major * x) ** 2 + (minor * y) ** 2)
    for _ in range(200):
        t = 0.5 * (low + high)
        if t == low or t == high:
            break
        a, b = major * x / (t + focal), minor * y / t
        if a * a + b * b > 1.0:
            low = t
        else:
            high = t
    t = 0.5 * (low + high)
    return major * major * x / (t + focal), minor * minor * y / t


@kernel
def ellipse_excess(x: float, y: float, rx: float, ry: float) -> float:
    """Distance of the swing (x, y) from the ellipse, relative to its radius; positive outside, negative inside."""
    return math.sqrt((x / rx) ** 2 + (y / ry) ** 2) - 1.0


@kernel
def nearest_in_ellipse(d: Vector, rx: float, ry: float) -> Vector:
    """Direction of the spherical ellipse's boundary that makes the smallest angle with the unit vector `d`."""
    sx, sy = direction_swing(d)
    qx, qy = nearest_on_ellipse(sx, sy, rx, ry)
    best = math.atan2(qy / ry, qx / rx)
    best_cosine = dot(swing_direction(qx, qy), d)
    step = 2.0 * math.pi / ELLIPSE_SAMPLES
    for i in range(ELLIPSE_SAMPLES):
        alpha = i * step
        cosine = _ellipse_cosine(d, rx, ry, alpha)
        if cosine > best_cosine:
            best, best_cosine = alpha, cosine
    low, high = best - step, best + step
    for _ in range(42):
        left, right = high - GOLDEN_SECTION * (high - low), low + GOLDEN_SECTION * (high - low)
        if _ellipse_cosine(d, rx, ry, left) >= _ellipse_cosine(d, rx, ry, right):
            high = right
        else:
            low = left
    alpha = 0.5 * (low + high)
    if _ellipse_cosine(d, rx, ry, alpha) < best_cosine:
        alpha = best
    return swing_direction(rx * math.cos(alpha), ry * math.sin(alpha))


@kernel
def _ellipse_cosine(d: Vector, rx: float, ry: float, alpha: float) -> float:
    """Cosine of the angle between `d` and the boundary direction at parameter α."""
    return dot(swing_direction(rx * math.cos(alpha), ry * math.sin(alpha)), d)


@kernel
def nearest_on_region(bounds: Bounds, b: int, d: Vector) -> tuple[Vector, float]:
    """Nearest boundary direction of the region of ball `b`, and the signed angle to it (positive outside)."""
    first, starts = bounds.loop_start[b], bounds.vertex_start
    near, outside = nearest_on_polygon(d, bounds.vertices, starts[first], starts[first + 1])
    for loop in range(first + 1, bounds.loop_start[b + 1]):
        other, angle = nearest_on_polygon(d, bounds.vertices, starts[loop], starts[loop + 1])
        if abs(angle) < abs(outside):
            near, outside = other, angle
    return near, outside


@kernel
def nearest_on_polygon(d: Vector, vertices: Array, start: int, end: int) -> tuple[Vector, float]:
    """Nearest boundary direction of the polygon `vertices[start:end]`, and the signed angle to it (positive outside).

    The side is that of the nearest edge; at a vertex, the side of the sum of its two edge normals.
    """
    best = Vector(0.0, 0.0, 1.0)
    best_angle = 10.0
    side = 1.0
    count = end - start
    previous = _edge_normal(vertices, start, count, count - 1)
    for i in range(count):
        normal = _edge_normal(vertices, start, count, i)
        a = vector_at(vertices, start + i)
        b = vector_at(vertices, start + (i + 1) % count)
        angle = angle_between(d, a)
        if angle < best_angle:
            best, best_angle = a, angle
            side = dot(d, add(normal, previous))
        height = dot(d, normal)
        foot = normalized(subtract(d, scale(normal, height)))
        on_arc = dot(cross(a, foot), normal) >= 0.0 and dot(cross(foot, b), normal) >= 0.0
        angle = abs(math.asin(min(1.0, max(-1.0, height))))
        if on_arc and dot(foot, foot) > 0.5 and angle < best_angle:
            best, best_angle, side = foot, angle, height
        previous = normal
    return best, best_angle if side < 0.0 else -best_angle


@kernel
def _edge_normal(vertices: Array, start: int, count: int, i: int) -> Vector:
    """Unit normal of edge `i`, towards the inside of a convex polygon."""
    return normalized(cross(vector_at(vertices, start + i), vector_at(vertices, start + (i + 1) % count)))


@kernel
def halfway(a: Vector, b: Vector) -> Vector:
    """Middle of the great arc from `a` to `b`; the zero vector when they are opposite."""
    return normalized(add(a, b)) if dot(a, b) > -1.0 + 1e-12 else Vector(0.0, 0.0, 0.0)


@kernel(inline=True)
def coordinate(bounds: Bounds, c: int, q: Array) -> float:
    """Value of coupled coordinate `c`; a limited twist is taken within half a turn of the middle of its interval."""
    b = bounds.coordinate_ball[c]
    if b < 0:
        return q[bounds.coordinate_q[c]]
    return unwound(bounds, b, ball_split(bounds, b, q))[bounds.coordinate_part[c]]


@kernel(inline=True)
def unwound(bounds: Bounds, b: int, split: SwingTwist) -> SwingTwist:
    """`split` with a limited twist moved by whole turns to within half a turn of the middle of its interval."""
    if bounds.twist_limited[b] == 0:
        return split
    low, high = twist_interval(bounds, b, split.x, split.y)
    return SwingTwist(split.x, split.y, nearest_turn(split.twist, 0.5 * (low + high)))


@kernel(inline=True)
def coupling_value(bounds: Bounds, k: int, q: Array) -> float:
    """Value of the sum of coupling `k` at `q`."""
    total = 0.0
    for t in range(bounds.term_start[k], bounds.term_start[k + 1]):
        value = coordinate(bounds, bounds.term_coordinate[t], q)
        if bounds.term_curve[t] >= 0:
            value = term_curve_at(bounds, t, value)[0]
        total += bounds.term_factor[t] * value
    return total


@kernel
def term_curve_at(bounds: Bounds, t: int, x: float) -> tuple[float, float, float]:
    """Value, slope and second derivative of the curve of term `t` at a coordinate's value."""
    return curve_at(bounds.piece_start, bounds.pieces, bounds.term_curve[t], x)


@kernel(inline=True)
def term_slope(bounds: Bounds, t: int, q: Array) -> float:
    """Derivative of term `t` by its coordinate at `q`."""
    if bounds.term_curve[t] < 0:
        return bounds.term_factor[t]
    return bounds.term_factor[t] * term_curve_at(bounds, t, coordinate(bounds, bounds.term_coordinate[t], q))[1]


@kernel(inline=True)
def couplings_excess(bounds: Bounds, q: Array) -> float:
    """Largest violation of any coupling at `q`; 0 when all are satisfied."""
    worst = 0.0
    for k in range(bounds.coupling_lower.shape[0]):
        value = coupling_value(bounds, k, q)
        worst = max(worst, value - bounds.coupling_upper[k], bounds.coupling_lower[k] - value)
    return worst
