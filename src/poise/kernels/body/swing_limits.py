"""Regions of allowed limb directions on the sphere, and the nearest direction inside them.

Directions are unit vectors in the frame of the limiting cone, whose z axis is the middle of the region. A *spherical
ellipse* is the image of (s_x / r_x)² + (s_y / r_y)² ≤ 1 in swing coordinates; a *spherical polygon* is bounded by great
arcs between vertices listed with the inside on their left [Baerlocher 2001, 3.6.1].
"""

import math

import numpy as np

from poise.kernels.jit.compile import kernel
from poise.kernels.maths.swing_twist import direction_swing, swing_direction
from poise.kernels.maths.vector import Vector, add, angle_between, cross, dot, normalized, scale, subtract, vector_at

Array = np.ndarray

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
