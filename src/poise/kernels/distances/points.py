"""Signed distances of points and of capsule axes to boxes, cylinders and ellipsoids.

The signed distance to a convex solid is a convex function of the point, with the outward unit normal n as its gradient,
inside as well as outside. Its slope n(s) · u along the axis a + s u of a capsule is therefore non-decreasing, and the
nearest point of the axis is where the slope changes sign. The distance of the capsule is that of the point less the
radius.

The nearest point of an ellipsoid with half axes e to y is x_i = e_i² y_i / (t + e_i²) with t the largest root of

    S(t) = Σ (e_i y_i / (t + e_i²))² = 1.

1 / √S is concave and nearly linear, so Newton's method on it, started where one term of S alone is 1, converges to the
root from below in a few steps (as in [Moré & Sorensen 1983] for the radius of a trust region).
"""

import math
from typing import NamedTuple

from poise.kernels.distances.solids import BOX, CYLINDER
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.vector import Vector, add, dot, normalized, scale

_MAX_ROOT_STEPS = 60
"""Largest number of steps of Newton's method and of false position."""
_ZERO_SLOPE = 1e-9
"""A slope below this counts as zero; the error of the distance is of the order of its square."""
_LAST_NEWTON_STEP = 1e-9
"""Newton's method stops after a relative step below this, since the next would be a rounding error."""


class SurfaceDistance(NamedTuple):
    """Signed distance of a point to the surface of a solid, negative inside, and the outward normal there."""

    distance: float
    normal: Vector


@kernel
def point_to_solid(kind: int, size: Vector, point: Vector) -> SurfaceDistance:
    """Signed distance of a point to a box, cylinder or ellipsoid (see `Solids.size`), in the solid's own frame."""
    if kind == BOX:
        return _box(size, point)
    if kind == CYLINDER:
        return _cylinder(size, point)
    return _ellipsoid(size, point)


@kernel
def _box(half: Vector, p: Vector) -> SurfaceDistance:
    """Signed distance to a box with half edges `half`."""
    beyond = Vector(abs(p.x) - half.x, abs(p.y) - half.y, abs(p.z) - half.z)
    out = Vector(max(beyond.x, 0.0), max(beyond.y, 0.0), max(beyond.z, 0.0))
    distance = math.sqrt(dot(out, out))
    if distance > 0.0:
        k = 1.0 / distance
        return SurfaceDistance(
            distance,
            Vector(math.copysign(k * out.x, p.x), math.copysign(k * out.y, p.y), math.copysign(k * out.z, p.z)),
        )
    if beyond.x >= beyond.y and beyond.x >= beyond.z:
        return SurfaceDistance(beyond.x, Vector(math.copysign(1.0, p.x), 0.0, 0.0))
    if beyond.y >= beyond.z:
        return SurfaceDistance(beyond.y, Vector(0.0, math.copysign(1.0, p.y), 0.0))
    return SurfaceDistance(beyond.z, Vector(0.0, 0.0, math.copysign(1.0, p.z)))


@kernel
def _cylinder(size: Vector, p: Vector) -> SurfaceDistance:
    """Signed distance to a cylinder about z with radius size.x and half length size.z."""
    away = math.sqrt(p.x * p.x + p.y * p.y)
    outward = Vector(p.x / away, p.y / away, 0.0) if away > 0.0 else Vector(1.0, 0.0, 0.0)
    upward = Vector(0.0, 0.0, math.copysign(1.0, p.z))
    side, top = away - size.x, abs(p.z) - size.z
    if side > 0.0 and top > 0.0:
        distance = math.sqrt(side * side + top * top)
        return SurfaceDistance(distance, add(scale(outward, side / distance), scale(upward, top / distance)))
    return SurfaceDistance(side, outward) if side >= top else SurfaceDistance(top, upward)


@kernel
def _ellipsoid(e: Vector, p: Vector) -> SurfaceDistance:
    """Signed distance to an ellipsoid with half axes e."""
    # Moved off the planes of symmetry by less than rounding errors: on them, inside, the root is a pole.
    tiny = 1e-10 * min(e.x, e.y, e.z)
    y = Vector(max(abs(p.x), tiny), max(abs(p.y), tiny), max(abs(p.z), tiny))
    xx, yy, zz = e.x * e.x, e.y * e.y, e.z * e.z
    ex, ey, ez = e.x * y.x, e.y * y.y, e.z * y.z
    t = max(ex - xx, ey - yy, ez - zz)
    for _ in range(_MAX_ROOT_STEPS):
        a, b, c = 1.0 / (t + xx), 1.0 / (t + yy), 1.0 / (t + zz)
        p2, q2, r2 = (ex * a) ** 2, (ey * b) ** 2, (ez * c) ** 2
        square = p2 + q2 + r2
        step = square * (math.sqrt(square) - 1.0) / (p2 * a + q2 * b + r2 * c)
        t += step
        if step <= _LAST_NEWTON_STEP * (abs(t) + xx):
            break
    a, b, c = y.x / (t + xx), y.y / (t + yy), y.z / (t + zz)
    n = normalized(Vector(a, b, c))
    gap = Vector(y.x - xx * a, y.y - yy * b, y.z - zz * c)
    return SurfaceDistance(
        dot(n, gap), Vector(math.copysign(n.x, p.x), math.copysign(n.y, p.y), math.copysign(n.z, p.z))
    )


@kernel
def nearest_on_axis(kind: int, size: Vector, a: Vector, u: Vector) -> float:
    """Parameter s of the point a + s u, 0 ≤ s ≤ 1, that is nearest to a solid, in the solid's frame.

    The root of the slope is found by false position in the Illinois variant. A bisection step follows whenever three
    steps have not halved the bracket, since the slope may jump inside a solid.
    """
    low, high = 0.0, 1.0
    below = dot(point_to_solid(kind, size, a).normal, u)
    above = dot(point_to_solid(kind, size, add(a, u)).normal, u)
    if below >= 0.0:
        return 0.0
    if above <= 0.0:
        return 1.0
    flat = _ZERO_SLOPE * math.sqrt(dot(u, u))
    kept_side = 0
    last_width = 1.0
    for step in range(_MAX_ROOT_STEPS):
        s = (low * above - high * below) / (above - below)
        if step % 3 == 2:
            if high - low > 0.5 * last_width:
                s = 0.5 * (low + high)
            last_width = high - low
        slope = dot(point_to_solid(kind, size, add(a, scale(u, s))).normal, u)
        if abs(slope) <= flat or high - low < 1e-12:
            return s
        if slope > 0.0:
            high, above = s, slope
            below = 0.5 * below if kept_side == 1 else below
            kept_side = 1
        else:
            low, below = s, slope
            above = 0.5 * above if kept_side == -1 else above
            kept_side = -1
    return 0.5 * (low + high)
