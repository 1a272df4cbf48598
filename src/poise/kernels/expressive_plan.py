"""Plans of a change of branch, one try at a time, so that no frame has to wait for all of them.

Try t on one latitude: first the detours of `expressive_path.STRENGTHS`, straight to the goal; then through a posture in
which a single joint makes the whole bend, either way; then through postures of an even sequence. When none arrives, the
same on other latitudes, nearest first. A chain that has lost the direction already begins on the latitude it faces.
"""

import math

import numpy as np

from poise.kernels.chain import Chain, pointing, tip_rotation
from poise.kernels.compile import kernel
from poise.kernels.expressive_aim import copy_row
from poise.kernels.expressive_path import OFF, STRENGTHS, glide, lifted, pass_by, polar, raise_gaze
from poise.kernels.expressive_surface import root_axis
from poise.kernels.expressive_work import GOAL, HERE, LAST, LIFTED, RAISED, START, VIA
from poise.kernels.portable import golden_ratio
from poise.kernels.vector import Vector

Array = np.ndarray

DIRECT = len(STRENGTHS)
RANDOM = 40
"""Postures of an even sequence that are passed."""
LATITUDES = (89.0, 88.1, 86.0, 84.0, 82.0, 75.0, 60.0, 45.0, 30.0, 15.0, 105.0, 120.0)
"""Polar angles to which the gaze may be lifted [degrees]."""
NEIGHBOUR = math.radians(1.5)
"""Latitudes nearer than this are one [rad]."""
MARGIN = 5
"""Way-points by which the gaze is lowered later than it could be, for a chain that is behind its plan."""
LATITUDES_TRIED = 9
"""Latitudes tried, the target's own among them."""
NEAR_LATITUDES = 4
"""How many of them are tried first."""


@kernel(borrows=True)
def which_try(chain: Chain, attempt: int, goals: int, again: int, latitudes: int) -> tuple[int, int, int]:
    """Latitude, goal and try number of attempt number `attempt`; the latitude `latitudes` when none is left.

    First the straight detours on the own latitude and those near to it, then the detours that pass a bend of a single
    joint; then, on the own latitude only, those that pass the even sequence; and last the latitudes far away. When all
    were in vain `again` times, the sequence goes on where it was.
    """
    bends = 2 * (chain.role.shape[0] - 1)
    near = min(latitudes, NEAR_LATITUDES)
    which, goal = attempt // goals, attempt % goals
    if which < DIRECT * near:
        return which // DIRECT, goal, which % DIRECT
    which -= DIRECT * near
    if which < bends * near:
        return which // bends, goal, DIRECT + which % bends
    which -= bends * near
    if which < RANDOM:
        return 0, goal, DIRECT + bends + which + again * RANDOM
    which -= RANDOM
    few = DIRECT + bends
    if which < few * (latitudes - near):
        return near + which // few, goal, which % few
    return latitudes, 0, 0


@kernel(borrows=True)
def _is_other(degrees: float, theta: float) -> bool:
    """Whether a latitude is worth while: below the horizon those above it, else those some way off."""
    if theta > 0.5 * math.pi:
        return degrees < 90.0
    return abs(math.radians(degrees) - theta) > NEIGHBOUR


@kernel(borrows=True)
def _latitude(theta: float, which: int) -> float:
    """Latitude number `which`: the target's own first, then others, nearest first."""
    if which == 0:
        return theta
    last = -1.0
    for _ in range(which):
        best = math.inf
        for degrees in LATITUDES:
            away = abs(math.radians(degrees) - theta)
            if last < away < best and _is_other(degrees, theta):
                best = away
        last = best
    for degrees in LATITUDES:
        if abs(math.radians(degrees) - theta) == last and _is_other(degrees, theta):
            return math.radians(degrees)
    return theta


@kernel(borrows=True)
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


@kernel(borrows=True)
def _cross(
    chain: Chain,
    d: Vector,
    start: int,
    goal: int,
    which: int,
    rate: float,
    drift: float,
    lift: float,
    count: int,
    # changed
    work: Array,
    path: Array,
) -> int:
    """Try number `which` from `work[start]` to `work[goal]` at one latitude; way-points from `count`, -1 if stuck."""
    copy_row(work, start, HERE)
    if which < DIRECT:
        return glide(chain, d, goal, STRENGTHS[which], rate, drift, lift, count, 0, work, path)
    _via(chain, which - DIRECT, polar(root_axis(chain), d), work)
    if not pass_by(chain, d, start, goal, rate, work):
        return -1
    copy_row(work, start, HERE)
    count = glide(chain, d, VIA, 2.0, rate, drift, lift, count, 0, work, path)
    if count < 0:
        return -1
    return glide(chain, d, goal, 0.3, rate, drift, lift, count, 0, work, path)


