"""The levels one after another: guess the limits of each, repair, commit; see `levels` for the method."""

import numpy as np

from poise.kernels.compile import kernel
from poise.kernels.householder import block_of, from_coordinates, reflect, reflect_columns, to_coordinates
from poise.kernels.level_curved import curved_multipliers, factor_curved, prepare_curved, solve_curved
from poise.kernels.level_face import (
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
    GAVE_WAY,
    GIVES_WAY,
    LAZY,
    LIMIT,
    MET,
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


@kernel
def sweep_all(problem: Levels, work: LevelsWork, lazy: bool, x: Array) -> int:
    """A whole sweep."""
    y = work.y
    open_limits(problem, work)
    load_columns(problem, work)
    for c in range(y.shape[0]):
        y[c] = x[c]
    work.state[LAZY] = 1 if lazy else 0
    work.decided[0] = 0
    return sweep_from(problem, work, 0, x)


@kernel
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
        if starts[k] > 0:
            if not _begin_limits(problem, work, k, x):
                if lazy:
                    return CAPPED
                status = CAPPED
            unseen = False
        if lazy and k < levels and damping[k] <= UNDAMPED and curved[k] == 0:
            if not _meet(problem, work, k):
                return CAPPED
            unseen = True
            continue
        kind = CURVED if curved[k] == 1 else WISH if k == levels else ROWS
        settled = _solve_level(problem, work, k, kind, x)
        if not settled:
            if lazy:
                return CAPPED
            status = CAPPED
        unseen = False
        if settled:
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


@kernel
def _point(work: LevelsWork, count: int, x: Array) -> None:
    """x = Q y."""
    y = work.y
    for c in range(x.shape[0]):
        x[c] = y[c]
    from_coordinates(work.reflectors, work.scales, count, x)


@kernel
def _meet(problem: Levels, work: LevelsWork, k: int) -> bool:
    """Meet the undamped level `k` whatever the limits say; False when its rows contradict each other."""
    columns, y, rest, order, target = work.columns, work.y, work.rest, work.order, problem.target
    reflectors, scales, owner, decided = work.reflectors, work.scales, work.owner, work.decided
    first, m = rows_of(problem.start, k)
    s, n = decided[k], y.shape[0]
    rank = reduce_columns(work, columns, first, m, s, columns.shape[1], RANK)
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


@kernel
def _begin_limits(problem: Levels, work: LevelsWork, k: int, x: Array) -> bool:
    """Move to the least step that does what is decided, and let the limits of level `k` bind from there."""
    decided, y, row = work.decided[k], work.y, work.row
    lazy, side = work.state[LAZY] == 1, work.around[k]
    n = x.shape[0]
    settled = _guess(problem, work, k, LEAST, side, x)
    if not settled:
        if lazy:
            return False
        settled = _primal(problem, work, k, LEAST, side, x)
    for c in range(n):
        row[c] = x[c]
    to_coordinates(work.reflectors, work.scales, decided, row)
    for c in range(decided, n):
        y[c] = row[c]
    start_limits(problem, work, k, x)
    work.starts[k] = 0
    return settled


@kernel
def _solve_level(problem: Levels, work: LevelsWork, k: int, kind: int, x: Array) -> bool:
    """Optimum of level `k` in `x`; False when it was not found."""
    side, shift, before = work.side[k], work.shift, work.held
    if kind == CURVED:
        shift[k] = 0.0
        prepare_curved(problem, work, k, work.decided[k])
    if not _guess(problem, work, k, kind, side, x):
        if work.state[LAZY] == 1:
            return False
        return _primal(problem, work, k, kind, side, x)
    if kind == CURVED and shift[k] > 0.0 and work.state[COUNT] > 0:
        # Limits found on the way may hold what needed the shift.
        needed = shift[k]
        for i in range(side.shape[0]):
            before[i] = side[i]
        shift[k] = 0.0
        if not _guess(problem, work, k, kind, side, x):
            shift[k] = needed
            for i in range(side.shape[0]):
                side[i] = before[i]
            return _guess(problem, work, k, kind, side, x)
    return True


@kernel
def _face(problem: Levels, work: LevelsWork, k: int, kind: int, side: Array) -> None:
    """Optimum of level `k` on a face, in `work.trial`."""
    decided = work.decided[k]
    if kind == ROWS:
        work.state[RANKED] = solve_rows(problem, work, k, decided, side)[1]
    elif kind == CURVED:
        solve_curved(problem, work, k, decided, side)
    else:
        solve_wish(problem, work, decided, side, kind == WISH)


@kernel
def _multipliers(problem: Levels, work: LevelsWork, k: int, kind: int) -> float:
    """Multipliers of the locks of the face just solved; returns the size below which they are zero."""
    decided = work.decided[k]
    if kind == ROWS:
        return rows_multipliers(problem, work, k, decided)
    if kind == CURVED:
        return curved_multipliers(problem, work, k, decided)
    return wish_multipliers(problem, work, decided, kind == WISH)


@kernel
def _guess(problem: Levels, work: LevelsWork, k: int, kind: int, side: Array, x: Array) -> bool:
    """Try the limits of the last step, then repair them; True when the optimum of the level is found, in `x`."""
    trial = work.trial
    for _ in range(MAX_REPAIRS):
        _face(problem, work, k, kind, side)
        dropped = False
        if work.state[COUNT] > 0:
            zero = _multipliers(problem, work, k, kind)
            dropped = drop_wrong_signs(work, side, zero, False)
        added = add_crossed(problem, work, side)
        if added < 0:
            return False
        if added == 0 and not dropped:
            for c in range(x.shape[0]):
                x[c] = trial[c]
            return True
    return False


@kernel
def _primal(problem: Levels, work: LevelsWork, k: int, kind: int, side: Array, x: Array) -> bool:
    """Primal active-set method from the feasible point `x`; False when its cap was hit, `x` being legal anyway."""
    trial, y, row, reflectors, scales = work.trial, work.y, work.row, work.reflectors, work.scales
    n, decided = x.shape[0], work.decided[k]
    for i in range(side.shape[0]):
        side[i] = 0
    for _ in range(10 * n + 50):
        for c in range(n):
            row[c] = x[c]
        to_coordinates(reflectors, scales, decided, row)
        for c in range(decided, n):
            y[c] = row[c]
        _face(problem, work, k, kind, side)
        blocking, share, at = first_crossed(problem, work, side, x, trial)
        for i in range(n):
            x[i] += share * (trial[i] - x[i])
        if blocking >= 0:
            side[blocking] = at
            continue
        zero = _multipliers(problem, work, k, kind)
        if not drop_wrong_signs(work, side, zero, True):
            return True
    return False


@kernel
def _keep_forces(work: LevelsWork, k: int) -> None:
    """Remember which limits hold level `k`, and how strongly."""
    force, locks, multipliers = work.force, work.locks, work.multipliers
    for t in range(work.state[COUNT]):
        force[k, locks[t]] = multipliers[t]


@kernel
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


@kernel
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
        zero = STRONG * _multipliers(problem, work, k, kind)
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
    for c in range(n):
        for r in range(m):
            columns[c, first + r] = 0.0 if kind == CURVED else level[c, r]
    decided[k + 1] = s + count + rank
    border = block_of(first + m)
    for j in range(s, s + count + rank):
        reflect_columns(reflectors, scales, j, columns, border, columns.shape[1])
