"""A level with curvature on a face: see `levels` for the method.

In the undecided coordinates, x = x_s + Z t with x_s what is decided, level k minimises ½ tᵀ (B + λ² 1) t - gᵀ t,

    B = (A Z)ᵀ (A Z) + Zᵀ S Z,    g = Zᵀ (Aᵀ (b - A x_s) - S x_s).

Where B + λ² 1 is not positive definite on the face, δ 1 is added with the least δ of a geometric series that makes it
so: the step is then shorter, but downhill. A direction of negative curvature is kept for the caller, who may be at a
saddle. What is handed down is the null space of B: along it the level does not mind, to second order.
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
    BLOCK,
    COLUMNS,
    CURVED_RANK,
    DAMPING,
    DOWNHILL,
    ESCAPE,
    ESCAPING,
    FACTOR,
    GRADIENT,
    HESSIAN,
    LEVELS,
    PRODUCT,
    REFLECTORS,
    ROW,
    SCALES,
    SHIFT,
    START,
    STATE,
    TARGET,
    TURNED,
    WISH,
    WISHED,
    Y,
    Z,
)

Array = np.ndarray

FLAT = 1e-9
"""Pivot, against the largest diagonal entry, below which a Hessian is not positive definite."""
FIRST_SHIFT, SHIFT_GROWTH, MAX_SHIFTS = 1e-3, 4.0, 40
STEEP = 1e-3
"""Slope of a level's error that counts, against the size of the error."""
POWER_STEPS = 5
"""Inverse iterations that turn a direction of negative curvature towards the most negative one."""


@inner_kernel
def prepare_curved(tables: Array, lines: Array, whole: Array, curvature: Array, k: int, decided: int) -> None:
    """Hessian and downhill direction of curved level `k` in the undecided coordinates."""
    n, first = tables.shape[1], whole[START, k]
    m = whole[START, k + 1] - first
    _curve(tables, lines, curvature, k, decided)
    for c in range(n):
        lines[ROW, c] = lines[Y, c] if c < decided else 0.0
    from_coordinates(tables, lines, decided, ROW)
    begin, end = uint64(decided), uint64(n)
    for d in range(begin, end):
        lines[GRADIENT, d] = 0.0
    for a in range(n):
        value = lines[ROW, a]
        for d in range(begin, end):
            lines[GRADIENT, d] -= tables[PRODUCT, a, d] * value
    if k == whole[STATE, LEVELS]:
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
            lines[ROW, c] = tables[COLUMNS, c, first + r]
        for c in range(begin, end):
            value = lines[ROW, c]
            lines[GRADIENT, c] += value * total
            for d in range(c, end):
                tables[HESSIAN, c, d] += value * lines[ROW, d]
    for c in range(begin, end):
        for d in range(begin, c):
            tables[HESSIAN, c, d] = tables[HESSIAN, d, c]


@inner_kernel
def _curve(tables: Array, lines: Array, curvature: Array, k: int, decided: int) -> None:
    """Zᵀ S Z above its diagonal, and S Z on the way."""
    n = tables.shape[1]
    begin, end, size = uint64(block_of(decided)), uint64(block_of(n + BLOCK - 1)), uint64(n)
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
    """Row `a` of PRODUCT = S BASIS; False when it is zero: joints of different limbs share no curvature."""
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
    """Hessian and downhill direction through the locks of a face, H B H = B - v wᵀ - w vᵀ; w is in ROW."""
    begin, end = uint64(decided), uint64(tables.shape[1])
    for c in range(begin, end):
        lines[DOWNHILL, c] = lines[GRADIENT, c]
        for d in range(begin, end):
            tables[TURNED, c, d] = tables[HESSIAN, c, d]
    for j in range(begin, uint64(s)):
        reflect(tables, lines, j, DOWNHILL)
        scale = lines[SCALES, j]
        for d in range(begin, end):
            lines[ROW, d] = 0.0
        for c in range(j, end):
            v = scale * tables[REFLECTORS, j, c]
            for d in range(begin, end):
                lines[ROW, d] += v * tables[TURNED, c, d]
        along = 0.0
        for c in range(j, end):
            along += tables[REFLECTORS, j, c] * lines[ROW, c]
        for c in range(j, end):
            lines[ROW, c] -= 0.5 * scale * along * tables[REFLECTORS, j, c]
        for c in range(begin, end):
            w = lines[ROW, c]
            for d in range(j, end):
                tables[TURNED, c, d] -= w * tables[REFLECTORS, j, d]
        for c in range(j, end):
            v = tables[REFLECTORS, j, c]
            for d in range(begin, end):
                tables[TURNED, c, d] -= v * lines[ROW, d]


@inner_kernel
def solve_curved(tables: Array, lines: Array, whole: Array, general: Array, k: int, decided: int, locked: int) -> None:
    """Optimum of curved level `k` with the limits in line `locked` as equalities, in TRIAL.

    Its shift never shrinks from face to face, so that all faces end up in one convex problem.
    """
    n, square = tables.shape[1], lines[DAMPING, k] * lines[DAMPING, k]
    for c in range(decided):
        lines[Z, c] = lines[Y, c]
    s = decided + lock_limits(tables, lines, whole, general, decided, locked)
    _turn(tables, lines, decided, s)
    largest = square
    for c in range(s, n):
        largest = max(largest, abs(tables[TURNED, c, c]) + square)
    for c in range(decided, s):
        for d in range(s, n):
            lines[DOWNHILL, d] -= tables[TURNED, c, d] * lines[Z, c]
    failed = _factor(tables, lines, s, square + lines[SHIFT, k], FLAT * largest)
    if whole[STATE, ESCAPING] == k:
        whole[STATE, ESCAPING] = -1
        lines[ESCAPE, n] = 0.0
    if failed >= 0:
        first = whole[STATE, ESCAPING] < 0
        if first:
            _begin_escape(tables, lines, failed, s)
        for _ in range(MAX_SHIFTS):
            shift = SHIFT_GROWTH * lines[SHIFT, k] if lines[SHIFT, k] > 0.0 else FIRST_SHIFT * max(largest, 1e-6)
            lines[SHIFT, k] = shift
            if _factor(tables, lines, s, square + shift, FLAT * largest) < 0:
                break
        if first and _escape(tables, lines, s, square):
            whole[STATE, ESCAPING] = k
            _refine_shift(tables, lines, k, s, square, FLAT * largest)
    for c in range(s, n):
        lines[Z, c] = lines[DOWNHILL, c]
    _solve_factored(tables, lines, s, Z)
    finish_face(tables, lines, s)


