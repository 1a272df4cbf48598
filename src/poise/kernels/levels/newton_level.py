"""A level with curvature, solved by Newton's method on a face: see `levels` for the method.

Write x = x_s + Z t, with x_s the decided part of the step and Z a basis of the undecided directions. Level k then
minimises ½ tᵀ (B + λ² 1) t - gᵀ t with

    B = (A Z)ᵀ (A Z) + Zᵀ S Z,    g = Zᵀ (Aᵀ (b - A x_s) - S x_s).

Where B + λ² 1 is not positive definite on the face, a shift δ 1 is added, with the smallest δ of a geometric series
that makes it positive definite: the step is then shorter, but still a descent direction. A direction of negative
curvature is kept for the caller, who may be at a saddle point. The levels below may move in the null space of B, along
which the level does not change to second order.
"""

import math

import numpy as np
from numpy import uint64

from poise.kernels.jit.compile import inner_kernel
from poise.kernels.levels.equality_solve import finish_face, lock_limits, reduce_rows
from poise.kernels.levels.householder import (
    block_of,
    dot,
    from_coordinates,
    make_reflector,
    reflect,
    reflect_columns,
    to_coordinates,
)
from poise.kernels.levels.problem import (
    BASIS,
    COLUMNS,
    DAMPING,
    DOWNHILL,
    ESCAPE,
    ESCAPE_LEVEL,
    FACE_HESSIAN,
    FACTOR,
    GRADIENT,
    HESSIAN,
    HESSIAN_RANK_TOLERANCE,
    LEVEL_COUNT,
    LEVEL_START,
    PRODUCT,
    REFLECTORS,
    ROW_BLOCK,
    SCALARS,
    SCALES,
    SHIFT,
    TARGET,
    WISH,
    WISHED,
    WORK_ROW,
    Y,
    Z,
)

Array = np.ndarray

FLAT_PIVOT = 1e-9
"""Pivot, as a share of the largest diagonal entry, below which a Hessian is not positive definite."""
FIRST_SHIFT, SHIFT_GROWTH, MAX_SHIFTS = 1e-3, 4.0, 40
"""First shift, as a share of the largest diagonal entry, its growth per attempt, and the number of attempts."""
STEEP_SLOPE = 1e-3
"""Slope of a level's squared error, as a share of its target, above which the level still has a descent direction."""
POWER_STEPS = 5
"""Inverse iterations that turn a direction of negative curvature towards the most negative one."""


@inner_kernel
def prepare_curved(tables: Array, lines: Array, whole: Array, curvature: Array, k: int, decided: int) -> None:
    """Compute the Hessian and the negative gradient of curved level `k` in the undecided coordinates."""
    n, first = tables.shape[1], whole[LEVEL_START, k]
    m = whole[LEVEL_START, k + 1] - first
    _curve(tables, lines, curvature, k, decided)
    for c in range(n):
        lines[WORK_ROW, c] = lines[Y, c] if c < decided else 0.0
    from_coordinates(tables, lines, decided, WORK_ROW)
    begin, end = uint64(decided), uint64(n)
    for d in range(begin, end):
        lines[GRADIENT, d] = 0.0
    for a in range(n):
        value = lines[WORK_ROW, a]
        for d in range(begin, end):
            lines[GRADIENT, d] -= tables[PRODUCT, a, d] * value
    if k == whole[SCALARS, LEVEL_COUNT]:
        for c in range(n):
            lines[WISHED, c] = lines[WISH, c]
        to_coordinates(tables, lines, 0, decided, WISHED)
        for c in range(begin, end):
            lines[GRADIENT, c] += lines[WISHED, c]
            tables[HESSIAN, c, c] += 1.0
    for r in range(m):
        total = lines[TARGET, first + r]
        for c in range(decided):
            total -= tables[COLUMNS, c, first + r] * lines[Y, c]
        for c in range(begin, end):
            lines[WORK_ROW, c] = tables[COLUMNS, c, first + r]
        for c in range(begin, end):
            value = lines[WORK_ROW, c]
            lines[GRADIENT, c] += value * total
            for d in range(c, end):
                tables[HESSIAN, c, d] += value * lines[WORK_ROW, d]
    for c in range(begin, end):
        for d in range(begin, c):
            tables[HESSIAN, c, d] = tables[HESSIAN, d, c]


