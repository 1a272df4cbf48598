"""Minimise the shape error over the postures that face a direction, for a chain with a twister at its root.

These postures form the self-motion manifold g(θ) = r · p(θ) - r · d = 0 of `poise.kernels.gaze.expressive.surface`. The
method minimises Σ w_k (1 - cos(θ_k - ψ_k)) / 2 on it within limits. Each term has the quadratic upper bound w sinc(δ)
δ² / 4 (δ = θ - ψ) plus a constant, with the same value and slope at the current angle, so a step solves

    min ½ Σ h_k (s_k - b_k)²   subject to  ∇g · s = -g,  θ + s within the limits

whose solution is s = b + H⁻¹ ∇g λ with one scalar multiplier λ. The joint that exceeds its limits most is fixed at its
limit and λ is computed again. The curvature of g along each joint, λ (A cos θ + B sin θ), is added to h_k where it is
positive. A pivot then returns the posture to the manifold exactly, and a line search shortens the step until the cost
decreases. So every iterate faces the direction to rounding.
"""

import math

import numpy as np

from poise.kernels.chains.chain import Chain, wrapped
from poise.kernels.gaze.expressive.surface import height_coefficients, pivots, root_axis
from poise.kernels.gaze.expressive.workspace import (
    COMPLIANCE_ROW,
    FIXED_ROW,
    HALF_COS_ROW,
    HALF_SIN_ROW,
    HEIGHT_COS_ROW,
    HEIGHT_SIN_ROW,
    HEIGHT_SLOPE_ROW,
    POSTURE_BEND_ROW,
    POSTURE_COS_ROW,
    POSTURE_SIN_ROW,
    STEP_ROW,
    TRIAL_ROW,
)
from poise.kernels.gaze.measures import Scoring
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.portable_trigonometry import sine_cosine
from poise.kernels.maths.vector import dot

Array = np.ndarray

MIN_SHAPE_CURVATURE = 0.15
"""Smallest curvature of the quadratic bound of 1 - cos, relative to that at 0.

Without it, a joint half a turn from its wanted angle would not move."""
STEP_REDUCTION = 0.35
"""Factor by which the line search shortens a step."""
LINE_SEARCH_TRIALS = 3
"""Largest number of step lengths that the line search tries."""
MIN_COST_DECREASE = 1e-2
"""The descent stops after a step that decreases the cost by less than this fraction."""
FREE_JOINT_STIFFNESS = 1e-4
"""Stiffness of a joint whose weight in the shape error is zero."""


@kernel
def store_posture_terms(chain: Chain, posture: Array, work: Array) -> None:
    """Store the cosines, sines and bend cosines of the wanted posture, which the cost functions use."""
    bend = chain.bend
    for k in range(posture.shape[0]):
        s, c = sine_cosine(posture[k])
        work[POSTURE_COS_ROW, k], work[POSTURE_SIN_ROW, k] = c, s
        work[POSTURE_BEND_ROW, k] = bend[k, 0] + bend[k, 1] * c + bend[k, 2] * s


@kernel
def joint_cost(chain: Chain, scoring: Scoring, blend: float, k: int, angle: float, work: Array) -> float:
    """Contribution of joint `k` at `angle` to `shape_cost`."""
    s, c = sine_cosine(angle)
    cost = (
        0.5 * (1.0 - blend) * scoring.shapes[k] * (1.0 - (c * work[POSTURE_COS_ROW, k] + s * work[POSTURE_SIN_ROW, k]))
    )
    if blend > 0.0 and scoring.bends[k] > 0.0:
        off = (chain.bend[k, 0] + chain.bend[k, 1] * c + chain.bend[k, 2] * s) - work[POSTURE_BEND_ROW, k]
        cost += 0.5 * blend * scoring.bends[k] * abs(off)
    return cost


@kernel
def shape_cost(chain: Chain, scoring: Scoring, blend: float, work: Array, row: int) -> float:
    """Cost of `work[row]`: (1 - `blend`) times the shape error plus `blend` times the posture error.

    Both errors refer to the posture of `store_posture_terms`, without its mirror image.
    """
    total = 0.0
    for k in range(work.shape[1]):
        if scoring.shapes[k] > 0.0:
            total += joint_cost(chain, scoring, blend, k, work[row, k], work)
    return total


@kernel
def return_to_height(chain: Chain, work: Array, row: int, height: float) -> bool:
    """Return `work[row]` to the manifold by one pivot; returns whether a joint can.

    Joints are tried in decreasing order of slope² × compliance, their effect on the height for a given cost.
    """
    n = chain.axis.shape[0]
    height_coefficients(chain, work, row)
    last = math.inf
    for _ in range(n):
        most, k = 0.0, -1
        for j in range(1, n):
            power = work[COMPLIANCE_ROW, j] * work[HEIGHT_SLOPE_ROW, j] * work[HEIGHT_SLOPE_ROW, j]
            if most < power < last:
                most, k = power, j
        if k < 0:
            return False
        found, x, other, y = pivots(chain, work, k, height)
        if found or other:
            if not found or (other and abs(y - work[row, k]) < abs(x - work[row, k])):
                x = y
            work[row, k] = x
            return True
        last = most
    return False


