"""Limits of the level solver: which bind, which are crossed, which let go; see `levels` for the method."""

import numpy as np

from poise.kernels.compile import inner_kernel
from poise.kernels.householder import dot
from poise.kernels.level_problem import COUNT, NEAR, OUTSIDE, Levels, LevelsWork

Array = np.ndarray


@inner_kernel
def open_limits(problem: Levels, work: LevelsWork) -> None:
    """Bounds of the first level: later limits are away, and those without bounds are on no list."""
    lower, upper, level = problem.lower, problem.upper, problem.limit_level
    bound_below, bound_above, near, starts = work.lower, work.upper, work.near, work.starts
    n, levels = problem.wish.shape[0], starts.shape[0]
    for k in range(levels):
        starts[k] = 0
    count = 0
    for i in range(lower.shape[0]):
        least, most = lower[i], upper[i]
        some = least > -np.inf or most < np.inf
        if level[i] > 0:
            if some and level[i] < levels:
                starts[level[i]] += 1
            least, most = -np.inf, np.inf
        bound_below[i], bound_above[i] = least, most
        if some and i >= n:
            near[count] = i
            count += 1
    work.state[NEAR] = count


@inner_kernel
def start_limits(problem: Levels, work: LevelsWork, k: int, x: Array) -> None:
    """Let the limits of level `k` bind, relaxed to the values that the levels above left them at."""
    lower, upper, level, general = problem.lower, problem.upper, problem.limit_level, problem.general
    bound_below, bound_above = work.lower, work.upper
    for i in range(lower.shape[0]):
        if level[i] == k and (lower[i] > -np.inf or upper[i] < np.inf):
            value = limit_value(general, i, x)
            bound_below[i], bound_above[i] = min(lower[i], value), max(upper[i], value)


@inner_kernel
def limit_value(general: Array, i: int, x: Array) -> float:
    """C_i x."""
    n = x.shape[0]
    if i < n:
        return x[i]
    return dot(general, i - n, x)


@inner_kernel
def first_crossed(problem: Levels, work: LevelsWork, side: Array, x: Array, goal: Array) -> tuple[int, float, int]:
    """The limit met first on the way from `x` to `goal`, the share of the way to it, and its side."""
    general, lower, upper, near = problem.general, work.lower, work.upper, work.near
    n = x.shape[0]
    blocking, share, at = -1, 1.0, 0
    for j in range(n + work.state[NEAR]):
        i = j if j < n else near[j - n]
        if side[i] != 0:
            continue
        here, there = limit_value(general, i, x), limit_value(general, i, goal)
        step = there - here
        if step > 0.0 and there > upper[i] + OUTSIDE:
            room = max(0.0, upper[i] - here) / step
            if room < share:
                blocking, share, at = i, room, 1
        elif step < 0.0 and there < lower[i] - OUTSIDE:
            room = max(0.0, here - lower[i]) / -step
            if room < share:
                blocking, share, at = i, room, -1
    return blocking, share, at


@inner_kernel
def in_box(lower: Array, upper: Array, x: Array) -> bool:
    """Whether every variable is within its limits."""
    crossed = 0
    for i in range(x.shape[0]):
        crossed += (x[i] > upper[i] + OUTSIDE) | (x[i] < lower[i] - OUTSIDE)
    return crossed == 0


@inner_kernel
def inside(problem: Levels, work: LevelsWork, x: Array) -> bool:
    """Whether `x` is within every limit that binds."""
    general, lower, upper, near = problem.general, work.lower, work.upper, work.near
    crossed = 0
    for j in range(work.state[NEAR]):
        value = limit_value(general, near[j], x)
        crossed += (value > upper[near[j]] + OUTSIDE) | (value < lower[near[j]] - OUTSIDE)
    return crossed == 0 and in_box(lower, upper, x)


@inner_kernel
def add_crossed(problem: Levels, work: LevelsWork, side: Array) -> int:
    """Lock every limit that the trial point crosses; returns how many, or -1 when a dependent lock is off its limit."""
    general, lower, upper, near = problem.general, work.lower, work.upper, work.near
    trial, dependent = work.trial, work.dependent
    n = trial.shape[0]
    added = 0
    for j in range(n + work.state[NEAR]):
        i = j if j < n else near[j - n]
        value = limit_value(general, i, trial)
        if side[i] != 0:
            bound = upper[i] if side[i] > 0 else lower[i]
            if dependent[i] == 1 and abs(value - bound) > 1e-9:
                return -1
        elif value > upper[i] + OUTSIDE:
            side[i] = 1
            added += 1
        elif value < lower[i] - OUTSIDE:
            side[i] = -1
            added += 1
    return added


@inner_kernel
def drop_wrong_signs(work: LevelsWork, side: Array, zero: float, only_worst: bool) -> bool:
    """Unlock limits that the level would rather leave, all or only the worst; True when there were any."""
    locks, multipliers, lower, upper = work.locks, work.multipliers, work.lower, work.upper
    worst, worst_pull = -1, zero
    dropped = False
    for t in range(work.state[COUNT]):
        i = locks[t]
        pull = -side[i] * multipliers[t]
        if pull <= zero or lower[i] == upper[i]:
            continue
        dropped = True
        if not only_worst:
            side[i] = 0
        elif pull > worst_pull:
            worst, worst_pull = i, pull
    if worst >= 0:
        side[worst] = 0
    return dropped
