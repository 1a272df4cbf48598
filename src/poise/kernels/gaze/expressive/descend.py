"""Solve for any chain of hinges: first reach the target, then minimise the shape error without leaving the target.

`face` reduces the orientation residual by damped steps within limits; joints with a large weight in the shape error
move least. `settle` then minimises the shape error on the self-motion manifold, the set of postures that face the
target: each step minimises a quadratic upper bound of the shape error in the null space of the Jacobian, `face` returns
to the manifold, and a line search shortens the step until the cost decreases.
"""

import numpy as np

from poise.kernels.chains.chain import Chain, pointing, wrapped
from poise.kernels.gaze.expressive.bounded_step import box_step, orientation_residual, remove_roll, tip_and_axes
from poise.kernels.gaze.expressive.nearest_shape import (
    FREE_JOINT_STIFFNESS,
    LINE_SEARCH_TRIALS,
    MIN_COST_DECREASE,
    MIN_SHAPE_CURVATURE,
    STEP_REDUCTION,
    shape_cost,
)
from poise.kernels.gaze.expressive.workspace import (
    COMPLIANCE_ROW,
    FULL_STEP_ROW,
    START_ROW,
    STEP_LOWER_ROW,
    STEP_ROW,
    STEP_UPPER_ROW,
    TRIAL_ROW,
)
from poise.kernels.gaze.measures import DIRECTED, Aim, Scoring
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.portable_trigonometry import sine
from poise.kernels.maths.vector import Vector, length, scale

Array = np.ndarray

FACING_TOLERANCE = 1e-9
"""A residual angle below this counts as zero [rad]."""
MAX_TIP_TURN = 1.0
"""Largest turn of the tip in one step [rad]."""
FACE_STEPS = 24
"""Largest number of steps of `face` from a start."""
RETURN_STEPS = 5
"""Largest number of steps of `face` back to the manifold after a step of `settle`."""
MIN_RESIDUAL_DECREASE = 1e-3
"""`face` stops after a step that decreases the residual angle by less than this fraction."""
ORIENTATION_DAMPING = 1e-9
"""Damping μ of a step that must keep the orientation."""


@kernel
def step_box(chain: Chain, work: Array, row: int) -> None:
    """Set the box of a step from `work[row]` to the distances to the limits."""
    lower, upper = chain.lower, chain.upper
    for k in range(lower.shape[0]):
        work[STEP_LOWER_ROW, k] = lower[k] - work[row, k]
        work[STEP_UPPER_ROW, k] = upper[k] - work[row, k]


@kernel
def _residual(chain: Chain, scoring: Scoring, aim: Aim, work: Array, row: int) -> tuple[Vector, Vector]:
    """The tip's residual at `work[row]`, and the direction whose components were removed from AXIS_ROWS, or zero."""
    tip = tip_and_axes(chain, work, row)
    p = Vector(0.0, 0.0, 0.0)
    if aim.kind == DIRECTED:
        p = pointing(tip)
        remove_roll(work, chain.role.shape[0], p)
    return orientation_residual(scoring, aim, tip), p


@kernel
def face(chain: Chain, scoring: Scoring, aim: Aim, work: Array, row: int, steps: int) -> float:
    """Turn the tip of `work[row]` towards the aim by at most `steps` damped steps; returns the residual angle [rad]."""
    shapes = scoring.shapes
    n = shapes.shape[0]
    e, p = _residual(chain, scoring, aim, work, row)
    residual_angle = length(e)
    damping = 1e-3
    for _ in range(steps):
        if residual_angle < FACING_TOLERANCE:
            break
        step_box(chain, work, row)
        for k in range(n):
            work[COMPLIANCE_ROW, k] = 1.0 / (shapes[k] + 0.02)
            work[STEP_ROW, k] = 0.0
            work[START_ROW, k] = work[row, k]
        box_step(
            work,
            n,
            scale(e, min(1.0, MAX_TIP_TURN / residual_angle)),
            damping * min(1.0, residual_angle * residual_angle) + 1e-12,
            p,
        )
        for k in range(n):
            work[row, k] += work[STEP_ROW, k]
        e, p = _residual(chain, scoring, aim, work, row)
        previous_angle, residual_angle = residual_angle, min(residual_angle, length(e))
        if residual_angle < previous_angle:
            damping *= 0.2
            if residual_angle > previous_angle * (1.0 - MIN_RESIDUAL_DECREASE):
                break
            continue
        for k in range(n):
            work[row, k] = work[START_ROW, k]
        damping *= 30.0
        if damping > 1e6:
            break
        e, p = _residual(chain, scoring, aim, work, row)
    return residual_angle