@inner_kernel
def _curve(tables: Array, lines: Array, curvature: Array, k: int, decided: int) -> None:
    """Compute S Z into PRODUCT, and the upper triangle of Zᵀ S Z into HESSIAN."""
    n = tables.shape[1]
    begin, end, size = uint64(block_of(decided)), uint64(block_of(n + ROW_BLOCK - 1)), uint64(n)
    for c in range(size):
        for d in range(begin, end):
            tables[BASIS, c, d] = 0.0
            tables[HESSIAN, c, d] = 0.0
    for d in range(decided, n):
        tables[BASIS, d, d] = 1.0
    for j in range(decided - 1, -1, -1):
        reflect_columns(tables, lines, j, BASIS, begin, end)  # type: ignore[arg-type]
    for a in range(size):
        if not _multiply(tables, curvature, k, a, begin, end):  # type: ignore[arg-type]
            continue
        for c in range(uint64(decided), size):
            value = tables[BASIS, a, c]
            for d in range(c, end):
                tables[HESSIAN, c, d] += value * tables[PRODUCT, a, d]


@inner_kernel
def _multiply(tables: Array, curvature: Array, k: int, a: int, begin: int, end: int) -> bool:
    """Compute row `a` of PRODUCT = S BASIS; returns False when it is zero, as for joints of different limbs."""
    size, first, last = uint64(tables.shape[1]), uint64(begin), uint64(end)
    for d in range(first, last):
        tables[PRODUCT, a, d] = 0.0
    some = False
    for c in range(size):
        value = curvature[k, a, c]
        if value == 0.0:
            continue
        some = True
        for d in range(first, last):
            tables[PRODUCT, a, d] += value * tables[BASIS, c, d]
    return some


@inner_kernel
def _turn(tables: Array, lines: Array, decided: int, s: int) -> None:
    """Apply the reflections of the locked limits to the Hessian and the negative gradient.

    For each reflection H B H = B - v wᵀ - w vᵀ, with w in WORK_ROW.
    """
    begin, end = uint64(decided), uint64(tables.shape[1])
    for c in range(begin, end):
        lines[DOWNHILL, c] = lines[GRADIENT, c]
        for d in range(begin, end):
            tables[FACE_HESSIAN, c, d] = tables[HESSIAN, c, d]
    for j in range(begin, uint64(s)):
        reflect(tables, lines, j, DOWNHILL)
        scale = lines[SCALES, j]
        for d in range(begin, end):
            lines[WORK_ROW, d] = 0.0
        for c in range(j, end):
            v = scale * tables[REFLECTORS, j, c]
            for d in range(begin, end):
                lines[WORK_ROW, d] += v * tables[FACE_HESSIAN, c, d]
        along = 0.0
        for c in range(j, end):
            along += tables[REFLECTORS, j, c] * lines[WORK_ROW, c]
        for c in range(j, end):
            lines[WORK_ROW, c] -= 0.5 * scale * along * tables[REFLECTORS, j, c]
        for c in range(begin, end):
            w = lines[WORK_ROW, c]
            for d in range(j, end):
                tables[FACE_HESSIAN, c, d] -= w * tables[REFLECTORS, j, d]
        for c in range(j, end):
            v = tables[REFLECTORS, j, c]
            for d in range(begin, end):
                tables[FACE_HESSIAN, c, d] -= v * lines[WORK_ROW, d]


@inner_kernel
def solve_curved(tables: Array, lines: Array, whole: Array, general: Array, k: int, decided: int, locked: int) -> None:
    """Find the optimum of curved level `k` with the limits in line `locked` as equalities, in TRIAL_POINT.

    The shift never shrinks from face to face, so that all faces belong to one convex problem.
    """
    n, square = tables.shape[1], lines[DAMPING, k] * lines[DAMPING, k]
    for c in range(decided):
        lines[Z, c] = lines[Y, c]
    s = decided + lock_limits(tables, lines, whole, general, decided, locked)
    _turn(tables, lines, decided, s)
    largest = square
    for c in range(s, n):
        largest = max(largest, abs(tables[FACE_HESSIAN, c, c]) + square)
    for c in range(decided, s):
        for d in range(s, n):
            lines[DOWNHILL, d] -= tables[FACE_HESSIAN, c, d] * lines[Z, c]
    failed = _factor(tables, lines, s, square + lines[SHIFT, k], FLAT_PIVOT * largest)
    if whole[SCALARS, ESCAPE_LEVEL] == k:
        whole[SCALARS, ESCAPE_LEVEL] = -1
        lines[ESCAPE, n] = 0.0
    if failed >= 0:
        first = whole[SCALARS, ESCAPE_LEVEL] < 0
        if first:
            _begin_escape(tables, lines, failed, s)
        for _ in range(MAX_SHIFTS):
            shift = SHIFT_GROWTH * lines[SHIFT, k] if lines[SHIFT, k] > 0.0 else FIRST_SHIFT * max(largest, 1e-6)
            lines[SHIFT, k] = shift
            if _factor(tables, lines, s, square + shift, FLAT_PIVOT * largest) < 0:
                break
        if first and _escape(tables, lines, s, square):
            whole[SCALARS, ESCAPE_LEVEL] = k
            _refine_shift(tables, lines, k, s, square, FLAT_PIVOT * largest)
    for c in range(s, n):
        lines[Z, c] = lines[DOWNHILL, c]
    _solve_factored(tables, lines, s, Z)
    finish_face(tables, lines, s)


