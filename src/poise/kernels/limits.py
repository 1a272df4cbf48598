"""Joint limits: intervals, ball joints, couplings, and the nearest posture that respects them all.

A limited ball joint has orientation q; its limb's frame S in the moved axes and its cone's frame F in the unmoved ones
make e = F⁻¹ ⊗ q ⊗ S, whose swing must stay in the cone and whose twist in an interval that may depend on the swing,

    τ_min(s) ≤ τ ≤ τ_max(s),   each c₀ + c₁ s_x + c₂ s_y + c₃ s_x² + c₄ s_x s_y + c₅ s_y²   [Baerlocher 2001, 3.6].

A coupling bounds a linear form of *coordinates*: joint values, or the s_x, s_y, τ of a limited ball joint.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.compile import kernel
from poise.kernels.quaternion import Quaternion, conjugate, direct_rotation, multiply, quaternion_at, unit
from poise.kernels.swing_limits import (
    ellipse_excess,
    halfway,
    nearest_in_ellipse,
    nearest_on_polygon,
)
from poise.kernels.swing_twist import (
    SwingTwist,
    direction_swing,
    from_swing_twist,
    swing_direction,
    to_swing_twist,
)
from poise.kernels.vector import Vector, dot

Array = np.ndarray

ANYWHERE, ELLIPSE, POLYGON = 0, 1, 2
TOLERANCE = 1e-10
"""What still counts as inside [rad or m]: well under the 1e-9 that postures promise."""
MAX_SWEEPS = 20_000


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
    vertex_start: Array
    """(b + 1,) range of each polygon's vertices."""
    vertices: Array
    """(m, 3) unit vectors in the cone's frame."""
    twist_limited: Array
    """(b,) 1 where the twist is limited."""
    twist: Array
    """(b, 12) coefficients of τ_min, then of τ_max."""
    coordinate_q: Array
    """(c,) first coordinate of what a coupled coordinate belongs to."""
    coordinate_ball: Array
    """(c,) ball it belongs to, or -1 for a plain joint value."""
    coordinate_part: Array
    """(c,) 0, 1, 2 for s_x, s_y, τ of a ball."""
    term_start: Array
    """(k + 1,) range of each coupling's terms."""
    term_coordinate: Array
    """(t,) coordinate of each term."""
    term_factor: Array
    """(t,) its factor."""
    coupling_lower: Array
    """(k,) least value of each coupling's linear form."""
    coupling_upper: Array
    """(k,) greatest value."""


@kernel
def ball_split(bounds: Bounds, b: int, q: Array) -> SwingTwist:
    """Swing and twist of limited ball `b` at coordinates `q`."""
    k = bounds.ball_start[b]
    turned = multiply(Quaternion(q[k], q[k + 1], q[k + 2], q[k + 3]), quaternion_at(bounds.limb, b))
    return to_swing_twist(multiply(conjugate(quaternion_at(bounds.cone, b)), turned))


@kernel
def set_ball(bounds: Bounds, b: int, split: SwingTwist, q: Array) -> None:
    """Write the orientation of ball `b` with this swing and twist into `q`, in the hemisphere it had."""
    k = bounds.ball_start[b]
    turned = multiply(quaternion_at(bounds.cone, b), from_swing_twist(split))
    r = unit(multiply(turned, conjugate(quaternion_at(bounds.limb, b))))
    sign = 1.0 if r.w * q[k] + r.x * q[k + 1] + r.y * q[k + 2] + r.z * q[k + 3] >= 0.0 else -1.0
    q[k], q[k + 1], q[k + 2], q[k + 3] = sign * r.w, sign * r.x, sign * r.y, sign * r.z


@kernel
def twist_interval(bounds: Bounds, b: int, x: float, y: float) -> tuple[float, float]:
    """τ_min and τ_max of ball `b` at swing (x, y) [rad]."""
    c = bounds.twist
    low = c[b, 0] + c[b, 1] * x + c[b, 2] * y + c[b, 3] * x * x + c[b, 4] * x * y + c[b, 5] * y * y
    high = c[b, 6] + c[b, 7] * x + c[b, 8] * y + c[b, 9] * x * x + c[b, 10] * x * y + c[b, 11] * y * y
    return low, max(low, high)


@kernel
def clamp_angle(angle: float, low: float, high: float) -> float:
    """The angle in [low, high] nearest to `angle` on the circle; `angle` itself when it is inside up to whole turns."""
    turns = math.floor((angle - low) / (2.0 * math.pi))
    inside = angle - 2.0 * math.pi * turns
    if inside <= high + TOLERANCE:
        return angle
    above = inside - high
    below = low + 2.0 * math.pi - inside
    return high if above <= below else low


