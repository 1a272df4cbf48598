"""A sweep, which solves the levels one after another: see `levels` for the method.

Each level is met exactly or solved inside the limits, and then fixed for the levels below.
"""

import numpy as np
from numpy import uint64

from poise.kernels.jit.compile import inner_kernel
from poise.kernels.levels.active_set import (
    LEAST_STEP,
    NEWTON_LEVEL,
    ROWS_LEVEL,
    WISH_LEVEL,
    enter,
    find_row_multipliers,
    inside,
    multipliers,
    open_limits,
    optimum,
    start_limits,
)
from poise.kernels.levels.equality_solve import (
    ROW_RANK_TOLERANCE,
    block_of,
    factor_face,
    from_coordinates,
    reduce_rows,
    reflect_columns,
    substitute,
    subtract,
    to_coordinates,
)
from poise.kernels.levels.newton_level import factor_curved, look_past_limits, minds_all
from poise.kernels.levels.workspace import (
    CHECKED,
    CURVATURE_OWNER,
    GIVES_WAY,
    LIMIT_OWNER,
    MIN_DAMPING,
    OUT_OF_ITERATIONS,
    ROW_BLOCK,
    STAYS,
    STOPS,
    STOPS_IF_LEFT,
    UNCHECKED,
    LevelsWork,
)

Array = np.ndarray

CONSISTENCY_TOLERANCE = 1e-9
"""Residual of a linearly dependent row up to which it counts as met."""
GIVE_WAY_SHARE = 0.1
"""Residual of a watched level, as a share of its target, above which the level gives way."""
STRONG_MULTIPLIER = 1e4
"""Multiplier, in multiples of the size that counts as zero, above which every optimum of the level is at the limit."""


def run_levels(work: LevelsWork, rows: Array, general: Array, curvature: Array, begin: int) -> int:
    """Solve the levels from `begin` on, or all of them when it is negative; returns how the sweep ended.

    A sweep of all levels starts from the feasible point `start_point`. It is lazy at first; if that fails, a second
    sweep checks every level against the limits. The answer is in `x`.
    """
    n, status, going = work.n, OUT_OF_ITERATIONS, True
    if begin < 0:
        work.lazy = 2
    elif work.decided[begin] == n:
        return UNCHECKED
    else:
        for c in range(n):
            work.x[c] = work.y[c]
        from_coordinates(work, work.decided[begin], work.x)
    while going:
        if begin < 0:
            work.lazy -= 1
            open_limits(work, general)
            _begin(work, rows)
        status = _sweep(work, general, curvature, max(begin, 0))
        going = status == OUT_OF_ITERATIONS and work.lazy == 1
        begin = -1
    return status


@inner_kernel
def _begin(work: LevelsWork, rows: Array) -> None:
    """Load the rows and the start point, and clear the results of the last sweep."""
    n, levels = work.n, work.level_count
    for r in range(uint64(work.level_start[0]), uint64(work.level_start[levels])):
        for c in range(n):
            work.columns[c, r] = rows[r, c]
    for c in range(n):
        work.x[c] = work.start_point[c]
        work.y[c] = work.start_point[c]
    for k in range(levels + 1):
        work.shift[k] = 0.0
        for i in range(work.limit_multipliers.shape[1]):
            work.limit_multipliers[k, i] = 0.0
    work.escape_curvature = 0.0
    work.escape_level = -1
    work.decided[0] = 0