@inner_kernel
def _refine_shift(tables: Array, lines: Array, k: int, s: int, square: float, flat: float) -> None:
    """Turn the most negative curvature into its opposite rather than into something larger, where that is enough."""
    found, reflected = lines[SHIFT, k], -2.0 * lines[ESCAPE, tables.shape[1]]
    if reflected >= found:
        return
    lines[SHIFT, k] = reflected
    if _factor(tables, lines, s, square + reflected, flat) >= 0:
        lines[SHIFT, k] = found
        _factor(tables, lines, s, square + found, flat)


@inner_kernel
def _factor(tables: Array, lines: Array, s: int, added: float, flat: float) -> int:
    """L D Lᵀ of the free block plus `added` on its diagonal, D Lᵀ above it; returns the row that failed or -1.

    A flat direction in which nothing pulls is left out: its pivot is set to 0.
    """
    begin, n = uint64(s), uint64(tables.shape[1])
    pulled = 0.0
    for c in range(begin, n):
        lines[ROW, c] = lines[DOWNHILL, c]
        pulled = max(pulled, abs(lines[ROW, c]))
        for d in range(c, n):
            tables[FACTOR, c, d] = tables[TURNED, c, d]
        tables[FACTOR, c, c] += added
    for j in range(begin, n):
        pivot, pull, next_row = tables[FACTOR, j, j], lines[ROW, j], j + uint64(1)
        if pivot <= flat:
            beside = 0.0
            for d in range(next_row, n):
                beside = max(beside, abs(tables[FACTOR, j, d]))
            if pivot < -flat or abs(pull) > FLAT * pulled or beside > flat:
                return s + int(j - begin)
            tables[FACTOR, j, j] = 0.0
            continue
        inverse = 1.0 / pivot
        for c in range(next_row, n):
            share = tables[FACTOR, j, c] * inverse
            lines[ROW, c] -= share * pull
            for d in range(c, n):
                tables[FACTOR, c, d] -= share * tables[FACTOR, j, d]
    return -1


@inner_kernel
def minds_all(tables: Array, lines: Array, k: int, s: int) -> bool:
    """Whether curved level `k`, as it was solved last, leaves the levels below it no direction at all."""
    if lines[DAMPING, k] > 0.0 or lines[SHIFT, k] > 0.0:
        return False
    least, most = math.inf, 1.0
    for c in range(s, tables.shape[1]):
        least, most = min(least, tables[FACTOR, c, c]), max(most, tables[FACTOR, c, c])
    return least > CURVED_RANK * most


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
    """Reflections of the `held` limits and of the range of the Hessian on them; counts of locks and of rank."""
    n = tables.shape[1]
    count = lock_limits(tables, lines, whole, general, decided, held)
    s = decided + count
    _turn(tables, lines, decided, s)
    if s == n:
        return count, 0
    for c in range(decided, s):
        for d in range(s, n):
            lines[DOWNHILL, d] -= tables[TURNED, c, d] * lines[Z, c]
    rank = reduce_rows(tables, lines, whole, TURNED, s, n - s, s, block_of(n + BLOCK - 1), CURVED_RANK)
    return count, rank + _keep_downhill(tables, lines, whole, k, s, s + rank)


@inner_kernel
def _keep_downhill(tables: Array, lines: Array, whole: Array, k: int, s: int, used: int) -> int:
    """One more reflection, if the level has a way down along what its Hessian says nothing of; how many.

    Where its curvature changes sign on the way, a Hessian vanishes by chance, and the level does mind.
    """
    n, size = tables.shape[1], 0.0
    if used == n:
        return 0
    for r in range(whole[START, k], whole[START, k + 1]):
        size += lines[TARGET, r] * lines[TARGET, r]
    for c in range(n):
        lines[ROW, c] = lines[DOWNHILL, c]
    to_coordinates(tables, lines, s, used, ROW)
    tail = dot(lines, ROW, lines, ROW, used, n)
    if tail <= STEEP * STEEP * size:
        return 0
    make_reflector(tables, lines, used, tail)
    return 1


@inner_kernel
def _begin_escape(tables: Array, lines: Array, failed: int, s: int) -> None:
    """A direction of negative curvature, in coordinates, from a factorisation that failed, if there is one.

    Beyond the failed row the factor holds what is left of the Hessian; a flat pivot with an entry beside it has
    negative curvature in the plane of both. The coordinate of least curvature joins in: the direction found may be an
    axis of its own, at right angles to the most negative one.
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
        if tables[TURNED, c, c] < tables[TURNED, least, least]:
            least = c
    lines[ESCAPE, least] += 1.0


@inner_kernel
def _escape(tables: Array, lines: Array, s: int, square: float) -> bool:
    """Turn the direction begun towards the most negative curvature and keep it; False when it is not negative."""
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
            total += tables[TURNED, c, d] * lines[ESCAPE, d]
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
