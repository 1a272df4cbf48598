"""The levels one after another: guess the limits of each, repair, commit; see `levels` for the method."""

import numpy as np

from poise.kernels.compile import inner_kernel
from poise.kernels.householder import block_of, from_coordinates, reflect, reflect_columns, to_coordinates
from poise.kernels.level_curved import curved_multipliers, factor_curved, prepare_curved, solve_curved
from poise.kernels.level_face import (
    any_locked,
    factor_face,
    load_columns,
    reduce_columns,
    rows_multipliers,
    solve_rows,
    solve_wish,
    wish_multipliers,
)
from poise.kernels.level_limits import (
    add_crossed,
    drop_wrong_signs,
    first_crossed,
    in_box,
    inside,
    open_limits,
    start_limits,
)
from poise.kernels.level_problem import (
    CAPPED,
    CHECKED,
    CONSISTENT,
    COUNT,
    CURVATURE,
    ESCAPING,
    GAVE_WAY,
    GIVES_WAY,
    LAZY,
    LIMIT,
    MET,
    NEAR,
    RANK,
    RANKED,
    UNDAMPED,
    Levels,
    LevelsWork,
    rows_of,
)
from poise.kernels.level_pull import find_pull

Array = np.ndarray

MAX_REPAIRS = 8
STRONG = 1e4
"""A multiplier this many times as large as zero: every optimum of the level touches the limit."""

ROWS, WISH, LEAST, CURVED = 0, 1, 2, 3
"""Kinds of level: with rows, the wish, the least step that does what is decided, with curvature."""


@inner_kernel
def run_levels(problem: Levels, work: LevelsWork, begin: int, x: Array) -> int:
    """Levels from `begin` on, or all when it is negative: a lazy sweep, then one with all levels checked if it must be.

    `work.first` is the feasible point that a sweep of all levels starts from.
    """
    y, first, state = work.y, work.first, work.state
    status, going = CAPPED, True
    if begin < 0:
        state[LAZY] = 2
    while going:
        if begin < 0:
            state[LAZY] -= 1
            open_limits(problem, work)
            load_columns(problem, work)
            _forget(work)
            for c in range(y.shape[0]):
                x[c] = first[c]
                y[c] = first[c]
        status = sweep_from(problem, work, max(begin, 0), x)
        going = status == CAPPED and state[LAZY] == 1
        begin = -1
    return status


@inner_kernel
def _forget(work: LevelsWork) -> None:
    """What reports of the last solve are made of."""
    force = work.force
    for k in range(force.shape[0]):
        work.shift[k] = 0.0
        for i in range(force.shape[1]):
            force[k, i] = 0.0
    work.escape_curvature[0] = 0.0
    work.state[ESCAPING] = -1
    work.decided[0] = 0


@inner_kernel
def sweep_from(problem: Levels, work: LevelsWork, begin: int, x: Array) -> int:
    """Levels from `begin` on in order; a lazy sweep does not check levels it meets and gives up, CAPPED, if it must."""
    damping, curved, watch = problem.damping, problem.curved, problem.watch
    decided, starts = work.decided, work.starts
    levels, n = damping.shape[0] - 1, x.shape[0]
    lazy = work.state[LAZY] == 1
    status, unseen = MET if lazy else CHECKED, lazy and decided[begin] > 0
    work.stopped[0] = -1
    for k in range(begin, levels + 1):
        if decided[k] == n:
            for later in range(k + 1, levels + 2):
                decided[later] = n
            if unseen:
                _point(work, n, x)
                return status if inside(problem, work, x) else CAPPED
            return status
        meets = lazy and k < levels and damping[k] <= UNDAMPED and curved[k] == 0
        kind = CURVED if curved[k] == 1 else WISH if k == levels else ROWS
        settled = True
        for stage in range(2):
            if starts[k] == 0 if stage == 0 else meets:
                continue
            settled = _optimum(problem, work, k, LEAST if stage == 0 else kind, x)
            unseen = False
            if not settled:
                if lazy:
                    return CAPPED
                status = CAPPED
            if stage == 0:
                _begin_limits(problem, work, k, x)
        if meets:
            if not _meet(problem, work, k):
                return CAPPED
            unseen = True
            continue
        if settled:
            if work.state[COUNT] > 0:
                _keep_forces(work, k)
            if watch[k] == 1 and kind != CURVED and _gives_way(problem, work, k, x):
                find_pull(problem, work, k)
                work.stopped[0] = k
                return GIVES_WAY
        if k < levels:
            _commit(problem, work, k, kind, settled, x)
        else:
            decided[k + 1] = decided[k]
    return status


