"""The optimum of one priority level with some limits held as equalities: see `levels` for the method."""

import math

import numpy as np
from numpy import uint64

from poise.kernels.jit.compile import inner_kernel
from poise.kernels.levels.householder import (
    block_of,
    dot,
    from_coordinates,
    make_reflector,
    reflect_columns,
    to_coordinates,
)
from poise.kernels.levels.problem import (
    COLUMNS,
    DAMPING,
    DEPENDENT_LOCKS,
    FACE_RANK,
    INDEPENDENCE_TOLERANCE,
    LEVEL_COUNT,
    LEVEL_ROWS,
    LEVEL_START,
    LOCK_COUNT,
    LOCKS,
    LOWER_BOUND,
    MIN_DAMPING,
    NORMS,
    ORDER,
    RESIDUAL,
    RIGHT,
    ROW_BLOCK,
    ROW_RANK_TOLERANCE,
    SCALARS,
    SMALL_PROBLEM,
    TARGET,
    TRIAL_POINT,
    TRIANGLE,
    UPPER_BOUND,
    WISH,
    WISHED,
    WORK_ROW,
    Y,
    Z,
)

Array = np.ndarray


@inner_kernel
def lock_limits(tables: Array, lines: Array, whole: Array, general: Array, decided: int, locked: int) -> int:
    """Set the coordinates of the limits in line `locked` to their bounds; returns how many limits are independent.

    A limit whose bound has become infinite is unlocked.
    """
    n, limits = general.shape[1], general.shape[1] + general.shape[0]
    s, some = decided, 0
    for i in range(limits):
        some += whole[locked, i] != 0
        whole[DEPENDENT_LOCKS, i] = 0
    if some > 0:
        for i in range(limits):
            if whole[locked, i] == 0:
                continue
            bound = lines[UPPER_BOUND, i] if whole[locked, i] > 0 else lines[LOWER_BOUND, i]
            if math.isinf(bound):
                whole[locked, i] = 0
                continue
            size = _load_limit(lines, general, i)
            to_coordinates(tables, lines, 0, s, WORK_ROW)
            tail = dot(lines, WORK_ROW, lines, WORK_ROW, s, n)
            if tail <= INDEPENDENCE_TOLERANCE * INDEPENDENCE_TOLERANCE * size:
                whole[DEPENDENT_LOCKS, i] = 1
                continue
            pivot = make_reflector(tables, lines, s, tail)
            for c in range(s):
                tables[TRIANGLE, s, c] = lines[WORK_ROW, c]
            tables[TRIANGLE, s, s] = pivot
            lines[Z, s] = (bound - dot(lines, WORK_ROW, lines, Z, 0, s)) / pivot
            whole[LOCKS, s - decided] = i
            s += 1
    whole[SCALARS, LOCK_COUNT] = s - decided
    return s - decided


@inner_kernel
def _load_limit(lines: Array, general: Array, i: int) -> float:
    """Copy the row C_i of limit `i` to WORK_ROW; returns its squared length."""
    n = general.shape[1]
    if i < n:
        for c in range(n):
            lines[WORK_ROW, c] = 0.0
        lines[WORK_ROW, i] = 1.0
        return 1.0
    for c in range(n):
        lines[WORK_ROW, c] = general[i - n, c]
    return dot(lines, WORK_ROW, lines, WORK_ROW, 0, n)


@inner_kernel
def reduce_rows(
    tables: Array, lines: Array, whole: Array, table: int, first: int, m: int, s: int, end: int, least: float
) -> int:
    """Reduce rows `first` … `first + m` to a lower trapezoid by reflections with row pivoting; returns their rank.

    The reflections are applied to all rows up to `end`. Pivots below `least` times the first pivot count as zero, and
    the remaining entries of their rows are set to zero.
    """
    n, border = tables.shape[1], block_of(first)
    for i in range(m):
        whole[ORDER, i] = first + i
    rank, largest = 0, 1.0
    _tail_norms(tables, lines, table, first, m, s)
    for at in range(s, min(s + m, n)):
        size = _load_largest(tables, lines, whole, table, rank, m, at)
        if size < 1e-6 * largest * largest:
            # Cancellation has made the updated norms inaccurate.
            _tail_norms(tables, lines, table, first, m, at)
            size = _load_largest(tables, lines, whole, table, rank, m, at)
        largest = max(largest, math.sqrt(size))
        if size <= (least * largest) * (least * largest):
            break
        make_reflector(tables, lines, at, size)
        reflect_columns(tables, lines, at, table, border, end)
        rank += 1
        for r in range(first, first + m):
            lines[NORMS, r] -= tables[table, at, r] * tables[table, at, r]
    for i in range(m):
        r = whole[ORDER, i]
        for c in range(s + min(i + 1, rank), n):
            tables[table, c, r] = 0.0
    return rank


