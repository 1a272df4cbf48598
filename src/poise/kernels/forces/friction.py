"""Contact forces inside friction cones that balance a load best, and of those the forces of least norm.

Each contact force f_c lies in the friction cone K_c: its tangential part is at most μ times its normal part. The rows
of A f are the total force, the total moment, and optionally the load share of a support. The problem is

    minimise |b - A f|  over f in K,   and among the minimisers,   minimise |f|.

The limit ε → 0 of `minimise ½ |b - A f|² / ε + ½ |f|²` solves both. Its dual is smooth and has only one unknown per
row, λ = (b - A f) / ε. With P the projection on the cones, f = P(Aᵀ λ) and

    minimise θ(λ) = ½ |P(Aᵀ λ)|² + ½ ε |λ - λ₀|² - b·λ        ∇θ = A P(Aᵀ λ) + ε (λ - λ₀) - b

whose Hessian A P'(Aᵀ λ) Aᵀ + ε has a closed form, because the projection on a cone of revolution has one. The
semismooth Newton method [Qi & Sun 1993] converges in a few steps. First ε decreases from 1 with λ₀ = 0. Then ε stays
and λ₀ = λ is updated, the proximal method of multipliers [Rockafellar 1976], until the residual b - A f of a load that
can be balanced is a rounding error, or until the residual of a load that cannot be balanced no longer changes. The
cones are not approximated by facets, and f changes continuously with b.
"""

import math

import numpy as np

from poise.kernels.jit.compile import kernel
from poise.kernels.maths.vector import Vector, add, dot, length, scale, subtract

Array = np.ndarray

EPSILON_STAGES, EPSILON_FACTOR = 4, 1e-2
"""How often ε decreases, and by which factor; below 1e-8, a large λ (of a load that cannot be balanced) would cost f
digits."""
PROXIMAL_STEPS = 12
"""Largest number of updates of λ₀."""
NEWTON_STEPS = 40
"""Largest number of Newton steps for one ε and λ₀."""
SUM_ROUNDING = 3e-15
"""Rounding error of sums of numbers of order one."""


@kernel
def into_cone(y: Vector, normal: Vector, friction: float) -> Vector:
    """Projection of the force `y` on the friction cone about the unit vector `normal`."""
    along = dot(y, normal)
    across = subtract(y, scale(normal, along))
    size = length(across)
    if size <= friction * along:
        return y
    if friction * size <= -along:
        return Vector(0.0, 0.0, 0.0)
    push = (along + friction * size) / (1.0 + friction * friction)
    sideways = friction * push / size
    return add(scale(normal, push), scale(across, sideways))


@kernel
def _transposed_product(A: Array, c: int, multiplier: Array) -> Vector:
    """The three entries of Aᵀ λ that belong to contact `c`."""
    x, y, z = 0.0, 0.0, 0.0
    for r in range(A.shape[0]):
        x += A[r, 3 * c] * multiplier[r]
        y += A[r, 3 * c + 1] * multiplier[r]
        z += A[r, 3 * c + 2] * multiplier[r]
    return Vector(x, y, z)


@kernel
def _apply(A: Array, c: int, v: Vector, out: Array) -> None:
    """out = A_c v, with A_c the three columns of contact `c`."""
    for r in range(A.shape[0]):
        out[r] = A[r, 3 * c] * v.x + A[r, 3 * c + 1] * v.y + A[r, 3 * c + 2] * v.z


@kernel
def _dual(
    A: Array,
    b: Array,
    normal: Array,
    friction: Array,
    epsilon: float,
    anchor: Array,
    multiplier: Array,
    # outputs
    force: Array,
    gradient: Array,
) -> float:
    """The dual objective θ, its `gradient` (m,), and the forces P(Aᵀ λ) in `force` (c, 3)."""
    value = 0.0
    for r in range(b.shape[0]):
        away = multiplier[r] - anchor[r]
        gradient[r] = epsilon * away - b[r]
        value += 0.5 * epsilon * away * away - b[r] * multiplier[r]
    for c in range(normal.shape[0]):
        n = Vector(normal[c, 0], normal[c, 1], normal[c, 2])
        f = into_cone(_transposed_product(A, c, multiplier), n, friction[c])
        force[c, 0], force[c, 1], force[c, 2] = f
        value += 0.5 * dot(f, f)
        for r in range(b.shape[0]):
            gradient[r] += A[r, 3 * c] * f.x + A[r, 3 * c + 1] * f.y + A[r, 3 * c + 2] * f.z
    return value


@kernel
def _add_square(column: Array, factor: float, out: Array) -> None:
    """Add factor · column columnᵀ to the lower triangle of `out`."""
    for r in range(column.shape[0]):
        left = factor * column[r]
        for s in range(r + 1):
            out[r, s] += left * column[s]