@inner_kernel
def _point(work: LevelsWork, count: int, x: Array) -> None:
    """x = Q y."""
    y = work.y
    for c in range(x.shape[0]):
        x[c] = y[c]
    from_coordinates(work.reflectors, work.scales, count, x)


@inner_kernel
def _meet(problem: Levels, work: LevelsWork, k: int) -> bool:
    """Meet the undamped level `k` whatever the limits say; False when its rows contradict each other."""
    columns, y, rest, order, target = work.columns, work.y, work.rest, work.order, problem.target
    reflectors, scales, owner, decided = work.reflectors, work.scales, work.owner, work.decided
    first, m = rows_of(problem.start, k)
    s, n = decided[k], y.shape[0]
    scratch = (reflectors, scales, work.norms, order, work.row, work.sums)
    rank = reduce_columns(scratch, columns, first, m, s, columns.shape[1], RANK)
    still = True
    for c in range(s, n):
        still = still and y[c] == 0.0
    if not still:
        for j in range(s, s + rank):
            reflect(reflectors, scales, j, y)
    for r in range(first, first + m):
        rest[r] = target[r]
    for c in range(s):
        value = y[c]
        for r in range(first, first + m):
            rest[r] -= columns[c, r] * value
    for i in range(rank):
        q = order[i]
        value = rest[q] / columns[s + i, q]
        y[s + i] = value
        owner[s + i] = q
        for r in range(first, first + m):
            rest[r] -= columns[s + i, r] * value
    decided[k + 1] = s + rank
    missing = 0.0
    for i in range(rank, m):
        missing = max(missing, abs(rest[order[i]]))
    return missing <= CONSISTENT


@inner_kernel
def _begin_limits(problem: Levels, work: LevelsWork, k: int, x: Array) -> None:
    """Let the limits of level `k` bind, as `x`, the least step that does what is decided, leaves them."""
    _enter(work, work.decided[k], x)
    start_limits(problem, work, k, x)
    work.starts[k] = 0


@inner_kernel
def _enter(work: LevelsWork, decided: int, x: Array) -> None:
    """Coordinates of the point `x` that a level is entered with."""
    y, row = work.y, work.row
    for c in range(x.shape[0]):
        row[c] = x[c]
    to_coordinates(work.reflectors, work.scales, decided, row)
    for c in range(decided, x.shape[0]):
        y[c] = row[c]


@inner_kernel
def _face(problem: Levels, work: LevelsWork, k: int, kind: int, decided: int, side: Array) -> None:
    """Optimum of level `k` on a face, in `work.trial`."""
    if kind == ROWS:
        work.state[RANKED] = solve_rows(problem, work, k, decided, side)[1]
    elif kind == CURVED:
        solve_curved(problem, work, k, decided, side)
    else:
        solve_wish(problem, work, decided, side, kind == WISH)


@inner_kernel
def _multipliers(problem: Levels, work: LevelsWork, k: int, kind: int, decided: int) -> float:
    """Multipliers of the locks of the face just solved; returns the size below which they are zero."""
    if kind == ROWS:
        return rows_multipliers(problem, work, k, decided)
    if kind == CURVED:
        return curved_multipliers(problem, work, k, decided)
    return wish_multipliers(problem, work, decided, kind == WISH)


