"""Limits of one step: bounds on each velocity, and linear inequalities for ball joints and couplings.

A step x satisfies l - q ≤ x ≤ u - q, |x| ≤ speed · dt, and |x| ≤ the largest step. The swing region of a ball joint is
replaced by its tangent half-plane nearest to the current swing (s_x, s_y), and its twist interval by two linear rows.
Couplings are linear in those coordinates already, or linearised. Limits out of reach of the largest step have infinite
bounds.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.body.limits import (
    ANYWHERE,
    ELLIPSE,
    Bounds,
    ball_split,
    coordinate,
    coupling_value,
    nearest_on_ellipse,
    nearest_on_region,
    nearest_turn,
    split_of,
    term_curve_at,
    term_slope,
    twist_interval,
    twist_slopes,
)
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.quaternion import (
    Quaternion,
    SwingTwist,
    direction_swing,
    from_rotation_vector,
    multiply,
    quaternion_at,
    rotate,
    swing_direction,
    swing_twist_rates,
)
from poise.kernels.maths.vector import Vector, add, scale

Array = np.ndarray

PER_BALL = 3
"""Inequality rows per ball joint: swing, least twist, greatest twist."""
HORIZON_STEPS = 2.0
"""Limits farther away than this many times the largest step are left out."""


class StepLimits(NamedTuple):
    """Bounds on one step besides the figure's own limits, and index maps between velocities and coordinates."""

    dof_q: Array
    """(nv,) coordinate of each velocity, or -1 for those of rotations."""
    q_dof: Array
    """(nq,) velocity of each plain coordinate, or -1."""
    speed: Array
    """(nv,) greatest speed [rad/s or m/s], inf for none."""
    largest: Array
    """(nv,) largest step [rad or m]."""
    ball_dof: Array
    """(b,) first velocity of each limited ball joint."""
    hard: Array
    """(h,) couplings that are equalities."""
    soft: Array
    """(s,) couplings that are inequalities."""
    clock: Array
    """(1,) duration of a step [s]; inf when speeds do not matter."""


@kernel(inline=True)
def fill_box(
    limits: StepLimits,
    bounds: Bounds,
    q: Array,
    # outputs
    lower: Array,
    upper: Array,
) -> None:
    """Fill the bounds (nv,) of each velocity of a step from limits, speed and largest step; they include 0."""
    dof_q, speed, largest, q_lower, q_upper = limits.dof_q, limits.speed, limits.largest, bounds.lower, bounds.upper
    dt = limits.clock[0]
    for k in range(dof_q.shape[0]):
        far = min(largest[k], speed[k] * dt)
        lower[k], upper[k] = -far, far
        c = dof_q[k]
        if c >= 0:
            lower[k] = min(0.0, max(-far, q_lower[c] - q[c]))
            upper[k] = max(0.0, min(far, q_upper[c] - q[c]))


@kernel(inline=True)
def fill_ball_limits(
    limits: StepLimits,
    bounds: Bounds,
    q: Array,
    offset: int,
    # outputs
    general: Array,
    lower: Array,
    upper: Array,
) -> None:
    """Write the limits of all ball joints as linear inequalities of a step: lower ≤ general x ≤ upper.

    Args:
        limits: Limits of the step.
        bounds: Limits of the figure.
        q: (nq,) the posture.
        offset: Entry of `lower` and `upper` that belongs to row 0 of `general`.
        general: (…, nv) Jacobian; ball joint b has rows 3 b to 3 b + 2.
        lower: Least values of the rows.
        upper: Greatest values of the rows.
    """
    for b in range(limits.ball_dof.shape[0]):
        row = PER_BALL * b
        for i in range(row, row + PER_BALL):
            lower[offset + i], upper[offset + i] = -math.inf, math.inf
        if bounds.swing_kind[b] == ANYWHERE and bounds.twist_limited[b] == 0:
            continue
        split = ball_split(bounds, b, q)
        rates = swing_twist_rates(split)
        far = HORIZON_STEPS * limits.largest[limits.ball_dof[b]]
        if bounds.swing_kind[b] != ANYWHERE:
            nx, ny, room = tangent_line(bounds, b, split)
            if room < far:
                _put_ball_row(limits, bounds, b, add(scale(rates[0], nx), scale(rates[1], ny)), row, general)
                upper[offset + row] = max(0.0, room)
        if bounds.twist_limited[b] == 1:
            _twist_rows(limits, bounds, b, split, far, row + 1, offset, general, lower, upper)


@kernel
def tangent_line(bounds: Bounds, b: int, split: SwingTwist) -> tuple[float, float, float]:
    """Outward unit normal of the swing region's tangent nearest to the swing, and the signed distance to it [rad]."""
    x, y = split.x, split.y
    if bounds.swing_kind[b] == ELLIPSE:
        rx, ry = bounds.radii[b, 0], bounds.radii[b, 1]
        px, py = nearest_on_ellipse(x, y, rx, ry)
        nx, ny = px / (rx * rx), py / (ry * ry)
        size = math.sqrt(nx * nx + ny * ny)
        nx, ny = nx / size, ny / size
        return nx, ny, nx * (px - x) + ny * (py - y)
    near, outside = nearest_on_region(bounds, b, swing_direction(x, y))
    px, py = direction_swing(near)
    size = math.sqrt((px - x) ** 2 + (py - y) ** 2)
    if size < 1e-9:
        return _tangent_at_boundary(bounds, b, split)
    sign = 1.0 if outside <= 0.0 else -1.0
    return sign * (px - x) / size, sign * (py - y) / size, sign * size


