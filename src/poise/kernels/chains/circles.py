"""Intersection of circles: an exact inverse kinematics for chains in a plane [Ramachandran & John 2013].

Links of lengths r_0 … r_{m-1} join the points P_0 (the base, at the origin) … P_m (the end-point, at the target). From
P_m to P_0, the algorithm puts each P_k on one of the two intersections of the circle of radius r_k about P_{k+1} and a
circle of radius R_k about the base. The n = m + 1 points need n - 2 placements, and no placement is revised.

With a suitable R_k a placement always exists. The links r_0 … r_{k-1} can bring P_k to any distance from the base in
[a_k, s_k], a_k = max(0, 2 max r - Σ r), s_k = Σ r; and with D = |P_{k+1}| the two circles intersect if
|D - r_k| ≤ R_k ≤ D + r_k. If a_{k+1} ≤ D ≤ s_{k+1}, those two intervals overlap, and any R_k in both satisfies
a_k ≤ |P_k| ≤ s_k for the next placement, so by induction the chain closes. The paper uses R = min(d, s_k), d the
distance of the target; here the *preferred radius* is clipped to the overlap. Two other preferred radii make a small
change of the target a small change of the chain: the radius at which each link keeps its heading, which leaves the
change to the first two links, and the radius at which each point keeps its distance from the base, which distributes
the change over the chain.

The paper says that links never cross; with its radii they sometimes do. They never cross on an *arc*: the sides
r_0 … r_{m-1} and d, the distance of the target, are those of one polygon inscribed in a circle, if the longest is
shorter than the others together, and that polygon is convex. With u = 1 / 2ρ for the radius ρ of the circle, side s
spans the angle 2 asin(s u) at its centre, so u is the solution of Σ asin(s u) = π if the centre is inside the polygon,
and of Σ asin(s u) = asin(s_max u), the sum without the longest side, if it is not. P_k is then at the distance
sin(φ) / u, φ half the angle that the links 0 … k-1 span. P_{k+1} and the links before it have the same circle.

A target whose distance is outside [a_m, s_m], the paper's safe zones, is first moved along its ray to the nearest
distance inside.

The paper does not treat joint limits; `circles_limits` does.
"""

import math

import numpy as np

from poise.kernels.jit.compile import kernel

Array = np.ndarray

KEEP_HEADINGS, KEEP_DISTANCES, ARC = -1.0, -2.0, -3.0
"""Special values of `preferred_radius`: keep the heading of each link, or the distance of each point from the base, or
put all points on one arc."""
BISECTIONS = 60
"""Number of halvings that find the radius of the arc."""


@kernel
def place(
    length: Array, heading: Array, preferred_radius: float, radius_fraction: Array, side: Array,
    feasible_radius: Array, blend: float,
    # outputs
    x: Array,
    y: Array,
    radius: Array,
) -> int:  # fmt: skip
    """Put P_{m-1} … P_1 on intersections of circles, P_0 and P_m given; returns the number of placements, m - 1.

    Args:
        length: (m,) lengths of the links [m].
        heading: (m,) directions of the links in the current posture [rad].
        preferred_radius: Preferred radius for all points [m], or KEEP_HEADINGS or KEEP_DISTANCES.
        radius_fraction: (m,) position of each R_k in its interval, 0 to 1; negative to use the preferred radius.
        side: (m,) 1 or -1: side of the line from the base to P_{k+1} on which P_k is placed. With KEEP_HEADINGS, 1 is
            the side on which the link keeps its heading.
        feasible_radius: (m,) radii from which `blend` interpolates [m].
        blend: Interpolation from `feasible_radius`, 0, to the preferred radius, 1.
        x: (m + 1,) coordinates of the points [m].
        y: (m + 1,) coordinates of the points [m].
        radius: (m,) the radii R_k used [m].
    """
    count = 0
    for k in range(length.shape[0] - 1, 0, -1):
        place_one(k, length, heading, preferred_radius, radius_fraction, side, feasible_radius, blend, x, y, radius)
        count += 1
    return count


@kernel
def radius_interval(length: Array, k: int, d: float) -> tuple[float, float]:
    """Radii R_k at which the two circles intersect and links 0 … k-1 reach P_k; P_{k+1} is `d` from the base."""
    far, longest = 0.0, 0.0
    for i in range(k):
        far += length[i]
        longest = max(longest, length[i])
    return max(0.0, 2.0 * longest - far, abs(d - length[k])), min(far, d + length[k])


