"""Limits of the level solver: which bind, which are crossed, which let go; see `levels` for the method."""

import numpy as np

from poise.kernels.jit.compile import inner_kernel
from poise.kernels.levels.householder import dot
from poise.kernels.levels.problem import (
    ABOVE,
    BELOW,
    COUNT,
    DEPENDENT,
    LEVELS,
    LIMIT_LEVEL,
    LOCKS,
    LOWER,
    MULTIPLIERS,
    NEAR,
    NEARBY,
    OUTSIDE,
    STARTS,
    STATE,
    TRIAL,
    UPPER,
    X,
)

Array = np.ndarray


@inner_kernel
def open_limits(lines: Array, whole: Array, general: Array) -> None:
    """Bounds of the first level: later limits are away, and those without bounds are on no list."""
    n, levels, count = general.shape[1], whole[STATE, LEVELS], 0
    for k in range(levels + 1):
        whole[STARTS, k] = 0
    for i in range(n + general.shape[0]):
        lines[LOWER, i], lines[UPPER, i] = lines[BELOW, i], lines[ABOVE, i]
        level = whole[LIMIT_LEVEL, i]
        if level > 0 or i >= n:
            some = lines[BELOW, i] > -np.inf or lines[ABOVE, i] < np.inf
            if level > 0:
                if some and level <= levels:
                    whole[STARTS, level] += 1
                lines[LOWER, i], lines[UPPER, i] = -np.inf, np.inf
            if some and i >= n:
                whole[NEAR, count] = i
                count += 1
    whole[STATE, NEARBY] = count


@inner_kernel
def start_limits(lines: Array, whole: Array, general: Array, k: int) -> None:
    """Let the limits of level `k` bind, relaxed to the values that the levels above left them at."""
    for i in range(general.shape[1] + general.shape[0]):
        if whole[LIMIT_LEVEL, i] == k and (lines[BELOW, i] > -np.inf or lines[ABOVE, i] < np.inf):
            value = limit_value(lines, general, i, X)
            lines[LOWER, i], lines[UPPER, i] = min(lines[BELOW, i], value), max(lines[ABOVE, i], value)


@inner_kernel
def limit_value(lines: Array, general: Array, i: int, which: int) -> float:
    """C_i times a line."""
    n = general.shape[1]
    if i < n:
        return lines[which, i]
    return dot(general, i - n, lines, which, 0, n)


@inner_kernel
def first_crossed(lines: Array, whole: Array, general: Array, side: int) -> tuple[int, float, int]:
    """The limit met first on the way from X to TRIAL, the share of the way to it, and its side."""
    n = general.shape[1]
    blocking, share, at = -1, 1.0, 0
    for j in range(n + whole[STATE, NEARBY]):
        i = j if j < n else whole[NEAR, j - n]
        if whole[side, i] != 0:
            continue
        here, there = limit_value(lines, general, i, X), limit_value(lines, general, i, TRIAL)
        step = there - here
        if step > 0.0 and there > lines[UPPER, i] + OUTSIDE:
            room = max(0.0, lines[UPPER, i] - here) / step
            if room < share:
                blocking, share, at = i, room, 1
        elif step < 0.0 and there < lines[LOWER, i] - OUTSIDE:
            room = max(0.0, here - lines[LOWER, i]) / -step
            if room < share:
                blocking, share, at = i, room, -1
    return blocking, share, at


@inner_kernel
def inside(lines: Array, whole: Array, general: Array, which: int) -> bool:
    """Whether a line is within every limit that binds."""
    n, crossed = general.shape[1], 0
    for i in range(n):
        value = lines[which, i]
        crossed += (value > lines[UPPER, i] + OUTSIDE) | (value < lines[LOWER, i] - OUTSIDE)
    for j in range(whole[STATE, NEARBY]):
        i = whole[NEAR, j]
        value = dot(general, i - n, lines, which, 0, n)
        crossed += (value > lines[UPPER, i] + OUTSIDE) | (value < lines[LOWER, i] - OUTSIDE)
    return crossed == 0


@inner_kernel
def add_crossed(lines: Array, whole: Array, general: Array, side: int) -> int:
    """Lock every limit that the trial point crosses; returns how many, or -1 when a dependent lock is off its limit."""
    n, added = general.shape[1], 0
    for i in range(n):
        change = _look(lines, whole, i, lines[TRIAL, i], side)
        if change < 0:
            return -1
        added += change
    for j in range(whole[STATE, NEARBY]):
        i = whole[NEAR, j]
        change = _look(lines, whole, i, dot(general, i - n, lines, TRIAL, 0, n), side)
        if change < 0:
            return -1
        added += change
    return added


@inner_kernel
def _look(lines: Array, whole: Array, i: int, value: float, side: int) -> int:
    """Lock limit `i` if `value` is beyond it; 1 when it is, -1 when it is a dependent lock off its limit, else 0."""
    at, least, most = whole[side, i], lines[LOWER, i], lines[UPPER, i]
    if at != 0:
        off = abs(value - (most if at > 0 else least))
        return -1 if whole[DEPENDENT, i] == 1 and off > 1e-9 else 0
    beyond = 1 if value > most + OUTSIDE else -1 if value < least - OUTSIDE else 0
    if beyond != 0:
        whole[side, i] = beyond
    return abs(beyond)


@inner_kernel
def drop_wrong_signs(lines: Array, whole: Array, side: int, zero: float, only_worst: bool) -> bool:
    """Unlock limits that the level would rather leave, all or only the worst; True when there were any."""
    worst, worst_pull = -1, zero
    dropped = False
    for t in range(whole[STATE, COUNT]):
        i = whole[LOCKS, t]
        pull = -whole[side, i] * lines[MULTIPLIERS, t]
        if pull <= zero or lines[LOWER, i] == lines[UPPER, i]:
            continue
        dropped = True
        if not only_worst:
            whole[side, i] = 0
        elif pull > worst_pull:
            worst, worst_pull = i, pull
    if worst >= 0:
        whole[side, worst] = 0
    return dropped
