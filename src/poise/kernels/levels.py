"""Strict priorities inside limits: one step of a lexicographic least-squares problem, exactly.

The unknown is a step x of n joint rates. Levels k = 1 … p have rows A_k and targets b_k; limits bound the variables
and, after them, any general rows: l ≤ C x ≤ u. Given what the levels above decided, level k solves

    minimise |A_k x - b_k|² + λ_k² |x|²   over   { l ≤ C x ≤ u,  A_j x = A_j x*_j for all j < k }

and the last level, with no rows, minimises |x - w|² + λ² |x|² for a wished step w. The damping pulls the whole of x to
zero, so the answer of a level does not depend on the way to it, and what is handed down is A_k x itself: a damped level
keeps every direction it has rows for, also those it hardly used. A lower level can then cost a higher one nothing.

**One factorisation in priority order.** x = Q y with Q = H_0 H_1 … a product of Householder reflections, one per used
direction: [limits locked by level 1][rows of level 1][limits locked by level 2] …. Coordinates y_0 … y_{s-1} are
decided, the rest is free. Q is never formed. To lock a limit inside level k is to send its row through the reflections
so far; it cannot touch the levels above, whose coordinates are decided already.

**A level on a face.** Given the set of locked limits, their coordinates follow by forward substitution; the level's
rows are reduced to a lower trapezoid by reflections with row pivoting, which tells their rank; a full-rank undamped
level is met by forward substitution, any other by a small least-squares problem. Multipliers of the locks follow from
their own triangle alone. If all have the right sign and x is inside every limit, x is the optimum of the level.

**Which limits.** First the set of the last step is tried: wrong signs are dropped and crossed limits added, all at
once, a few times. If that does not settle, a textbook primal active-set method starts from the feasible point the level
was entered with. An undamped level of full rank is not even checked: it is met exactly, so it is enough that the levels
below find a point inside the limits; only if they do not, all levels are checked in turn.

[Escande et al. 2014] and [Dimitrov et al. 2015] solve the same problem by related means.

Arrays are taken out of their tuples once per function: numba counts references at every access.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.compile import kernel

Array = np.ndarray

MET, CHECKED, CAPPED = 0, 1, 2
"""How a problem was solved: upper levels unchecked, every level checked, or out of iterations but legal."""

INDEPENDENT = 1e-7
"""Share of a limit's row left free below which it depends on what is decided already."""
RANK = 1e-8
"""Pivot, against the first, below which rows of a level depend on each other."""
OUTSIDE = 1e-11
"""How far beyond a limit still counts as inside."""
UNDAMPED = 1e-15
MAX_REPAIRS = 8


class Levels(NamedTuple):
    """A problem: rows of all levels one after another, and limits."""

    rows: Array
    """(m, n) A_1, A_2, … stacked."""
    target: Array
    """(m,) b_1, b_2, …"""
    start: Array
    """(p + 1,) first row of each level, and m."""
    damping: Array
    """(p + 1,) λ of each level, and of the wish."""
    wish: Array
    """(n,) the step wished for in what freedom is left."""
    general: Array
    """(c, n) rows of the limits that are not plain variables."""
    lower: Array
    """(n + c,) least values, -inf for none."""
    upper: Array
    """(n + c,) greatest values."""


class LevelsWork(NamedTuple):
    """Everything a solve writes to besides its answer."""

    reflectors: Array
    """(n, n) Householder vectors."""
    scales: Array
    """(n,) their factors 2 / |v|²."""
    y: Array
    """(n,) coordinates of the answer of a face; those decided stay."""
    entry: Array
    """(n,) coordinates of the point that a face moves from."""
    trial: Array
    """(n,) answer of a face."""
    first: Array
    """(n,) where a solve starts from."""
    row: Array
    """(n,) one row on its way through the reflections."""
    level: Array
    """(n, m) rows of the current level, one per column, through the decided reflections."""
    reduced: Array
    """(n, m) the same through the locks and its own."""
    sums: Array
    """(m,) one number per row of the level."""
    order: Array
    """(m,) row pivots."""
    rest: Array
    """(m,) right-hand side of a face, then its residual."""
    small: Array
    """(m + n, n + 1) small least-squares problem."""
    locks: Array
    """(n,) independent limits locked on the current face."""
    triangle: Array
    """(n, n) their rows in decided and own coordinates."""
    multipliers: Array
    """(n,) one per lock."""
    dependent: Array
    """(n + c,) 1 for locked limits found to depend on what is decided."""
    held: Array
    """(n + c,) limits that a level hands down as locked."""
    side: Array
    """(p + 1, n + c) what each level locks: -1 at the lower limit, 1 at the upper, 0 not; kept between steps."""


