"""Singular values of a few long rows, by one-sided Jacobi rotations [Hestenes 1958].

Pairs of rows of J (m, n) are turned against each other until all are orthogonal. The turns, gathered in U, are
orthogonal, so J = U W where row i of W is σ_i v_iᵀ: the singular value decomposition J = Σ σ_i u_i v_iᵀ, with small
singular values as accurate as large ones.
"""

import math

import numpy as np

from poise.kernels.jit.compile import kernel

Array = np.ndarray

ROUNDS = 30
"""Rounds over all pairs; a handful is enough."""
ORTHOGONAL = 1e-15
"""Cosine between two rows that counts as a right angle."""
ZERO = 1e-10
"""Share of the largest singular value below which one counts as zero."""


@kernel
def singular_rows(
    m: int,
    # outputs
    rows: Array,
    left: Array,
    sigma: Array,
) -> None:
    """Split the first `m` of `rows` (≥ m, n).

    Args:
        m: How many rows count.
        rows: J on entry, σ_i v_iᵀ in row i on return.
        left: (≥ m, ≥ m) u_i in column i.
        sigma: (≥ m,) the singular values, in no order; those that mean nothing are 0.
    """
    for i in range(m):
        for j in range(m):
            left[i, j] = 1.0 if i == j else 0.0
    for _ in range(ROUNDS):
        turned = False
        for p in range(m - 1):
            for q in range(p + 1, m):
                turned = _separate(m, p, q, rows, left) or turned
        if not turned:
            break
    largest = 0.0
    for i in range(m):
        sigma[i] = math.sqrt(_product(rows, i, i))
        largest = max(largest, sigma[i])
    for i in range(m):
        if sigma[i] <= ZERO * largest:
            sigma[i] = 0.0


@kernel
def _product(rows: Array, p: int, q: int) -> float:
    total = 0.0
    for k in range(rows.shape[1]):
        total += rows[p, k] * rows[q, k]
    return total


@kernel
def _separate(m: int, p: int, q: int, rows: Array, left: Array) -> bool:
    """Turn rows p and q to a right angle; False when they are at one already."""
    a, b, c = _product(rows, p, p), _product(rows, q, q), _product(rows, p, q)
    if abs(c) <= ORTHOGONAL * math.sqrt(a * b) or abs(c) < 1e-280:
        return False
    zeta = (b - a) / (2.0 * c)
    t = math.copysign(1.0, zeta) / (abs(zeta) + math.hypot(1.0, zeta))
    cosine = 1.0 / math.sqrt(1.0 + t * t)
    sine = cosine * t
    for k in range(rows.shape[1]):
        x, y = rows[p, k], rows[q, k]
        rows[p, k], rows[q, k] = cosine * x - sine * y, sine * x + cosine * y
    for i in range(m):
        x, y = left[i, p], left[i, q]
        left[i, p], left[i, q] = cosine * x - sine * y, sine * x + cosine * y
    return True
