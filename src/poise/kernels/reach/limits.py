"""Couplings and ball joint limits of a reach, as constraint rows of a step.

A coupling is one row, linearised if it has curves; for a ball joint, the rates of swing and twist give its
coefficients. The region of a ball joint is curved, so it gets a row only after a step has left it: with d the limb's
direction, n its nearest allowed direction and m the inward unit normal of the boundary there, m · d ≥ 0 is a tangent
half-space of the region (Kelley's cutting-plane method). In the cone's frame d = F⁻¹ q S z, so for the update
q ← q ⊗ exp(ω)

    m · ḋ = ω · (S z × q⁻¹ F m).
"""

import math

import numpy as np

from poise.kernels.body.clamp import clamp_coupled
from poise.kernels.body.limits import (
    JOINT_LIMIT_TOLERANCE,
    Bounds,
    ball_split,
    clamp_split,
    coupling_value,
    couplings_excess,
    nearest_turn,
    set_ball,
    term_slope,
    twist_interval,
    twist_slopes,
)
from poise.kernels.jit.compile import inner_kernel, kernel
from poise.kernels.maths.quaternion import (
    Quaternion,
    SwingTwist,
    conjugate,
    quaternion_at,
    rotate,
    swing_direction,
    swing_twist_rates,
)
from poise.kernels.maths.vector import Vector, add, cross, dot, normalized, scale, subtract
from poise.kernels.reach.path import Path

Array = np.ndarray

MIN_CLAMP_ANGLE = 1e-9
"""Least angle between a direction and its clamped value from which the boundary's normal is computed [rad]."""


@inner_kernel
def coupling_rows(path: Path, q: Array, first: int, rows: Array, low: Array, high: Array) -> int:
    """Fill one row per coupling of the path, from row `first` on; returns the index of the next free row."""
    bounds, row = path.bounds, first
    for c in range(path.couplings.shape[0]):
        k = path.couplings[c]
        for i in range(rows.shape[1]):
            rows[row, i] = 0.0
        for t in range(bounds.term_start[k], bounds.term_start[k + 1]):
            _add_term(path, q, bounds.term_coordinate[t], term_slope(bounds, t, q), row, rows)
        value = coupling_value(bounds, k, q)
        # The zero step must stay feasible when a coupling is violated by rounding errors.
        low[row] = min(0.0, bounds.coupling_lower[k] - value)
        high[row] = max(0.0, bounds.coupling_upper[k] - value)
        if bounds.coupling_lower[k] == bounds.coupling_upper[k]:
            low[row] = high[row] = 0.0
        row += 1
    return row


@inner_kernel
def _add_term(path: Path, q: Array, coordinate: int, factor: float, row: int, rows: Array) -> None:
    """Add `factor` times the derivative of a coupled coordinate to a row."""
    v = path.coordinate_v[coordinate]
    if v < 0:
        return
    ball = path.bounds.coordinate_ball[coordinate]
    if ball < 0:
        rows[row, v] += factor
        return
    rates = swing_twist_rates(ball_split(path.bounds, ball, q))
    _add_vector(rows, row, v, rates[path.bounds.coordinate_part[coordinate]], factor)


@kernel
def _add_vector(rows: Array, row: int, v: int, a: Vector, factor: float) -> None:
    """rows[row, v : v + 3] += factor a."""
    rows[row, v] += factor * a.x
    rows[row, v + 1] += factor * a.y
    rows[row, v + 2] += factor * a.z


@inner_kernel
def clamp_balls(path: Path, q: Array, trial: Array, row: int, rows: Array, low: Array, high: Array) -> int:
    """Clamp the ball joints of `trial` to their limits, and add tangent rows at `q` for those that were outside.

    Returns the index of the next free row; tangents that do not fit into `rows` are left out.
    """
    bounds, balls = path.bounds, path.balls
    for b in range(balls.shape[0]):
        ball, v = balls[b], path.ball_v[b]
        split = ball_split(bounds, ball, trial)
        allowed = clamp_split(bounds, ball, split)
        if allowed == split:
            continue
        set_ball(bounds, ball, allowed, trial)
        if row + 2 <= rows.shape[0]:
            row = _swing_row(bounds, ball, q, v, split, allowed, row, rows, low, high)
            row = _twist_rows(bounds, ball, q, v, allowed, row, rows, low, high)
    return row


@kernel
def _swing_row(
    bounds: Bounds, ball: int, q: Array, v: int, wanted: SwingTwist, allowed: SwingTwist,
    row: int, rows: Array, low: Array, high: Array,
) -> int:  # fmt: skip
    """Add the tangent half-space at the boundary point to which the swing was clamped."""
    near = swing_direction(allowed.x, allowed.y)
    back = subtract(near, swing_direction(wanted.x, wanted.y))
    inward = subtract(back, scale(near, dot(near, back)))
    if dot(inward, inward) < MIN_CLAMP_ANGLE * MIN_CLAMP_ANGLE:
        return row
    inward = normalized(inward)
    k = bounds.ball_start[ball]
    turned = Quaternion(q[k], q[k + 1], q[k + 2], q[k + 3])
    cone = quaternion_at(bounds.cone, ball)
    limb = rotate(quaternion_at(bounds.limb, ball), Vector(0.0, 0.0, 1.0))
    normal = rotate(conjugate(turned), rotate(cone, inward))
    here = dot(normal, limb)
    _clear(rows, row)
    _add_vector(rows, row, v, cross(limb, normal), 1.0)
    low[row], high[row] = min(0.0, -here), math.inf
    return row + 1


@kernel
def _twist_rows(
    bounds: Bounds, ball: int, q: Array, v: int, allowed: SwingTwist, row: int, rows: Array, low: Array, high: Array
) -> int:  # fmt: skip
    """Add the linearised τ ≥ τ_min(s) or τ ≤ τ_max(s), whichever bound the twist was clamped to."""
    if bounds.twist_limited[ball] == 0:
        return row
    least, most = twist_interval(bounds, ball, allowed.x, allowed.y)
    middle = 0.5 * (least + most)
    twist = nearest_turn(allowed.twist, middle)
    at_upper = twist > middle
    if min(abs(twist - least), abs(twist - most)) > MIN_CLAMP_ANGLE:
        return row
    split = ball_split(bounds, ball, q)
    x_row, y_row, twist_row = swing_twist_rates(split)
    slope_x, slope_y = twist_slopes(bounds, ball, at_upper, split.x, split.y)
    least, most = twist_interval(bounds, ball, split.x, split.y)
    room = (most if at_upper else least) - nearest_turn(split.twist, 0.5 * (least + most))
    _clear(rows, row)
    _add_vector(rows, row, v, add(twist_row, add(scale(x_row, -slope_x), scale(y_row, -slope_y))), 1.0)
    low[row], high[row] = -math.inf, math.inf
    if at_upper:
        high[row] = max(0.0, room)
    else:
        low[row] = min(0.0, room)
    return row + 1


@kernel
def _clear(rows: Array, row: int) -> None:
    """Set a row to zero."""
    for i in range(rows.shape[1]):
        rows[row, i] = 0.0


@inner_kernel
def clamp_couplings(path: Path, trial: Array, wanted: Array) -> bool:
    """Move `trial`, which satisfies each joint's own limits, to satisfy the couplings too; False when that fails.

    `wanted` (nq,) is workspace.
    """
    if path.couplings.shape[0] == 0 or couplings_excess(path.bounds, trial) <= JOINT_LIMIT_TOLERANCE:
        return True
    for k in range(trial.shape[0]):
        wanted[k] = trial[k]
    return clamp_coupled(path.bounds, wanted, trial) == 1
