"""The optimum of one priority level with some limits held as equalities: see `levels` for the method."""

import math

import numpy as np

from poise.kernels.compile import inner_kernel
from poise.kernels.householder import (
    BLOCK,
    block_of,
    from_coordinates,
    make_reflector,
    reflect,
    reflect_columns,
    to_coordinates,
)
from poise.kernels.level_problem import COUNT, INDEPENDENT, RANK, UNDAMPED, Levels, LevelsWork, rows_of

Array = np.ndarray


@inner_kernel
def load_columns(problem: Levels, work: LevelsWork) -> None:
    """All rows, one per column."""
    rows, columns = problem.rows, work.columns
    for r in range(problem.start[problem.start.shape[0] - 1]):
        for c in range(columns.shape[0]):
            columns[c, r] = rows[r, c]


@inner_kernel
def any_locked(locked: Array) -> bool:
    """Whether any limit is locked."""
    some = 0
    for i in range(locked.shape[0]):
        some += locked[i] != 0
    return some > 0


@inner_kernel
def lock_limits(problem: Levels, work: LevelsWork, decided: int, locked: Array) -> int:
    """Decide the coordinates of the locked limits; returns how many of them are independent.

    A lock whose limit has moved out of sight is taken off.
    """
    lower, upper, dependent = work.lower, work.upper, work.dependent
    for i in range(locked.shape[0]):
        dependent[i] = 0
    reflectors, scales, z, row = work.reflectors, work.scales, work.z, work.row
    triangle, locks = work.triangle, work.locks
    n, s = z.shape[0], decided
    for i in range(locked.shape[0]):
        if locked[i] == 0:
            continue
        bound = upper[i] if locked[i] > 0 else lower[i]
        if math.isinf(bound):
            locked[i] = 0
            continue
        size = _load_limit(problem.general, i, row)
        to_coordinates(reflectors, scales, s, row)
        tail = 0.0
        for c in range(s, n):
            tail += row[c] * row[c]
        if tail <= INDEPENDENT * INDEPENDENT * size:
            dependent[i] = 1
            continue
        pivot = make_reflector(reflectors, scales, s, row)
        for c in range(s):
            bound -= row[c] * z[c]
            triangle[s, c] = row[c]
        triangle[s, s] = pivot
        locks[s - decided] = i
        z[s] = bound / pivot
        s += 1
    work.state[COUNT] = s - decided
    return s - decided


@inner_kernel
def _load_limit(general: Array, i: int, row: Array) -> float:
    """row = C_i; returns its square length."""
    n = row.shape[0]
    if i < n:
        for c in range(n):
            row[c] = 0.0
        row[i] = 1.0
        return 1.0
    size = 0.0
    for c in range(n):
        row[c] = general[i - n, c]
        size += row[c] * row[c]
    return size


@inner_kernel
def reduce_columns(
    scratch: tuple[Array, Array, Array, Array, Array, Array],
    columns: Array,
    first: int,
    m: int,
    s: int,
    end: int,
    least: float,
) -> int:
    """Reduce rows `first` … `first + m` to a lower trapezoid by reflections, largest first; returns their rank.

    Rows up to `end` go through the same reflections. Pivots below `least` times the first count as zero, and so do the
    tails they leave. `scratch` is (reflectors, scales, norms, order, row, sums) of the workspace.
    """
    reflectors, scales, norms, order, row, sums = scratch
    n, border = row.shape[0], block_of(first)
    for i in range(m):
        order[i] = first + i
    rank, largest = 0, 1.0
    _tail_norms(columns, norms, first, m, s)
    for at in range(s, min(s + m, n)):
        _bring_largest(norms, order, rank, m)
        q = order[rank]
        size = 0.0
        for c in range(at, n):
            row[c] = columns[c, q]
            size += row[c] * row[c]
        if size < 1e-6 * largest * largest:
            # Differences of squares are no measure of what little is left.
            _tail_norms(columns, norms, first, m, at)
            _bring_largest(norms, order, rank, m)
            q = order[rank]
            size = norms[q]
            for c in range(at, n):
                row[c] = columns[c, q]
        size = math.sqrt(size)
        largest = max(largest, size)
        if size <= least * largest:
            break
        make_reflector(reflectors, scales, at, row)
        reflect_columns(reflectors, scales, at, columns, border, end, sums)
        rank += 1
        for i in range(rank, m):
            r = order[i]
            norms[r] -= columns[at, r] * columns[at, r]
    for i in range(m):
        for c in range(s + min(i + 1, rank), n):
            columns[c, order[i]] = 0.0
    return rank