@inner_kernel
def _tail_norms(tables: Array, lines: Array, table: int, first: int, m: int, at: int) -> None:
    """Compute the squared lengths of the rows from coordinate `at` on, into NORMS."""
    begin, end, which = uint64(first), uint64(first + m), uint64(table)
    for r in range(begin, end):
        lines[NORMS, r] = 0.0
    for c in range(uint64(at), uint64(tables.shape[1])):
        for r in range(begin, end):
            lines[NORMS, r] += tables[which, c, r] * tables[which, c, r]


@inner_kernel
def _load_largest(tables: Array, lines: Array, whole: Array, table: int, rank: int, m: int, at: int) -> float:
    """Swap the longest remaining row to pivot `rank` and copy its tail to WORK_ROW; returns its squared length."""
    best, norm = rank, -1.0
    for i in range(rank, m):
        value = lines[NORMS, whole[ORDER, i]]
        if value > norm:
            best, norm = i, value
    q = whole[ORDER, best]
    whole[ORDER, best] = whole[ORDER, rank]
    whole[ORDER, rank] = q
    n, which, r = uint64(tables.shape[1]), uint64(table), uint64(q)
    for c in range(uint64(at), n):
        lines[WORK_ROW, c] = tables[which, c, r]
    return dot(lines, WORK_ROW, lines, WORK_ROW, at, tables.shape[1])


@inner_kernel
def factor_face(
    tables: Array, lines: Array, whole: Array, general: Array, k: int, decided: int, locked: int
) -> tuple[int, int]:
    """Factorise the locked limits and the rows of level `k`; returns how many locks are independent, and the rank."""
    first = whole[LEVEL_START, k]
    m = whole[LEVEL_START, k + 1] - first
    count = lock_limits(tables, lines, whole, general, decided, locked)
    end = block_of(m + ROW_BLOCK - 1)
    for c in range(tables.shape[1]):
        for r in range(m):
            tables[LEVEL_ROWS, c, r] = tables[COLUMNS, c, first + r]
    for j in range(decided, decided + count):
        reflect_columns(tables, lines, j, LEVEL_ROWS, 0, end)
    return count, reduce_rows(tables, lines, whole, LEVEL_ROWS, 0, m, decided + count, end, ROW_RANK_TOLERANCE)


@inner_kernel
def solve_rows(tables: Array, lines: Array, whole: Array, general: Array, k: int, decided: int, locked: int) -> None:
    """Find the optimum of level `k` with the limits in line `locked` as equalities, in TRIAL_POINT."""
    n, damping, first = tables.shape[1], lines[DAMPING, k], whole[LEVEL_START, k]
    m = whole[LEVEL_START, k + 1] - first
    for c in range(decided):
        lines[Z, c] = lines[Y, c]
    count, rank = factor_face(tables, lines, whole, general, k, decided, locked)
    whole[SCALARS, FACE_RANK] = rank
    s = decided + count
    for r in range(m):
        lines[RESIDUAL, r] = lines[TARGET, first + r]
    subtract(tables, lines, LEVEL_ROWS, Z, 0, m, 0, s)
    if rank == m and damping <= MIN_DAMPING:
        substitute(tables, lines, whole, LEVEL_ROWS, Z, 0, m, s, rank)
    elif m > 0:
        _least_squares(tables, lines, whole, m, s, rank, damping)
        subtract(tables, lines, LEVEL_ROWS, Z, 0, m, s, s + rank)
    if damping > MIN_DAMPING:
        for c in range(s + rank, n):
            lines[Z, c] = 0.0
    else:
        _stay(tables, lines, decided, s + rank)
    finish_face(tables, lines, s + rank)


@inner_kernel
def solve_wish(
    tables: Array, lines: Array, whole: Array, general: Array, decided: int, locked: int, wishes: bool
) -> None:
    """Find the point nearest to the wish, or the shortest step if not `wishes`, on a face, in TRIAL_POINT."""
    n, damping = tables.shape[1], lines[DAMPING, whole[SCALARS, LEVEL_COUNT]]
    for c in range(decided):
        lines[Z, c] = lines[Y, c]
    s = decided + lock_limits(tables, lines, whole, general, decided, locked)
    shrink = 1.0
    for c in range(n):
        lines[WISHED, c] = lines[WISH, c] if wishes else 0.0
    if wishes:
        to_coordinates(tables, lines, 0, s, WISHED)
        shrink /= 1.0 + damping * damping
    for c in range(s, n):
        lines[Z, c] = lines[WISHED, c] * shrink
    finish_face(tables, lines, s)