@kernel
def place_one(
    k: int, length: Array, heading: Array, preferred_radius: float, radius_fraction: Array, side: Array,
    feasible_radius: Array, blend: float,
    # outputs
    x: Array,
    y: Array,
    radius: Array,
) -> None:  # fmt: skip
    """Put P_k on an intersection of the circles about the base and about P_{k+1}; arguments as in `place`."""
    r, d = length[k], math.hypot(x[k + 1], y[k + 1])
    low, high = radius_interval(length, k, d)
    preferred, beside = preferred_radius, side[k]
    if preferred_radius == KEEP_HEADINGS:
        wx, wy = x[k + 1] - r * math.cos(heading[k]), y[k + 1] - r * math.sin(heading[k])
        preferred = math.hypot(wx, wy)
        # The bend at P_1 keeps its current side, even if keeping the heading of its link would change it.
        if k > 1 and x[k + 1] * wy - y[k + 1] * wx < 0.0:
            beside = -beside
    elif preferred_radius == KEEP_DISTANCES:
        preferred = _distance(length, heading, k)
    elif preferred_radius == ARC:
        preferred = arc_distance(length, k, d)
    if blend < 1.0:
        preferred = feasible_radius[k] + blend * (preferred - feasible_radius[k])
    wanted = preferred if radius_fraction[k] < 0.0 else low + radius_fraction[k] * (high - low)
    # Rounding may swap the ends of an interval that is a single point.
    R = min(max(wanted, low), high) if low <= high else 0.5 * (low + high)
    _intersect(x, y, k, r, R, d, beside)
    radius[k] = R


@kernel
def arc_distance(length: Array, k: int, d: float) -> float:
    """Distance of P_k from the base if links 0 … k and P_{k+1}, `d` away from the base, are on one arc [m]."""
    total, longest, which = d, d, -1
    for i in range(k + 1):
        total += length[i]
        if length[i] > longest:
            longest, which = length[i], i
    low, high = 0.0, 1.0 / max(longest, 1e-300)
    outside = _half_angles(length, k, d, high) - 0.5 * math.pi < 0.5 * math.pi
    for _ in range(BISECTIONS):
        u = 0.5 * (low + high)
        angles = _half_angles(length, k, d, u)
        # Without the centre inside, the longest side spans what all others do together.
        too_small = angles > 2.0 * math.asin(min(1.0, longest * u)) if outside else angles < math.pi
        low, high = (u, high) if too_small else (low, u)
    spanned = 0.0
    for i in range(k):
        angle = math.asin(min(1.0, length[i] * high))
        spanned += math.pi - angle if outside and i == which else angle
    return abs(math.sin(spanned)) / high if high * total > 1e-6 else total - d - length[k]


@kernel
def _half_angles(length: Array, k: int, d: float, u: float) -> float:
    """Half of the angles that links 0 … k and the chord `d` span at the centre of a circle of radius 1 / 2u [rad]."""
    total = math.asin(min(1.0, d * u))
    for i in range(k + 1):
        total += math.asin(min(1.0, length[i] * u))
    return total


@kernel
def _distance(length: Array, heading: Array, k: int) -> float:
    """Distance of P_k from the base in the current posture [m]."""
    x, y = 0.0, 0.0
    for i in range(k):
        x += length[i] * math.cos(heading[i])
        y += length[i] * math.sin(heading[i])
    return math.hypot(x, y)


@kernel
def _intersect(x: Array, y: Array, k: int, r: float, R: float, d: float, side: float) -> None:
    """Put P_k on an intersection of the circle of radius R about the origin and that of radius r about P_{k+1}.

    `d` is the distance of P_{k+1} from the origin, and `side` chooses one of the two intersections.
    """
    if d > 0.0:
        ux, uy = x[k + 1] / d, y[k + 1] / d
        along = 0.5 * d + 0.5 * (R - r) * (R + r) / d
        along = min(max(along, -R), R)
    else:
        ux, uy, along = 1.0, 0.0, 0.0
    across = side * math.sqrt(max(0.0, (R - along) * (R + along)))
    x[k] = along * ux - across * uy
    y[k] = along * uy + across * ux