@inner_kernel
def _optimum(problem: Levels, work: LevelsWork, k: int, kind: int, x: Array) -> bool:
    """Optimum of level `k` in `x`; False when it was not found, `x` being legal anyway unless the sweep is lazy.

    First the limits of the last step are tried and repaired. If that does not settle, and the sweep is not lazy, a
    primal active-set method starts from the feasible point `x`. A curved level that settles with a shift is tried again
    without: limits found on the way may hold what needed it.
    """
    side = work.around[k] if kind == LEAST else work.side[k]
    trial, before, shift, state, lower, upper = work.trial, work.held, work.shift, work.state, work.lower, work.upper
    n, decided = x.shape[0], work.decided[k]
    if kind == CURVED:
        shift[k] = 0.0
        prepare_curved(problem, work, k, decided)
    primal, step, needed = False, 0, 0.0
    while step < 10 * n + 50:
        step += 1
        if primal:
            _enter(work, decided, x)
        _face(problem, work, k, kind, decided, side)
        zero = _multipliers(problem, work, k, kind, decided) if state[COUNT] > 0 else 0.0
        if primal:
            blocking, share, at = first_crossed(problem, work, side, x, trial)
            for i in range(n):
                x[i] += share * (trial[i] - x[i])
            if blocking >= 0:
                side[blocking] = at
            elif not drop_wrong_signs(work, side, zero, primal):
                return True
            continue
        dropped, added = False, 0
        if state[COUNT] > 0:
            dropped = drop_wrong_signs(work, side, zero, primal)
        if state[NEAR] > 0 or any_locked(side) or not in_box(lower, upper, trial):
            added = add_crossed(problem, work, side)
        if added == 0 and not dropped:
            for c in range(n):
                x[c] = trial[c]
            if needed > 0.0 or kind != CURVED or shift[k] == 0.0 or state[COUNT] == 0:
                return True
            needed, step = shift[k], 0
            shift[k] = 0.0
            for i in range(side.shape[0]):
                before[i] = side[i]
        elif added < 0 or step == MAX_REPAIRS:
            step = 0
            if needed > 0.0 and shift[k] < needed:
                shift[k] = needed
                for i in range(side.shape[0]):
                    side[i] = before[i]
            elif state[LAZY] == 1:
                return False
            else:
                primal = True
                for i in range(side.shape[0]):
                    side[i] = 0
    return False


@inner_kernel
def _keep_forces(work: LevelsWork, k: int) -> None:
    """Remember which limits hold level `k`, and how strongly."""
    force, locks, multipliers = work.force, work.locks, work.multipliers
    for t in range(work.state[COUNT]):
        force[k, locks[t]] = multipliers[t]


@inner_kernel
def _gives_way(problem: Levels, work: LevelsWork, k: int, x: Array) -> bool:
    """Whether level `k` leaves more than a small share of its target undone."""
    target, wish, rest = problem.target, problem.wish, work.rest
    first, m = rows_of(problem.start, k)
    asked, left = 0.0, 0.0
    for r in range(m):
        asked += target[first + r] * target[first + r]
        left += rest[r] * rest[r]
    if k == problem.start.shape[0] - 1:
        for c in range(x.shape[0]):
            asked += wish[c] * wish[c]
            left += (wish[c] - x[c]) * (wish[c] - x[c])
    return asked > 1e-24 and left > GAVE_WAY * GAVE_WAY * asked


@inner_kernel
def _commit(problem: Levels, work: LevelsWork, k: int, kind: int, settled: bool, x: Array) -> None:
    """Hand down what level `k` decided: its rows' values and, undamped or curved, limits every optimum of it touches.

    Limits that only a damped level leans on, or that an undamped one merely touches, stay open to the levels below.
    """
    held, side, locks, multipliers, owner = work.held, work.side[k], work.locks, work.multipliers, work.owner
    y, z, row, order, columns, level = work.y, work.z, work.row, work.order, work.columns, work.level
    reflectors, scales, decided = work.reflectors, work.scales, work.decided
    first, m = rows_of(problem.start, k)
    s, n = decided[k], y.shape[0]
    count, rank, locked, strong = work.state[COUNT], work.state[RANKED], 0, 0
    for i in range(held.shape[0]):
        held[i] = 0
        locked += side[i] != 0
    if settled and count > 0 and (kind == CURVED or problem.damping[k] <= UNDAMPED):
        zero = STRONG * _multipliers(problem, work, k, kind, s)
        for t in range(count):
            if abs(multipliers[t]) > zero:
                held[locks[t]] = side[locks[t]]
                strong += 1
    if kind == ROWS and settled and strong == locked:
        for c in range(s, n):
            y[c] = z[c]
    else:
        for c in range(n):
            z[c] = y[c]
        if kind == CURVED:
            count, rank = factor_curved(problem, work, s, held)
        else:
            count, rank = factor_face(problem, work, k, s, held)
        for c in range(n):
            row[c] = x[c]
        to_coordinates(reflectors, scales, s + count + rank, row)
        for c in range(s, n):
            y[c] = row[c]
    for t in range(count):
        owner[s + t] = LIMIT - locks[t]
    for i in range(rank):
        owner[s + count + i] = CURVATURE if kind == CURVED else first + order[i]
    decided[k + 1] = s + count + rank
    border = block_of(first + m)
    for j in range(s, s + count + rank):
        reflect_columns(reflectors, scales, j, columns, border, columns.shape[1], work.sums)
    for c in range(n):
        for r in range(m):
            columns[c, first + r] = 0.0 if kind == CURVED else level[c, r]