@inner_kernel
def _tail_norms(columns: Array, norms: Array, first: int, m: int, at: int) -> None:
    """Square lengths of the rows from coordinate `at` on."""
    for r in range(first, first + m):
        norms[r] = 0.0
    for c in range(at, columns.shape[0]):
        for r in range(first, first + m):
            norms[r] += columns[c, r] * columns[c, r]


@inner_kernel
def _bring_largest(norms: Array, order: Array, rank: int, m: int) -> None:
    """Put the largest of the rows left at place `rank`."""
    best = rank
    for i in range(rank + 1, m):
        if norms[order[i]] > norms[order[best]]:
            best = i
    order[rank], order[best] = order[best], order[rank]


@inner_kernel
def factor_face(problem: Levels, work: LevelsWork, k: int, decided: int, locked: Array) -> tuple[int, int]:
    """Reflections of the locked limits and of the rows of level `k`; counts of independent locks and of rank."""
    level, columns, reflectors, scales = work.level, work.columns, work.reflectors, work.scales
    first, m = rows_of(problem.start, k)
    count = 0
    work.state[COUNT] = 0
    if any_locked(locked):
        count = lock_limits(problem, work, decided, locked)
    if m == 0:
        return count, 0
    for c in range(level.shape[0]):
        for r in range(m):
            level[c, r] = columns[c, first + r]
    end = block_of(m + BLOCK - 1)
    for j in range(decided, decided + count):
        reflect_columns(reflectors, scales, j, level, 0, end, work.sums)
    scratch = (reflectors, scales, work.norms, work.order, work.row, work.sums)
    return count, reduce_columns(scratch, level, 0, m, decided + count, end, RANK)


@inner_kernel
def solve_rows(problem: Levels, work: LevelsWork, k: int, decided: int, locked: Array) -> tuple[int, int]:
    """Optimum of level `k` with the `locked` limits as equalities, in `work.trial`; counts of locks and of rank."""
    target, y, z, rest, level, order = problem.target, work.y, work.z, work.rest, work.level, work.order
    n, damping = y.shape[0], problem.damping[k]
    first, m = rows_of(problem.start, k)
    for c in range(decided):
        z[c] = y[c]
    count, rank = factor_face(problem, work, k, decided, locked)
    s = decided + count
    for r in range(m):
        rest[r] = target[first + r]
    subtract(level, z, 0, s, m, rest)
    if rank == m and damping <= UNDAMPED:
        substitute(level, order, rest, s, m, z)
    elif m > 0:
        _least_squares((work.small, level, order, rest, z), m, s, rank, damping)
    subtract(level, z, s, s + rank, m, rest)
    if damping > UNDAMPED:
        for c in range(s + rank, n):
            z[c] = 0.0
    else:
        _stay(work, decided, s + rank)
    finish_face(work.reflectors, work.scales, s + rank, z, work.trial)
    return count, rank


@inner_kernel
def solve_wish(problem: Levels, work: LevelsWork, decided: int, locked: Array, wishes: bool) -> int:
    """Optimum of the wish, or the least step when there are no `wishes`, in `work.trial`; count of locks."""
    y, z, wished, wish = work.y, work.z, work.wished, problem.wish
    damping = problem.damping[problem.damping.shape[0] - 1]
    n = y.shape[0]
    for c in range(decided):
        z[c] = y[c]
    s = decided
    work.state[COUNT] = 0
    if any_locked(locked):
        s += lock_limits(problem, work, decided, locked)
    for c in range(n):
        wished[c] = wish[c] if wishes else 0.0
    shrink = 1.0
    if wishes:
        to_coordinates(work.reflectors, work.scales, s, wished)
        shrink /= 1.0 + damping * damping
    for c in range(s, n):
        z[c] = wished[c] * shrink
    finish_face(work.reflectors, work.scales, s, z, work.trial)
    return s - decided