@kernel
def swing_excess(bounds: Bounds, b: int, x: float, y: float) -> float:
    """Angle by which the swing (x, y) lies outside the cone of ball `b` [rad]; 0 inside."""
    kind = bounds.swing_kind[b]
    d = swing_direction(x, y)
    if kind == ELLIPSE:
        rx, ry = bounds.radii[b, 0], bounds.radii[b, 1]
        if ellipse_excess(x, y, rx, ry) <= TOLERANCE:
            return 0.0
        near = nearest_in_ellipse(d, rx, ry)
        return math.acos(min(1.0, max(-1.0, dot(d, near))))
    if kind == POLYGON:
        _, outside = nearest_on_polygon(d, bounds.vertices, bounds.vertex_start[b], bounds.vertex_start[b + 1])
        return outside if outside > TOLERANCE else 0.0
    return 0.0


@kernel
def nearest_direction(bounds: Bounds, b: int, d: Vector) -> tuple[Vector, bool]:
    """The allowed direction of ball `b` nearest to the unit vector `d`, and whether that is another one."""
    kind = bounds.swing_kind[b]
    if kind == ELLIPSE:
        rx, ry = bounds.radii[b, 0], bounds.radii[b, 1]
        x, y = direction_swing(d)
        if ellipse_excess(x, y, rx, ry) > TOLERANCE:
            return nearest_in_ellipse(d, rx, ry), True
    elif kind == POLYGON:
        near, outside = nearest_on_polygon(d, bounds.vertices, bounds.vertex_start[b], bounds.vertex_start[b + 1])
        if outside > TOLERANCE:
            return near, True
    return d, False


@kernel
def clamp_split(bounds: Bounds, b: int, split: SwingTwist) -> SwingTwist:
    """Nearest allowed swing, reached by a direct rotation, then nearest allowed twist [Baerlocher 2001, 3.7.2]."""
    d = swing_direction(split.x, split.y)
    near, moved = nearest_direction(bounds, b, d)
    if moved:
        turned = to_swing_twist(multiply(direct_rotation(d, near), from_swing_twist(split)))
        x, y = direction_swing(near)
        split = SwingTwist(x, y, turned.twist)
    if bounds.twist_limited[b] == 1:
        low, high = twist_interval(bounds, b, split.x, split.y)
        split = SwingTwist(split.x, split.y, clamp_angle(split.twist, low, high))
    return split