@kernel
def _unconstrained_step(
    chain: Chain, scoring: Scoring, work: Array, row: int, posture: Array, multiplier: float
) -> None:
    """Set STEP_ROW and COMPLIANCE_ROW to b and 1 / h of every joint, without the constraint and the limits."""
    shapes = scoring.shapes
    for k in range(1, shapes.shape[0]):
        d = wrapped(posture[k] - work[row, k])
        hc, hs = work[HALF_COS_ROW, k], work[HALF_SIN_ROW, k]
        c, s = hc * hc - hs * hs, 2.0 * hc * hs
        curvature_share = (work[POSTURE_SIN_ROW, k] * c - work[POSTURE_COS_ROW, k] * s) / d if abs(d) > 1e-6 else 1.0
        shape_stiffness = shapes[k] * max(MIN_SHAPE_CURVATURE, curvature_share)
        stiffness = (
            shape_stiffness
            + max(0.0, multiplier * (work[HEIGHT_COS_ROW, k] * c + work[HEIGHT_SIN_ROW, k] * s))
            + FREE_JOINT_STIFFNESS
        )
        work[COMPLIANCE_ROW, k] = 1.0 / stiffness
        work[STEP_ROW, k] = shape_stiffness * d / stiffness
        work[FIXED_ROW, k] = 0.0


@kernel
def _constrained_step(chain: Chain, work: Array, row: int, height_residual: float) -> float:
    """Change STEP_ROW to satisfy the linearised height constraint and the limits; returns the multiplier λ."""
    lower, upper = chain.lower, chain.upper
    n = lower.shape[0]
    multiplier = 0.0
    for _ in range(n):
        compliance, residual = 1e-12, height_residual
        for k in range(1, n):
            residual -= work[HEIGHT_SLOPE_ROW, k] * work[STEP_ROW, k]
            if work[FIXED_ROW, k] == 0.0:
                compliance += work[COMPLIANCE_ROW, k] * work[HEIGHT_SLOPE_ROW, k] * work[HEIGHT_SLOPE_ROW, k]
        multiplier = residual / compliance
        worst, out = 1e-14, -1
        for k in range(1, n):
            if work[FIXED_ROW, k] == 0.0:
                end = (
                    work[row, k] + work[STEP_ROW, k] + work[COMPLIANCE_ROW, k] * work[HEIGHT_SLOPE_ROW, k] * multiplier
                )
                beyond = max(lower[k] - end, end - upper[k])
                if beyond > worst:
                    worst, out = beyond, k
        if out < 0:
            break
        end = (
            work[row, out] + work[STEP_ROW, out] + work[COMPLIANCE_ROW, out] * work[HEIGHT_SLOPE_ROW, out] * multiplier
        )
        work[STEP_ROW, out] = (lower[out] if end < lower[out] else upper[out]) - work[row, out]
        work[FIXED_ROW, out] = 1.0
    for k in range(1, n):
        if work[FIXED_ROW, k] == 0.0:
            work[STEP_ROW, k] += work[COMPLIANCE_ROW, k] * work[HEIGHT_SLOPE_ROW, k] * multiplier
    return multiplier


@kernel
def descend_on_manifold(
    chain: Chain,
    scoring: Scoring,
    blend: float,
    posture: Array,
    height: float,
    steps: int,
    # changed
    work: Array,
    row: int,
) -> tuple[float, int]:
    """Minimise the cost from `work[row]`, which is on the manifold, by at most `steps` steps; returns cost and steps.

    `posture` is the wanted posture; `store_posture_terms` must have been called for it.
    """
    lower, upper = chain.lower, chain.upper
    n = lower.shape[0]
    r = root_axis(chain)
    cost = shape_cost(chain, scoring, blend, work, row)
    multiplier = 0.0
    for step in range(steps):
        height_residual = height - dot(r, height_coefficients(chain, work, row))
        _unconstrained_step(chain, scoring, work, row, posture, multiplier)
        multiplier = _constrained_step(chain, work, row, height_residual)
        largest = 0.0
        for k in range(1, n):
            largest = max(largest, abs(work[STEP_ROW, k]))
        if largest < 1e-4:
            return cost, step + 1
        share = min(1.0, 1.0 / largest)
        decrease = 0.0
        for _ in range(LINE_SEARCH_TRIALS):
            for k in range(1, n):
                work[TRIAL_ROW, k] = min(upper[k], max(lower[k], work[row, k] + share * work[STEP_ROW, k]))
            if return_to_height(chain, work, TRIAL_ROW, height):
                trial_cost = shape_cost(chain, scoring, blend, work, TRIAL_ROW)
                if trial_cost < cost - 1e-9:
                    decrease = cost - trial_cost
                    break
            share *= STEP_REDUCTION
        if decrease > 0.0:
            cost -= decrease
            for k in range(1, n):
                work[row, k] = work[TRIAL_ROW, k]
        if decrease < MIN_COST_DECREASE * cost + 1e-7:
            return cost, step + 1
    return cost, steps
