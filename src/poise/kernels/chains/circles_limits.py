"""Placements by circles inside the limits of the hinges, which are beyond the paper.

The first try is the paper's, n - 2 placements. When it breaks a limit, other sides and radii are tried; where none of
those is legal either, points are turned about their children to where the limits let them be.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.body.limits import nearest_turn
from poise.kernels.chains.circles import place, place_one, radius_interval
from poise.kernels.chains.goal import legal_angle
from poise.kernels.jit.compile import inner_kernel, kernel

Array = np.ndarray

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


@kernel
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


@inner_kernel
def _place(plane: Plane, attempt: Try, wish: float, nearness: float) -> int:
    share, side, x, y, radius, _, found = attempt
    return place(plane.length, plane.heading, wish, share, side, found, nearness, x, y, radius)


@inner_kernel
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


@inner_kernel
def _search(
    plane: Plane, attempt: Try, side: Array, wish: float, best_share: Array, best_side: Array
) -> tuple[int, bool]:
    """Try other sides and radii, first with points where circles meet, then turned to where limits let them be.

    Of legal tries the nearest to the posture at hand is kept, and its radii brought back towards the wish. Turned
    points are legal more often, but change sides as limits have it: they are for where nothing else is.
    """
    count, beyond = _try_all(plane, attempt, side, wish, False, best_share, best_side)
    if beyond == 0.0:
        if best_share[plane.length.shape[0] - 1] >= 0.0:
            count += _approach_wish(plane, attempt, wish)
    else:
        more, beyond = _try_all(plane, attempt, side, wish, True, best_share, best_side)
        count += more
    _measure(plane, attempt)
    return count, beyond == 0.0


@inner_kernel
def _try_all(
    plane: Plane, attempt: Try, side: Array, wish: float, turned: bool, best_share: Array, best_side: Array
) -> tuple[int, float]:
    """Leave the points of the best try in place: how many placements that took, and how far it is beyond limits."""
    m = plane.length.shape[0]
    count, best_beyond, best_change = 0, math.inf, math.inf
    patterns = 1 << (m - 1) if m - 1 <= MOST_SIDES else 2
    for pattern in range(patterns):
        for k in range(1, m):
            flipped = (pattern >> (k - 1)) & 1 if m - 1 <= MOST_SIDES else pattern
            attempt.side[k] = -side[k] if flipped == 1 else side[k]
        for i in range(-1, GRID + (SPREAD if m > 3 else 0) if m > 2 else 0):
            _set_shares(attempt.share, i)
            count += _place_inside(plane, attempt, wish) if turned else _place(plane, attempt, wish, 1.0)
            beyond, change = _measure(plane, attempt)
            beyond = beyond if beyond > LEGAL else 0.0
            if beyond < best_beyond or (beyond == best_beyond and change < best_change):
                best_beyond, best_change = beyond, change
                for k in range(m):
                    best_share[k], best_side[k] = attempt.share[k], attempt.side[k]
    for k in range(m):
        attempt.share[k], attempt.side[k] = best_share[k], best_side[k]
    count += _place_inside(plane, attempt, wish) if turned else _place(plane, attempt, wish, 1.0)
    return count, best_beyond


@kernel
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


@inner_kernel
def _place_inside(plane: Plane, attempt: Try, wish: float) -> int:
    """Place the points with each turned about its child, as little as brings the hinge there inside its limits.

    The hinge at P_{k+1} lies between links k and k + 1, the second of which is placed already: its limits leave link k
    an arc of headings. With δ the heading less the direction of P_{k+1} from the base, R² = d² + r² - 2 d r cos δ, so
    the radii that close the chain leave it two intervals of δ, one on each side.
    """
    length, heading, angle, sign, lower, upper = plane
    share, side, x, y, radius, _, found = attempt
    m, count = length.shape[0], 0
    for k in range(m - 1, 0, -1):
        place_one(k, length, heading, wish, share, side, found, 1.0, x, y, radius)
        count += 1
        r, d = length[k], math.hypot(x[k + 1], y[k + 1])
        if k == m - 1 or d <= 0.0 or upper[k + 1] - lower[k + 1] >= 2.0 * math.pi:
            continue
        low, high = radius_interval(length, k, d)
        above = math.atan2(y[k + 2] - y[k + 1], x[k + 2] - x[k + 1]) - heading[k + 1]
        middle = heading[k] + above - sign[k + 1] * (0.5 * (lower[k + 1] + upper[k + 1]) - angle[k + 1])
        across = math.atan2(y[k + 1], x[k + 1])
        wanted = nearest_turn(math.atan2(y[k + 1] - y[k], x[k + 1] - x[k]) - across, 0.0)
        half, least, most = 0.5 * (upper[k + 1] - lower[k + 1]), _corner(d, r, low), _corner(d, r, high)
        turn = _nearest_heading(wanted, middle - across, half, least, most)
        if turn != wanted:
            x[k], y[k] = x[k + 1] - r * math.cos(across + turn), y[k + 1] - r * math.sin(across + turn)
            radius[k] = math.hypot(x[k], y[k])
    return count


@kernel
def _corner(d: float, r: float, R: float) -> float:
    """Angle between sides d and r of a triangle whose third side is R [rad]."""
    return math.acos(min(1.0, max(-1.0, (d * d + r * r - R * R) / (2.0 * d * r))))


@kernel
def _nearest_heading(wanted: float, middle: float, half: float, least: float, most: float) -> float:
    """The angle nearest to `wanted` within `half` of `middle` and of size `least` to `most`; `wanted` without one."""
    off = nearest_turn(wanted - middle, 0.0)
    if abs(off) <= half:
        return wanted
    best, nearest = wanted, math.inf
    ends = (middle - half, middle + half, least, most, -least, -most)
    for i in range(6):
        end = nearest_turn(ends[i], 0.0)
        legal = i < 2 or abs(nearest_turn(end - middle, 0.0)) <= half
        if legal and least - 1e-15 <= abs(end) <= most + 1e-15:
            away = abs(nearest_turn(end - wanted, 0.0))
            if away < nearest:
                best, nearest = end, away
    return best


@inner_kernel
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
