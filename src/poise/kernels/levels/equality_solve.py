"""The optimum of one priority level with some limits held as equalities: see `levels` for the method.

Rows are reduced by Householder reflections, kept as vectors: Q = H_0 H_1 …, H_j = 1 - σ_j v_j v_jᵀ, σ_j = 2 / |v_j|²,
v_j zero before j. Many rows at once are stored as columns, side by side: sums over a row then run in parallel over the
rows, which a compiler that must not reorder additions can put into vector registers. Inner loops use unsigned indices,
because numba tests every signed index for a negative value, which counts from the end.
"""

import math

import numpy as np
from numpy import uint64

from poise.kernels.jit.compile import inner_kernel
from poise.kernels.levels.workspace import MIN_DAMPING, ROW_BLOCK, LevelsWork

Array = np.ndarray

INDEPENDENCE_TOLERANCE = 1e-7
"""Length of the undecided part of a limit's row, as a share of the whole row, below which the limit is dependent."""
ROW_RANK_TOLERANCE = 1e-8
"""Pivot, as a share of the first pivot, below which rows of a level are linearly dependent."""


@inner_kernel
def lock_limits(work: LevelsWork, general: Array, decided: int, locked: Array) -> int:
    """Set the coordinates of the `locked` limits to their bounds; returns how many limits are independent.

    A limit whose bound has become infinite is unlocked.
    """
    n, limits = general.shape[1], general.shape[1] + general.shape[0]
    s, some = decided, 0
    for i in range(limits):
        some += locked[i] != 0
        work.dependent_locks[i] = 0
    if some > 0:
        for i in range(limits):
            if locked[i] == 0:
                continue
            bound = work.upper[i] if locked[i] > 0 else work.lower[i]
            if math.isinf(bound):
                locked[i] = 0
                continue
            size = _load_limit(work, general, i)
            to_coordinates(work, 0, s, work.row)
            tail = dot(work.row, work.row, s, n)
            if tail <= INDEPENDENCE_TOLERANCE * INDEPENDENCE_TOLERANCE * size:
                work.dependent_locks[i] = 1
                continue
            pivot = make_reflector(work, s, tail)
            for c in range(s):
                work.triangle[s, c] = work.row[c]
            work.triangle[s, s] = pivot
            work.z[s] = (bound - dot(work.row, work.z, 0, s)) / pivot
            work.locks[s - decided] = i
            s += 1
    work.lock_count = s - decided
    return s - decided


@inner_kernel
def _load_limit(work: LevelsWork, general: Array, i: int) -> float:
    """Copy the row C_i of limit `i` to `row`; returns its squared length."""
    n = general.shape[1]
    if i < n:
        for c in range(n):
            work.row[c] = 0.0
        work.row[i] = 1.0
        return 1.0
    for c in range(n):
        work.row[c] = general[i - n, c]
    return dot(work.row, work.row, 0, n)


@inner_kernel
def reduce_rows(work: LevelsWork, table: Array, first: int, m: int, s: int, end: int, least: float) -> int:
    """Reduce rows `first` … `first + m` to a lower trapezoid by reflections with row pivoting; returns their rank.

    The reflections are applied to all rows up to `end`. Pivots below `least` times the first pivot count as zero, and
    the remaining entries of their rows are set to zero.
    """
    n, border = work.n, block_of(first)
    for i in range(m):
        work.order[i] = first + i
    rank, largest = 0, 1.0
    _tail_norms(work, table, first, m, s)
    for at in range(s, min(s + m, n)):
        size = _load_largest(work, table, rank, m, at)
        if size < 1e-6 * largest * largest:
            # Cancellation has made the updated norms inaccurate.
            _tail_norms(work, table, first, m, at)
            size = _load_largest(work, table, rank, m, at)
        largest = max(largest, math.sqrt(size))
        if size <= (least * largest) * (least * largest):
            break
        make_reflector(work, at, size)
        reflect_columns(work, at, table, border, end)
        rank += 1
        for r in range(first, first + m):
            work.norms[r] -= table[at, r] * table[at, r]
    for i in range(m):
        r = work.order[i]
        for c in range(s + min(i + 1, rank), n):
            table[c, r] = 0.0
    return rank


