"""A sweep, which solves the levels one after another: see `levels` for the method."""

import numpy as np
from numpy import uint64

from poise.kernels.jit.compile import inner_kernel
from poise.kernels.levels.active_set import LEAST_STEP, NEWTON_LEVEL, ROWS_LEVEL, WISH_LEVEL, enter, optimum
from poise.kernels.levels.hand_down import commit, meet
from poise.kernels.levels.householder import from_coordinates
from poise.kernels.levels.limits import inside, open_limits, start_limits
from poise.kernels.levels.multipliers import find_row_multipliers
from poise.kernels.levels.problem import (
    CHECKED,
    COLUMNS,
    CURVED_LEVELS,
    DAMPING,
    DECIDED,
    ESCAPE,
    ESCAPE_LEVEL,
    GIVE_WAY_SHARE,
    GIVES_WAY,
    LAZY,
    LEVEL_COUNT,
    LEVEL_START,
    LIMIT_MULTIPLIERS,
    LOCK_COUNT,
    LOCK_MULTIPLIERS,
    LOCKS,
    MIN_DAMPING,
    OUT_OF_ITERATIONS,
    RESIDUAL,
    SCALARS,
    SHIFT,
    START_POINT,
    STARTING_LIMITS,
    STAYS,
    STOPPED_LEVEL,
    STOPS,
    STOPS_IF_LEFT,
    TARGET,
    UNCHECKED,
    WATCH,
    WISH,
    X,
    Y,
)

Array = np.ndarray


def run_levels(
    tables: Array, lines: Array, whole: Array, rows: Array, general: Array, curvature: Array, begin: int
) -> int:
    """Solve the levels from `begin` on, or all of them when it is negative; returns how the sweep ended.

    A sweep of all levels starts from the feasible point START_POINT. It is lazy at first; if that fails, a second sweep
    checks every level against the limits. The answer is in X.
    """
    n, status, going = tables.shape[1], OUT_OF_ITERATIONS, True
    if begin < 0:
        whole[SCALARS, LAZY] = 2
    elif whole[DECIDED, begin] == n:
        return UNCHECKED
    else:
        for c in range(n):
            lines[X, c] = lines[Y, c]
        from_coordinates(tables, lines, whole[DECIDED, begin], X)
    while going:
        if begin < 0:
            whole[SCALARS, LAZY] -= 1
            open_limits(lines, whole, general)
            _begin(tables, lines, whole, rows)
        status = _sweep(tables, lines, whole, general, curvature, max(begin, 0))
        going = status == OUT_OF_ITERATIONS and whole[SCALARS, LAZY] == 1
        begin = -1
    return status


@inner_kernel
def _begin(tables: Array, lines: Array, whole: Array, rows: Array) -> None:
    """Load the rows and the start point, and clear the results of the last sweep."""
    n, levels = tables.shape[1], whole[SCALARS, LEVEL_COUNT]
    for r in range(uint64(whole[LEVEL_START, 0]), uint64(whole[LEVEL_START, levels])):
        for c in range(n):
            tables[COLUMNS, c, r] = rows[r, c]
    for c in range(n):
        lines[X, c] = lines[START_POINT, c]
        lines[Y, c] = lines[START_POINT, c]
    for k in range(levels + 1):
        lines[SHIFT, k] = 0.0
        for i in range(lines.shape[1]):
            lines[LIMIT_MULTIPLIERS + k, i] = 0.0
    lines[ESCAPE, n] = 0.0
    whole[SCALARS, ESCAPE_LEVEL] = -1
    whole[DECIDED, 0] = 0