def make_work(n: int, rows: int, levels: int, general: int = 0) -> LevelsWork:
    """Workspace for problems of this size; `rows` is the most that one level has."""
    limits, m, whole = n + general, max(rows, 1), np.int64
    return LevelsWork(
        reflectors=np.zeros((n, n)),
        scales=np.zeros(n),
        y=np.zeros(n),
        entry=np.zeros(n),
        trial=np.zeros(n),
        first=np.zeros(n),
        row=np.zeros(n),
        level=np.zeros((n, m)),
        reduced=np.zeros((n, m)),
        sums=np.zeros(m),
        order=np.zeros(m, dtype=whole),
        rest=np.zeros(m),
        small=np.zeros((m + n, n + 1)),
        locks=np.zeros(n, dtype=whole),
        triangle=np.zeros((n, n)),
        multipliers=np.zeros(n),
        dependent=np.zeros(limits, dtype=whole),
        held=np.zeros(limits, dtype=whole),
        side=np.zeros((levels + 1, limits), dtype=whole),
    )


@kernel
def solve_levels(
    problem: Levels,
    work: LevelsWork,
    # outputs
    x: Array,
) -> int:
    """Solve `problem` for the step `x` (n,), warm-started by the limits locked in `work.side`; returns how.

    On entry `x` must be inside all limits; it is where undamped levels with freedom to spare stay.
    """
    first = work.first
    first[:] = x
    if _sweep(problem, work, True, x) == MET:
        return MET
    x[:] = first
    return _sweep(problem, work, False, x)


@kernel
def _sweep(problem: Levels, work: LevelsWork, lazy: bool, x: Array) -> int:
    """All levels in order; `lazy` leaves undamped full-rank levels unchecked and gives up where that cannot be."""
    damping, held, entry = problem.damping, work.held, work.entry
    reflectors, scales = work.reflectors, work.scales
    levels = damping.shape[0] - 1
    decided, status = 0, MET if lazy else CHECKED
    for k in range(levels + 1):
        m = _load_level(problem, work, k, decided)
        if lazy and k < levels and damping[k] <= UNDAMPED:
            held[:] = 0
            _set_entry(reflectors, scales, decided, x, entry)
            _, rank = _face(problem, work, k, decided, held, x)
            if rank < m:
                return CAPPED
            decided += rank
            continue
        if not _guess(problem, work, k, decided, x):
            if lazy:
                return CAPPED
            if not _primal(problem, work, k, decided, x):
                status = CAPPED
        if k < levels:
            decided = _commit(problem, work, k, decided, x)
    return status


@kernel
def _rows_of(start: Array, k: int) -> tuple[int, int]:
    """First row of level `k` and how many it has; the wish has none."""
    if k == start.shape[0] - 1:
        return 0, 0
    return start[k], start[k + 1] - start[k]


@kernel
def _load_level(problem: Levels, work: LevelsWork, k: int, decided: int) -> int:
    """Send the rows of level `k` through the decided reflections; returns how many there are."""
    rows, level, sums, reflectors, scales = problem.rows, work.level, work.sums, work.reflectors, work.scales
    first, m = _rows_of(problem.start, k)
    for r in range(m):
        for c in range(level.shape[0]):
            level[c, r] = rows[first + r, c]
    for j in range(decided):
        _reflect_rows(reflectors, scales, j, level, m, sums)
    return m


@kernel
def _set_entry(reflectors: Array, scales: Array, decided: int, x: Array, entry: Array) -> None:
    """entry = Qᵀ x for the reflections decided so far."""
    entry[:] = x
    for j in range(decided):
        _reflect(reflectors, scales, j, entry)


@kernel
def _guess(problem: Levels, work: LevelsWork, k: int, decided: int, x: Array) -> bool:
    """Try the limits of the last step, then repair them; True when the optimum of the level is found, in `x`."""
    side, trial, entry, reflectors, scales = work.side[k], work.trial, work.entry, work.reflectors, work.scales
    for _ in range(MAX_REPAIRS):
        _set_entry(reflectors, scales, decided, x, entry)
        count, _rank = _face(problem, work, k, decided, side, trial)
        dropped = False
        if count > 0:
            _find_multipliers(problem, work, k, decided, count)
            dropped = _drop_wrong_signs(problem, work, k, count, False)
        added = _add_crossed(problem, work, side)
        if added < 0:
            return False
        if added == 0 and not dropped:
            x[:] = trial
            return True
    return False