@kernel
def pass_through_middle(bounds: Bounds, b: int, start: SwingTwist, end: SwingTwist) -> SwingTwist:
    """`end`, or the projection of the middle of the way to it when that middle is not allowed.

    A concave region would otherwise let a limb jump across a gap between two allowed directions
    [Baerlocher 2001, 3.7.3].
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


@kernel
def clamp(
    bounds: Bounds,
    previous: Array,
    # outputs
    q: Array,
) -> int:
    """Move `q` (nq,) to the nearest posture inside the limits; 0 when there is none that meets the couplings too.

    `previous` (nq,), a legal posture, or an empty array, is where concave swing limits are approached from.
    """
    wanted = q.copy()
    for k in range(q.shape[0]):
        q[k] = min(max(q[k], bounds.lower[k]), bounds.upper[k])
    for b in range(bounds.ball_start.shape[0]):
        split = ball_split(bounds, b, q)
        allowed = clamp_split(bounds, b, split)
        if previous.shape[0] > 0 and bounds.swing_kind[b] == POLYGON:
            allowed = pass_through_middle(bounds, b, ball_split(bounds, b, previous), allowed)
        if allowed != split:
            set_ball(bounds, b, allowed, q)
    if couplings_excess(bounds, q) <= TOLERANCE:
        return 1
    return _clamp_coupled(bounds, wanted, q)


@kernel
def coordinate(bounds: Bounds, c: int, q: Array) -> float:
    """Value of coupled coordinate `c`."""
    b = bounds.coordinate_ball[c]
    if b < 0:
        return q[bounds.coordinate_q[c]]
    return ball_split(bounds, b, q)[bounds.coordinate_part[c]]


@kernel
def coupling_value(bounds: Bounds, k: int, q: Array) -> float:
    """Linear form of coupling `k`."""
    total = 0.0
    for t in range(bounds.term_start[k], bounds.term_start[k + 1]):
        total += bounds.term_factor[t] * coordinate(bounds, bounds.term_coordinate[t], q)
    return total


@kernel
def couplings_excess(bounds: Bounds, q: Array) -> float:
    """Largest amount by which a coupling is broken."""
    worst = 0.0
    for k in range(bounds.coupling_lower.shape[0]):
        value = coupling_value(bounds, k, q)
        worst = max(worst, value - bounds.coupling_upper[k], bounds.coupling_lower[k] - value)
    return worst


@kernel
def _clamp_coupled(bounds: Bounds, wanted: Array, q: Array) -> int:
    """Dykstra's alternating projections over the coupled coordinates: couplings, intervals and ball regions in turn.

    Each set remembers what it last took away and gives it back before it projects again, which makes the limit the
    nearest common point of convex sets and not just some common point.
    """
    count = bounds.coordinate_q.shape[0]
    rows = bounds.coupling_lower.shape[0]
    x = np.empty(count)
    for c in range(count):
        x[c] = coordinate(bounds, c, wanted)
    row_memory = np.zeros(rows)
    own_memory = np.zeros(count)
    for _ in range(MAX_SWEEPS):
        change = 0.0
        for k in range(rows):
            change = max(change, _project_on_coupling(bounds, k, x, row_memory))
        for c in range(count):
            change = max(change, _project_on_own_limit(bounds, c, q, x, own_memory))
        if change < 1e-15:
            break
    for c in range(count):
        b = bounds.coordinate_ball[c]
        if b < 0:
            k = bounds.coordinate_q[c]
            q[k] = min(max(x[c], bounds.lower[k]), bounds.upper[k])
        else:
            split = ball_split(bounds, b, q)
            part = bounds.coordinate_part[c]
            set_ball(
                bounds,
                b,
                SwingTwist(
                    x[c] if part == 0 else split.x, x[c] if part == 1 else split.y, x[c] if part == 2 else split.twist
                ),
                q,
            )
    return 1 if couplings_excess(bounds, q) <= 10.0 * TOLERANCE else 0


@kernel
def _project_on_coupling(bounds: Bounds, k: int, x: Array, memory: Array) -> float:
    """One Dykstra projection on coupling `k`; returns the largest change of a coordinate."""
    start, end = bounds.term_start[k], bounds.term_start[k + 1]
    value, square, largest = 0.0, 0.0, 0.0
    for t in range(start, end):
        factor = bounds.term_factor[t]
        value += factor * x[bounds.term_coordinate[t]]
        square += factor * factor
        largest = max(largest, abs(factor))
    value += memory[k] * square
    allowed = min(max(value, bounds.coupling_lower[k]), bounds.coupling_upper[k])
    taken = (value - allowed) / square
    shift = memory[k] - taken
    for t in range(start, end):
        x[bounds.term_coordinate[t]] += shift * bounds.term_factor[t]
    memory[k] = taken
    return abs(shift) * largest


@kernel
def _project_on_own_limit(bounds: Bounds, c: int, q: Array, x: Array, memory: Array) -> float:
    """One Dykstra projection of coordinate `c` on its own interval, or on its slice of an elliptic region."""
    k = bounds.coordinate_q[c]
    b = bounds.coordinate_ball[c]
    low, high = bounds.lower[k], bounds.upper[k]
    if b >= 0:
        low, high = _ball_slice(bounds, b, bounds.coordinate_part[c], q)
    wished = x[c] + memory[c]
    allowed = min(max(wished, low), high)
    change = abs(allowed - x[c])
    memory[c] = wished - allowed
    x[c] = allowed
    return change


@kernel
def _ball_slice(bounds: Bounds, b: int, part: int, q: Array) -> tuple[float, float]:
    """Interval allowed to one part of ball `b` while its other parts stay as in `q`."""
    split = ball_split(bounds, b, q)
    if part == 2:
        return twist_interval(bounds, b, split.x, split.y) if bounds.twist_limited[b] == 1 else (-math.pi, math.pi)
    if bounds.swing_kind[b] == POLYGON:
        return _polygon_slice(bounds, b, part, split, -1.0), _polygon_slice(bounds, b, part, split, 1.0)
    if bounds.swing_kind[b] == ANYWHERE:
        return -math.pi, math.pi
    rx, ry = bounds.radii[b, 0], bounds.radii[b, 1]
    if part == 0:
        reach = rx * math.sqrt(max(0.0, 1.0 - (split.y / ry) ** 2))
    else:
        reach = ry * math.sqrt(max(0.0, 1.0 - (split.x / rx) ** 2))
    return -reach, reach


@kernel
def _polygon_slice(bounds: Bounds, b: int, part: int, split: SwingTwist, way: float) -> float:
    """How far one swing component can go `way` (±1) from an allowed swing before it leaves the polygon."""
    value = split.x if part == 0 else split.y
    inside, outside = 0.0, 0.0
    for i in range(1, 65):
        outside = i * math.pi / 32.0
        if _slice_excess(bounds, b, part, split, value + way * outside) > 0.0:
            break
        inside = outside
    for _ in range(60):
        middle = 0.5 * (inside + outside)
        if _slice_excess(bounds, b, part, split, value + way * middle) > 0.0:
            outside = middle
        else:
            inside = middle
    return value + way * inside


@kernel
def _slice_excess(bounds: Bounds, b: int, part: int, split: SwingTwist, value: float) -> float:
    """`swing_excess` with one swing component replaced; a swing beyond π is outside."""
    x = value if part == 0 else split.x
    y = value if part == 1 else split.y
    return 1.0 if x * x + y * y > math.pi * math.pi else swing_excess(bounds, b, x, y)