@kernel
def _tangent_at_boundary(bounds: Bounds, b: int, split: SwingTwist) -> tuple[float, float, float]:
    """`tangent_line` for a swing on the boundary itself, with the normal from samples around the swing."""
    step = 1e-5
    nx, ny = 0.0, 0.0
    for i in range(8):
        angle = 0.25 * math.pi * i
        c, s = math.cos(angle), math.sin(angle)
        _, outside = nearest_on_region(bounds, b, swing_direction(split.x + step * c, split.y + step * s))
        nx += outside * c
        ny += outside * s
    size = math.sqrt(nx * nx + ny * ny)
    if size == 0.0:
        return 1.0, 0.0, 0.0
    return nx / size, ny / size, 0.0


@kernel
def _put_ball_row(limits: StepLimits, bounds: Bounds, b: int, rate: Vector, row: int, general: Array) -> None:
    """Set general[row] to a derivative given in the limb's axes, turned into the joint's axes."""
    for k in range(general.shape[1]):
        general[row, k] = 0.0
    _add_ball_row(limits, bounds, b, rate, row, general)


@kernel
def _add_ball_row(limits: StepLimits, bounds: Bounds, b: int, rate: Vector, row: int, general: Array) -> None:
    """Add a derivative given in the limb's axes, turned into the joint's axes, to general[row]."""
    turned = rotate(quaternion_at(bounds.limb, b), rate)
    k = limits.ball_dof[b]
    general[row, k] += turned.x
    general[row, k + 1] += turned.y
    general[row, k + 2] += turned.z


@kernel
def _twist_rows(
    limits: StepLimits,
    bounds: Bounds,
    b: int,
    split: SwingTwist,
    far: float,
    row: int,
    offset: int,
    general: Array,
    lower: Array,
    upper: Array,
) -> None:
    """Fill row `row` with the linearised τ - τ_min(s) ≥ 0 and the next row with τ - τ_max(s) ≤ 0."""
    x, y = split.x, split.y
    low, high = twist_interval(bounds, b, x, y)
    twist = nearest_turn(split.twist, 0.5 * (low + high))
    rates = swing_twist_rates(split)
    for side in range(2):
        room = twist - low if side == 0 else high - twist
        if room >= far:
            continue
        slope_x, slope_y = twist_slopes(bounds, b, side == 1, x, y)
        rate = add(rates[2], add(scale(rates[0], -slope_x), scale(rates[1], -slope_y)))
        _put_ball_row(limits, bounds, b, rate, row + side, general)
        if side == 0:
            lower[offset + row] = min(0.0, -room)
        else:
            upper[offset + row + 1] = max(0.0, room)


CURVATURE_PROBE = 1e-3
"""Turn of the finite differences that give the curvature of a ball joint's limits [rad]."""
LARGEST_LIMIT_CURVATURE = 100.0
"""Curvature of a ball joint's limit above which it is at a corner, which has none [1/rad]."""


@kernel
def add_ball_curvature(
    limits: StepLimits,
    bounds: Bounds,
    q: Array,
    forces: Array,
    offset: int,
    # outputs
    out: Array,
) -> None:
    """Add Σ f_i ∇²g_i over the limits g_i of all ball joints to `out` (nv, nv), with f_i their forces.

    Args:
        limits: Limits of the step.
        bounds: Limits of the figure.
        q: (nq,) the posture.
        forces: Lagrange multipliers of all limits.
        offset: Entry of `forces` that belongs to row 0 of `general` in `fill_ball_limits`.
        out: The matrix.
    """
    for b in range(limits.ball_dof.shape[0]):
        for part in range(PER_BALL):
            force = forces[offset + PER_BALL * b + part]
            if force != 0.0:
                _add_limit_curvature(limits.ball_dof[b], bounds, b, part, q, force, out)