@kernel
def _primal(problem: Levels, work: LevelsWork, k: int, decided: int, x: Array) -> bool:
    """Primal active-set method from the feasible point `x`; False when its cap was hit, `x` being legal anyway."""
    side, trial, entry, reflectors, scales = work.side[k], work.trial, work.entry, work.reflectors, work.scales
    n = x.shape[0]
    side[:] = 0
    for _ in range(10 * n + 50):
        _set_entry(reflectors, scales, decided, x, entry)
        count, _rank = _face(problem, work, k, decided, side, trial)
        blocking, share, at = _first_crossed(problem, side, x, trial)
        for i in range(n):
            x[i] += share * (trial[i] - x[i])
        if blocking >= 0:
            side[blocking] = at
            continue
        _find_multipliers(problem, work, k, decided, count)
        if not _drop_wrong_signs(problem, work, k, count, True):
            return True
    return False


@kernel
def _first_crossed(problem: Levels, side: Array, x: Array, goal: Array) -> tuple[int, float, int]:
    """The limit met first on the way from `x` to `goal`, the share of the way to it, and its side."""
    general, lower, upper = problem.general, problem.lower, problem.upper
    blocking, share, at = -1, 1.0, 0
    for i in range(side.shape[0]):
        if side[i] != 0:
            continue
        here, there = _limit_value(general, i, x), _limit_value(general, i, goal)
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


@kernel
def _limit_value(general: Array, i: int, x: Array) -> float:
    """C_i x."""
    n = x.shape[0]
    if i < n:
        return x[i]
    total = 0.0
    for c in range(n):
        total += general[i - n, c] * x[c]
    return total


@kernel
def _face(problem: Levels, work: LevelsWork, k: int, decided: int, locked: Array, x: Array) -> tuple[int, int]:
    """Optimum `x` of level `k` with the `locked` limits as equalities; counts of independent locks and of rank.

    `work.entry` holds the coordinates of the point that an undamped level leaves by the least step.
    """
    target, y, rest, reduced, level = problem.target, work.y, work.rest, work.reduced, work.level
    reflectors, scales, order, sums = work.reflectors, work.scales, work.order, work.sums
    n, damping = x.shape[0], problem.damping[k]
    first, m = _rows_of(problem.start, k)
    count = _lock(problem, work, decided, locked)
    s = decided + count
    for r in range(m):
        order[r] = r
        rest[r] = target[first + r]
    for c in range(n):
        for r in range(m):
            reduced[c, r] = level[c, r]
    for j in range(decided, s):
        _reflect_rows(reflectors, scales, j, reduced, m, sums)
    for c in range(s):
        value = y[c]
        for r in range(m):
            rest[r] -= reduced[c, r] * value
    rank = _reduce_rows(work, m, s)
    if rank == m and damping <= UNDAMPED:
        _substitute(reduced, order, rest, s, m, y)
    elif m > 0:
        _least_squares(work, m, s, rank, damping)
    _fill_the_rest(problem, work, k, s + rank)
    for c in range(s, s + rank):
        value = y[c]
        for r in range(m):
            rest[r] -= reduced[c, r] * value
    x[:] = y
    for j in range(s + rank - 1, -1, -1):
        _reflect(reflectors, scales, j, x)
    return count, rank


@kernel
def _fill_the_rest(problem: Levels, work: LevelsWork, k: int, used: int) -> None:
    """Coordinates the level has no rows for: of the wish, zero when damped, else those of the entry point."""
    y, entry, row, damping = work.y, work.entry, work.row, problem.damping[k]
    n = y.shape[0]
    if k == problem.start.shape[0] - 1:
        _set_entry(work.reflectors, work.scales, used, problem.wish, row)
        shrink = 1.0 / (1.0 + damping * damping)
        for c in range(used, n):
            y[c] = row[c] * shrink
    else:
        for c in range(used, n):
            y[c] = 0.0 if damping > UNDAMPED else entry[c]


@kernel
def _lock(problem: Levels, work: LevelsWork, decided: int, locked: Array) -> int:
    """Decide the coordinates of the locked limits; returns how many of them are independent."""
    general, lower, upper = problem.general, problem.lower, problem.upper
    reflectors, scales, y, entry, row = work.reflectors, work.scales, work.y, work.entry, work.row
    dependent, triangle, locks = work.dependent, work.triangle, work.locks
    n, s = y.shape[0], decided
    for i in range(locked.shape[0]):
        dependent[i] = 0
        if locked[i] == 0:
            continue
        size = _load_limit(general, i, row)
        for j in range(s):
            _reflect(reflectors, scales, j, row)
        tail = 0.0
        for c in range(s, n):
            tail += row[c] * row[c]
        if tail <= INDEPENDENT * INDEPENDENT * size:
            dependent[i] = 1
            continue
        pivot = _make_reflector(reflectors, scales, s, row)
        bound = upper[i] if locked[i] > 0 else lower[i]
        t = s - decided
        for c in range(s):
            bound -= row[c] * y[c]
            triangle[t, c] = row[c]
        triangle[t, s] = pivot
        locks[t] = i
        y[s] = bound / pivot
        _reflect(reflectors, scales, s, entry)
        s += 1
    return s - decided