@inner_kernel
def _sweep(tables: Array, lines: Array, whole: Array, general: Array, curvature: Array, begin: int) -> int:
    """Solve the levels from `begin` on in order; returns how the sweep ended.

    A lazy sweep does not check the levels that it meets exactly, and returns OUT_OF_ITERATIONS where that fails.
    """
    n, levels, lazy = tables.shape[1], whole[SCALARS, LEVEL_COUNT], whole[SCALARS, LAZY] == 1
    status, unseen = UNCHECKED if lazy else CHECKED, lazy and whole[DECIDED, begin] > 0
    whole[SCALARS, STOPPED_LEVEL] = -1
    for k in range(begin, levels + 1):
        if whole[DECIDED, k] == n:
            for later in range(k + 1, levels + 2):
                whole[DECIDED, later] = n
            return _finish(tables, lines, whole, general, status, unseen)
        if whole[WATCH, k] == STAYS:
            _stay(tables, lines, whole, k)
        meets = lazy and k < levels and lines[DAMPING, k] <= MIN_DAMPING and whole[CURVED_LEVELS, k] == 0
        meets = meets and whole[WATCH, k] != STOPS
        kind = NEWTON_LEVEL if whole[CURVED_LEVELS, k] == 1 else WISH_LEVEL if k == levels else ROWS_LEVEL
        settled = True
        for stage in range(2):
            if meets if stage == 1 else whole[STARTING_LIMITS, k] == 0:
                continue
            settled = optimum(tables, lines, whole, general, curvature, k, kind if stage == 1 else LEAST_STEP)
            unseen = False
            if not settled:
                status = OUT_OF_ITERATIONS
                if lazy:
                    return OUT_OF_ITERATIONS
            if stage == 0:
                enter(tables, lines, whole[DECIDED, k])
                start_limits(lines, whole, general, k)
                whole[STARTING_LIMITS, k] = 0
        if meets:
            if not meet(tables, lines, whole, k):
                return OUT_OF_ITERATIONS
            unseen = True
            continue
        if settled:
            for t in range(whole[SCALARS, LOCK_COUNT]):
                lines[LIMIT_MULTIPLIERS + k, whole[LOCKS, t]] = lines[LOCK_MULTIPLIERS, t]
            if kind != NEWTON_LEVEL and _stops(lines, whole, n, k):
                find_row_multipliers(tables, lines, whole, k)
                whole[SCALARS, STOPPED_LEVEL] = k
                return GIVES_WAY
        if k < levels:
            commit(tables, lines, whole, general, k, kind, settled)
        else:
            whole[DECIDED, k + 1] = whole[DECIDED, k]
    return status


@inner_kernel
def _stay(tables: Array, lines: Array, whole: Array, k: int) -> None:
    """Set the targets of level `k` to the values that the levels above gave its rows."""
    for r in range(whole[LEVEL_START, k], whole[LEVEL_START, k + 1]):
        lines[TARGET, r] = 0.0
        for c in range(tables.shape[1]):
            lines[TARGET, r] += tables[COLUMNS, c, r] * lines[Y, c]


@inner_kernel
def _finish(tables: Array, lines: Array, whole: Array, general: Array, status: int, unseen: bool) -> int:
    """Compute the step when no freedom is left, and check it against the limits if it is still `unseen` by a check."""
    n = tables.shape[1]
    if not unseen:
        return status
    for c in range(n):
        lines[X, c] = lines[Y, c]
    from_coordinates(tables, lines, n, X)
    return status if inside(lines, whole, general, X) else OUT_OF_ITERATIONS


@inner_kernel
def _stops(lines: Array, whole: Array, n: int, k: int) -> bool:
    """Whether the sweep stops at level `k` for its curvature.

    The curvature of a level that always stops is that before the step: RESIDUAL is set to the level's whole target.
    """
    if whole[WATCH, k] != STOPS:
        return whole[WATCH, k] == STOPS_IF_LEFT and _gives_way(lines, whole, n, k)
    for r in range(whole[LEVEL_START, k + 1] - whole[LEVEL_START, k]):
        lines[RESIDUAL, r] = lines[TARGET, whole[LEVEL_START, k] + r]
    return True


@inner_kernel
def _gives_way(lines: Array, whole: Array, n: int, k: int) -> bool:
    """Whether the residual of level `k` exceeds GIVE_WAY_SHARE of its target."""
    first = whole[LEVEL_START, k]
    asked, left = 0.0, 0.0
    for r in range(whole[LEVEL_START, k + 1] - first):
        asked += lines[TARGET, first + r] * lines[TARGET, first + r]
        left += lines[RESIDUAL, r] * lines[RESIDUAL, r]
    if k == whole[SCALARS, LEVEL_COUNT]:
        for c in range(n):
            missing = lines[WISH, c] - lines[X, c]
            asked += lines[WISH, c] * lines[WISH, c]
            left += missing * missing
    return asked > 1e-24 and left > GIVE_WAY_SHARE * GIVE_WAY_SHARE * asked
