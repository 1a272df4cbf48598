"""Intersection of circles: an exact inverse kinematics for chains in a plane [Ramachandran & John 2013].

Links of lengths r_0 … r_{m-1} join the points P_0 (the base, at the origin) … P_m (the end-point, at the target). From
the target down, each P_k is put on one of the two points where the circle of radius r_k about P_{k+1} meets a circle of
radius R_k about the base. The n = m + 1 points need n - 2 placements, none of which is ever revised.

It never fails, given the right R_k. Links r_0 … r_{k-1} bring their ends to any distance in [a_k, s_k],
a_k = max(0, 2 max r - Σ r), s_k = Σ r; and with D = |P_{k+1}| the two circles meet when |D - r_k| ≤ R_k ≤ D + r_k.
Whenever a_{k+1} ≤ D ≤ s_{k+1}, those two intervals overlap, and any R_k in both keeps a_k ≤ |P_k| ≤ s_k for the next
placement: the chain closes by induction. The paper asks for R = min(d, s_k), d the distance of the target; here that
wish is clipped to the overlap. Two other wishes make a small change of the target a small change of the chain: that
links keep their headings, which leaves the change to the first two, or that points keep their distances from the base,
which spreads it over the chain.

A target outside [a_m, s_m], the safe zones, is first moved along its ray to the nearest distance inside.

Limits of the hinges are beyond the paper: see `circles_limits`.
"""

import math

import numpy as np

from poise.kernels.jit.compile import kernel

Array = np.ndarray

KEEP_HEADINGS, KEEP_DISTANCES = -1.0, -2.0
"""Wishes that are no radius."""


@kernel
def place(
    length: Array, heading: Array, wish: float, share: Array, side: Array, found: Array, nearness: float,
    # outputs
    x: Array,
    y: Array,
    radius: Array,
) -> int:  # fmt: skip
    """Put P_{m-1} … P_1 on intersections of circles, P_0 and P_m given; returns the number of placements, m - 1.

    Args:
        length: (m,) of the links [m].
        heading: (m,) of the links in the posture at hand [rad].
        wish: Radius wished for all points [m], or KEEP_HEADINGS or KEEP_DISTANCES.
        share: (m,) where in its interval each radius R_k is to be, 0 to 1; negative for the wish.
        side: (m,) 1 or -1: on which side of the line from the base to P_{k+1} the point P_k goes. Where links keep
            their headings, 1 is the side that P_k would then be on.
        found: (m,) radii to stay near to [m], where `nearness` is less than 1.
        nearness: How far to go from those radii to the ones wished for, 0 to 1.
        x: (m + 1,) the points [m].
        y: (m + 1,) the points [m].
        radius: (m,) the radii that came out [m].
    """
    count = 0
    for k in range(length.shape[0] - 1, 0, -1):
        place_one(k, length, heading, wish, share, side, found, nearness, x, y, radius)
        count += 1
    return count


@kernel
def radius_interval(length: Array, k: int, d: float) -> tuple[float, float]:
    """The radii at which circles about the base and about P_{k+1}, d away, meet and the rest of the chain closes."""
    far, longest = 0.0, 0.0
    for i in range(k):
        far += length[i]
        longest = max(longest, length[i])
    return max(0.0, 2.0 * longest - far, abs(d - length[k])), min(far, d + length[k])


@kernel
def place_one(
    k: int, length: Array, heading: Array, wish: float, share: Array, side: Array, found: Array, nearness: float,
    # outputs
    x: Array,
    y: Array,
    radius: Array,
) -> None:  # fmt: skip
    """Put P_k where the circles about the base and about P_{k+1} meet: see `place`."""
    r, d = length[k], math.hypot(x[k + 1], y[k + 1])
    low, high = radius_interval(length, k, d)
    wished, beside = wish, side[k]
    if wish == KEEP_HEADINGS:
        wx, wy = x[k + 1] - r * math.cos(heading[k]), y[k + 1] - r * math.sin(heading[k])
        wished = math.hypot(wx, wy)
        # The first bend stays on the side it is on, whatever its link's heading would have it be.
        if k > 1 and x[k + 1] * wy - y[k + 1] * wx < 0.0:
            beside = -beside
    elif wish == KEEP_DISTANCES:
        wished = _distance(length, heading, k)
    if nearness < 1.0:
        wished = found[k] + nearness * (wished - found[k])
    wanted = wished if share[k] < 0.0 else low + share[k] * (high - low)
    # Rounding may leave an interval that is a single point with its ends the wrong way round.
    R = min(max(wanted, low), high) if low <= high else 0.5 * (low + high)
    _intersect(x, y, k, r, R, d, beside)
    radius[k] = R


@kernel
def _distance(length: Array, heading: Array, k: int) -> float:
    """How far point k is from the base in the posture at hand [m]."""
    x, y = 0.0, 0.0
    for i in range(k):
        x += length[i] * math.cos(heading[i])
        y += length[i] * math.sin(heading[i])
    return math.hypot(x, y)


@kernel
def _intersect(x: Array, y: Array, k: int, r: float, R: float, d: float, side: float) -> None:
    """Put P_k where the circle of radius R about the origin meets that of radius r about P_{k+1}, d away."""
    if d > 0.0:
        ux, uy = x[k + 1] / d, y[k + 1] / d
        along = 0.5 * d + 0.5 * (R - r) * (R + r) / d
        along = min(max(along, -R), R)
    else:
        ux, uy, along = 1.0, 0.0, 0.0
    across = side * math.sqrt(max(0.0, (R - along) * (R + along)))
    x[k] = along * ux - across * uy
    y[k] = along * uy + across * ux