@kernel
def _load_limit(general: Array, i: int, row: Array) -> float:
    """row = C_i; returns its square length."""
    n = row.shape[0]
    if i < n:
        row[:] = 0.0
        row[i] = 1.0
        return 1.0
    size = 0.0
    for c in range(n):
        row[c] = general[i - n, c]
        size += row[c] * row[c]
    return size


@kernel
def _reduce_rows(work: LevelsWork, m: int, s: int) -> int:
    """Reduce the rows' tails to a lower trapezoid by reflections, largest rows first; returns their rank."""
    reduced, order, sums, row, entry = work.reduced, work.order, work.sums, work.row, work.entry
    reflectors, scales = work.reflectors, work.scales
    n = row.shape[0]
    rank, largest = 0, 1.0
    for at in range(s, min(s + m, n)):
        for r in range(m):
            sums[r] = 0.0
        for c in range(at, n):
            for r in range(m):
                sums[r] += reduced[c, r] * reduced[c, r]
        best = rank
        for r in range(rank, m):
            if sums[order[r]] > sums[order[best]]:
                best = r
        size = math.sqrt(sums[order[best]])
        largest = max(largest, size)
        if size <= RANK * largest:
            break
        order[rank], order[best] = order[best], order[rank]
        q = order[rank]
        for c in range(n):
            row[c] = reduced[c, q]
        _make_reflector(reflectors, scales, at, row)
        _reflect_rows(reflectors, scales, at, reduced, m, sums)
        _reflect(reflectors, scales, at, entry)
        for r in range(rank + 1):
            for c in range(at + 1, n):
                reduced[c, order[r]] = 0.0
        rank += 1
    return rank


@kernel
def _substitute(reduced: Array, order: Array, rest: Array, s: int, m: int, y: Array) -> None:
    """Solve the triangle exactly."""
    for r in range(m):
        q = order[r]
        total = rest[q]
        for c in range(s, s + r):
            total -= reduced[c, q] * y[c]
        y[s + r] = total / reduced[s + r, q]


@kernel
def _least_squares(work: LevelsWork, m: int, s: int, rank: int, damping: float) -> None:
    """Minimise |L z - rest|² + λ² |z|² by QR of [L; λ 1] with the right-hand side as last column."""
    small, reduced, order, rest, y = work.small, work.reduced, work.order, work.rest, work.y
    height = m + rank if damping > UNDAMPED else m
    for r in range(m):
        for c in range(rank):
            small[r, c] = reduced[s + c, order[r]]
        small[r, rank] = rest[order[r]]
    for r in range(m, height):
        for c in range(rank + 1):
            small[r, c] = damping if c == r - m else 0.0
    for c in range(rank):
        size = 0.0
        for r in range(c, height):
            size += small[r, c] * small[r, c]
        size = math.sqrt(size)
        pivot = -size if small[c, c] > 0.0 else size
        head = small[c, c] - pivot
        factor = 1.0 / (size * size - pivot * small[c, c])
        for d in range(c + 1, rank + 1):
            total = head * small[c, d]
            for r in range(c + 1, height):
                total += small[r, c] * small[r, d]
            total *= factor
            small[c, d] -= total * head
            for r in range(c + 1, height):
                small[r, d] -= total * small[r, c]
        small[c, c] = pivot
    for c in range(rank - 1, -1, -1):
        total = small[c, rank]
        for d in range(c + 1, rank):
            total -= small[c, d] * y[s + d]
        y[s + c] = total / small[c, c]


@kernel
def _find_multipliers(problem: Levels, work: LevelsWork, k: int, decided: int, count: int) -> None:
    """Multipliers of the locks from L_Wᵀ μ = g, g the downhill direction of the level in the locks' coordinates."""
    multipliers, triangle, row, y = work.multipliers, work.triangle, work.row, work.y
    reduced, rest = work.reduced, work.rest
    _, m = _rows_of(problem.start, k)
    wish = k == problem.start.shape[0] - 1
    square = problem.damping[k] * problem.damping[k]
    if wish:
        _set_entry(work.reflectors, work.scales, decided + count, problem.wish, row)
        square += 1.0
    for t in range(count):
        c = decided + t
        total = -square * y[c]
        if wish:
            total += row[c]
        for r in range(m):
            total += reduced[c, r] * rest[r]
        multipliers[t] = total
    for t in range(count - 1, -1, -1):
        total = multipliers[t]
        for later in range(t + 1, count):
            total -= triangle[later, decided + t] * multipliers[later]
        multipliers[t] = total / triangle[t, decided + t]


