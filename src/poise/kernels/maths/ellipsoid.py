"""Distance of a point from an ellipsoid, with its first and second derivatives.

The point x of the ellipsoid Σ x_i² / r_i² = 1 nearest to p satisfies p = x + t A x with A = diag(1 / r_i²), so that
x_i = r_i y_i with y_i = r_i p_i / (r_i² + t), and t is the root of |y(t)| = 1 above minus the square of the smallest
radius. There 1 / |y| is increasing and concave, so that Newton's method for 1 / |y| = 1 rises to the root from any
smaller t, in a few steps. The distance is t |A x|, negative inside, and its gradient is the normal n = A x / |A x|.

With D = diag(1 / (r_i² + t)) and P = 1 - n nᵀ, differentiating p = x + t A x gives the second derivative

    ∇²distance = P (D + t / (1 - t nᵀDn) Dn (Dn)ᵀ) P / |A x|
"""

import math
from typing import NamedTuple

from poise.kernels.jit.compile import kernel
from poise.kernels.maths.vector import Vector, add, dot, length, scale, subtract

MAX_STEPS = 60
"""Steps of Newton's method; it ends after 3 to 8 of them, as soon as t no longer grows."""
MIN_OFFSET = 1e-12
"""Least distance from the plane across the shortest axis, as a share of that radius: in the plane, inside, two points
of the ellipsoid can be equally near."""


class EllipsoidDistance(NamedTuple):
    """The distance of a point from an ellipsoid about the origin, along whose axes everything is given."""

    distance: float
    """Positive outside, negative inside [m]."""
    normal: Vector
    """Unit vector outwards at the nearest point."""
    stiffness: Vector
    """1 / (r_i² + t), the diagonal of D [1/m²]."""
    t: float
    """The multiplier t [m²]."""
    slope: float
    """|A x| [1/m]."""


@kernel
def distance_to_ellipsoid(p: Vector, radii: Vector) -> EllipsoidDistance:
    """Distance of `p` from the ellipsoid about the origin with half axes `radii` along x, y and z [m]."""
    least = min(radii.x, min(radii.y, radii.z))
    px, py, pz = p.x, p.y, p.z
    offset = MIN_OFFSET * least
    if radii.x == least:
        px = math.copysign(max(abs(px), offset), px)
    elif radii.y == least:
        py = math.copysign(max(abs(py), offset), py)
    else:
        pz = math.copysign(max(abs(pz), offset), pz)
    cx, cy, cz = radii.x * px, radii.y * py, radii.z * pz
    ex, ey, ez = radii.x**2 - least**2, radii.y**2 - least**2, radii.z**2 - least**2
    # s = t + least², which is positive and has a relative precision that t has not.
    s = max(abs(cx) - ex, max(abs(cy) - ey, abs(cz) - ez))
    y = Vector(cx / (ex + s), cy / (ey + s), cz / (ez + s))
    for _ in range(MAX_STEPS):
        square = dot(y, y)
        fall = y.x * y.x / (ex + s) + y.y * y.y / (ey + s) + y.z * y.z / (ez + s)
        higher = s + (math.sqrt(square) - 1.0) * square / fall
        if not higher > s:
            break
        s = higher
        y = Vector(cx / (ex + s), cy / (ey + s), cz / (ez + s))
    across = Vector(y.x / radii.x, y.y / radii.y, y.z / radii.z)
    t, slope = s - least**2, length(across)
    stiffness = Vector(1.0 / (ex + s), 1.0 / (ey + s), 1.0 / (ez + s))
    return EllipsoidDistance(t * slope, scale(across, 1.0 / slope), stiffness, t, slope)


@kernel
def normal_change(found: EllipsoidDistance, v: Vector) -> Vector:
    """Change of the normal with a velocity `v` of the point: the second derivative of the distance, times `v`."""
    n, d = found.normal, found.stiffness
    bent = Vector(d.x * n.x, d.y * n.y, d.z * n.z)
    along = subtract(v, scale(n, dot(n, v)))
    turned = Vector(d.x * along.x, d.y * along.y, d.z * along.z)
    turned = add(turned, scale(bent, found.t / (1.0 - found.t * dot(n, bent)) * dot(bent, along)))
    return scale(subtract(turned, scale(n, dot(n, turned))), 1.0 / found.slope)
