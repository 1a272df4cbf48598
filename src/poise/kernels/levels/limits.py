"""Limits of the level solver: which ones bind, are crossed, or leave the active set; see `levels` for the method."""

import numpy as np

from poise.kernels.jit.compile import inner_kernel
from poise.kernels.levels.householder import dot
from poise.kernels.levels.problem import (
    BOUNDED_COUNT,
    BOUNDED_GENERAL,
    DEPENDENT_LOCKS,
    GIVEN_LOWER,
    GIVEN_UPPER,
    LEVEL_COUNT,
    LIMIT_LEVEL,
    LIMIT_TOLERANCE,
    LOCK_COUNT,
    LOCK_MULTIPLIERS,
    LOCKS,
    LOWER_BOUND,
    SCALARS,
    STARTING_LIMITS,
    TRIAL_POINT,
    UPPER_BOUND,
    X,
)

Array = np.ndarray


@inner_kernel
def open_limits(lines: Array, whole: Array, general: Array) -> None:
    """Set the bounds of the first level, infinite for limits that begin later, and list the bounded general limits."""
    n, levels, count = general.shape[1], whole[SCALARS, LEVEL_COUNT], 0
    for k in range(levels + 1):
        whole[STARTING_LIMITS, k] = 0
    for i in range(n + general.shape[0]):
        lines[LOWER_BOUND, i], lines[UPPER_BOUND, i] = lines[GIVEN_LOWER, i], lines[GIVEN_UPPER, i]
        level = whole[LIMIT_LEVEL, i]
        if level > 0 or i >= n:
            some = lines[GIVEN_LOWER, i] > -np.inf or lines[GIVEN_UPPER, i] < np.inf
            if level > 0:
                if some and level <= levels:
                    whole[STARTING_LIMITS, level] += 1
                lines[LOWER_BOUND, i], lines[UPPER_BOUND, i] = -np.inf, np.inf
            if some and i >= n:
                whole[BOUNDED_GENERAL, count] = i
                count += 1
    whole[SCALARS, BOUNDED_COUNT] = count


@inner_kernel
def start_limits(lines: Array, whole: Array, general: Array, k: int) -> None:
    """Set the bounds of the limits that begin at level `k`, relaxed to their values at X where X crosses them."""
    for i in range(general.shape[1] + general.shape[0]):
        if whole[LIMIT_LEVEL, i] == k and (lines[GIVEN_LOWER, i] > -np.inf or lines[GIVEN_UPPER, i] < np.inf):
            value = limit_value(lines, general, i, X)
            lines[LOWER_BOUND, i], lines[UPPER_BOUND, i] = (
                min(lines[GIVEN_LOWER, i], value),
                max(lines[GIVEN_UPPER, i], value),
            )


@inner_kernel
def limit_value(lines: Array, general: Array, i: int, which: int) -> float:
    """Value C_i x of limit `i` at the point in line `which`."""
    n = general.shape[1]
    if i < n:
        return lines[which, i]
    return dot(general, i - n, lines, which, 0, n)


@inner_kernel
def first_crossed(lines: Array, whole: Array, general: Array, side: int) -> tuple[int, float, int]:
    """The limit crossed first from X to TRIAL_POINT (-1 for none), the share of the way to it, and the side crossed."""
    n = general.shape[1]
    blocking, share, at = -1, 1.0, 0
    for j in range(n + whole[SCALARS, BOUNDED_COUNT]):
        i = j if j < n else whole[BOUNDED_GENERAL, j - n]
        if whole[side, i] != 0:
            continue
        here, there = limit_value(lines, general, i, X), limit_value(lines, general, i, TRIAL_POINT)
        step = there - here
        if step > 0.0 and there > lines[UPPER_BOUND, i] + LIMIT_TOLERANCE:
            room = max(0.0, lines[UPPER_BOUND, i] - here) / step
            if room < share:
                blocking, share, at = i, room, 1
        elif step < 0.0 and there < lines[LOWER_BOUND, i] - LIMIT_TOLERANCE:
            room = max(0.0, here - lines[LOWER_BOUND, i]) / -step
            if room < share:
                blocking, share, at = i, room, -1
    return blocking, share, at


@inner_kernel
def inside(lines: Array, whole: Array, general: Array, which: int) -> bool:
    """Whether the point in line `which` is inside every limit that binds the current level."""
    n, crossed = general.shape[1], 0
    for i in range(n):
        value = lines[which, i]
        crossed += (value > lines[UPPER_BOUND, i] + LIMIT_TOLERANCE) | (value < lines[LOWER_BOUND, i] - LIMIT_TOLERANCE)
    for j in range(whole[SCALARS, BOUNDED_COUNT]):
        i = whole[BOUNDED_GENERAL, j]
        value = dot(general, i - n, lines, which, 0, n)
        crossed += (value > lines[UPPER_BOUND, i] + LIMIT_TOLERANCE) | (value < lines[LOWER_BOUND, i] - LIMIT_TOLERANCE)
    return crossed == 0


@inner_kernel
def add_crossed(lines: Array, whole: Array, general: Array, side: int) -> int:
    """Lock every limit that TRIAL_POINT crosses; returns how many, or -1 when a dependent lock is off its bound."""
    n, added = general.shape[1], 0
    for i in range(n):
        change = _look(lines, whole, i, lines[TRIAL_POINT, i], side)
        if change < 0:
            return -1
        added += change
    for j in range(whole[SCALARS, BOUNDED_COUNT]):
        i = whole[BOUNDED_GENERAL, j]
        change = _look(lines, whole, i, dot(general, i - n, lines, TRIAL_POINT, 0, n), side)
        if change < 0:
            return -1
        added += change
    return added


@inner_kernel
def _look(lines: Array, whole: Array, i: int, value: float, side: int) -> int:
    """Lock limit `i` if `value` is beyond it; returns 1 if so, -1 for a dependent lock off its bound, else 0."""
    at, least, most = whole[side, i], lines[LOWER_BOUND, i], lines[UPPER_BOUND, i]
    if at != 0:
        off = abs(value - (most if at > 0 else least))
        return -1 if whole[DEPENDENT_LOCKS, i] == 1 and off > 1e-9 else 0
    beyond = 1 if value > most + LIMIT_TOLERANCE else -1 if value < least - LIMIT_TOLERANCE else 0
    if beyond != 0:
        whole[side, i] = beyond
    return abs(beyond)


@inner_kernel
def drop_wrong_signs(lines: Array, whole: Array, side: int, zero: float, only_worst: bool) -> bool:
    """Unlock limits whose multiplier has the wrong sign, all or only the worst; returns whether there were any."""
    worst, worst_pull = -1, zero
    dropped = False
    for t in range(whole[SCALARS, LOCK_COUNT]):
        i = whole[LOCKS, t]
        pull = -whole[side, i] * lines[LOCK_MULTIPLIERS, t]
        if pull <= zero or lines[LOWER_BOUND, i] == lines[UPPER_BOUND, i]:
            continue
        dropped = True
        if not only_worst:
            whole[side, i] = 0
        elif pull > worst_pull:
            worst, worst_pull = i, pull
    if worst >= 0:
        whole[side, worst] = 0
    return dropped