@inner_kernel
def finish_face(reflectors: Array, scales: Array, used: int, z: Array, trial: Array) -> None:
    """The answer of a face from its coordinates."""
    for c in range(z.shape[0]):
        trial[c] = z[c]
    from_coordinates(reflectors, scales, used, trial)


@inner_kernel
def _stay(work: LevelsWork, decided: int, used: int) -> None:
    """Coordinates that an undamped level has no rows for: those of the point it was entered with."""
    y, z, row, reflectors, scales = work.y, work.z, work.row, work.reflectors, work.scales
    n = y.shape[0]
    still = True
    for c in range(decided, n):
        row[c] = y[c]
        still = still and y[c] == 0.0
    if not still:
        for j in range(decided, used):
            reflect(reflectors, scales, j, row)
    for c in range(used, n):
        z[c] = row[c]


@inner_kernel
def subtract(level: Array, z: Array, first: int, end: int, m: int, rest: Array) -> None:
    """rest ← rest - (columns first … end) z."""
    for c in range(first, end):
        value = z[c]
        for r in range(m):
            rest[r] -= level[c, r] * value


@inner_kernel
def substitute(level: Array, order: Array, rest: Array, s: int, m: int, z: Array) -> None:
    """Solve the triangle exactly."""
    for i in range(m):
        q = order[i]
        total = rest[q]
        for c in range(s, s + i):
            total -= level[c, q] * z[c]
        z[s + i] = total / level[s + i, q]


@inner_kernel
def _least_squares(arrays: tuple[Array, Array, Array, Array, Array], m: int, s: int, rank: int, damping: float) -> None:
    """Minimise |L z - rest|² + λ² |z|² by QR of [L; λ 1] with the right-hand side as last column."""
    small, level, order, rest, z = arrays
    height = m + rank if damping > UNDAMPED else m
    for r in range(m):
        for c in range(rank):
            small[r, c] = level[s + c, order[r]]
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
            total -= small[c, d] * z[s + d]
        z[s + c] = total / small[c, c]


@inner_kernel
def rows_multipliers(problem: Levels, work: LevelsWork, k: int, decided: int) -> float:
    """Multipliers of the locks of a level with rows; returns the size below which they are zero."""
    multipliers, z, level, rest = work.multipliers, work.z, work.level, work.rest
    rows, target = problem.rows, problem.target
    first, m = rows_of(problem.start, k)
    square = problem.damping[k] * problem.damping[k]
    for t in range(work.state[COUNT]):
        total = -square * z[decided + t]
        for r in range(m):
            total += level[decided + t, r] * rest[r]
        multipliers[t] = total
    through_locks(work, decided)
    force, row = 0.0, 1.0
    for r in range(first, first + m):
        force = max(force, abs(target[r]))
        for c in range(rows.shape[1]):
            row = max(row, abs(rows[r, c]))
    return zero_below(force * row)


@inner_kernel
def wish_multipliers(problem: Levels, work: LevelsWork, decided: int, wishes: bool) -> float:
    """Multipliers of the locks of the wish or of the least step; returns the size below which they are zero."""
    multipliers, z, wished = work.multipliers, work.z, work.wished
    damping = problem.damping[problem.damping.shape[0] - 1]
    square = 1.0 + damping * damping if wishes else 1.0
    force = 0.0
    for c in range(wished.shape[0]):
        force = max(force, abs(wished[c]))
    for t in range(work.state[COUNT]):
        multipliers[t] = wished[decided + t] - square * z[decided + t]
    through_locks(work, decided)
    return zero_below(force)


@inner_kernel
def zero_below(force: float) -> float:
    """Size below which the multiplier of a level that pulls with `force` is zero."""
    return 1e-10 * max(1e-6, force)


@inner_kernel
def through_locks(work: LevelsWork, decided: int) -> None:
    """Solve L_Wᵀ μ = g, with g, the downhill direction in the locks' coordinates, in `work.multipliers`."""
    multipliers, triangle = work.multipliers, work.triangle
    count = work.state[COUNT]
    for t in range(count - 1, -1, -1):
        total = multipliers[t]
        for later in range(t + 1, count):
            total -= triangle[decided + later, decided + t] * multipliers[later]
        multipliers[t] = total / triangle[decided + t, decided + t]
