"""Attempts to plan a change of branch, numbered so that they can be spread over frames.

On one latitude, the attempts go first straight to the goal with the stiffnesses `STRENGTHS`; then through a posture in
which a single joint makes the whole bend, in either direction; then through postures of a low-discrepancy sequence. If
none arrives, the same is tried on other latitudes, nearest first (`poise.kernels.gaze.expressive.lift_gaze`). A chain
that has already lost the direction starts on the latitude that it faces.
"""

import math

import numpy as np

from poise.kernels.chains.chain import Chain, pointing, tip_rotation
from poise.kernels.gaze.expressive.aim import copy_row
from poise.kernels.gaze.expressive.detour import OFF, STRENGTHS, STRIDE, glide, lifted, pass_by, polar, raise_gaze, rise
from poise.kernels.gaze.expressive.hold_gaze import Going
from poise.kernels.gaze.expressive.lift_gaze import lower_soon
from poise.kernels.gaze.expressive.surface import root_axis
from poise.kernels.gaze.expressive.workspace import (
    CURRENT_ROW,
    GOAL_ROW,
    LIFTED_ROW,
    PREVIOUS_ROW,
    RAISED_GOAL_ROW,
    START_ROW,
    VIA_ROW,
)
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.portable_trigonometry import golden_ratio
from poise.kernels.maths.vector import Vector

Array = np.ndarray

DIRECT = len(STRENGTHS)
"""Number of attempts straight to the goal."""
RANDOM = 40
"""Number of postures of the low-discrepancy sequence that are tried as intermediate postures."""
BEYOND = 91.0
"""The first latitude below the horizon [degrees]."""
LATITUDES = (BEYOND, 89.0, 88.1, 86.0, 84.0, 82.0, 75.0, 60.0, 45.0, 30.0, 15.0, 3.0, 105.0, 120.0)
"""Polar angles to which the gaze may be lifted [degrees]."""
CROWDED = 80.0
"""Latitudes from here to the horizon are closely spaced, for targets below the horizon and near it [degrees]."""
UPWARD = 1.0
"""Stiffness of the joints above the root towards the goal while the gaze is lifted, in some of the attempts."""
NEIGHBOUR = math.radians(1.5)
"""Latitudes nearer than this count as one [rad]."""
LATITUDES_TRIED = 9
"""Number of latitudes tried, including the target's own."""
NEAR_LATITUDES = 5
"""Number of latitudes that are tried first."""


@kernel
def orderly(chain: Chain) -> int:
    """Number of attempts on one latitude before those through the low-discrepancy sequence."""
    return DIRECT + 2 * (chain.role.shape[0] - 1)


@kernel
def own_try(chain: Chain, number: int, again: int) -> int:
    """The attempt that comes as number `number` on the target's own latitude; -1 if none is left.

    The low-discrepancy sequence continues where it stopped when all attempts had failed `again` times.
    """
    few = orderly(chain)
    if number >= few + RANDOM:
        return -1
    return number if number < few else number + again * RANDOM


@kernel
def lifted_try(chain: Chain, number: int, latitudes: int) -> tuple[int, int]:
    """Latitude and attempt that come as number `number` of those that lift the gaze; latitude 0 if none is left.

    First come the straight attempts on the latitudes near the target's, then those through a bend of a single joint,
    and last both on the latitudes farther away.
    """
    bends = 2 * (chain.role.shape[0] - 1)
    near = min(latitudes, NEAR_LATITUDES) - 1
    if number < DIRECT * near:
        return 1 + number // DIRECT, number % DIRECT
    number -= DIRECT * near
    if number < bends * near:
        return 1 + number // bends, DIRECT + number % bends
    number -= bends * near
    latitude = 1 + near + number // (DIRECT + bends)
    return latitude if latitude < latitudes else 0, number % (DIRECT + bends)


@kernel
def _is_other(degrees: float, theta: float) -> bool:
    """Whether a latitude is useful: above the horizon for a target below it, else not too near the target's own."""
    if theta > 0.5 * math.pi:
        return degrees < 90.0
    crowded = CROWDED < degrees < 90.0 and degrees > math.degrees(theta)
    return not crowded and abs(math.radians(degrees) - theta) > NEIGHBOUR


@kernel
def _away(degrees: float, theta: float) -> float:
    """Distance of a latitude from the target's, for sorting; of two at the same distance, the higher one is nearer.

    The first latitude below the horizon comes before all others: branches meet there if limits are quarters of a turn.
    """
    if theta < 0.5 * math.pi and degrees == BEYOND:
        return 0.0
    return abs(math.radians(degrees) - theta) + 1e-6 * degrees


@kernel
def _latitude(theta: float, which: int) -> float:
    """Polar angle number `which`: the target's own first, then the others, nearest first [rad]."""
    chosen, last = theta, -1.0
    for _ in range(which):
        best = math.inf
        for degrees in LATITUDES:
            away = _away(degrees, theta)
            if last < away < best and _is_other(degrees, theta):
                best, chosen = away, math.radians(degrees)
        last = best
    return chosen


