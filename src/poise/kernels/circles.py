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

Limits of the hinges are beyond the paper. When a placement breaks one, other sides and radii are tried, the nearest to
the posture at hand is taken, and the radii are then brought back towards the wish as far as the limits allow.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.chain_goal import legal_angle
from poise.kernels.compile import inner_kernel, kernel
from poise.kernels.limits import nearest_turn

Array = np.ndarray

KEEP_HEADINGS, KEEP_DISTANCES = -1.0, -2.0
"""Wishes that are no radius."""
GRID = 17
"""Values tried for all radii together, as shares of their intervals."""
SPREAD = 64
"""Further tries that give every radius its own share."""
MOST_SIDES = 5
"""Placements up to which every combination of sides is tried."""
HALVINGS = 40
"""Of the way back towards the radii wished for."""
LEGAL = 1e-14
"""Sum of what hinges are beyond their limits by rounding alone [rad]."""


class Plane(NamedTuple):
    """A chain of hinges in one plane; row 0 is at the base."""

    length: Array
    """(m,) from each hinge to the next, the last to the end-point [m]."""
    heading: Array
    """(m,) direction of each link in the plane, in the posture at hand [rad]."""
    angle: Array
    """(m,) value of each hinge in that posture [rad]."""
    sign: Array
    """(m,) 1 where the hinge's axis is the plane's normal, -1 where it is opposite."""
    lower: Array
    """(m,) least values [rad]."""
    upper: Array
    """(m,) greatest values [rad]."""


class Try(NamedTuple):
    """One way to place the points."""

    share: Array
    """(m,) where in its interval each radius R_k is to be, 0 to 1; negative for the wish."""
    side: Array
    """(m,) 1 or -1: on which side of the line from the base to P_{k+1} the point P_k goes. Where links keep their
    headings, 1 is the side that P_k would then be on."""
    x: Array
    """(m + 1,) the points [m]."""
    y: Array
    """(m + 1,)"""
    radius: Array
    """(m,) the R_k that came out [m]."""
    turned: Array
    """(m,) the hinges' values that came out [rad]."""
    found: Array
    """(m,) radii of a legal try [m]."""


