"""Signed distances of points to convex solids, and of capsules to them.

The signed distance of a convex solid is a convex function of the point, with a unit normal as its gradient, inside as
well as outside. Along the axis of a capsule, a + s u, its slope n(s) · u therefore only grows, and the nearest point
of the axis is where the slope changes sign. That point's distance less the radius is the capsule's.

The nearest point of an ellipsoid with half axes e to y is x_i = e_i² y_i / (t + e_i²) with t the largest root of

    S(t) = Σ (e_i y_i / (t + e_i²))² = 1.

1 / √S is concave and nearly a straight line, so Newton's method on it, started where one term of S alone is 1, climbs
to the root in a few steps and never beyond it (as [Moré & Sorensen 1983] do for the radius of a trust region).
"""

import math
from typing import NamedTuple

from poise.kernels.distances.solids import BOX, CYLINDER
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.vector import Vector, add, dot, normalized, scale

_STEPS = 60
_FLAT = 1e-9
"""A slope this small is none: the distance is then wrong by its square."""
_LAST = 1e-9
"""After a relative step this small, Newton's next would be lost in rounding."""


class Skin(NamedTuple):
    """How far a point is from the surface of a solid, negative inside, and the outward normal there."""

    distance: float
    normal: Vector


@kernel
def point_to_solid(kind: int, size: Vector, point: Vector) -> Skin:
    """Signed distance of a point to a box, cylinder or ellipsoid (see `Solids.size`), in the solid's own frame."""
    if kind == BOX:
        return _box(size, point)
    if kind == CYLINDER:
        return _cylinder(size, point)
    return _ellipsoid(size, point)


@kernel
def _box(half: Vector, p: Vector) -> Skin:
    beyond = Vector(abs(p.x) - half.x, abs(p.y) - half.y, abs(p.z) - half.z)
    out = Vector(max(beyond.x, 0.0), max(beyond.y, 0.0), max(beyond.z, 0.0))
    distance = math.sqrt(dot(out, out))
    if distance > 0.0:
        k = 1.0 / distance
        return Skin(
            distance,
            Vector(math.copysign(k * out.x, p.x), math.copysign(k * out.y, p.y), math.copysign(k * out.z, p.z)),
        )
    if beyond.x >= beyond.y and beyond.x >= beyond.z:
        return Skin(beyond.x, Vector(math.copysign(1.0, p.x), 0.0, 0.0))
    if beyond.y >= beyond.z:
        return Skin(beyond.y, Vector(0.0, math.copysign(1.0, p.y), 0.0))
    return Skin(beyond.z, Vector(0.0, 0.0, math.copysign(1.0, p.z)))


@kernel
def _cylinder(size: Vector, p: Vector) -> Skin:
    away = math.sqrt(p.x * p.x + p.y * p.y)
    outward = Vector(p.x / away, p.y / away, 0.0) if away > 0.0 else Vector(1.0, 0.0, 0.0)
    upward = Vector(0.0, 0.0, math.copysign(1.0, p.z))
    side, top = away - size.x, abs(p.z) - size.z
    if side > 0.0 and top > 0.0:
        distance = math.sqrt(side * side + top * top)
        return Skin(distance, add(scale(outward, side / distance), scale(upward, top / distance)))
    return Skin(side, outward) if side >= top else Skin(top, upward)


@kernel
def _ellipsoid(e: Vector, p: Vector) -> Skin:
    # Away from the planes of symmetry by less than rounding: there, inside, the root is a pole.
    tiny = 1e-10 * min(e.x, e.y, e.z)
    y = Vector(max(abs(p.x), tiny), max(abs(p.y), tiny), max(abs(p.z), tiny))
    xx, yy, zz = e.x * e.x, e.y * e.y, e.z * e.z
    ex, ey, ez = e.x * y.x, e.y * y.y, e.z * y.z
    t = max(ex - xx, ey - yy, ez - zz)
    for _ in range(_STEPS):
        a, b, c = 1.0 / (t + xx), 1.0 / (t + yy), 1.0 / (t + zz)
        p2, q2, r2 = (ex * a) ** 2, (ey * b) ** 2, (ez * c) ** 2
        square = p2 + q2 + r2
        step = square * (math.sqrt(square) - 1.0) / (p2 * a + q2 * b + r2 * c)
        t += step
        if step <= _LAST * (abs(t) + xx):
            break
    a, b, c = y.x / (t + xx), y.y / (t + yy), y.z / (t + zz)
    n = normalized(Vector(a, b, c))
    gap = Vector(y.x - xx * a, y.y - yy * b, y.z - zz * c)
    return Skin(dot(n, gap), Vector(math.copysign(n.x, p.x), math.copysign(n.y, p.y), math.copysign(n.z, p.z)))


@kernel
def nearest_on_axis(kind: int, size: Vector, a: Vector, u: Vector) -> float:
    """Share s of the point a + s u, 0 ≤ s ≤ 1, that is nearest to a solid, in the solid's own frame.

    The root of the slope is found by false position with Illinois' halving, and by halves where three of its steps
    have not halved the bracket: a slope may jump inside a solid.
    """
    low, high = 0.0, 1.0
    below = dot(point_to_solid(kind, size, a).normal, u)
    above = dot(point_to_solid(kind, size, add(a, u)).normal, u)
    if below >= 0.0:
        return 0.0
    if above <= 0.0:
        return 1.0
    flat = _FLAT * math.sqrt(dot(u, u))
    kept = 0
    wide = 1.0
    for step in range(_STEPS):
        s = (low * above - high * below) / (above - below)
        if step % 3 == 2:
            if high - low > 0.5 * wide:
                s = 0.5 * (low + high)
            wide = high - low
        slope = dot(point_to_solid(kind, size, add(a, scale(u, s))).normal, u)
        if abs(slope) <= flat or high - low < 1e-12:
            return s
        if slope > 0.0:
            high, above = s, slope
            below = 0.5 * below if kept == 1 else below
            kept = 1
        else:
            low, below = s, slope
            above = 0.5 * above if kept == -1 else above
            kept = -1
    return 0.5 * (low + high)
