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
    BLOCK,
    COLUMNS,
    COUNT,
    DAMPING,
    DEPENDENT,
    INDEPENDENT,
    LEVEL,
    LEVELS,
    LOCKS,
    LOWER,
    NORMS,
    ORDER,
    RANK,
    RANKED,
    REST,
    RIGHT,
    ROW,
    SMALL,
    START,
    STATE,
    TARGET,
    TRIAL,
    TRIANGLE,
    UNDAMPED,
    UPPER,
    WISH,
    WISHED,
    Y,
    Z,
)

Array = np.ndarray


@inner_kernel
def lock_limits(tables: Array, lines: Array, whole: Array, general: Array, decided: int, locked: int) -> int:
    """Decide the coordinates of the limits in line `locked`; returns how many of them are independent.

    A lock whose limit has moved out of sight is taken off.
    """
    n, limits = general.shape[1], general.shape[1] + general.shape[0]
    s, some = decided, 0
    for i in range(limits):
        some += whole[locked, i] != 0
        whole[DEPENDENT, i] = 0
    if some > 0:
        for i in range(limits):
            if whole[locked, i] == 0:
                continue
            bound = lines[UPPER, i] if whole[locked, i] > 0 else lines[LOWER, i]
            if math.isinf(bound):
                whole[locked, i] = 0
                continue
            size = _load_limit(lines, general, i)
            to_coordinates(tables, lines, 0, s, ROW)
            tail = dot(lines, ROW, lines, ROW, s, n)
            if tail <= INDEPENDENT * INDEPENDENT * size:
                whole[DEPENDENT, i] = 1
                continue
            pivot = make_reflector(tables, lines, s, tail)
            for c in range(s):
                tables[TRIANGLE, s, c] = lines[ROW, c]
            tables[TRIANGLE, s, s] = pivot
            lines[Z, s] = (bound - dot(lines, ROW, lines, Z, 0, s)) / pivot
            whole[LOCKS, s - decided] = i
            s += 1
    whole[STATE, COUNT] = s - decided
    return s - decided


@inner_kernel
def _load_limit(lines: Array, general: Array, i: int) -> float:
    """ROW = C_i; returns its square length."""
    n = general.shape[1]
    if i < n:
        for c in range(n):
            lines[ROW, c] = 0.0
        lines[ROW, i] = 1.0
        return 1.0
    for c in range(n):
        lines[ROW, c] = general[i - n, c]
    return dot(lines, ROW, lines, ROW, 0, n)


@inner_kernel
def reduce_rows(
    tables: Array, lines: Array, whole: Array, table: int, first: int, m: int, s: int, end: int, least: float
) -> int:
    """Reduce rows `first` … `first + m` to a lower trapezoid by reflections, largest first; returns their rank.

    Rows up to `end` go through the same reflections. Pivots below `least` times the first count as zero, and so do the
    tails they leave.
    """
    n, border = tables.shape[1], block_of(first)
    for i in range(m):
        whole[ORDER, i] = first + i
    rank, largest = 0, 1.0
    _tail_norms(tables, lines, table, first, m, s)
    for at in range(s, min(s + m, n)):
        size = _load_largest(tables, lines, whole, table, rank, m, at)
        if size < 1e-6 * largest * largest:
            # Differences of squares are no measure of what little is left.
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
    """Square lengths of the rows from coordinate `at` on."""
    begin, end, which = uint64(first), uint64(first + m), uint64(table)
    for r in range(begin, end):
        lines[NORMS, r] = 0.0
    for c in range(uint64(at), uint64(tables.shape[1])):
        for r in range(begin, end):
            lines[NORMS, r] += tables[which, c, r] * tables[which, c, r]


@inner_kernel
def _load_largest(tables: Array, lines: Array, whole: Array, table: int, rank: int, m: int, at: int) -> float:
    """Put the largest of the rows left at place `rank` and its tail into ROW; returns the tail's square length."""
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
        lines[ROW, c] = tables[which, c, r]
    return dot(lines, ROW, lines, ROW, at, tables.shape[1])


@inner_kernel
def factor_face(
    tables: Array, lines: Array, whole: Array, general: Array, k: int, decided: int, locked: int
) -> tuple[int, int]:
    """Reflections of the locked limits and of the rows of level `k`; counts of independent locks and of rank."""
    first = whole[START, k]
    m = whole[START, k + 1] - first
    count = lock_limits(tables, lines, whole, general, decided, locked)
    end = block_of(m + BLOCK - 1)
    for c in range(tables.shape[1]):
        for r in range(m):
            tables[LEVEL, c, r] = tables[COLUMNS, c, first + r]
    for j in range(decided, decided + count):
        reflect_columns(tables, lines, j, LEVEL, 0, end)
    return count, reduce_rows(tables, lines, whole, LEVEL, 0, m, decided + count, end, RANK)