@kernel
def shape_step(chain: Chain, scoring: Scoring, posture: Array, work: Array, row: int) -> None:
    """Set STEP_ROW to the step from `work[row]` that the shape alone would make, COMPLIANCE_ROW, and the step's box."""
    shapes = scoring.shapes
    step_box(chain, work, row)
    for k in range(shapes.shape[0]):
        d = wrapped(posture[k] - work[row, k]) if shapes[k] > 0.0 else 0.0
        curvature_share = sine(d) / d if abs(d) > 1e-6 else 1.0
        shape_stiffness = shapes[k] * max(MIN_SHAPE_CURVATURE, curvature_share)
        work[COMPLIANCE_ROW, k] = 1.0 / (shape_stiffness + FREE_JOINT_STIFFNESS)
        work[STEP_ROW, k] = shape_stiffness * d / (shape_stiffness + FREE_JOINT_STIFFNESS)


@kernel
def settle(
    chain: Chain,
    scoring: Scoring,
    aim: Aim,
    blend: float,
    posture: Array,
    steps: int,
    # changed
    work: Array,
    row: int,
) -> tuple[float, int]:
    """Minimise the shape error from `work[row]`, which faces the aim, by at most `steps` steps; returns cost and steps.

    `posture` is the wanted posture; `store_posture_terms` must have been called for it.
    """
    n = posture.shape[0]
    cost = shape_cost(chain, scoring, blend, work, row)
    for step in range(steps):
        e, p = _residual(chain, scoring, aim, work, row)
        shape_step(chain, scoring, posture, work, row)
        box_step(work, n, e, ORIENTATION_DAMPING, p)
        largest = 0.0
        for k in range(n):
            largest = max(largest, abs(work[STEP_ROW, k]))
        if largest < 1e-4:
            return cost, step + 1
        decrease = _line_search(chain, scoring, aim, blend, posture, cost, min(1.0, 1.0 / largest), work, row)
        cost -= decrease
        if decrease < MIN_COST_DECREASE * cost + 1e-7:
            return cost, step + 1
    return cost, steps


@kernel
def _line_search(
    chain: Chain,
    scoring: Scoring,
    aim: Aim,
    blend: float,
    posture: Array,
    cost: float,
    share: float,
    # changed
    work: Array,
    row: int,
) -> float:
    """Move `work[row]` along STEP_ROW, shortened until the cost decreases; returns the decrease, 0 if there is none."""
    n = posture.shape[0]
    for k in range(n):
        work[FULL_STEP_ROW, k] = work[STEP_ROW, k]
    for _ in range(LINE_SEARCH_TRIALS):
        for k in range(n):
            work[TRIAL_ROW, k] = work[row, k] + share * work[FULL_STEP_ROW, k]
        if face(chain, scoring, aim, work, TRIAL_ROW, RETURN_STEPS) < FACING_TOLERANCE:
            trial_cost = shape_cost(chain, scoring, blend, work, TRIAL_ROW)
            if trial_cost < cost - 1e-9:
                for k in range(n):
                    work[row, k] = work[TRIAL_ROW, k]
                return cost - trial_cost
        share *= STEP_REDUCTION
    return 0.0