@kernel(borrows=True)
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
        share: See `Try`.
        side: See `Try`.
        found: (m,) radii to stay near to [m], where `nearness` is less than 1.
        nearness: How far to go from those radii to the ones wished for, 0 to 1.
        x: (m + 1,) the points [m].
        y: (m + 1,) the points [m].
        radius: (m,) the radii that came out [m].
    """
    m = length.shape[0]
    count = 0
    for k in range(m - 1, 0, -1):
        far, longest = 0.0, 0.0
        for i in range(k):
            far += length[i]
            longest = max(longest, length[i])
        near = max(0.0, 2.0 * longest - far)
        r, d = length[k], math.hypot(x[k + 1], y[k + 1])
        low, high = max(near, abs(d - r)), min(far, d + r)
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
        count += 1
    return count


@kernel(borrows=True)
def _distance(length: Array, heading: Array, k: int) -> float:
    """How far point k is from the base in the posture at hand [m]."""
    x, y = 0.0, 0.0
    for i in range(k):
        x += length[i] * math.cos(heading[i])
        y += length[i] * math.sin(heading[i])
    return math.hypot(x, y)


@kernel(borrows=True)
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


@inner_kernel(borrows=True)
def _measure(plane: Plane, attempt: Try) -> tuple[float, float]:
    """Find the hinges' values for the points placed: how far beyond limits, and how far from those at hand, squared.

    A hinge turns by what its link's heading changes beyond that of the link below.
    """
    length, heading, angle, sign, lower, upper = plane
    x, y, turned = attempt.x, attempt.y, attempt.turned
    beyond, change, below = 0.0, 0.0, 0.0
    for k in range(length.shape[0]):
        way = nearest_turn(math.atan2(y[k + 1] - y[k], x[k + 1] - x[k]) - heading[k], 0.0)
        wanted = angle[k] + sign[k] * nearest_turn(way - below, 0.0)
        turned[k] = legal_angle(wanted, lower[k], upper[k], angle[k])
        beyond += abs(nearest_turn(turned[k] - wanted, 0.0))
        change += (turned[k] - angle[k]) ** 2
        below = way
    return beyond, change


@inner_kernel(borrows=True)
def _place(plane: Plane, attempt: Try, wish: float, nearness: float) -> int:
    share, side, x, y, radius, _, found = attempt
    return place(plane.length, plane.heading, wish, share, side, found, nearness, x, y, radius)


@kernel(borrows=True)
def place_chain(
    length: Array, heading: Array, angle: Array, sign: Array, lower: Array, upper: Array, side: Array, wish: float,
    target_x: float, target_y: float, room: Array,
    # outputs
    turned: Array,
) -> tuple[int, bool]:  # fmt: skip
    """Place a chain with its end-point on a target that is inside the safe zones.

    Args:
        length: (m,) and the next five: the fields of a `Plane`.
        heading: See `Plane`.
        angle: See `Plane`.
        sign: See `Plane`.
        lower: See `Plane`.
        upper: See `Plane`.
        side: (m,) preferred side of each point, see `Try`.
        wish: Radius wished for all points [m], or KEEP_HEADINGS or KEEP_DISTANCES.
        target_x: The target in the plane, seen from the base [m].
        target_y: The target in the plane [m].
        room: (8, m + 1) to work in.
        turned: (m,) values of the hinges, inside their limits [rad].

    Returns:
        How many placements were made, and whether the end-point is on the target.
    """
    m = length.shape[0]
    plane = Plane(length, heading, angle, sign, lower, upper)
    attempt = Try(room[0, :m], room[1, :m], room[2], room[3], room[4, :m], turned, room[5, :m])
    for k in range(m):
        attempt.share[k], attempt.side[k] = -1.0, side[k]
    attempt.x[0], attempt.y[0], attempt.x[m], attempt.y[m] = 0.0, 0.0, target_x, target_y
    count = _place(plane, attempt, wish, 1.0)
    beyond, _ = _measure(plane, attempt)
    if beyond <= LEGAL:
        return count, True
    more, found = _search(plane, attempt, side, wish, room[6, :m], room[7, :m])
    return count + more, found


@inner_kernel(borrows=True)
def _search(
    plane: Plane, attempt: Try, side: Array, wish: float, best_share: Array, best_side: Array
) -> tuple[int, bool]:
    """Try other sides and radii, and keep the legal one nearest to the posture at hand, or the least illegal one."""
    m = plane.length.shape[0]
    count, best_beyond, best_change = 0, math.inf, math.inf
    patterns = 1 << (m - 1) if m - 1 <= MOST_SIDES else 2
    for pattern in range(patterns):
        for k in range(1, m):
            flipped = (pattern >> (k - 1)) & 1 if m - 1 <= MOST_SIDES else pattern
            attempt.side[k] = -side[k] if flipped == 1 else side[k]
        for i in range(-1, GRID + (SPREAD if m > 3 else 0) if m > 2 else 0):
            _set_shares(attempt.share, i)
            count += _place(plane, attempt, wish, 1.0)
            beyond, change = _measure(plane, attempt)
            beyond = beyond if beyond > LEGAL else 0.0
            if beyond < best_beyond or (beyond == best_beyond and change < best_change):
                best_beyond, best_change = beyond, change
                for k in range(m):
                    best_share[k], best_side[k] = attempt.share[k], attempt.side[k]
    for k in range(m):
        attempt.share[k], attempt.side[k] = best_share[k], best_side[k]
    count += _place(plane, attempt, wish, 1.0)
    if best_beyond == 0.0 and best_share[m - 1] >= 0.0:
        count += _approach_wish(plane, attempt, wish)
    _measure(plane, attempt)
    return count, best_beyond == 0.0


@kernel(borrows=True)
def _set_shares(share: Array, i: int) -> None:
    """Shares of try `i`: the wish, one for all, or one for each along a sequence that fills all combinations."""
    for k in range(share.shape[0]):
        if i < 0:
            share[k] = -1.0
        elif i < GRID:
            share[k] = i / (GRID - 1.0)
        else:
            # No k + 3/2 is a square of a rational number, so each radius follows a sequence of its own.
            value = (i - GRID + 1.0) * math.sqrt(k + 1.5)
            share[k] = value - math.floor(value)


@inner_kernel(borrows=True)
def _approach_wish(plane: Plane, attempt: Try, wish: float) -> int:
    """Bring the radii of a legal try as near to those wished for as the limits allow."""
    for k in range(plane.length.shape[0]):
        attempt.found[k], attempt.share[k] = attempt.radius[k], -1.0
    low, high, count = 0.0, 1.0, 0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        count += _place(plane, attempt, wish, middle)
        beyond, _ = _measure(plane, attempt)
        if beyond <= LEGAL:
            low = middle
        else:
            high = middle
    return count + _place(plane, attempt, wish, low)