@kernel
def _dual_hessian(
    A: Array,
    normal: Array,
    friction: Array,
    epsilon: float,
    multiplier: Array,
    column: Array,
    # outputs
    out: Array,
) -> None:
    """Fill the lower triangle of `out` (m, m) with the dual Hessian A P'(Aᵀ λ) Aᵀ + ε.

    On the surface of the cone P' = w wᵀ + (μ p / |t|) v vᵀ: w along the cone, v across it in the plane of the contact,
    p the force along the normal and t the part of Aᵀ λ in the plane.
    """
    m = out.shape[0]
    for r in range(m):
        for s in range(r):
            out[r, s] = 0.0
        out[r, r] = epsilon
    for c in range(normal.shape[0]):
        n, mu = Vector(normal[c, 0], normal[c, 1], normal[c, 2]), friction[c]
        y = _transposed_product(A, c, multiplier)
        along = dot(y, n)
        across = subtract(y, scale(n, along))
        size = length(across)
        if size <= mu * along:
            for k in range(3):
                _apply(A, c, Vector(1.0 * (k == 0), 1.0 * (k == 1), 1.0 * (k == 2)), column)
                _add_square(column, 1.0, out)
        elif mu * size > -along:
            radial = scale(across, 1.0 / size)
            push = (along + mu * size) / (1.0 + mu * mu)
            _apply(A, c, add(n, scale(radial, mu)), column)
            _add_square(column, 1.0 / (1.0 + mu * mu), out)
            sideways = Vector(
                n.y * radial.z - n.z * radial.y, n.z * radial.x - n.x * radial.z, n.x * radial.y - n.y * radial.x
            )
            _apply(A, c, sideways, column)
            _add_square(column, mu * push / size, out)


@kernel
def _solve_positive(matrix: Array, right: Array, out: Array) -> None:
    """out = matrix⁻¹ right by Cholesky's method, whose factor replaces the lower triangle of `matrix`."""
    m = right.shape[0]
    for i in range(m):
        for j in range(i + 1):
            value = matrix[i, j]
            for k in range(j):
                value -= matrix[i, k] * matrix[j, k]
            # Rounding may make the pivot of a row that holds only ε zero or negative.
            matrix[i, j] = math.sqrt(max(value, 1e-300)) if i == j else value / matrix[j, j]
    for i in range(m):
        value = right[i]
        for k in range(i):
            value -= matrix[i, k] * out[k]
        out[i] = value / matrix[i, i]
    for i in range(m - 1, -1, -1):
        value = out[i]
        for k in range(i + 1, m):
            value -= matrix[k, i] * out[k]
        out[i] = value / matrix[i, i]


@kernel
def _largest(v: Array) -> float:
    """Largest absolute entry."""
    size = 0.0
    for r in range(v.shape[0]):
        size = max(size, abs(v[r]))
    return size


@kernel(counts_references=True)
def forces_in_cones(
    A: Array,
    b: Array,
    normal: Array,
    friction: Array,
    # outputs
    force: Array,
    rest: Array,
) -> int:
    """Forces `force` (c, 3) inside their cones with |b - A f| least, then |f| least; returns the Newton steps.

    Args:
        A: (m, 3 c) linear map from the forces of c contacts to the balance rows; entries of order one.
        b: (m,) wanted values of the balance rows; entries of order one.
        normal: (c, 3) unit normals out of the ground.
        friction: (c,) coefficients of friction; with 0 a contact pushes only along its normal.
        force: The forces, in the units of b.
        rest: (m,) residual b - A f.
    """
    m = b.shape[0]
    multiplier, anchor, trial = np.zeros(m), np.zeros(m), np.zeros(m)
    gradient, step, column, hessian = np.zeros(m), np.zeros(m), np.zeros(m), np.zeros((m, m))
    epsilon, steps = 1.0, 0
    before = math.inf
    for stage in range(EPSILON_STAGES + PROXIMAL_STEPS + 1):
        value = _dual(A, b, normal, friction, epsilon, anchor, multiplier, force, gradient)
        for _ in range(NEWTON_STEPS):
            size = _largest(gradient)
            if size <= SUM_ROUNDING * (1.0 + _largest(multiplier)):
                break
            _dual_hessian(A, normal, friction, epsilon, multiplier, column, hessian)
            _solve_positive(hessian, gradient, step)
            steps += 1
            slope = 0.0
            for r in range(m):
                slope += gradient[r] * step[r]
            share, moved = 1.0, False
            while share > 1e-10 and not moved:
                for r in range(m):
                    trial[r] = multiplier[r] - share * step[r]
                new = _dual(A, b, normal, friction, epsilon, anchor, trial, force, gradient)
                # Near the minimum the values differ by less than rounding errors, so the gradient decides.
                moved = new <= value - 1e-4 * share * slope or _largest(gradient) <= 0.5 * size
                share *= 0.5
            if not moved:
                _dual(A, b, normal, friction, epsilon, anchor, multiplier, force, gradient)
                break
            value = new
            for r in range(m):
                multiplier[r] = trial[r]
        if stage < EPSILON_STAGES:
            epsilon *= EPSILON_FACTOR
            continue
        for r in range(m):
            rest[r] = epsilon * (multiplier[r] - anchor[r])
            anchor[r] = multiplier[r]
        left = _largest(rest)
        if left <= SUM_ROUNDING or left > 0.99 * before:
            break
        before = left
    for r in range(m):
        rest[r] = b[r]
        for k in range(A.shape[1]):
            rest[r] -= A[r, k] * force[k // 3, k % 3]
    return steps