@inner_kernel
def _refine_shift(tables: Array, lines: Array, k: int, s: int, square: float, flat: float) -> None:
    """Reduce the shift to twice the most negative curvature, which flips its sign, where that is enough."""
    found, reflected = lines[SHIFT, k], -2.0 * lines[ESCAPE, tables.shape[1]]
    if reflected >= found:
        return
    lines[SHIFT, k] = reflected
    if _factor(tables, lines, s, square + reflected, flat) >= 0:
        lines[SHIFT, k] = found
        _factor(tables, lines, s, square + found, flat)


@inner_kernel
def _factor(tables: Array, lines: Array, s: int, added: float, flat: float) -> int:
    """Factorise the free block, with `added` on its diagonal, as L D Lᵀ; returns the row that failed, or -1.

    D Lᵀ is stored in the upper triangle. A direction without curvature and without gradient is left out: its pivot is
    set to 0.
    """
    begin, n = uint64(s), uint64(tables.shape[1])
    pulled = 0.0
    for c in range(begin, n):
        lines[WORK_ROW, c] = lines[DOWNHILL, c]
        pulled = max(pulled, abs(lines[WORK_ROW, c]))
        for d in range(c, n):
            tables[FACTOR, c, d] = tables[FACE_HESSIAN, c, d]
        tables[FACTOR, c, c] += added
    for j in range(begin, n):
        pivot, pull, next_row = tables[FACTOR, j, j], lines[WORK_ROW, j], j + uint64(1)
        if pivot <= flat:
            beside = 0.0
            for d in range(next_row, n):
                beside = max(beside, abs(tables[FACTOR, j, d]))
            if pivot < -flat or abs(pull) > FLAT_PIVOT * pulled or beside > flat:
                return s + int(j - begin)
            tables[FACTOR, j, j] = 0.0
            continue
        inverse = 1.0 / pivot
        for c in range(next_row, n):
            share = tables[FACTOR, j, c] * inverse
            lines[WORK_ROW, c] -= share * pull
            for d in range(c, n):
                tables[FACTOR, c, d] -= share * tables[FACTOR, j, d]
    return -1


@inner_kernel
def minds_all(tables: Array, lines: Array, k: int, s: int) -> bool:
    """Whether the Hessian of curved level `k` has full rank, so that the levels below have no freedom left."""
    if lines[DAMPING, k] > 0.0 or lines[SHIFT, k] > 0.0:
        return False
    least, most = math.inf, 1.0
    for c in range(s, tables.shape[1]):
        least, most = min(least, tables[FACTOR, c, c]), max(most, tables[FACTOR, c, c])
    return least > HESSIAN_RANK_TOLERANCE * most


@inner_kernel
def _solve_factored(tables: Array, lines: Array, s: int, which: int) -> None:
    """line ← (L D Lᵀ)⁻¹ line from coordinate `s` on."""
    n = tables.shape[1]
    for j in range(s, n):
        if tables[FACTOR, j, j] > 0.0:
            share = lines[which, j] / tables[FACTOR, j, j]
            for d in range(j + 1, n):
                lines[which, d] -= tables[FACTOR, j, d] * share
    for j in range(n - 1, s - 1, -1):
        if tables[FACTOR, j, j] > 0.0:
            total = lines[which, j]
            for d in range(j + 1, n):
                total -= tables[FACTOR, j, d] * lines[which, d]
            lines[which, j] = total / tables[FACTOR, j, j]
        else:
            lines[which, j] = 0.0


