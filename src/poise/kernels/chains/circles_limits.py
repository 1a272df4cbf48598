"""Intersection of circles with joint limits, which the paper does not treat.

The first attempt is the paper's, with n - 2 placements. If it breaks a limit, the search tries other sides and radii.
If all of those break a limit too, it rotates each point about its child until the hinge there is within its limits.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.body.limits import nearest_turn
from poise.kernels.chains.circles import place, place_one, radius_interval
from poise.kernels.chains.goal import angle_within_limits
from poise.kernels.jit.compile import inner_kernel, kernel

Array = np.ndarray

RADIUS_GRID = 17
"""Number of attempts in which every radius is at the same fraction of its interval."""
EXTRA_RADIUS_TRIES = 64
"""Number of further attempts in which every radius is at its own fraction of its interval."""
MAX_ENUMERATED_SIDES = 5
"""Largest number of placements for which every combination of sides is tried; longer chains flip all sides at once."""
RADIUS_BISECTIONS = 40
"""Bisections between the radii of a legal attempt and the preferred radii."""
HINGE_LIMIT_ROUNDING = 1e-14
"""Total limit violation of the hinges that counts as rounding [rad]."""


class PlanarChain(NamedTuple):
    """A chain of m hinges in one plane, in its current posture; index 0 is at the base."""

    length: Array
    """(m,) distance from each hinge to the next, and from the last to the end-point [m]."""
    heading: Array
    """(m,) direction of each link in the plane [rad]."""
    angle: Array
    """(m,) value of each hinge [rad]."""
    sign: Array
    """(m,) 1 if the hinge's axis is the plane's normal, -1 if it is opposite."""
    lower: Array
    """(m,) lower limits [rad]."""
    upper: Array
    """(m,) upper limits [rad]."""


class Attempt(NamedTuple):
    """Choices for one placement of the points, and its result; see `circles.place`."""

    radius_fraction: Array
    """(m,) position of each R_k in its interval, 0 to 1; negative to use the preferred radius."""
    side: Array
    """(m,) 1 or -1: side of the line from the base to P_{k+1} on which P_k is placed. With KEEP_HEADINGS, 1 is the
    side on which the link keeps its heading."""
    x: Array
    """(m + 1,) coordinates of the points [m]."""
    y: Array
    """(m + 1,) coordinates of the points [m]."""
    radius: Array
    """(m,) the R_k used [m]."""
    turned: Array
    """(m,) the resulting hinge values, clamped to their limits [rad]."""
    feasible_radius: Array
    """(m,) radii of an attempt that is within limits [m]."""


@kernel
def place_chain(
    length: Array, heading: Array, angle: Array, sign: Array, lower: Array, upper: Array, side: Array,
    preferred_radius: float, target_x: float, target_y: float, scratch: Array,
    # outputs
    turned: Array,
) -> tuple[int, bool]:  # fmt: skip
    """Place a chain within its limits with the end-point on a target at a distance that the links can reach.

    Args:
        length: See `PlanarChain`, as for the next five arguments.
        heading: See `PlanarChain`.
        angle: See `PlanarChain`.
        sign: See `PlanarChain`.
        lower: See `PlanarChain`.
        upper: See `PlanarChain`.
        side: (m,) preferred side of each point, see `Attempt`.
        preferred_radius: Preferred radius for all points [m], or KEEP_HEADINGS or KEEP_DISTANCES.
        target_x: First coordinate of the target in the plane, relative to the base [m].
        target_y: Second coordinate of the target [m].
        scratch: (8, m + 1) scratch array.
        turned: (m,) values of the hinges, within their limits [rad].

    Returns:
        The number of placements, and whether the end-point reaches the target within limits.
    """
    m = length.shape[0]
    planar = PlanarChain(length, heading, angle, sign, lower, upper)
    attempt = Attempt(scratch[0][:m], scratch[1][:m], scratch[2], scratch[3], scratch[4][:m], turned, scratch[5][:m])
    for k in range(m):
        attempt.radius_fraction[k], attempt.side[k] = -1.0, side[k]
    attempt.x[0], attempt.y[0], attempt.x[m], attempt.y[m] = 0.0, 0.0, target_x, target_y
    count = _place(planar, attempt, preferred_radius, 1.0)
    excess, _ = _hinge_values(planar, attempt)
    if excess <= HINGE_LIMIT_ROUNDING:
        return count, True
    extra, legal = _search(planar, attempt, side, preferred_radius, scratch[6][:m], scratch[7][:m])
    return count + extra, legal


@inner_kernel
def _place(planar: PlanarChain, attempt: Attempt, preferred_radius: float, blend: float) -> int:
    radius_fraction, side, x, y, radius, _, feasible_radius = attempt
    length, heading = planar.length, planar.heading
    return place(length, heading, preferred_radius, radius_fraction, side, feasible_radius, blend, x, y, radius)


@inner_kernel
def _hinge_values(planar: PlanarChain, attempt: Attempt) -> tuple[float, float]:
    """Write the clamped hinge values of the placed points to `attempt.turned`.

    A hinge turns by the change of its own link's heading minus that of the previous link. Returns the total limit
    violation [rad] and the squared change of the hinge values from the current posture [rad²].
    """
    length, heading, angle, sign, lower, upper = planar
    x, y, turned = attempt.x, attempt.y, attempt.turned
    excess, change, heading_change_below = 0.0, 0.0, 0.0
    for k in range(length.shape[0]):
        heading_change = nearest_turn(math.atan2(y[k + 1] - y[k], x[k + 1] - x[k]) - heading[k], 0.0)
        wanted = angle[k] + sign[k] * nearest_turn(heading_change - heading_change_below, 0.0)
        turned[k] = angle_within_limits(wanted, lower[k], upper[k], angle[k])
        excess += abs(nearest_turn(turned[k] - wanted, 0.0))
        change += (turned[k] - angle[k]) ** 2
        heading_change_below = heading_change
    return excess, change


@inner_kernel
def _search(
    planar: PlanarChain, attempt: Attempt, side: Array, preferred_radius: float, best_fraction: Array, best_side: Array
) -> tuple[int, bool]:
    """Try other sides and radii: first on intersections of circles, then with points rotated into the limits.

    Of the attempts within limits the one nearest to the current posture is kept, and its radii are moved as near to the
    preferred radii as the limits allow. Rotated points satisfy limits more often, but a small change of the target may
    move them to the other side, so they are used only if no intersection is within limits. Returns the number of
    placements and whether the best attempt is within limits.
    """
    count, excess = _best_attempt(planar, attempt, side, preferred_radius, False, best_fraction, best_side)
    if excess == 0.0:
        if best_fraction[planar.length.shape[0] - 1] >= 0.0:
            count += _approach_preferred_radii(planar, attempt, preferred_radius)
    else:
        extra, excess = _best_attempt(planar, attempt, side, preferred_radius, True, best_fraction, best_side)
        count += extra
    _hinge_values(planar, attempt)
    return count, excess == 0.0


@inner_kernel
def _best_attempt(
    planar: PlanarChain,
    attempt: Attempt,
    side: Array,
    preferred_radius: float,
    turned: bool,
    best_fraction: Array,
    best_side: Array,
) -> tuple[int, float]:
    """Find the attempt with the smallest limit violation and leave its points in `attempt`.

    Among attempts with equal violation the one nearest to the current posture wins. Returns the number of placements
    and the limit violation [rad]. `turned` selects `_place_inside` instead of `_place`.
    """
    m = planar.length.shape[0]
    count, best_excess, best_change = 0, math.inf, math.inf
    patterns = 1 << (m - 1) if m - 1 <= MAX_ENUMERATED_SIDES else 2
    for pattern in range(patterns):
        for k in range(1, m):
            flipped = (pattern >> (k - 1)) & 1 if m - 1 <= MAX_ENUMERATED_SIDES else pattern
            attempt.side[k] = -side[k] if flipped == 1 else side[k]
        for i in range(-1, RADIUS_GRID + (EXTRA_RADIUS_TRIES if m > 3 else 0) if m > 2 else 0):
            _set_radius_fractions(attempt.radius_fraction, i)
            count += (
                _place_inside(planar, attempt, preferred_radius)
                if turned
                else _place(planar, attempt, preferred_radius, 1.0)
            )
            excess, change = _hinge_values(planar, attempt)
            excess = excess if excess > HINGE_LIMIT_ROUNDING else 0.0
            if excess < best_excess or (excess == best_excess and change < best_change):
                best_excess, best_change = excess, change
                for k in range(m):
                    best_fraction[k], best_side[k] = attempt.radius_fraction[k], attempt.side[k]
    for k in range(m):
        attempt.radius_fraction[k], attempt.side[k] = best_fraction[k], best_side[k]
    count += (
        _place_inside(planar, attempt, preferred_radius) if turned else _place(planar, attempt, preferred_radius, 1.0)
    )
    return count, best_excess


@kernel
def _set_radius_fractions(radius_fraction: Array, i: int) -> None:
    """Set the radius fractions of attempt `i`: preferred radii, one fraction for all radii, or a fraction for each.

    The separate fractions follow a Kronecker sequence, which covers all combinations evenly.
    """
    for k in range(radius_fraction.shape[0]):
        if i < 0:
            radius_fraction[k] = -1.0
        elif i < RADIUS_GRID:
            radius_fraction[k] = i / (RADIUS_GRID - 1.0)
        else:
            # No k + 3/2 is the square of a rational number, so every √(k + 3/2) is irrational, as the sequence needs.
            value = (i - RADIUS_GRID + 1.0) * math.sqrt(k + 1.5)
            radius_fraction[k] = value - math.floor(value)


@inner_kernel
def _place_inside(planar: PlanarChain, attempt: Attempt, preferred_radius: float) -> int:
    """Place the points, and rotate each about its child by the least angle that brings the hinge there within limits.

    The hinge at P_{k+1} joins links k and k + 1. Link k + 1 is already placed, so the hinge's limits allow link k an
    arc of headings. With δ the heading of link k minus the direction of P_{k+1} from the base,
    R² = d² + r² - 2 d r cos δ, so the radii that close the chain allow two intervals of δ, one on each side.
    """
    length, heading, angle, sign, lower, upper = planar
    radius_fraction, side, x, y, radius, _, feasible_radius = attempt
    m, count = length.shape[0], 0
    for k in range(m - 1, 0, -1):
        place_one(k, length, heading, preferred_radius, radius_fraction, side, feasible_radius, 1.0, x, y, radius)
        count += 1
        r, d = length[k], math.hypot(x[k + 1], y[k + 1])
        if k == m - 1 or d <= 0.0 or upper[k + 1] - lower[k + 1] >= 2.0 * math.pi:
            continue
        low, high = radius_interval(length, k, d)
        above = math.atan2(y[k + 2] - y[k + 1], x[k + 2] - x[k + 1]) - heading[k + 1]
        middle = heading[k] + above - sign[k + 1] * (0.5 * (lower[k + 1] + upper[k + 1]) - angle[k + 1])
        base_direction = math.atan2(y[k + 1], x[k + 1])
        wanted = nearest_turn(math.atan2(y[k + 1] - y[k], x[k + 1] - x[k]) - base_direction, 0.0)
        half, least, most = 0.5 * (upper[k + 1] - lower[k + 1]), _corner(d, r, low), _corner(d, r, high)
        turn = _nearest_heading(wanted, middle - base_direction, half, least, most)
        if turn != wanted:
            x[k], y[k] = x[k + 1] - r * math.cos(base_direction + turn), y[k + 1] - r * math.sin(base_direction + turn)
            radius[k] = math.hypot(x[k], y[k])
    return count


@kernel
def _corner(d: float, r: float, R: float) -> float:
    """Angle between sides d and r of a triangle whose third side is R [rad]."""
    return math.acos(min(1.0, max(-1.0, (d * d + r * r - R * R) / (2.0 * d * r))))


@kernel
def _nearest_heading(wanted: float, middle: float, half: float, least: float, most: float) -> float:
    """The angle nearest to `wanted` within `half` of `middle` and with `least` ≤ |angle| ≤ `most` [rad].

    Returns `wanted` if no angle satisfies both.
    """
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
def _approach_preferred_radii(planar: PlanarChain, attempt: Attempt, preferred_radius: float) -> int:
    """Bisect from the radii of a legal attempt towards the preferred radii; returns the number of placements."""
    for k in range(planar.length.shape[0]):
        attempt.feasible_radius[k], attempt.radius_fraction[k] = attempt.radius[k], -1.0
    low, high, count = 0.0, 1.0, 0
    for _ in range(RADIUS_BISECTIONS):
        middle = 0.5 * (low + high)
        count += _place(planar, attempt, preferred_radius, middle)
        excess, _ = _hinge_values(planar, attempt)
        if excess <= HINGE_LIMIT_ROUNDING:
            low = middle
        else:
            high = middle
    return count + _place(planar, attempt, preferred_radius, low)