@inner_kernel
def _tail_norms(work: LevelsWork, table: Array, first: int, m: int, at: int) -> None:
    """Compute the squared lengths of the rows from coordinate `at` on, into `norms`."""
    begin, end = uint64(first), uint64(first + m)
    for r in range(begin, end):
        work.norms[r] = 0.0
    for c in range(uint64(at), uint64(work.n)):
        for r in range(begin, end):
            work.norms[r] += table[c, r] * table[c, r]


@inner_kernel
def _load_largest(work: LevelsWork, table: Array, rank: int, m: int, at: int) -> float:
    """Swap the longest remaining row to pivot `rank` and copy its tail to `row`; returns its squared length."""
    best, norm = rank, -1.0
    for i in range(rank, m):
        value = work.norms[work.order[i]]
        if value > norm:
            best, norm = i, value
    q = work.order[best]
    work.order[best] = work.order[rank]
    work.order[rank] = q
    n, r = uint64(work.n), uint64(q)
    for c in range(uint64(at), n):
        work.row[c] = table[c, r]
    return dot(work.row, work.row, at, work.n)


@inner_kernel
def factor_face(work: LevelsWork, general: Array, k: int, decided: int, locked: Array) -> tuple[int, int]:
    """Factorise the locked limits and the rows of level `k`; returns how many locks are independent, and the rank."""
    first = work.level_start[k]
    m = work.level_start[k + 1] - first
    count = lock_limits(work, general, decided, locked)
    end = block_of(m + ROW_BLOCK - 1)
    for c in range(work.n):
        for r in range(m):
            work.level_rows[c, r] = work.columns[c, first + r]
    for j in range(decided, decided + count):
        reflect_columns(work, j, work.level_rows, 0, end)
    return count, reduce_rows(work, work.level_rows, 0, m, decided + count, end, ROW_RANK_TOLERANCE)


@inner_kernel
def solve_rows(work: LevelsWork, general: Array, k: int, decided: int, locked: Array) -> None:
    """Find the optimum of level `k` with the `locked` limits as equalities, in `trial_point`."""
    n, damping, first = work.n, work.damping[k], work.level_start[k]
    m = work.level_start[k + 1] - first
    for c in range(decided):
        work.z[c] = work.y[c]
    count, rank = factor_face(work, general, k, decided, locked)
    work.face_rank = rank
    s = decided + count
    for r in range(m):
        work.residual[r] = work.target[first + r]
    subtract(work, work.level_rows, work.z, 0, m, 0, s)
    if rank == m and damping <= MIN_DAMPING:
        substitute(work, work.level_rows, work.z, 0, m, s, rank)
    elif m > 0:
        _least_squares(work, m, s, rank, damping)
        subtract(work, work.level_rows, work.z, 0, m, s, s + rank)
    if damping > MIN_DAMPING:
        for c in range(s + rank, n):
            work.z[c] = 0.0
    else:
        _stay(work, decided, s + rank)
    finish_face(work, s + rank)


@inner_kernel
def solve_wish(work: LevelsWork, general: Array, decided: int, locked: Array, wishes: bool) -> None:
    """Find the point nearest to the wish, or the shortest step if not `wishes`, on a face, in `trial_point`."""
    n, damping = work.n, work.damping[work.level_count]
    for c in range(decided):
        work.z[c] = work.y[c]
    s = decided + lock_limits(work, general, decided, locked)
    shrink = 1.0
    for c in range(n):
        work.wished[c] = work.wish[c] if wishes else 0.0
    if wishes:
        to_coordinates(work, 0, s, work.wished)
        shrink /= 1.0 + damping * damping
    for c in range(s, n):
        work.z[c] = work.wished[c] * shrink
    finish_face(work, s)


@inner_kernel
def finish_face(work: LevelsWork, used: int) -> None:
    """Transform the solution of a face from coordinates `z` to a step, in `trial_point`."""
    for c in range(work.n):
        work.trial_point[c] = work.z[c]
    from_coordinates(work, used, work.trial_point)