@kernel(borrows=True)
def try_plan(
    chain: Chain,
    d: Vector,
    which: int,
    latitude: int,
    rate: float,
    drift: float,
    # changed
    work: Array,
    path: Array,
) -> int:
    """Try number `which`, on one latitude, of a path from START to GOAL, both facing d; its way-points, -1 if stuck."""
    r = root_axis(chain)
    theta = polar(r, d)
    here = polar(r, pointing(tip_rotation(chain, work[START])))
    lost = abs(here - theta) > OFF
    to = here if lost else _latitude(theta, latitude)
    if latitude == 0 and not lost:
        return _cross(chain, d, START, GOAL, which, rate, drift, 0.0, 0, work, path)
    copy_row(work, GOAL, HERE)
    if raise_gaze(chain, d, to, rate, math.inf, LAST, 0, 0, work, path) < 0:
        return -1
    copy_row(work, HERE, RAISED)
    copy_row(work, START, HERE)
    count = 0 if lost else raise_gaze(chain, d, to, rate, drift, RAISED if which % 2 else LAST, 0, 0, work, path)
    if count < 0:
        return -1
    copy_row(work, HERE, LIFTED)
    crossing = count
    count = _cross(chain, lifted(r, d, to), LIFTED, RAISED, which, rate, drift, to - theta, count, work, path)
    if count < 0:
        return -1
    sooner = _lower_soon(chain, d, to, rate, drift, crossing, count, work, path)
    if sooner > 0:
        return sooner
    before = count
    copy_row(work, GOAL, HERE)
    count = raise_gaze(chain, d, to, rate, math.inf, LAST, count, 0, work, path)
    if count < 0:
        return -1
    _reverse(path, before, count)
    return _finish(path, count, work)


@kernel(borrows=True)
def _lower_soon(
    chain: Chain,
    d: Vector,
    to: float,
    rate: float,
    drift: float,
    first: int,
    count: int,
    # changed
    work: Array,
    path: Array,
) -> int:
    """Leave the latitude `to`, on which way-points `first` … `count` - 1 are, as soon as GOAL can be reached without.

    Returns the way-points of the shorter path, or -1.
    """
    for tenth in range(2, 10):
        at = first + (count - first) * tenth // 10
        if _lower_from(chain, d, to, rate, drift, at, count, work, path) > 0:
            at = min(at + MARGIN, count - 1)
            end = _lower_from(chain, d, to, rate, drift, at, count, work, path)
            if end > 0:
                cut = count - at - 1
                for i in range(count, end):
                    for k in range(path.shape[1]):
                        path[i - cut, k] = path[i, k]
                return end - cut
    return -1


@kernel(borrows=True)
def _lower_from(
    chain: Chain,
    d: Vector,
    to: float,
    rate: float,
    drift: float,
    at: int,
    count: int,
    # changed
    work: Array,
    path: Array,
) -> int:
    """Go from way-point `at` down to d and on to GOAL, writing way-points from `count`; their number, -1 if stuck."""
    r = root_axis(chain)
    theta = polar(r, d)
    n = path.shape[1] - 1
    for k in range(n):
        work[HERE, k] = path[at, k]
    cut = count - at - 1
    end = raise_gaze(chain, lifted(r, d, to), theta, rate, drift, LAST, count, cut, work, path)
    if end < 0:
        return -1
    for i in range(count, end):
        path[i, n] += to - theta
    return glide(chain, d, GOAL, 0.3, rate, drift, 0.0, end, cut, work, path)


@kernel(borrows=True)
def _reverse(path: Array, first: int, stop: int) -> None:
    """Turn way-points `first` … `stop` - 1 round."""
    i, j = first, stop - 1
    while i < j:
        for k in range(path.shape[1]):
            path[i, k], path[j, k] = path[j, k], path[i, k]
        i += 1
        j -= 1


@kernel(borrows=True)
def _finish(path: Array, count: int, work: Array) -> int:
    """The goal as the last way-point."""
    n = path.shape[1] - 1
    if count >= path.shape[0]:
        return -1
    for k in range(n):
        path[count, k] = work[GOAL, k]
    path[count, n] = 0.0
    return count + 1
