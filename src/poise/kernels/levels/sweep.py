"""The levels one after another: see `levels` for the method."""

import numpy as np
from numpy import uint64

from poise.kernels.jit.compile import inner_kernel
from poise.kernels.levels.active_set import LEAST, NEWTON, ROWS, WISHES, enter, optimum
from poise.kernels.levels.hand_down import commit, meet
from poise.kernels.levels.householder import from_coordinates
from poise.kernels.levels.limits import inside, open_limits, start_limits
from poise.kernels.levels.multipliers import find_pull
from poise.kernels.levels.problem import (
    CAPPED,
    CHECKED,
    COLUMNS,
    COUNT,
    CURVED,
    DAMPING,
    DECIDED,
    ESCAPE,
    ESCAPING,
    FIRST,
    FORCE,
    GAVE_WAY,
    GIVES_WAY,
    LAZY,
    LEVELS,
    LOCKS,
    MET,
    MULTIPLIERS,
    REST,
    SHIFT,
    START,
    STARTS,
    STATE,
    STAYS,
    STOPPED,
    STOPS,
    STOPS_IF_LEFT,
    TARGET,
    UNDAMPED,
    WATCH,
    WISH,
    X,
    Y,
)

Array = np.ndarray


def run_levels(
    tables: Array, lines: Array, whole: Array, rows: Array, general: Array, curvature: Array, begin: int
) -> int:
    """Levels from `begin` on, or all when it is negative: a lazy sweep, then one with all levels checked if it must be.

    FIRST is the feasible point that a sweep of all levels starts from. The answer is in X.
    """
    n, status, going = tables.shape[1], CAPPED, True
    if begin < 0:
        whole[STATE, LAZY] = 2
    elif whole[DECIDED, begin] == n:
        return MET
    else:
        for c in range(n):
            lines[X, c] = lines[Y, c]
        from_coordinates(tables, lines, whole[DECIDED, begin], X)
    while going:
        if begin < 0:
            whole[STATE, LAZY] -= 1
            open_limits(lines, whole, general)
            _begin(tables, lines, whole, rows)
        status = _sweep(tables, lines, whole, general, curvature, max(begin, 0))
        going = status == CAPPED and whole[STATE, LAZY] == 1
        begin = -1
    return status


@inner_kernel
def _begin(tables: Array, lines: Array, whole: Array, rows: Array) -> None:
    """All rows, one per column, the first point, and nothing yet to report."""
    n, levels = tables.shape[1], whole[STATE, LEVELS]
    for r in range(uint64(whole[START, 0]), uint64(whole[START, levels])):
        for c in range(n):
            tables[COLUMNS, c, r] = rows[r, c]
    for c in range(n):
        lines[X, c] = lines[FIRST, c]
        lines[Y, c] = lines[FIRST, c]
    for k in range(levels + 1):
        lines[SHIFT, k] = 0.0
        for i in range(lines.shape[1]):
            lines[FORCE + k, i] = 0.0
    lines[ESCAPE, n] = 0.0
    whole[STATE, ESCAPING] = -1
    whole[DECIDED, 0] = 0


@inner_kernel
def _sweep(tables: Array, lines: Array, whole: Array, general: Array, curvature: Array, begin: int) -> int:
    """Levels from `begin` on in order; a lazy sweep does not check levels it meets and gives up, CAPPED, if it must."""
    n, levels, lazy = tables.shape[1], whole[STATE, LEVELS], whole[STATE, LAZY] == 1
    status, unseen = MET if lazy else CHECKED, lazy and whole[DECIDED, begin] > 0
    whole[STATE, STOPPED] = -1
    for k in range(begin, levels + 1):
        if whole[DECIDED, k] == n:
            for later in range(k + 1, levels + 2):
                whole[DECIDED, later] = n
            return _finish(tables, lines, whole, general, status, unseen)
        if whole[WATCH, k] == STAYS:
            _stay(tables, lines, whole, k)
        meets = lazy and k < levels and lines[DAMPING, k] <= UNDAMPED and whole[CURVED, k] == 0
        meets = meets and whole[WATCH, k] != STOPS
        kind = NEWTON if whole[CURVED, k] == 1 else WISHES if k == levels else ROWS
        settled = True
        for stage in range(2):
            if meets if stage == 1 else whole[STARTS, k] == 0:
                continue
            settled = optimum(tables, lines, whole, general, curvature, k, kind if stage == 1 else LEAST)
            unseen = False
            if not settled:
                status = CAPPED
                if lazy:
                    return CAPPED
            if stage == 0:
                enter(tables, lines, whole[DECIDED, k])
                start_limits(lines, whole, general, k)
                whole[STARTS, k] = 0
        if meets:
            if not meet(tables, lines, whole, k):
                return CAPPED
            unseen = True
            continue
        if settled:
            for t in range(whole[STATE, COUNT]):
                lines[FORCE + k, whole[LOCKS, t]] = lines[MULTIPLIERS, t]
            if kind != NEWTON and _stops(lines, whole, n, k):
                find_pull(tables, lines, whole, k)
                whole[STATE, STOPPED] = k
                return GIVES_WAY
        if k < levels:
            commit(tables, lines, whole, general, k, kind, settled)
        else:
            whole[DECIDED, k + 1] = whole[DECIDED, k]
    return status


@inner_kernel
def _stay(tables: Array, lines: Array, whole: Array, k: int) -> None:
    """Ask the rows of level `k` for what the levels above made of them."""
    for r in range(whole[START, k], whole[START, k + 1]):
        lines[TARGET, r] = 0.0
        for c in range(tables.shape[1]):
            lines[TARGET, r] += tables[COLUMNS, c, r] * lines[Y, c]


@inner_kernel
def _finish(tables: Array, lines: Array, whole: Array, general: Array, status: int, unseen: bool) -> int:
    """The step when no freedom is left, looked at if no level has looked yet."""
    n = tables.shape[1]
    if not unseen:
        return status
    for c in range(n):
        lines[X, c] = lines[Y, c]
    from_coordinates(tables, lines, n, X)
    return status if inside(lines, whole, general, X) else CAPPED


@inner_kernel
def _stops(lines: Array, whole: Array, n: int, k: int) -> bool:
    """Whether the curvature of level `k` is asked for; of one that always stops as it is before the step, in REST."""
    if whole[WATCH, k] != STOPS:
        return whole[WATCH, k] == STOPS_IF_LEFT and _gives_way(lines, whole, n, k)
    for r in range(whole[START, k + 1] - whole[START, k]):
        lines[REST, r] = lines[TARGET, whole[START, k] + r]
    return True


@inner_kernel
def _gives_way(lines: Array, whole: Array, n: int, k: int) -> bool:
    """Whether level `k` leaves more than a small share of its target undone."""
    first = whole[START, k]
    asked, left = 0.0, 0.0
    for r in range(whole[START, k + 1] - first):
        asked += lines[TARGET, first + r] * lines[TARGET, first + r]
        left += lines[REST, r] * lines[REST, r]
    if k == whole[STATE, LEVELS]:
        for c in range(n):
            missing = lines[WISH, c] - lines[X, c]
            asked += lines[WISH, c] * lines[WISH, c]
            left += missing * missing
    return asked > 1e-24 and left > GAVE_WAY * GAVE_WAY * asked