@kernel
def _add_limit_curvature(dof: int, bounds: Bounds, b: int, part: int, q: Array, force: float, out: Array) -> None:
    """Add the second derivatives of one limit of ball joint `b`, times `force`, by central differences."""
    here, h = _limit_value(bounds, b, part, q, Vector(0.0, 0.0, 0.0)), CURVATURE_PROBE
    xs = _both_ways(bounds, b, part, q, Vector(h, 0.0, 0.0)) - 2.0 * here
    ys = _both_ways(bounds, b, part, q, Vector(0.0, h, 0.0)) - 2.0 * here
    zs = _both_ways(bounds, b, part, q, Vector(0.0, 0.0, h)) - 2.0 * here
    xy = 0.5 * (_both_ways(bounds, b, part, q, Vector(h, h, 0.0)) - 2.0 * here - xs - ys)
    xz = 0.5 * (_both_ways(bounds, b, part, q, Vector(h, 0.0, h)) - 2.0 * here - xs - zs)
    yz = 0.5 * (_both_ways(bounds, b, part, q, Vector(0.0, h, h)) - 2.0 * here - ys - zs)
    if max(abs(xs), abs(ys), abs(zs), abs(xy), abs(xz), abs(yz)) > LARGEST_LIMIT_CURVATURE * h * h:
        return
    scale = force / (h * h)
    out[dof, dof] += scale * xs
    out[dof + 1, dof + 1] += scale * ys
    out[dof + 2, dof + 2] += scale * zs
    out[dof, dof + 1] += scale * xy
    out[dof + 1, dof] += scale * xy
    out[dof, dof + 2] += scale * xz
    out[dof + 2, dof] += scale * xz
    out[dof + 1, dof + 2] += scale * yz
    out[dof + 2, dof + 1] += scale * yz


@kernel
def _both_ways(bounds: Bounds, b: int, part: int, q: Array, turn: Vector) -> float:
    """Sum of the values of a limit after a turn and after the opposite turn."""
    back = Vector(-turn.x, -turn.y, -turn.z)
    return _limit_value(bounds, b, part, q, turn) + _limit_value(bounds, b, part, q, back)


@kernel
def _limit_value(bounds: Bounds, b: int, part: int, q: Array, turn: Vector) -> float:
    """The function whose derivative is row `part` of ball `b` in `fill_ball_limits`, after a turn of the joint."""
    k = bounds.ball_start[b]
    rotation = multiply(Quaternion(q[k], q[k + 1], q[k + 2], q[k + 3]), from_rotation_vector(turn))
    split = split_of(bounds, b, rotation)
    if part == 0:
        return -tangent_line(bounds, b, split)[2]
    low, high = twist_interval(bounds, b, split.x, split.y)
    return nearest_turn(split.twist, 0.5 * (low + high)) - (low if part == 1 else high)


@kernel(inline=True)
def coupling_row(limits: StepLimits, bounds: Bounds, coupling: int, q: Array, row: int, rows: Array) -> None:
    """Set rows[row] (nv,) to the derivative of a coupling's sum."""
    for k in range(rows.shape[1]):
        rows[row, k] = 0.0
    for t in range(bounds.term_start[coupling], bounds.term_start[coupling + 1]):
        c, factor = bounds.term_coordinate[t], term_slope(bounds, t, q)
        b = bounds.coordinate_ball[c]
        if b < 0:
            rows[row, limits.q_dof[bounds.coordinate_q[c]]] += factor
        else:
            rates = swing_twist_rates(ball_split(bounds, b, q))
            part = bounds.coordinate_part[c]
            rate = rates[0] if part == 0 else (rates[1] if part == 1 else rates[2])
            _add_ball_row(limits, bounds, b, scale(rate, factor), row, rows)


@kernel(inline=True)
def fill_couplings(
    limits: StepLimits,
    bounds: Bounds,
    q: Array,
    at: int,
    offset: int,
    # outputs
    general: Array,
    lower: Array,
    upper: Array,
) -> None:
    """Fill the rows of inequality couplings, from row `at` of `general` and entry `offset` + `at` of the bounds on."""
    for i in range(limits.soft.shape[0]):
        coupling = limits.soft[i]
        coupling_row(limits, bounds, coupling, q, at + i, general)
        value = coupling_value(bounds, coupling, q)
        lower[offset + at + i] = min(0.0, bounds.coupling_lower[coupling] - value)
        upper[offset + at + i] = max(0.0, bounds.coupling_upper[coupling] - value)


@kernel
def add_coupling_curvature(
    limits: StepLimits,
    bounds: Bounds,
    coupling: int,
    q: Array,
    force: float,
    # outputs
    out: Array,
) -> None:
    """Add `force` times the second derivatives of a coupling's curves, factor f″ (∂c/∂v)(∂c/∂v)ᵀ, to `out` (nv, nv)."""
    for t in range(bounds.term_start[coupling], bounds.term_start[coupling + 1]):
        if bounds.term_curve[t] < 0 or force == 0.0:
            continue
        c = bounds.term_coordinate[t]
        bend = force * bounds.term_factor[t] * term_curve_at(bounds, t, coordinate(bounds, c, q))[2]
        b = bounds.coordinate_ball[c]
        if b < 0:
            k = limits.q_dof[bounds.coordinate_q[c]]
            out[k, k] += bend
            continue
        rates = swing_twist_rates(ball_split(bounds, b, q))
        part, k = bounds.coordinate_part[c], limits.ball_dof[b]
        rate = rotate(quaternion_at(bounds.limb, b), rates[0] if part == 0 else (rates[1] if part == 1 else rates[2]))
        for i in range(3):
            for j in range(3):
                out[k + i, k + j] += bend * rate[i] * rate[j]
