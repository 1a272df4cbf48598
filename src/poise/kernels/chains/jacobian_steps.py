"""One step Δ of each Jacobian method, from the Jacobian and the residual of a goal.

With J the Jacobian of an end-point and e the residual of its goal, the singular value decomposition J = Σ σ_i u_i v_iᵀ
gives [Ribeiro & Paiva 2019]

    transpose       Δ = α Jᵀ e,  α = (e · JJᵀe) / |JJᵀe|²                             [eq. 4; Buss 2004]
    pseudoinverse   Δ = Σ (u_i · e) / σ_i v_i                                          [eq. 5]
    damped          Δ = Σ σ_i / (σ_i² + λ²) (u_i · e) v_i                              [eq. 10]
    selective       Δ = clamp(Σ clamp((u_i · e) / σ_i v_i, γ_i), γ_max)                [eq. 12]

where the sums skip singular values of zero. The damping λ is the smallest that keeps |Δ| within b_max [eq. 15;
Maciejewski & Klein 1988]: with d = |e| / b_max and the smallest singular value σ, λ = d / 2 for σ ≤ d / 2,
√(σ (d - σ)) up to σ = d, and 0 beyond. The selective bound [eq. 11; Buss & Kim 2005] is γ_i = min(1, N_i / M_i) γ_max,
where N_i = |u_i| = 1 is the distance that the end-point moves along u_i, and M_i = σ_i⁻¹ Σ_j |v_ji| |∂s/∂θ_j| the sum
of the distances by which the single joints move it for that.

The kernels take the decomposition as `scaled_right` (m, n), whose rows are σ_i v_i, `left` (m, m), whose columns are
u_i, and `sigma` (m,).
"""

import math

import numpy as np

from poise.kernels.jit.compile import kernel

Array = np.ndarray


@kernel
def transpose_step(m: int, rows: Array, error: Array, step: Array) -> None:
    """Add α Jᵀ e to a zero `step`, with the α that minimises |e - J Δ|; `rows` (m, n) is J."""
    for r in range(m):
        for k in range(step.shape[0]):
            step[k] += rows[r, k] * error[r]
    along, square = 0.0, 0.0
    for r in range(m):
        there = 0.0
        for k in range(step.shape[0]):
            there += rows[r, k] * step[k]
        along += there * error[r]
        square += there * there
    factor = along / square if square > 1e-300 else 0.0
    for k in range(step.shape[0]):
        step[k] *= factor


@kernel
def maciejewski_damping(m: int, sigma: Array, error: Array, max_step: float) -> float:
    """λ² of eq. 15: the square of the smallest damping that keeps the length of the step within `max_step`."""
    least, square = math.inf, 0.0
    for i in range(m):
        square += error[i] * error[i]
        if sigma[i] > 0.0:
            least = min(least, sigma[i])
    d = math.sqrt(square) / max_step
    if least >= d:
        return 0.0
    return 0.25 * d * d if least <= 0.5 * d else least * (d - least)


@kernel
def damped_step(
    m: int, scaled_right: Array, left: Array, sigma: Array, error: Array, max_step: float,
    # outputs
    step: Array,
) -> None:  # fmt: skip
    """Add Σ σ_i / (σ_i² + λ²) (u_i · e) v_i to `step`; with an infinite `max_step`, λ = 0 (the pseudoinverse)."""
    damping = maciejewski_damping(m, sigma, error, max_step)
    for i in range(m):
        if sigma[i] > 0.0:
            along = 0.0
            for r in range(m):
                along += left[r, i] * error[r]
            factor = along / (sigma[i] * sigma[i] + damping)
            for k in range(step.shape[0]):
                step[k] += factor * scaled_right[i, k]


@kernel
def selective_step(
    m: int, scaled_right: Array, left: Array, sigma: Array, error: Array, column_norm: Array, max_joint_step: float,
    # outputs
    step: Array,
) -> None:  # fmt: skip
    """Add Σ clamp((u_i · e) / σ_i v_i, γ_i) to `step`; `column_norm` (n,) holds |∂s/∂θ_j|."""
    n = step.shape[0]
    for i in range(m):
        if sigma[i] > 0.0:
            along, joint_travel, largest = 0.0, 0.0, 0.0
            for r in range(m):
                along += left[r, i] * error[r]
            for k in range(n):
                joint_travel += abs(scaled_right[i, k]) * column_norm[k]
                largest = max(largest, abs(scaled_right[i, k]))
            joint_travel /= sigma[i] * sigma[i]
            factor = along / (sigma[i] * sigma[i])
            gamma = min(1.0, 1.0 / joint_travel) * max_joint_step
            if abs(factor) * largest > gamma:
                factor *= gamma / (abs(factor) * largest)
            for k in range(n):
                step[k] += factor * scaled_right[i, k]


@kernel
def clamp_largest(step: Array, most: float) -> None:
    """Scale a step down so that its largest component is at most `most`."""
    largest = 0.0
    for k in range(step.shape[0]):
        largest = max(largest, abs(step[k]))
    if largest > most:
        for k in range(step.shape[0]):
            step[k] *= most / largest