@kernel
def _via(chain: Chain, which: int, theta: float, work: Array) -> None:
    """Write an intermediate posture to VIA_ROW: a single joint makes the whole bend, or a low-discrepancy point."""
    lower, upper = chain.lower, chain.upper
    n = lower.shape[0]
    single = which < 2 * (n - 1)
    ratio, part = golden_ratio(n), 1.0
    for k in range(n):
        part /= ratio
        low, high = max(lower[k], -math.pi), min(upper[k], math.pi)
        if single:
            bent = k == 1 + which // 2
            x = (theta if which % 2 == 0 else -theta) if bent else 0.0
            work[VIA_ROW, k] = min(high, max(low, x))
        else:
            share = 0.5 + (which + 1) * part
            work[VIA_ROW, k] = low + (high - low) * (share - math.floor(share))


@kernel
def _cross(
    chain: Chain,
    d: Vector,
    start: int,
    goal: int,
    which: int,
    going: Going,
    lift: float,
    count: int,
    # changed
    work: Array,
    path: Array,
) -> tuple[bool, int]:
    """Make attempt `which` from `work[start]` to `work[goal]` on one latitude, appending way-points from `count`.

    Returns whether it arrived, and the number of way-points.
    """
    copy_row(work, start, CURRENT_ROW)
    if which < DIRECT:
        return glide(chain, d, goal, STRENGTHS[which], going, lift, count, 0, work, path)
    _via(chain, which - DIRECT, polar(root_axis(chain), d), work)
    if not pass_by(chain, d, start, goal, going.rate, work):
        return False, count
    copy_row(work, start, CURRENT_ROW)
    passed, count = glide(chain, d, VIA_ROW, 2.0, going, lift, count, 0, work, path)
    if not passed:
        return False, count
    return glide(chain, d, goal, 0.3, going, lift, count, 0, work, path)


@kernel
def try_plan(
    chain: Chain,
    d: Vector,
    which: int,
    latitude: int,
    going: Going,
    # changed
    work: Array,
    path: Array,
) -> int:
    """Make attempt `which` on one latitude from START_ROW to GOAL_ROW, both facing d; returns the way-points, or -1.

    A path that lifts the gaze may end before GOAL_ROW, at a posture that can follow the target for long enough.
    """
    r = root_axis(chain)
    theta = polar(r, d)
    here = polar(r, pointing(tip_rotation(chain, work[START_ROW])))
    lost = abs(here - theta) > OFF
    if latitude == 0 and not lost:
        arrived, count = _cross(chain, d, START_ROW, GOAL_ROW, which, going, 0.0, 0, work, path)
        return count if arrived else -1
    to = here if latitude == 0 else _latitude(theta, latitude)
    free = Going(going.rate, math.inf, 0, 0)
    copy_row(work, GOAL_ROW, CURRENT_ROW)
    if rise(chain, d, to, free, STRIDE, PREVIOUS_ROW, 0.0, START_ROW, 0, 0, work, path) < 0:
        return -1
    copy_row(work, CURRENT_ROW, RAISED_GOAL_ROW)
    copy_row(work, START_ROW, CURRENT_ROW)
    faced = lifted(r, d, here) if lost else d
    others = UPWARD if which % 4 == 3 else 0.0
    crossing = raise_gaze(
        chain, faced, to, going, RAISED_GOAL_ROW if which % 2 else PREVIOUS_ROW, others, 0, 0, work, path
    )
    if crossing < 0:
        return -1
    _shift_lift(path, 0, crossing, here - theta if lost else 0.0)
    copy_row(work, CURRENT_ROW, LIFTED_ROW)
    up = lifted(r, d, to)
    arrived, count = _cross(chain, up, LIFTED_ROW, RAISED_GOAL_ROW, which, going, to - theta, crossing, work, path)
    sooner = lower_soon(chain, d, to, going, crossing, count, work, path)
    if sooner > 0 or not arrived:
        return sooner
    before = count
    copy_row(work, GOAL_ROW, CURRENT_ROW)
    count = rise(chain, d, to, free, STRIDE, PREVIOUS_ROW, 0.0, START_ROW, count, 0, work, path)
    if count < 0:
        return -1
    _reverse(path, before, count)
    return _finish(path, count, work)


@kernel
def _shift_lift(path: Array, first: int, stop: int, by: float) -> None:
    """Add `by` to the lifts of way-points `first` … `stop` - 1."""
    for i in range(first, stop):
        path[i, path.shape[1] - 1] += by


@kernel
def _reverse(path: Array, first: int, stop: int) -> None:
    """Reverse the order of way-points `first` … `stop` - 1."""
    i, j = first, stop - 1
    while i < j:
        for k in range(path.shape[1]):
            path[i, k], path[j, k] = path[j, k], path[i, k]
        i += 1
        j -= 1


@kernel
def _finish(path: Array, count: int, work: Array) -> int:
    """Append the goal as the last way-point; returns the count, or -1 if there is no space."""
    n = path.shape[1] - 1
    if count >= path.shape[0]:
        return -1
    for k in range(n):
        path[count, k] = work[GOAL_ROW, k]
    path[count, n] = 0.0
    return count + 1