@inner_kernel
def _sweep(work: LevelsWork, general: Array, curvature: Array, begin: int) -> int:
    """Solve the levels from `begin` on in order; returns how the sweep ended.

    A lazy sweep does not check the levels that it meets exactly, and returns OUT_OF_ITERATIONS where that fails.
    """
    n, levels, lazy = work.n, work.level_count, work.lazy == 1
    status, unseen = UNCHECKED if lazy else CHECKED, lazy and work.decided[begin] > 0
    work.stopped_level = -1
    for k in range(begin, levels + 1):
        if work.decided[k] == n:
            for later in range(k + 1, levels + 2):
                work.decided[later] = n
            return _finish(work, general, status, unseen)
        if work.watch[k] == STAYS:
            _stay(work, k)
        meets = lazy and k < levels and work.damping[k] <= MIN_DAMPING and work.curved[k] == 0
        meets = meets and work.watch[k] != STOPS
        kind = NEWTON_LEVEL if work.curved[k] == 1 else WISH_LEVEL if k == levels else ROWS_LEVEL
        settled = True
        for stage in range(2):
            if meets if stage == 1 else work.starting_limits[k] == 0:
                continue
            settled = optimum(work, general, curvature, k, kind if stage == 1 else LEAST_STEP)
            unseen = False
            if not settled:
                status = OUT_OF_ITERATIONS
                if lazy:
                    return OUT_OF_ITERATIONS
            if stage == 0:
                enter(work, work.decided[k])
                start_limits(work, general, k)
                work.starting_limits[k] = 0
        if meets:
            if not _meet(work, k):
                return OUT_OF_ITERATIONS
            unseen = True
            continue
        if settled:
            for t in range(work.lock_count):
                work.limit_multipliers[k, work.locks[t]] = work.lock_multipliers[t]
            if kind != NEWTON_LEVEL and _stops(work, n, k):
                find_row_multipliers(work, k)
                work.stopped_level = k
                return GIVES_WAY
            seeks = work.looks_past_limits == 1 and work.escape_level < 0
            if kind == NEWTON_LEVEL and work.lock_count > 0 and seeks:
                look_past_limits(work, general, k, work.decided[k], work.side[k], work.handed_down)
        if k < levels:
            _commit(work, general, k, kind, settled)
        else:
            work.decided[k + 1] = work.decided[k]
    return status


@inner_kernel
def _stay(work: LevelsWork, k: int) -> None:
    """Set the targets of level `k` to the values that the levels above gave its rows."""
    for r in range(work.level_start[k], work.level_start[k + 1]):
        work.target[r] = 0.0
        for c in range(work.n):
            work.target[r] += work.columns[c, r] * work.y[c]


@inner_kernel
def _finish(work: LevelsWork, general: Array, status: int, unseen: bool) -> int:
    """Compute the step when no freedom is left, and check it against the limits if it is still `unseen` by a check."""
    n = work.n
    if not unseen:
        return status
    for c in range(n):
        work.x[c] = work.y[c]
    from_coordinates(work, n, work.x)
    return status if inside(work, general, work.x) else OUT_OF_ITERATIONS


@inner_kernel
def _stops(work: LevelsWork, n: int, k: int) -> bool:
    """Whether the sweep stops at level `k` for its curvature.

    The curvature of a level that always stops is that before the step: `residual` is set to the level's whole target.
    """
    if work.watch[k] != STOPS:
        return work.watch[k] == STOPS_IF_LEFT and _gives_way(work, n, k)
    for r in range(work.level_start[k + 1] - work.level_start[k]):
        work.residual[r] = work.target[work.level_start[k] + r]
    return True


@inner_kernel
def _gives_way(work: LevelsWork, n: int, k: int) -> bool:
    """Whether the residual of level `k` exceeds GIVE_WAY_SHARE of its target."""
    first = work.level_start[k]
    asked, left = 0.0, 0.0
    for r in range(work.level_start[k + 1] - first):
        asked += work.target[first + r] * work.target[first + r]
        left += work.residual[r] * work.residual[r]
    if k == work.level_count:
        for c in range(n):
            missing = work.wish[c] - work.x[c]
            asked += work.wish[c] * work.wish[c]
            left += missing * missing
    return asked > 1e-24 and left > GIVE_WAY_SHARE * GIVE_WAY_SHARE * asked