@inner_kernel
def _stay(work: LevelsWork, decided: int, used: int) -> None:
    """Leave the coordinates that no row of an undamped level uses at their values in the level's starting point."""
    n, moving = work.n, 0
    for c in range(decided, n):
        work.row[c] = work.y[c]
        moving += work.y[c] != 0.0
    if moving > 0:
        to_coordinates(work, decided, used, work.row)
    for c in range(used, n):
        work.z[c] = work.row[c]


@inner_kernel
def subtract(work: LevelsWork, table: Array, point: Array, first: int, m: int, begin: int, end: int) -> None:
    """Subtract (rows `first` … `first + m`) times `point` from `residual`, over the coordinates `begin` ≤ c < `end`."""
    f, e = uint64(first), uint64(first + m)
    for c in range(uint64(begin), uint64(end)):
        value = point[c]
        for r in range(f, e):
            work.residual[r] -= table[c, r] * value


@inner_kernel
def substitute(work: LevelsWork, table: Array, point: Array, first: int, m: int, s: int, rank: int) -> None:
    """Solve the triangular rows for `point` by forward substitution; subtracts the solved rows from `residual`."""
    f, e = uint64(first), uint64(first + m)
    for i in range(rank):
        q, c = uint64(work.order[i]), uint64(s + i)
        value = work.residual[q] / table[c, q]
        point[c] = value
        for r in range(f, e):
            work.residual[r] -= table[c, r] * value


@inner_kernel
def _least_squares(work: LevelsWork, m: int, s: int, rank: int, damping: float) -> None:
    """Minimise |L z - r|² + λ² |z|², r the `residual`, by QR factorisation of [L; λ 1]."""
    height = m + rank if damping > MIN_DAMPING else m
    for c in range(rank):
        for r in range(m):
            work.small_problem[c, r] = work.level_rows[s + c, work.order[r]]
        for r in range(m, height):
            work.small_problem[c, r] = 0.0
        if height > m:
            work.small_problem[c, m + c] = damping
    for r in range(height):
        work.right[r] = work.residual[work.order[r]] if r < m else 0.0
    for c in range(rank):
        size = _small_dot(work, c, c, c, height)
        root = math.sqrt(size)
        here = work.small_problem[c, c]
        pivot = -root if here > 0.0 else root
        work.small_problem[c, c] = here - pivot
        factor, along = 1.0 / (size - pivot * here), 0.0
        for d in range(c + 1, rank):
            total = factor * _small_dot(work, c, d, c, height)
            for r in range(c, height):
                work.small_problem[d, r] -= total * work.small_problem[c, r]
        for r in range(c, height):
            along += work.small_problem[c, r] * work.right[r]
        along *= factor
        for r in range(c, height):
            work.right[r] -= along * work.small_problem[c, r]
        work.small_problem[c, c] = pivot
    for c in range(rank - 1, -1, -1):
        value = work.right[c] / work.small_problem[c, c]
        work.z[s + c] = value
        for d in range(c):
            work.right[d] -= work.small_problem[c, d] * value


@inner_kernel
def _small_dot(work: LevelsWork, i: int, j: int, first: int, end: int) -> float:
    """Dot product of columns `i` and `j` of the small problem over rows `first` ≤ r < `end`."""
    total = 0.0
    for r in range(uint64(first), uint64(end)):
        total += work.small_problem[i, r] * work.small_problem[j, r]
    return total


@inner_kernel
def block_of(r: int) -> int:
    """First row of the block that contains row `r`."""
    return r // ROW_BLOCK * ROW_BLOCK


@inner_kernel
def dot(a: Array, b: Array, first: int, end: int) -> float:
    """Dot product of `a` and `b` over `first` ≤ c < `end`, as four partial sums."""
    begin, stop = uint64(first), uint64(end)
    last = begin + (stop - begin) // uint64(4) * uint64(4)
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    for c in range(begin, last, uint64(4)):
        c1, c2, c3 = c + uint64(1), c + uint64(2), c + uint64(3)
        s0 += a[c] * b[c]
        s1 += a[c1] * b[c1]
        s2 += a[c2] * b[c2]
        s3 += a[c3] * b[c3]
    for c in range(last, stop):
        s0 += a[c] * b[c]
    return s0 + s1 + (s2 + s3)


