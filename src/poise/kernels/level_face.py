"""The optimum of one priority level with some limits held as equalities: see `levels` for the method."""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.compile import kernel
from poise.kernels.householder import make_reflector, reflect, reflect_rows, to_coordinates

Array = np.ndarray

INDEPENDENT = 1e-7
"""Share of a limit's row left free below which it depends on what is decided already."""
RANK = 1e-8
"""Pivot, against the first, below which rows of a level depend on each other."""
OUTSIDE = 1e-11
"""How far beyond a limit still counts as inside."""
UNDAMPED = 1e-15


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
def rows_of(start: Array, k: int) -> tuple[int, int]:
    """First row of level `k` and how many it has; the wish has none."""
    if k == start.shape[0] - 1:
        return 0, 0
    return start[k], start[k + 1] - start[k]


@kernel
def load_level(problem: Levels, work: LevelsWork, k: int, decided: int) -> int:
    """Send the rows of level `k` through the decided reflections; returns how many there are."""
    rows, level, sums, reflectors, scales = problem.rows, work.level, work.sums, work.reflectors, work.scales
    first, m = rows_of(problem.start, k)
    for r in range(m):
        for c in range(level.shape[0]):
            level[c, r] = rows[first + r, c]
    for j in range(decided):
        reflect_rows(reflectors, scales, j, level, m, sums)
    return m


@kernel
def solve_face(problem: Levels, work: LevelsWork, k: int, decided: int, locked: Array, x: Array) -> tuple[int, int]:
    """Optimum `x` of level `k` with the `locked` limits as equalities; counts of independent locks and of rank.

    `work.entry` holds the coordinates of the point that an undamped level leaves by the least step.
    """
    target, y, rest, reduced, level = problem.target, work.y, work.rest, work.reduced, work.level
    reflectors, scales, order, sums = work.reflectors, work.scales, work.order, work.sums
    n, damping = x.shape[0], problem.damping[k]
    first, m = rows_of(problem.start, k)
    count = _lock(problem, work, decided, locked)
    s = decided + count
    for r in range(m):
        order[r] = r
        rest[r] = target[first + r]
    for c in range(n):
        for r in range(m):
            reduced[c, r] = level[c, r]
    for j in range(decided, s):
        reflect_rows(reflectors, scales, j, reduced, m, sums)
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
        reflect(reflectors, scales, j, x)
    return count, rank


@kernel
def _fill_the_rest(problem: Levels, work: LevelsWork, k: int, used: int) -> None:
    """Coordinates the level has no rows for: of the wish, zero when damped, else those of the entry point."""
    y, entry, row, damping = work.y, work.entry, work.row, problem.damping[k]
    n = y.shape[0]
    if k == problem.start.shape[0] - 1:
        to_coordinates(work.reflectors, work.scales, used, problem.wish, row)
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
            reflect(reflectors, scales, j, row)
        tail = 0.0
        for c in range(s, n):
            tail += row[c] * row[c]
        if tail <= INDEPENDENT * INDEPENDENT * size:
            dependent[i] = 1
            continue
        pivot = make_reflector(reflectors, scales, s, row)
        bound = upper[i] if locked[i] > 0 else lower[i]
        t = s - decided
        for c in range(s):
            bound -= row[c] * y[c]
            triangle[t, c] = row[c]
        triangle[t, s] = pivot
        locks[t] = i
        y[s] = bound / pivot
        reflect(reflectors, scales, s, entry)
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
        make_reflector(reflectors, scales, at, row)
        reflect_rows(reflectors, scales, at, reduced, m, sums)
        reflect(reflectors, scales, at, entry)
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
def find_multipliers(problem: Levels, work: LevelsWork, k: int, decided: int, count: int) -> None:
    """Multipliers of the locks from L_Wᵀ μ = g, g the downhill direction of the level in the locks' coordinates."""
    multipliers, triangle, row, y = work.multipliers, work.triangle, work.row, work.y
    reduced, rest = work.reduced, work.rest
    _, m = rows_of(problem.start, k)
    wish = k == problem.start.shape[0] - 1
    square = problem.damping[k] * problem.damping[k]
    if wish:
        to_coordinates(work.reflectors, work.scales, decided + count, problem.wish, row)
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
def zero_multiplier(problem: Levels, k: int) -> float:
    """Size below which a multiplier of level `k` is zero."""
    rows, target, wish = problem.rows, problem.target, problem.wish
    first, m = rows_of(problem.start, k)
    force, row = 0.0, 1.0
    if k == problem.start.shape[0] - 1:
        for c in range(wish.shape[0]):
            force = max(force, abs(wish[c]))
    for r in range(first, first + m):
        force = max(force, abs(target[r]))
        for c in range(rows.shape[1]):
            row = max(row, abs(rows[r, c]))
    return 1e-10 * max(1e-6, force * row)
