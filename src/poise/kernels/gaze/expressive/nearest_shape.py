"""Along the surface of postures that face a direction, to the one whose shape is nearest.

Minimises  Σ w_k (1 - cos(θ_k - ψ_k)) / 2  subject to  g(θ) = r · p(θ) - r · d = 0  inside the limits. Each term has the
quadratic w sinc(δ) δ² / 4 above it (δ = θ - ψ), exact in value and slope where it is made, so a step solves

    min ½ Σ h_k (s_k - b_k)²   subject to  ∇g · s = -g,  θ + s inside the limits

whose answer is s = b + H⁻¹ ∇g λ with one scalar λ; the joint that would leave its limits by most is put on its border
and λ computed again. The curvature of g along each joint, λ (A cos θ + B sin θ), joins h_k where it is positive. A
pivot then puts the tip back on the surface exactly, and the step is shortened until the cost falls. So every point on
the way faces the direction to rounding.
"""

import math

import numpy as np

from poise.kernels.chains.chain import Chain, wrapped
from poise.kernels.gaze.expressive.surface import look_along, pivots, root_axis
from poise.kernels.gaze.expressive.workspace import (
    ACROSS,
    ALONG,
    EASE,
    HALF_COS,
    HALF_SIN,
    HELD,
    SLOPE,
    STEP,
    TRIAL,
    WISH_BEND,
    WISH_COS,
    WISH_SIN,
)
from poise.kernels.gaze.measures import Scoring
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.portable_trigonometry import sine_cosine
from poise.kernels.maths.vector import dot

Array = np.ndarray

LEAST_CURVATURE = 0.15
"""Of the quadratic above 1 - cos, as a share of the one at 0: else a joint opposite to its posture would not move."""
SHORTENED = 0.35
TRIES = 3
ENOUGH = 1e-2
"""Share of the cost that a step must take off for another to be worth while."""
LIGHT = 1e-4
"""Stiffness of a joint without a share in the shape."""


@kernel
def note_wish(chain: Chain, posture: Array, work: Array) -> None:
    """WISH_COS, WISH_SIN and WISH_BEND of the posture that costs are counted from."""
    bend = chain.bend
    for k in range(posture.shape[0]):
        s, c = sine_cosine(posture[k])
        work[WISH_COS, k], work[WISH_SIN, k] = c, s
        work[WISH_BEND, k] = bend[k, 0] + bend[k, 1] * c + bend[k, 2] * s


@kernel
def joint_cost(chain: Chain, scoring: Scoring, blend: float, k: int, angle: float, work: Array) -> float:
    """What joint `k` adds to the cost at `angle`; see `note_wish`."""
    s, c = sine_cosine(angle)
    cost = 0.5 * (1.0 - blend) * scoring.shapes[k] * (1.0 - (c * work[WISH_COS, k] + s * work[WISH_SIN, k]))
    if blend > 0.0 and scoring.bends[k] > 0.0:
        off = (chain.bend[k, 0] + chain.bend[k, 1] * c + chain.bend[k, 2] * s) - work[WISH_BEND, k]
        cost += 0.5 * blend * scoring.bends[k] * abs(off)
    return cost


@kernel
def shape_cost(chain: Chain, scoring: Scoring, blend: float, work: Array, row: int) -> float:
    """Shape error of `work[row]` against the posture noted, with a share `blend` of the sign-blind posture error."""
    total = 0.0
    for k in range(work.shape[1]):
        if scoring.shapes[k] > 0.0:
            total += joint_cost(chain, scoring, blend, k, work[row, k], work)
    return total


@kernel
def restore(chain: Chain, work: Array, row: int, height: float) -> bool:
    """Put `work[row]` back on the surface by the joint that changes the height most easily."""
    n = chain.axis.shape[0]
    look_along(chain, work, row)
    last = math.inf
    for _ in range(n):
        most, k = 0.0, -1
        for j in range(1, n):
            power = work[EASE, j] * work[SLOPE, j] * work[SLOPE, j]
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
def _plan(chain: Chain, scoring: Scoring, work: Array, row: int, posture: Array, curved: float) -> None:
    """STEP and EASE of every joint without the constraint."""
    shapes = scoring.shapes
    for k in range(1, shapes.shape[0]):
        d = wrapped(posture[k] - work[row, k])
        hc, hs = work[HALF_COS, k], work[HALF_SIN, k]
        c, s = hc * hc - hs * hs, 2.0 * hc * hs
        falls = (work[WISH_SIN, k] * c - work[WISH_COS, k] * s) / d if abs(d) > 1e-6 else 1.0
        pull = shapes[k] * max(LEAST_CURVATURE, falls)
        stiff = pull + max(0.0, curved * (work[ACROSS, k] * c + work[ALONG, k] * s)) + LIGHT
        work[EASE, k] = 1.0 / stiff
        work[STEP, k] = pull * d / stiff
        work[HELD, k] = 0.0


@kernel
def _constrain(chain: Chain, work: Array, row: int, missing: float) -> float:
    """Bend STEP so that it meets the height and the limits; returns λ."""
    lower, upper = chain.lower, chain.upper
    n = lower.shape[0]
    force = 0.0
    for _ in range(n):
        give, left = 1e-12, missing
        for k in range(1, n):
            left -= work[SLOPE, k] * work[STEP, k]
            if work[HELD, k] == 0.0:
                give += work[EASE, k] * work[SLOPE, k] * work[SLOPE, k]
        force = left / give
        worst, out = 1e-14, -1
        for k in range(1, n):
            if work[HELD, k] == 0.0:
                end = work[row, k] + work[STEP, k] + work[EASE, k] * work[SLOPE, k] * force
                beyond = max(lower[k] - end, end - upper[k])
                if beyond > worst:
                    worst, out = beyond, k
        if out < 0:
            break
        end = work[row, out] + work[STEP, out] + work[EASE, out] * work[SLOPE, out] * force
        work[STEP, out] = (lower[out] if end < lower[out] else upper[out]) - work[row, out]
        work[HELD, out] = 1.0
    for k in range(1, n):
        if work[HELD, k] == 0.0:
            work[STEP, k] += work[EASE, k] * work[SLOPE, k] * force
    return force


@kernel
def slide(
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
    """Take at most `steps` steps from `work[row]`, on the surface already; returns the cost there and the steps.

    The `posture` is the one noted by `note_wish`.
    """
    lower, upper = chain.lower, chain.upper
    n = lower.shape[0]
    r = root_axis(chain)
    cost = shape_cost(chain, scoring, blend, work, row)
    curved = 0.0
    for step in range(steps):
        missing = height - dot(r, look_along(chain, work, row))
        _plan(chain, scoring, work, row, posture, curved)
        curved = _constrain(chain, work, row, missing)
        largest = 0.0
        for k in range(1, n):
            largest = max(largest, abs(work[STEP, k]))
        if largest < 1e-4:
            return cost, step + 1
        share = min(1.0, 1.0 / largest)
        fell = 0.0
        for _ in range(TRIES):
            for k in range(1, n):
                work[TRIAL, k] = min(upper[k], max(lower[k], work[row, k] + share * work[STEP, k]))
            if restore(chain, work, TRIAL, height):
                there = shape_cost(chain, scoring, blend, work, TRIAL)
                if there < cost - 1e-9:
                    fell = cost - there
                    break
            share *= SHORTENED
        if fell > 0.0:
            cost -= fell
            for k in range(1, n):
                work[row, k] = work[TRIAL, k]
        if fell < ENOUGH * cost + 1e-7:
            return cost, step + 1
    return cost, steps