@inner_kernel
def make_reflector(work: LevelsWork, place: int, size: float) -> float:
    """Make the reflection that maps the tail of `row`, from `place` on, to its first entry; returns that entry.

    `size` is the squared length of the tail.
    """
    j, n = uint64(place), uint64(work.n)
    for c in range(j, n):
        work.reflectors[j, c] = work.row[c]
    head = work.row[j]
    pivot = -math.sqrt(size) if head > 0.0 else math.sqrt(size)
    work.reflectors[j, j] = head - pivot
    work.scales[j] = 1.0 / (size - pivot * head)
    return pivot


@inner_kernel
def reflect(work: LevelsWork, place: int, line: Array) -> None:
    """line ← line H_j, j = `place`."""
    j, n = uint64(place), uint64(work.n)
    last = j + (n - j) // uint64(4) * uint64(4)
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    for c in range(j, last, uint64(4)):
        c1, c2, c3 = c + uint64(1), c + uint64(2), c + uint64(3)
        s0 += work.reflectors[j, c] * line[c]
        s1 += work.reflectors[j, c1] * line[c1]
        s2 += work.reflectors[j, c2] * line[c2]
        s3 += work.reflectors[j, c3] * line[c3]
    for c in range(last, n):
        s0 += work.reflectors[j, c] * line[c]
    total = work.scales[j] * (s0 + s1 + (s2 + s3))
    for c in range(j, n):
        line[c] -= total * work.reflectors[j, c]


@inner_kernel
def to_coordinates(work: LevelsWork, first: int, end: int, line: Array) -> None:
    """line ← line H_first … H_{end-1}: from joint rates to coordinates."""
    for j in range(first, end):
        reflect(work, j, line)


@inner_kernel
def from_coordinates(work: LevelsWork, count: int, line: Array) -> None:
    """line ← H_0 … H_{count-1} line: from coordinates to joint rates."""
    for j in range(count - 1, -1, -1):
        reflect(work, j, line)


@inner_kernel
def reflect_columns(work: LevelsWork, place: int, table: Array, first: int, end: int) -> None:
    """row ← row H_j, j = `place`, for the rows stored as columns `first` ≤ r < `end` of `table`.

    Both ends must be multiples of ROW_BLOCK.
    """
    j, n = uint64(place), uint64(work.n)
    scale = work.scales[j]
    for r in range(uint64(first), uint64(end), uint64(ROW_BLOCK)):
        r1, r2, r3, r4 = r + uint64(1), r + uint64(2), r + uint64(3), r + uint64(4)
        r5, r6, r7 = r + uint64(5), r + uint64(6), r + uint64(7)
        s0, s1, s2, s3, s4, s5, s6, s7 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for c in range(j, n):
            v = work.reflectors[j, c]
            s0 += v * table[c, r]
            s1 += v * table[c, r1]
            s2 += v * table[c, r2]
            s3 += v * table[c, r3]
            s4 += v * table[c, r4]
            s5 += v * table[c, r5]
            s6 += v * table[c, r6]
            s7 += v * table[c, r7]
        s0, s1, s2, s3 = scale * s0, scale * s1, scale * s2, scale * s3
        s4, s5, s6, s7 = scale * s4, scale * s5, scale * s6, scale * s7
        for c in range(j, n):
            v = work.reflectors[j, c]
            a0, a1, a2, a3 = table[c, r], table[c, r1], table[c, r2], table[c, r3]
            a4, a5, a6, a7 = table[c, r4], table[c, r5], table[c, r6], table[c, r7]
            table[c, r] = a0 - v * s0
            table[c, r1] = a1 - v * s1
            table[c, r2] = a2 - v * s2
            table[c, r3] = a3 - v * s3
            table[c, r4] = a4 - v * s4
            table[c, r5] = a5 - v * s5
            table[c, r6] = a6 - v * s6
            table[c, r7] = a7 - v * s7