@inner_kernel
def _meet(work: LevelsWork, k: int) -> bool:
    """Solve the undamped level `k` exactly, ignoring the limits; returns False when its rows contradict each other."""
    n, first, s = work.n, work.level_start[k], work.decided[k]
    m = work.level_start[k + 1] - first
    rank = reduce_rows(work, work.columns, first, m, s, _end_of_rows(work), ROW_RANK_TOLERANCE)
    moving = 0
    for c in range(s, n):
        moving += work.y[c] != 0.0
    if moving > 0:
        to_coordinates(work, s, s + rank, work.y)
    for r in range(first, first + m):
        work.residual[r] = work.target[r]
    subtract(work, work.columns, work.y, first, m, 0, s)
    substitute(work, work.columns, work.y, first, m, s, rank)
    for i in range(rank):
        work.owner[s + i] = work.order[i]
    work.decided[k + 1] = s + rank
    missing = 0.0
    for i in range(rank, m):
        missing = max(missing, abs(work.residual[work.order[i]]))
    return missing <= CONSISTENCY_TOLERANCE


@inner_kernel
def _commit(work: LevelsWork, general: Array, k: int, kind: int, settled: bool) -> None:
    """Fix, for the levels below, the values of the rows of level `k` and the limits that all its optima share.

    Limits are fixed only by undamped and curved levels, and only where their multiplier is clearly not zero: the levels
    below may still leave the other limits of the active set.
    """
    n, s, first = work.n, work.decided[k], work.level_start[k]
    count, rank = work.lock_count, work.face_rank
    strong = _hold_strong(work, general, k, kind, settled)
    if strong and kind == NEWTON_LEVEL and minds_all(work, k, s + count):
        for c in range(s, n):
            work.y[c], work.owner[c] = work.z[c], CURVATURE_OWNER
        for t in range(count):
            work.owner[s + t] = LIMIT_OWNER - work.locks[t]
        work.decided[k + 1] = n
        return
    if strong and kind == ROWS_LEVEL:
        for c in range(s, n):
            work.y[c] = work.z[c]
    else:
        for c in range(n):
            work.z[c] = work.y[c]
        if kind == NEWTON_LEVEL:
            count, rank = factor_curved(work, general, k, s, work.handed_down)
        else:
            count, rank = factor_face(work, general, k, s, work.handed_down)
        for c in range(n):
            work.row[c] = work.x[c]
        to_coordinates(work, 0, s + count + rank, work.row)
        for c in range(s, n):
            work.y[c] = work.row[c]
    for t in range(count):
        work.owner[s + t] = LIMIT_OWNER - work.locks[t]
    for i in range(rank):
        work.owner[s + count + i] = CURVATURE_OWNER if kind == NEWTON_LEVEL else first + work.order[i]
    work.decided[k + 1] = s + count + rank
    _pass_on(work, k, kind, s, s + count + rank)


@inner_kernel
def _hold_strong(work: LevelsWork, general: Array, k: int, kind: int, settled: bool) -> bool:
    """Choose the limits to fix for the levels below, in `handed_down`; returns whether they are all locked ones."""
    locked, strong = 0, 0
    for i in range(general.shape[1] + general.shape[0]):
        work.handed_down[i] = 0
        locked += work.side[k, i] != 0
    if settled and work.lock_count > 0 and (kind == NEWTON_LEVEL or work.damping[k] <= MIN_DAMPING):
        zero = STRONG_MULTIPLIER * multipliers(work, k, kind, work.decided[k])
        for t in range(work.lock_count):
            if abs(work.lock_multipliers[t]) > zero:
                work.handed_down[work.locks[t]] = work.side[k, work.locks[t]]
                strong += 1
    return settled and strong == locked


@inner_kernel
def _pass_on(work: LevelsWork, k: int, kind: int, s: int, used: int) -> None:
    """Apply the reflections `s` ≤ j < `used` to the rows of the levels below, and store level `k` in reduced form."""
    first, m = work.level_start[k], work.level_start[k + 1] - work.level_start[k]
    border, end = block_of(first + m), _end_of_rows(work)
    if border < end:
        for j in range(s, used):
            reflect_columns(work, j, work.columns, border, end)
    for c in range(work.n):
        for r in range(m):
            work.columns[c, first + r] = 0.0 if kind == NEWTON_LEVEL else work.level_rows[c, r]


@inner_kernel
def _end_of_rows(work: LevelsWork) -> int:
    """End of the last block of rows of all levels."""
    return block_of(work.level_start[work.level_count] + ROW_BLOCK - 1)
