"""A level with curvature on a face: see `levels` for the method.

In the undecided coordinates, x = x_s + Z t with x_s what is decided, level k minimises ½ tᵀ (B + λ² 1) t - gᵀ t,

    B = (A Z)ᵀ (A Z) + Zᵀ S Z,    g = Zᵀ (Aᵀ (b - A x_s) - S x_s).

Where B + λ² 1 is not positive definite on the face, δ 1 is added with the least δ of a geometric series that makes it
so: the step is then shorter, but downhill. A direction of negative curvature is kept for the caller, who may be at a
saddle. What is handed down is the null space of B: along it the level does not mind, to second order.
"""

import math

import numpy as np

from poise.kernels.compile import inner_kernel
from poise.kernels.householder import block_of, from_coordinates, reflect, reflect_columns, to_coordinates
from poise.kernels.level_face import finish_face, lock_limits, reduce_columns, through_locks, zero_below
from poise.kernels.level_problem import COUNT, CURVED_RANK, ESCAPING, Levels, LevelsWork, rows_of

Array = np.ndarray

FLAT = 1e-9
"""Pivot, against the largest diagonal entry, below which a Hessian is not positive definite."""
FIRST_SHIFT, SHIFT_GROWTH, MAX_SHIFTS = 1e-3, 4.0, 40
POWER_STEPS = 5
"""Inverse iterations that turn a direction of negative curvature towards the most negative one."""


@inner_kernel
def prepare_curved(problem: Levels, work: LevelsWork, k: int, decided: int) -> None:
    """Hessian and downhill direction of curved level `k` in the undecided coordinates."""
    hessian, gradient, columns, y, row = work.hessian, work.gradient, work.columns, work.y, work.row
    wished, rest, target, wish = work.wished, work.rest, problem.target, problem.wish
    first, m = rows_of(problem.start, k)
    n = y.shape[0]
    _curve(problem, work, k, decided)
    for c in range(n):
        row[c] = y[c] if c < decided else 0.0
        wished[c] = wish[c]
    from_coordinates(work.reflectors, work.scales, decided, row)
    _pull_of_curvature(work, decided, row)
    if k == problem.start.shape[0] - 1:
        to_coordinates(work.reflectors, work.scales, decided, wished)
        for c in range(decided, n):
            gradient[c] += wished[c]
            hessian[c, c] += 1.0
        return
    for r in range(m):
        rest[r] = target[first + r]
        for c in range(decided):
            rest[r] -= columns[c, first + r] * y[c]
    for c in range(decided, n):
        for r in range(first, first + m):
            gradient[c] += columns[c, r] * rest[r - first]
            for d in range(decided, n):
                hessian[c, d] += columns[c, r] * columns[d, r]


@inner_kernel
def _curve(problem: Levels, work: LevelsWork, k: int, decided: int) -> None:
    """Zᵀ S Z, and S Z on the way."""
    curvature, basis, product, hessian = problem.curvature, work.basis, work.product, work.hessian
    n, border = basis.shape[0], block_of(decided)
    for c in range(n):
        for d in range(border, basis.shape[1]):
            basis[c, d] = 1.0 if c == d and d >= decided else 0.0
            product[c, d] = 0.0
            hessian[c, d] = 0.0
    for j in range(decided - 1, -1, -1):
        reflect_columns(work.reflectors, work.scales, j, basis, border, basis.shape[1], work.sums)
    begin, end = np.uint64(decided), np.uint64(n)
    for a in range(n):
        for c in range(n):
            value = curvature[k, a, c]
            for d in range(begin, end):
                product[a, d] += value * basis[c, d]
    for a in range(n):
        for c in range(decided, n):
            value = basis[a, c]
            for d in range(begin, end):
                hessian[c, d] += value * product[a, d]


@inner_kernel
def _pull_of_curvature(work: LevelsWork, decided: int, x: Array) -> None:
    """gradient = -Zᵀ S x."""
    product, gradient = work.product, work.gradient
    n = x.shape[0]
    for d in range(decided, n):
        gradient[d] = 0.0
    for a in range(n):
        for d in range(decided, n):
            gradient[d] -= product[a, d] * x[a]


