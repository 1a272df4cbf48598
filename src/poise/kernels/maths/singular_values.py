"""Singular value decomposition of a matrix with few rows, by one-sided Jacobi rotations [Hestenes 1958].

The method rotates pairs of rows of J (m, n) until all rows are orthogonal. The product U of the rotations is
orthogonal, so J = U W, where row i of W is σ_i v_iᵀ. This is the singular value decomposition J = Σ σ_i u_i v_iᵀ, and
small singular values are as accurate as large ones.
"""

import math

import numpy as np

from poise.kernels.jit.compile import kernel

Array = np.ndarray

MAX_SWEEPS = 30
"""Largest number of sweeps over all pairs of rows; about five are usual."""
ORTHOGONAL_COSINE = 1e-15
"""Two rows count as orthogonal if the cosine between them is below this."""
ZERO_SINGULAR_VALUE = 1e-10
"""Singular values below this share of the largest are set to 0."""


@kernel
def singular_rows(
    m: int,
    # outputs
    rows: Array,
    left: Array,
    sigma: Array,
) -> None:
    """Singular value decomposition of the first `m` rows of `rows` (≥ m, n), in place.

    Args:
        m: Number of rows to decompose.
        rows: J on entry, σ_i v_iᵀ in row i on return.
        left: (≥ m, ≥ m) u_i in column i.
        sigma: (≥ m,) the singular values, unsorted; negligible ones are 0.
    """
    for i in range(m):
        for j in range(m):
            left[i, j] = 1.0 if i == j else 0.0
    for _ in range(MAX_SWEEPS):
        rotated = False
        for p in range(m - 1):
            for q in range(p + 1, m):
                rotated = _orthogonalise(m, p, q, rows, left) or rotated
        if not rotated:
            break
    largest = 0.0
    for i in range(m):
        sigma[i] = math.sqrt(_product(rows, i, i))
        largest = max(largest, sigma[i])
    for i in range(m):
        if sigma[i] <= ZERO_SINGULAR_VALUE * largest:
            sigma[i] = 0.0


@kernel
def _product(rows: Array, p: int, q: int) -> float:
    """Dot product of rows p and q."""
    total = 0.0
    for k in range(rows.shape[1]):
        total += rows[p, k] * rows[q, k]
    return total


@kernel
def _orthogonalise(m: int, p: int, q: int, rows: Array, left: Array) -> bool:
    """Rotate rows p and q so that they become orthogonal; False when they already are."""
    a, b, c = _product(rows, p, p), _product(rows, q, q), _product(rows, p, q)
    if abs(c) <= ORTHOGONAL_COSINE * math.sqrt(a * b) or abs(c) < 1e-280:
        return False
    zeta = (b - a) / (2.0 * c)
    t = math.copysign(1.0, zeta) / (abs(zeta) + math.sqrt(1.0 + zeta * zeta))
    cosine = 1.0 / math.sqrt(1.0 + t * t)
    sine = cosine * t
    for k in range(rows.shape[1]):
        x, y = rows[p, k], rows[q, k]
        rows[p, k], rows[q, k] = cosine * x - sine * y, sine * x + cosine * y
    for i in range(m):
        x, y = left[i, p], left[i, q]
        left[i, p], left[i, q] = cosine * x - sine * y, sine * x + cosine * y
    return True