@inner_kernel
def factor_curved(
    tables: Array, lines: Array, whole: Array, general: Array, k: int, decided: int, held: int
) -> tuple[int, int]:
    """Factorise the `held` limits and the Hessian on their face; returns the number of locks and the rank."""
    n = tables.shape[1]
    count = lock_limits(tables, lines, whole, general, decided, held)
    s = decided + count
    _turn(tables, lines, decided, s)
    if s == n:
        return count, 0
    for c in range(decided, s):
        for d in range(s, n):
            lines[DOWNHILL, d] -= tables[FACE_HESSIAN, c, d] * lines[Z, c]
    rank = reduce_rows(
        tables, lines, whole, FACE_HESSIAN, s, n - s, s, block_of(n + ROW_BLOCK - 1), HESSIAN_RANK_TOLERANCE
    )
    return count, rank + _keep_downhill(tables, lines, whole, k, s, s + rank)


@inner_kernel
def _keep_downhill(tables: Array, lines: Array, whole: Array, k: int, s: int, used: int) -> int:
    """Reserve the gradient's component in the null space of the Hessian by one reflection; returns how many were added.

    Where the curvature along a direction changes sign, the Hessian vanishes there although the level still improves
    along it: the levels below must not use that direction.
    """
    n, size = tables.shape[1], 0.0
    if used == n:
        return 0
    for r in range(whole[LEVEL_START, k], whole[LEVEL_START, k + 1]):
        size += lines[TARGET, r] * lines[TARGET, r]
    for c in range(n):
        lines[WORK_ROW, c] = lines[DOWNHILL, c]
    to_coordinates(tables, lines, s, used, WORK_ROW)
    tail = dot(lines, WORK_ROW, lines, WORK_ROW, used, n)
    if tail <= STEEP_SLOPE * STEEP_SLOPE * size:
        return 0
    make_reflector(tables, lines, used, tail)
    return 1


@inner_kernel
def _begin_escape(tables: Array, lines: Array, failed: int, s: int) -> None:
    """Start the search for a direction of negative curvature from a factorisation that failed, in coordinates.

    From the failed row on, the factor holds the Schur complement of the Hessian; a pivot near zero with a nonzero entry
    beside it has negative curvature in the plane of both. The coordinate axis of least curvature is added, because the
    direction found may be an eigenvector that is orthogonal to the most negative one.
    """
    n = tables.shape[1]
    for c in range(n):
        lines[ESCAPE, c] = 0.0
    lines[ESCAPE, failed] = 1.0
    partner = failed
    for d in range(failed + 1, n):
        if abs(tables[FACTOR, failed, d]) > abs(tables[FACTOR, failed, partner]):
            partner = d
    if partner != failed:
        beside = tables[FACTOR, failed, partner]
        lines[ESCAPE, partner] = -math.copysign(
            min(1.0, abs(beside) / (abs(tables[FACTOR, partner, partner]) + abs(beside))), beside
        )
    for j in range(failed - 1, s - 1, -1):
        if tables[FACTOR, j, j] > 0.0:
            total = 0.0
            for d in range(j + 1, n):
                total -= tables[FACTOR, j, d] * lines[ESCAPE, d]
            lines[ESCAPE, j] = total / tables[FACTOR, j, j]
    least = s
    for c in range(s, n):
        if tables[FACE_HESSIAN, c, c] < tables[FACE_HESSIAN, least, least]:
            least = c
    lines[ESCAPE, least] += 1.0


@inner_kernel
def _escape(tables: Array, lines: Array, s: int, square: float) -> bool:
    """Refine ESCAPE by inverse iteration towards the most negative curvature; returns whether that is negative."""
    n = tables.shape[1]
    for _ in range(POWER_STEPS):
        _solve_factored(tables, lines, s, ESCAPE)
        size = 0.0
        for c in range(s, n):
            size += lines[ESCAPE, c] * lines[ESCAPE, c]
        if size == 0.0:
            return False
        size = 1.0 / math.sqrt(size)
        for c in range(s, n):
            lines[ESCAPE, c] *= size
    curvature, slope = square, 0.0
    for c in range(s, n):
        total = 0.0
        for d in range(s, n):
            total += tables[FACE_HESSIAN, c, d] * lines[ESCAPE, d]
        curvature += total * lines[ESCAPE, c]
        slope += lines[DOWNHILL, c] * lines[ESCAPE, c]
    if curvature >= 0.0:
        return False
    if slope < 0.0:
        for c in range(s, n):
            lines[ESCAPE, c] = -lines[ESCAPE, c]
    from_coordinates(tables, lines, s, ESCAPE)
    lines[ESCAPE, n] = curvature
    return True