@inner_kernel
def solve_rows(tables: Array, lines: Array, whole: Array, general: Array, k: int, decided: int, locked: int) -> None:
    """Optimum of level `k` with the limits in line `locked` as equalities, in TRIAL."""
    n, damping, first = tables.shape[1], lines[DAMPING, k], whole[START, k]
    m = whole[START, k + 1] - first
    for c in range(decided):
        lines[Z, c] = lines[Y, c]
    count, rank = factor_face(tables, lines, whole, general, k, decided, locked)
    whole[STATE, RANKED] = rank
    s = decided + count
    for r in range(m):
        lines[REST, r] = lines[TARGET, first + r]
    subtract(tables, lines, LEVEL, Z, 0, m, 0, s)
    if rank == m and damping <= UNDAMPED:
        substitute(tables, lines, whole, LEVEL, Z, 0, m, s, rank)
    elif m > 0:
        _least_squares(tables, lines, whole, m, s, rank, damping)
        subtract(tables, lines, LEVEL, Z, 0, m, s, s + rank)
    if damping > UNDAMPED:
        for c in range(s + rank, n):
            lines[Z, c] = 0.0
    else:
        _stay(tables, lines, decided, s + rank)
    finish_face(tables, lines, s + rank)


@inner_kernel
def solve_wish(
    tables: Array, lines: Array, whole: Array, general: Array, decided: int, locked: int, wishes: bool
) -> None:
    """Optimum of the wish, or the least step when there are no `wishes`, in TRIAL."""
    n, damping = tables.shape[1], lines[DAMPING, whole[STATE, LEVELS]]
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
    """The answer of a face from its coordinates."""
    for c in range(tables.shape[1]):
        lines[TRIAL, c] = lines[Z, c]
    from_coordinates(tables, lines, used, TRIAL)


@inner_kernel
def _stay(tables: Array, lines: Array, decided: int, used: int) -> None:
    """Coordinates that an undamped level has no rows for: those of the point it was entered with."""
    n, moving = tables.shape[1], 0
    for c in range(decided, n):
        lines[ROW, c] = lines[Y, c]
        moving += lines[Y, c] != 0.0
    if moving > 0:
        to_coordinates(tables, lines, decided, used, ROW)
    for c in range(used, n):
        lines[Z, c] = lines[ROW, c]


@inner_kernel
def subtract(tables: Array, lines: Array, table: int, at: int, first: int, m: int, begin: int, end: int) -> None:
    """REST ← REST - (rows `first` … `first + m`) times line `at`, over the coordinates `begin` ≤ c < `end`."""
    f, e, which = uint64(first), uint64(first + m), uint64(table)
    for c in range(uint64(begin), uint64(end)):
        value = lines[at, c]
        for r in range(f, e):
            lines[REST, r] -= tables[which, c, r] * value


@inner_kernel
def substitute(
    tables: Array, lines: Array, whole: Array, table: int, at: int, first: int, m: int, s: int, rank: int
) -> None:
    """Solve the triangle for line `at` exactly; REST is what is left."""
    f, e, which = uint64(first), uint64(first + m), uint64(table)
    for i in range(rank):
        q, c = uint64(whole[ORDER, i]), uint64(s + i)
        value = lines[REST, q] / tables[which, c, q]
        lines[at, c] = value
        for r in range(f, e):
            lines[REST, r] -= tables[which, c, r] * value


@inner_kernel
def _least_squares(tables: Array, lines: Array, whole: Array, m: int, s: int, rank: int, damping: float) -> None:
    """Minimise |L z - rest|² + λ² |z|² by QR of [L; λ 1]."""
    height = m + rank if damping > UNDAMPED else m
    for c in range(rank):
        for r in range(m):
            tables[SMALL, c, r] = tables[LEVEL, s + c, whole[ORDER, r]]
        for r in range(m, height):
            tables[SMALL, c, r] = 0.0
        if height > m:
            tables[SMALL, c, m + c] = damping
    for r in range(height):
        lines[RIGHT, r] = lines[REST, whole[ORDER, r]] if r < m else 0.0
    for c in range(rank):
        size = _small_dot(tables, c, c, c, height)
        root = math.sqrt(size)
        here = tables[SMALL, c, c]
        pivot = -root if here > 0.0 else root
        tables[SMALL, c, c] = here - pivot
        factor, along = 1.0 / (size - pivot * here), 0.0
        for d in range(c + 1, rank):
            total = factor * _small_dot(tables, c, d, c, height)
            for r in range(c, height):
                tables[SMALL, d, r] -= total * tables[SMALL, c, r]
        for r in range(c, height):
            along += tables[SMALL, c, r] * lines[RIGHT, r]
        along *= factor
        for r in range(c, height):
            lines[RIGHT, r] -= along * tables[SMALL, c, r]
        tables[SMALL, c, c] = pivot
    for c in range(rank - 1, -1, -1):
        value = lines[RIGHT, c] / tables[SMALL, c, c]
        lines[Z, s + c] = value
        for d in range(c):
            lines[RIGHT, d] -= tables[SMALL, c, d] * value


@inner_kernel
def _small_dot(tables: Array, i: int, j: int, first: int, end: int) -> float:
    """Columns `i` and `j` of the small problem, multiplied from row `first` on."""
    total = 0.0
    for r in range(uint64(first), uint64(end)):
        total += tables[SMALL, i, r] * tables[SMALL, j, r]
    return total