@kernel
def _zero_multiplier(problem: Levels, k: int) -> float:
    """Size below which a multiplier of level `k` is zero."""
    rows, target, wish = problem.rows, problem.target, problem.wish
    first, m = _rows_of(problem.start, k)
    force, row = 0.0, 1.0
    if k == problem.start.shape[0] - 1:
        for c in range(wish.shape[0]):
            force = max(force, abs(wish[c]))
    for r in range(first, first + m):
        force = max(force, abs(target[r]))
        for c in range(rows.shape[1]):
            row = max(row, abs(rows[r, c]))
    return 1e-10 * max(1e-6, force * row)


@kernel
def _drop_wrong_signs(problem: Levels, work: LevelsWork, k: int, count: int, only_worst: bool) -> bool:
    """Unlock limits that the level would rather leave; True when there were any."""
    side, locks, multipliers, lower, upper = work.side[k], work.locks, work.multipliers, problem.lower, problem.upper
    zero = _zero_multiplier(problem, k)
    worst, worst_pull = -1, zero
    dropped = False
    for t in range(count):
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


@kernel
def _add_crossed(problem: Levels, work: LevelsWork, side: Array) -> int:
    """Lock every limit that the trial point crosses; returns how many, or -1 when a dependent lock is off its limit."""
    general, lower, upper, trial, dependent = (
        problem.general, problem.lower, problem.upper, work.trial, work.dependent
    )  # fmt: skip
    added = 0
    for i in range(side.shape[0]):
        value = _limit_value(general, i, trial)
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


@kernel
def _commit(problem: Levels, work: LevelsWork, k: int, decided: int, x: Array) -> int:
    """Hand down what level `k` decided: its rows' values and, undamped, the limits that every optimum of it touches.

    Limits that only a damped level leans on, or that an undamped one merely touches, stay open to the levels below.
    """
    held, side, locks, multipliers = work.held, work.side[k], work.locks, work.multipliers
    entry, y, trial, reflectors, scales = work.entry, work.y, work.trial, work.reflectors, work.scales
    held[:] = 0
    if problem.damping[k] <= UNDAMPED:
        _set_entry(reflectors, scales, decided, x, entry)
        count, _rank = _face(problem, work, k, decided, side, trial)
        _find_multipliers(problem, work, k, decided, count)
        strong = 1e4 * _zero_multiplier(problem, k)
        for t in range(count):
            if abs(multipliers[t]) > strong:
                held[locks[t]] = side[locks[t]]
    _set_entry(reflectors, scales, decided, x, entry)
    count, rank = _face(problem, work, k, decided, held, trial)
    for c in range(decided, decided + count + rank):
        y[c] = entry[c]
    return decided + count + rank


@kernel
def _make_reflector(reflectors: Array, scales: Array, s: int, row: Array) -> float:
    """The reflection that turns the tail of `row` from `s` on into its first entry, which is returned."""
    n = row.shape[0]
    size = 0.0
    for c in range(s, n):
        size += row[c] * row[c]
    size = math.sqrt(size)
    pivot = -size if row[s] > 0.0 else size
    reflectors[s, s] = row[s] - pivot
    for c in range(s + 1, n):
        reflectors[s, c] = row[c]
    scales[s] = 1.0 / (size * size - pivot * row[s])
    return pivot


@kernel
def _reflect(reflectors: Array, scales: Array, j: int, row: Array) -> None:
    """row ← row H_j."""
    v, tail = reflectors[j, j:], row[j:]
    count = tail.shape[0]
    total = 0.0
    for c in range(count):
        total += v[c] * tail[c]
    total *= scales[j]
    for c in range(count):
        tail[c] -= total * v[c]


@kernel
def _reflect_rows(reflectors: Array, scales: Array, j: int, columns: Array, m: int, sums: Array) -> None:
    """Each of the first `m` rows, stored as columns, ← row H_j."""
    n = columns.shape[0]
    for r in range(m):
        sums[r] = 0.0
    for c in range(j, n):
        value = reflectors[j, c]
        for r in range(m):
            sums[r] += value * columns[c, r]
    for r in range(m):
        sums[r] *= scales[j]
    for c in range(j, n):
        value = reflectors[j, c]
        for r in range(m):
            columns[c, r] -= value * sums[r]
