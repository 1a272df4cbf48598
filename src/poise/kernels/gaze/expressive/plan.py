"""Plans of a change of branch, one try at a time, so that no frame has to wait for all of them.

Try t on one latitude: first the detours of `expressive_path.STRENGTHS`, straight to the goal; then through a posture in
which a single joint makes the whole bend, either way; then through postures of an even sequence. When none arrives, the
same on other latitudes, nearest first (`expressive_lift`). A chain that has lost the direction already begins on the
latitude it faces.
"""

import math

import numpy as np

from poise.kernels.chains.chain import Chain, pointing, tip_rotation
from poise.kernels.gaze.expressive.aim import copy_row
from poise.kernels.gaze.expressive.detour import OFF, STRENGTHS, STRIDE, glide, lifted, pass_by, polar, raise_gaze, rise
from poise.kernels.gaze.expressive.hold_gaze import Going
from poise.kernels.gaze.expressive.lift_gaze import lower_soon
from poise.kernels.gaze.expressive.surface import root_axis
from poise.kernels.gaze.expressive.workspace import GOAL, HERE, LAST, LIFTED, RAISED, START, VIA
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.portable_trigonometry import golden_ratio
from poise.kernels.maths.vector import Vector

Array = np.ndarray

DIRECT = len(STRENGTHS)
RANDOM = 40
"""Postures of an even sequence that are passed."""
BEYOND = 91.0
LATITUDES = (BEYOND, 89.0, 88.1, 86.0, 84.0, 82.0, 75.0, 60.0, 45.0, 30.0, 15.0, 3.0, 105.0, 120.0)
"""Polar angles to which the gaze may be lifted [degrees]."""
CROWDED = 80.0
"""Those from here to the horizon are many, for targets below it and near it [degrees]."""
UPWARD = 1.0
"""How strongly the joints above the root are drawn to the goal while the gaze is lifted, in some of the tries."""
NEIGHBOUR = math.radians(1.5)
"""Latitudes nearer than this are one [rad]."""
LATITUDES_TRIED = 9
"""Latitudes tried, the target's own among them."""
NEAR_LATITUDES = 5
"""How many of them are tried first."""


@kernel
def orderly(chain: Chain) -> int:
    """Tries on one latitude that pass no posture of the even sequence."""
    return DIRECT + 2 * (chain.role.shape[0] - 1)


@kernel
def own_try(chain: Chain, number: int, again: int) -> int:
    """Which try comes as number `number` on the target's own latitude; -1 when none is left.

    First the straight detours, then those that pass a bend of a single joint, then those that pass the even sequence,
    which goes on where it was when all were in vain `again` times.
    """
    few = orderly(chain)
    if number >= few + RANDOM:
        return -1
    return number if number < few else number + again * RANDOM


@kernel
def lifted_try(chain: Chain, number: int, latitudes: int) -> tuple[int, int]:
    """Latitude and try that come as number `number` of those that lift the gaze; the latitude 0 when none is left.

    First the straight detours on the latitudes near to the target's, then those that pass a bend of a single joint;
    and last both on the latitudes far away.
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
    """Whether a latitude is worth while: from below the horizon those above it; from above all those some way off."""
    if theta > 0.5 * math.pi:
        return degrees < 90.0
    crowded = CROWDED < degrees < 90.0 and degrees > math.degrees(theta)
    return not crowded and abs(math.radians(degrees) - theta) > NEIGHBOUR


@kernel
def _away(degrees: float, theta: float) -> float:
    """How far a latitude is from the target's; of two that are as far, the higher one is said to be nearer.

    The first beyond the horizon comes before all: there it is that branches meet, if limits are quarters of a turn.
    """
    if theta < 0.5 * math.pi and degrees == BEYOND:
        return 0.0
    return abs(math.radians(degrees) - theta) + 1e-6 * degrees


@kernel
def _latitude(theta: float, which: int) -> float:
    """Latitude number `which`: the target's own first, then others, nearest first."""
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
    """VIA: a single joint makes the whole bend, or after those a posture of an even sequence."""
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
            work[VIA, k] = min(high, max(low, x))
        else:
            share = 0.5 + (which + 1) * part
            work[VIA, k] = low + (high - low) * (share - math.floor(share))


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
    """Try number `which` from `work[start]` to `work[goal]` at one latitude, writing way-points from `count`.

    Returns whether it arrived, and the number of way-points.
    """
    copy_row(work, start, HERE)
    if which < DIRECT:
        return glide(chain, d, goal, STRENGTHS[which], going, lift, count, 0, work, path)
    _via(chain, which - DIRECT, polar(root_axis(chain), d), work)
    if not pass_by(chain, d, start, goal, going.rate, work):
        return False, count
    copy_row(work, start, HERE)
    passed, count = glide(chain, d, VIA, 2.0, going, lift, count, 0, work, path)
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
    """Try number `which`, on one latitude, of a path from START to GOAL, both facing d; its way-points, -1 if stuck.

    One that lifts the gaze may end before GOAL, where the target is kept for long enough.
    """
    r = root_axis(chain)
    theta = polar(r, d)
    here = polar(r, pointing(tip_rotation(chain, work[START])))
    lost = abs(here - theta) > OFF
    if latitude == 0 and not lost:
        arrived, count = _cross(chain, d, START, GOAL, which, going, 0.0, 0, work, path)
        return count if arrived else -1
    to = here if latitude == 0 else _latitude(theta, latitude)
    free = Going(going.rate, math.inf, 0, 0)
    copy_row(work, GOAL, HERE)
    if rise(chain, d, to, free, STRIDE, LAST, 0.0, START, 0, 0, work, path) < 0:
        return -1
    copy_row(work, HERE, RAISED)
    copy_row(work, START, HERE)
    faced = lifted(r, d, here) if lost else d
    others = UPWARD if which % 4 == 3 else 0.0
    crossing = raise_gaze(chain, faced, to, going, RAISED if which % 2 else LAST, others, 0, 0, work, path)
    if crossing < 0:
        return -1
    _shift_lift(path, 0, crossing, here - theta if lost else 0.0)
    copy_row(work, HERE, LIFTED)
    up = lifted(r, d, to)
    arrived, count = _cross(chain, up, LIFTED, RAISED, which, going, to - theta, crossing, work, path)
    sooner = lower_soon(chain, d, to, going, crossing, count, work, path)
    if sooner > 0 or not arrived:
        return sooner
    before = count
    copy_row(work, GOAL, HERE)
    count = rise(chain, d, to, free, STRIDE, LAST, 0.0, START, count, 0, work, path)
    if count < 0:
        return -1
    _reverse(path, before, count)
    return _finish(path, count, work)


@kernel
def _shift_lift(path: Array, first: int, stop: int, by: float) -> None:
    """Count the lifts of way-points `first` … `stop` - 1 from another latitude."""
    for i in range(first, stop):
        path[i, path.shape[1] - 1] += by


@kernel
def _reverse(path: Array, first: int, stop: int) -> None:
    """Turn way-points `first` … `stop` - 1 round."""
    i, j = first, stop - 1
    while i < j:
        for k in range(path.shape[1]):
            path[i, k], path[j, k] = path[j, k], path[i, k]
        i += 1
        j -= 1


@kernel
def _finish(path: Array, count: int, work: Array) -> int:
    """The goal as the last way-point."""
    n = path.shape[1] - 1
    if count >= path.shape[0]:
        return -1
    for k in range(n):
        path[count, k] = work[GOAL, k]
    path[count, n] = 0.0
    return count + 1
