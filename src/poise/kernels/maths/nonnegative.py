"""Least squares with coefficients that are not negative.

    minimise |A x - b|   subject to   x ≥ 0

by the active-set method of [Lawson & Hanson 1974, 23.3]. The coefficients that are not 0 solve the unconstrained
problem, by the normal equations with G = Aᵀ A and c = Aᵀ b. The one whose gradient Aᵀ (b - A x) is largest joins
them, and those that would become negative leave, until no gradient is positive. A column that depends linearly on those
in use does not join them, since it cannot make the error smaller.
"""

import math

import numpy as np

from poise.kernels.jit.compile import kernel

Array = np.ndarray

DEPENDENT = 1e-12
"""Squared part of a column orthogonal to those in use, as a share of its square, up to which it depends on them."""


@kernel(counts_references=True)
def nonnegative_least_squares(columns: Array, target: Array, tolerance: float) -> Array:
    """(n,) the x ≥ 0 that minimises |A x - b|, with the columns of A as the lines of `columns` (n, m), and b (m,).

    Gradients up to `tolerance` count as zero.
    """
    n, m = columns.shape
    squares, products, rest = np.zeros((n, n)), np.zeros(n), np.zeros(m)
    for i in range(n):
        for r in range(m):
            products[i] += columns[i, r] * target[r]
        for k in range(i + 1):
            for r in range(m):
                squares[i, k] += columns[i, r] * columns[k, r]
            squares[k, i] = squares[i, k]
    x, wanted, used, skipped = np.zeros(n), np.zeros(n), np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.bool_)
    chosen, factor = np.zeros(n, dtype=np.int64), np.zeros((n, n))
    count = 0
    for _ in range(3 * n):
        best, steepest = -1, tolerance
        for r in range(m):
            rest[r] = target[r]
            for k in range(count):
                rest[r] -= columns[chosen[k], r] * x[chosen[k]]
        for i in range(n):
            if used[i] or skipped[i]:
                continue
            gradient = 0.0
            for r in range(m):
                gradient += columns[i, r] * rest[r]
            if gradient > steepest:
                best, steepest = i, gradient
        if best < 0:
            break
        chosen[count], used[best] = best, True
        count += 1
        if not _factor(squares, chosen, count, factor):
            count -= 1
            used[best], skipped[best] = False, True
            continue
        while True:
            _substitute(factor, products, chosen, count, wanted)
            share, first = 1.0, -1
            for k in range(count):
                i = chosen[k]
                if wanted[k] <= 0.0:
                    way = x[i] - wanted[k]
                    room = x[i] / way if way > 0.0 else 0.0
                    if first < 0 or room < share:
                        share, first = room, k
            for k in range(count):
                x[chosen[k]] += share * (wanted[k] - x[chosen[k]])
            if first < 0:
                break
            kept = 0
            for k in range(count):
                i = chosen[k]
                if k == first or x[i] <= 0.0:
                    x[i], used[i] = 0.0, False
                else:
                    chosen[kept] = i
                    kept += 1
            count = kept
            for i in range(n):
                skipped[i] = False
            _factor(squares, chosen, count, factor)
    return x


@kernel
def _factor(squares: Array, chosen: Array, count: int, factor: Array) -> bool:
    """Factorise G on the chosen columns as L Lᵀ; returns False where the last one depends on the others."""
    for a in range(count):
        for b in range(a + 1):
            total = squares[chosen[a], chosen[b]]
            for k in range(b):
                total -= factor[a, k] * factor[b, k]
            if a > b:
                factor[a, b] = total / factor[b, b]
            elif total <= DEPENDENT * squares[chosen[a], chosen[a]]:
                return False
            else:
                factor[a, a] = math.sqrt(total)
    return True


@kernel
def _substitute(factor: Array, products: Array, chosen: Array, count: int, out: Array) -> None:
    """Solve L Lᵀ x = c for the chosen coefficients, into the first entries of `out`."""
    for a in range(count):
        total = products[chosen[a]]
        for k in range(a):
            total -= factor[a, k] * out[k]
        out[a] = total / factor[a, a]
    for a in range(count - 1, -1, -1):
        total = out[a]
        for k in range(a + 1, count):
            total -= factor[k, a] * out[k]
        out[a] = total / factor[a, a]