@inner_kernel
def finish_face(tables: Array, lines: Array, used: int) -> None:
    """Transform the solution of a face from coordinates Z to a step, in TRIAL_POINT."""
    for c in range(tables.shape[1]):
        lines[TRIAL_POINT, c] = lines[Z, c]
    from_coordinates(tables, lines, used, TRIAL_POINT)


@inner_kernel
def _stay(tables: Array, lines: Array, decided: int, used: int) -> None:
    """Leave the coordinates that no row of an undamped level uses at their values in the level's starting point."""
    n, moving = tables.shape[1], 0
    for c in range(decided, n):
        lines[WORK_ROW, c] = lines[Y, c]
        moving += lines[Y, c] != 0.0
    if moving > 0:
        to_coordinates(tables, lines, decided, used, WORK_ROW)
    for c in range(used, n):
        lines[Z, c] = lines[WORK_ROW, c]


@inner_kernel
def subtract(tables: Array, lines: Array, table: int, at: int, first: int, m: int, begin: int, end: int) -> None:
    """RESIDUAL ← RESIDUAL - (rows `first` … `first + m`) times line `at`, over the coordinates `begin` ≤ c < `end`."""
    f, e, which = uint64(first), uint64(first + m), uint64(table)
    for c in range(uint64(begin), uint64(end)):
        value = lines[at, c]
        for r in range(f, e):
            lines[RESIDUAL, r] -= tables[which, c, r] * value


@inner_kernel
def substitute(
    tables: Array, lines: Array, whole: Array, table: int, at: int, first: int, m: int, s: int, rank: int
) -> None:
    """Solve the triangular rows for line `at` by forward substitution; subtracts the solved rows from RESIDUAL."""
    f, e, which = uint64(first), uint64(first + m), uint64(table)
    for i in range(rank):
        q, c = uint64(whole[ORDER, i]), uint64(s + i)
        value = lines[RESIDUAL, q] / tables[which, c, q]
        lines[at, c] = value
        for r in range(f, e):
            lines[RESIDUAL, r] -= tables[which, c, r] * value


@inner_kernel
def _least_squares(tables: Array, lines: Array, whole: Array, m: int, s: int, rank: int, damping: float) -> None:
    """Minimise |L z - r|² + λ² |z|², r the RESIDUAL, by QR factorisation of [L; λ 1]."""
    height = m + rank if damping > MIN_DAMPING else m
    for c in range(rank):
        for r in range(m):
            tables[SMALL_PROBLEM, c, r] = tables[LEVEL_ROWS, s + c, whole[ORDER, r]]
        for r in range(m, height):
            tables[SMALL_PROBLEM, c, r] = 0.0
        if height > m:
            tables[SMALL_PROBLEM, c, m + c] = damping
    for r in range(height):
        lines[RIGHT, r] = lines[RESIDUAL, whole[ORDER, r]] if r < m else 0.0
    for c in range(rank):
        size = _small_dot(tables, c, c, c, height)
        root = math.sqrt(size)
        here = tables[SMALL_PROBLEM, c, c]
        pivot = -root if here > 0.0 else root
        tables[SMALL_PROBLEM, c, c] = here - pivot
        factor, along = 1.0 / (size - pivot * here), 0.0
        for d in range(c + 1, rank):
            total = factor * _small_dot(tables, c, d, c, height)
            for r in range(c, height):
                tables[SMALL_PROBLEM, d, r] -= total * tables[SMALL_PROBLEM, c, r]
        for r in range(c, height):
            along += tables[SMALL_PROBLEM, c, r] * lines[RIGHT, r]
        along *= factor
        for r in range(c, height):
            lines[RIGHT, r] -= along * tables[SMALL_PROBLEM, c, r]
        tables[SMALL_PROBLEM, c, c] = pivot
    for c in range(rank - 1, -1, -1):
        value = lines[RIGHT, c] / tables[SMALL_PROBLEM, c, c]
        lines[Z, s + c] = value
        for d in range(c):
            lines[RIGHT, d] -= tables[SMALL_PROBLEM, c, d] * value


@inner_kernel
def _small_dot(tables: Array, i: int, j: int, first: int, end: int) -> float:
    """Dot product of columns `i` and `j` of the small problem over rows `first` ≤ r < `end`."""
    total = 0.0
    for r in range(uint64(first), uint64(end)):
        total += tables[SMALL_PROBLEM, i, r] * tables[SMALL_PROBLEM, j, r]
    return total