@inner_kernel
def _turn(work: LevelsWork, decided: int, s: int) -> None:
    """Hessian and downhill direction through the locks of a face, H B H = B - v wᵀ - w vᵀ."""
    hessian, turned, gradient, downhill = work.hessian, work.turned, work.gradient, work.downhill
    reflectors, scales, w = work.reflectors, work.scales, work.row
    n = gradient.shape[0]
    for c in range(decided, n):
        downhill[c] = gradient[c]
        for d in range(decided, n):
            turned[c, d] = hessian[c, d]
    for j in range(decided, s):
        reflect(reflectors, scales, j, downhill)
        scale = scales[j]
        for d in range(decided, n):
            w[d] = 0.0
        for c in range(j, n):
            v = scale * reflectors[j, c]
            for d in range(decided, n):
                w[d] += v * turned[c, d]
        along = 0.0
        for c in range(j, n):
            along += reflectors[j, c] * w[c]
        for c in range(j, n):
            w[c] -= 0.5 * scale * along * reflectors[j, c]
        for c in range(decided, n):
            v = reflectors[j, c] if c >= j else 0.0
            for d in range(j, n):
                turned[c, d] -= w[c] * reflectors[j, d]
            for d in range(decided, n):
                turned[c, d] -= v * w[d]


@inner_kernel
def solve_curved(problem: Levels, work: LevelsWork, k: int, decided: int, locked: Array) -> int:
    """Optimum of curved level `k` with the `locked` limits as equalities, in `work.trial`; count of locks.

    `work.shift[k]` never shrinks from face to face, so that all faces end up in one convex problem.
    """
    y, z, turned, downhill, shift, row = work.y, work.z, work.turned, work.downhill, work.shift, work.row
    n, square = y.shape[0], problem.damping[k] * problem.damping[k]
    for c in range(decided):
        z[c] = y[c]
    count = lock_limits(problem, work, decided, locked)
    s = decided + count
    _turn(work, decided, s)
    largest = square
    for c in range(s, n):
        largest = max(largest, abs(turned[c, c]) + square)
    for c in range(s, n):
        row[c] = downhill[c]
    for c in range(decided, s):
        for d in range(s, n):
            row[d] -= turned[c, d] * z[c]
    for c in range(s, n):
        downhill[c] = row[c]
    failed = _factor(work, s, square + shift[k], FLAT * largest)
    if work.state[ESCAPING] == k:
        work.state[ESCAPING] = -1
        work.escape_curvature[0] = 0.0
    if failed >= 0:
        if work.state[ESCAPING] < 0:
            _begin_escape(work, failed, s)
        for _ in range(MAX_SHIFTS):
            shift[k] = SHIFT_GROWTH * shift[k] if shift[k] > 0.0 else FIRST_SHIFT * max(largest, 1e-6)
            if _factor(work, s, square + shift[k], FLAT * largest) < 0:
                break
        if work.state[ESCAPING] < 0:
            _escape(work, k, s, square)
    for c in range(s, n):
        z[c] = downhill[c]
    _solve_factored(work, s, z)
    finish_face(work.reflectors, work.scales, s, z, work.trial)
    return count


@inner_kernel
def _factor(work: LevelsWork, s: int, added: float, flat: float) -> int:
    """L D Lᵀ of the free block plus `added` on its diagonal, D Lᵀ above it; returns the row that failed or -1.

    A flat direction in which nothing pulls is left out: its pivot is set to 0.
    """
    turned, factor, downhill, w = work.turned, work.factor, work.downhill, work.row
    n = downhill.shape[0]
    pulled = 0.0
    for c in range(s, n):
        w[c] = downhill[c]
        pulled = max(pulled, abs(w[c]))
        for d in range(c, n):
            factor[c, d] = turned[c, d]
        factor[c, c] += added
    for j in range(s, n):
        pivot = factor[j, j]
        if pivot <= flat:
            if pivot < -flat or abs(w[j]) > FLAT * pulled:
                return j
            for d in range(j + 1, n):
                if abs(factor[j, d]) > flat:
                    return j
            factor[j, j] = 0.0
            continue
        inverse = 1.0 / pivot
        for c in range(j + 1, n):
            share = factor[j, c] * inverse
            w[c] -= share * w[j]
            for d in range(np.uint64(c), np.uint64(n)):
                factor[c, d] -= share * factor[j, d]
    return -1


