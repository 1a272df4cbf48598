"""The point nearest to another among those that satisfy linear inequalities.

    minimise ½ |x - w|²   subject to   l ≤ A x ≤ u

by the dual active-set method [Goldfarb & Idnani 1983] for a Hessian of identity. It starts at the free minimum w and
takes violated rows in, one at a time: with N the normals of the rows held and n the new one, x moves along
-z = -(n - N r), which leaves the held rows where they are, while their pressures fall at the rates r = N⁺ n. Whichever
comes first ends the step: the new row is met and held too, or the pressure of a held row reaches zero and it is let go.
The objective grows with every row met, so no set of held rows returns and the method ends after finitely many steps.
"""

import math

import numpy as np

from poise.kernels.jit.compile import kernel

Array = np.ndarray

DEPENDENT = 1e-10
"""A normal whose part independent of the held ones is shorter than this share of it adds nothing."""
ROUNDING = 1e-12
"""Distance from a row that still counts as meeting it."""


@kernel(counts_references=True)
def nearest_in_polyhedron(
    rows: Array,
    lower: Array,
    upper: Array,
    # outputs
    x: Array,
) -> int:
    """Move `x` (n,) to the nearest point with lower ≤ rows x ≤ upper, `rows` (m, n); 0 when there is none."""
    m, n = rows.shape
    held, way, pressure = np.empty(n, dtype=np.int64), np.empty(n), np.empty(n)
    basis, triangle = np.empty((n, n)), np.empty((n, n))
    z, along, rate = np.empty(n), np.empty(n), np.empty(n)
    count = 0
    for _ in range(50 * (m + n + 1)):
        p, side = _most_violated(rows, lower, upper, held, count, x)
        if p < 0:
            return 1
        new_pressure = 0.0
        while True:
            size = _split_normal(rows, p, side, basis, count, z, along)
            _solve_triangle(triangle, count, along, rate)
            missing = _row_value(rows, p, x) - upper[p] if side > 0.0 else lower[p] - _row_value(rows, p, x)
            step = missing / (size * size) if size > 0.0 else math.inf
            let_go = -1
            for j in range(count):
                may_leave = lower[held[j]] < upper[held[j]]
                if may_leave and rate[j] > 0.0 and pressure[j] < step * rate[j]:
                    step, let_go = pressure[j] / rate[j], j
            if step == math.inf:
                return 0
            if size > 0.0:
                for i in range(n):
                    x[i] -= step * z[i]
            for j in range(count):
                pressure[j] -= step * rate[j]
            new_pressure += step
            if let_go < 0:
                held[count], way[count], pressure[count] = p, side, new_pressure
                _hold(basis, triangle, count, z, along, size)
                count += 1
                break
            count -= 1
            for j in range(let_go, count):
                held[j], way[j], pressure[j] = held[j + 1], way[j + 1], pressure[j + 1]
                size = _split_normal(rows, held[j], way[j], basis, j, z, along)
                if size == 0.0:
                    return 0
                _hold(basis, triangle, j, z, along, size)
    return 0


@kernel
def _row_value(rows: Array, p: int, x: Array) -> float:
    value = 0.0
    for i in range(x.shape[0]):
        value += rows[p, i] * x[i]
    return value


@kernel
def _most_violated(rows: Array, lower: Array, upper: Array, held: Array, count: int, x: Array) -> tuple[int, float]:
    """The row farthest from being met, or -1, and its side: 1 above its upper bound, -1 below its lower."""
    worst, found, side = 0.0, -1, 1.0
    for p in range(rows.shape[0]):
        square, magnitude, value = 0.0, 0.0, 0.0
        for i in range(x.shape[0]):
            square += rows[p, i] * rows[p, i]
            magnitude += abs(rows[p, i] * x[i])
            value += rows[p, i] * x[i]
        above, below = value - upper[p], lower[p] - value
        excess = max(above, below) - 1e-15 * magnitude
        if excess <= max(ROUNDING, worst) * math.sqrt(square):
            continue
        is_held = False
        for j in range(count):
            is_held = is_held or held[j] == p
        if not is_held:
            worst, found, side = excess / math.sqrt(square), p, 1.0 if above > below else -1.0
    return found, side


@kernel
def _split_normal(
    rows: Array,
    p: int,
    side: float,
    basis: Array,
    count: int,
    # outputs
    z: Array,
    along: Array,
) -> float:
    """Split the normal of row `p` into Σ along_j basis_j + z; returns |z|, or 0 when the held rows span the normal.

    Gram–Schmidt twice, which is enough for orthogonality to rounding [Björck 1996, 2.4.5].
    """
    n = z.shape[0]
    whole = 0.0
    for i in range(n):
        z[i] = side * rows[p, i]
        whole += z[i] * z[i]
    along[:count] = 0.0
    for _ in range(2):
        for j in range(count):
            share = 0.0
            for i in range(n):
                share += basis[j, i] * z[i]
            along[j] += share
            for i in range(n):
                z[i] -= share * basis[j, i]
    rest = 0.0
    for i in range(n):
        rest += z[i] * z[i]
    return math.sqrt(rest) if rest > DEPENDENT * DEPENDENT * whole else 0.0


@kernel
def _solve_triangle(triangle: Array, count: int, along: Array, rate: Array) -> None:
    """rate = R⁻¹ along, by back substitution."""
    for j in range(count - 1, -1, -1):
        value = along[j]
        for k in range(j + 1, count):
            value -= triangle[j, k] * rate[k]
        rate[j] = value / triangle[j, j]


@kernel
def _hold(basis: Array, triangle: Array, count: int, z: Array, along: Array, size: float) -> None:
    """Append one normal to the factorisation N = Bᵀ R of the held rows."""
    for i in range(z.shape[0]):
        basis[count, i] = z[i] / size
    for j in range(count):
        triangle[j, count] = along[j]
    triangle[count, count] = size