@inner_kernel
def _solve_factored(work: LevelsWork, s: int, z: Array) -> None:
    """z ← (L D Lᵀ)⁻¹ z from coordinate `s` on."""
    factor = work.factor
    n = z.shape[0]
    for j in range(s, n):
        if factor[j, j] > 0.0:
            share = z[j] / factor[j, j]
            for d in range(j + 1, n):
                z[d] -= factor[j, d] * share
    for j in range(n - 1, s - 1, -1):
        if factor[j, j] > 0.0:
            total = z[j]
            for d in range(j + 1, n):
                total -= factor[j, d] * z[d]
            z[j] = total / factor[j, j]
        else:
            z[j] = 0.0


@inner_kernel
def _begin_escape(work: LevelsWork, failed: int, s: int) -> None:
    """A direction of negative curvature, in coordinates, from a factorisation that failed, if there is one.

    Beyond the failed row the factor holds what is left of the Hessian; a flat pivot with an entry beside it has
    negative curvature in the plane of both. The coordinate of least curvature joins in: the direction found may be an
    axis of its own, at right angles to the most negative one.
    """
    factor, turned, u = work.factor, work.turned, work.escape
    n = u.shape[0]
    for c in range(n):
        u[c] = 0.0
    u[failed] = 1.0
    partner = failed
    for d in range(failed + 1, n):
        if abs(factor[failed, d]) > abs(factor[failed, partner]):
            partner = d
    if partner != failed:
        beside = factor[failed, partner]
        u[partner] = -math.copysign(min(1.0, abs(beside) / (abs(factor[partner, partner]) + abs(beside))), beside)
    for j in range(failed - 1, s - 1, -1):
        if factor[j, j] > 0.0:
            total = 0.0
            for d in range(j + 1, n):
                total -= factor[j, d] * u[d]
            u[j] = total / factor[j, j]
    least = s
    for c in range(s, n):
        if turned[c, c] < turned[least, least]:
            least = c
    u[least] += 1.0


@inner_kernel
def _escape(work: LevelsWork, k: int, s: int, square: float) -> None:
    """Turn the direction begun towards the most negative curvature, and keep it unless a level above has one."""
    turned, u, w, downhill = work.turned, work.escape, work.row, work.downhill
    n = u.shape[0]
    for _ in range(POWER_STEPS):
        _solve_factored(work, s, u)
        size = 0.0
        for c in range(s, n):
            size += u[c] * u[c]
        if size == 0.0:
            return
        size = 1.0 / math.sqrt(size)
        for c in range(s, n):
            u[c] *= size
    curvature, slope = square, 0.0
    for c in range(s, n):
        w[c] = 0.0
        for d in range(s, n):
            w[c] += turned[c, d] * u[d]
        curvature += w[c] * u[c]
        slope += downhill[c] * u[c]
    if curvature >= 0.0:
        return
    if slope < 0.0:
        for c in range(s, n):
            u[c] = -u[c]
    from_coordinates(work.reflectors, work.scales, s, u)
    work.escape_curvature[0] = curvature
    work.state[ESCAPING] = k


@inner_kernel
def curved_multipliers(problem: Levels, work: LevelsWork, k: int, decided: int) -> float:
    """Multipliers of the locks of a curved level; returns the size below which they are zero."""
    multipliers, turned, z, gradient = work.multipliers, work.turned, work.z, work.gradient
    downhill = work.downhill
    n, added = z.shape[0], problem.damping[k] * problem.damping[k] + work.shift[k]
    force = 0.0
    for c in range(decided, n):
        force = max(force, abs(gradient[c]), abs(turned[c, c] * z[c]))
    for t in range(work.state[COUNT]):
        c = decided + t
        total = downhill[c] - added * z[c]
        for d in range(decided, n):
            total -= turned[c, d] * z[d]
        multipliers[t] = total
    through_locks(work, decided)
    return zero_below(force)


@inner_kernel
def factor_curved(problem: Levels, work: LevelsWork, decided: int, held: Array) -> tuple[int, int]:
    """Reflections of the `held` limits and of the range of the Hessian on them; counts of locks and of rank."""
    turned = work.turned
    count = lock_limits(problem, work, decided, held)
    s, n = decided + count, turned.shape[0]
    _turn(work, decided, s)
    if s == n:
        return count, 0
    scratch = (work.reflectors, work.scales, work.norms, work.order, work.row, work.sums)
    return count, reduce_columns(scratch, turned, s, n - s, s, turned.shape[1], CURVED_RANK)
