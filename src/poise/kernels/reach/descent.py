"""One descent of a reach: Levenberg–Marquardt steps inside all limits, from one posture to a local minimum.

See `reach` for the method.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.body.tree import forward, integrate, jacobian, motion_axes
from poise.kernels.jit.compile import inner_kernel, kernel
from poise.kernels.maths.quaternion import Quaternion, conjugate, multiply, quaternion_at, rotate, to_rotation_vector
from poise.kernels.maths.vector import Vector, add, subtract, vector_at
from poise.kernels.reach.damped_step import solve_step
from poise.kernels.reach.limits import clamp_balls, clamp_couplings, coupling_rows
from poise.kernels.reach.path import Path
from poise.kernels.reach.workspace import CUT_ROUNDS, GOAL_ROWS, Work

Array = np.ndarray

FIRST_DAMPING_FACTOR = 0.3
"""μ at the start of a descent."""
DAMPING_DECREASE, DAMPING_INCREASE = 0.7, 8.0
"""Factors on μ after a step that decreased |e|², and after one that did not."""
LEAST_DAMPING_FACTOR, GREATEST_DAMPING_FACTOR = 1e-9, 1e12
"""Least μ, and the μ above which a descent ends."""
NO_DECREASE = 1e-15
"""A descent ends when a step decreases |e|² by less than this share."""


class Goal(NamedTuple):
    """The wanted frame of the site."""

    position: Vector
    """[m]"""
    rotation: Quaternion
    """World rotation."""
    first: int
    """First error component that counts: 0, or 3 for a rotation alone."""
    last: int
    """One after the last error component: 6, or 3 for a position alone."""
    tolerance: float
    """Errors of position [m] and of rotation [rad] up to this count as none."""


@inner_kernel
def evaluate(
    path: Path, goal: Goal, position: Array, rotation: Array, q: Array,
    # outputs
    error: Array,
) -> float:  # fmt: skip
    """|e|² of posture `q`; fills `error` with e, and `position` and `rotation` with the nodes' frames."""
    forward(path.tree, q, position, rotation)
    return find_error(goal, path.site, path.node, position, rotation, error)


@kernel
def find_error(
    goal: Goal, site: Array, node: int, position: Array, rotation: Array,
    # outputs
    error: Array,
) -> float:  # fmt: skip
    """Fill `error` with e for these node frames; returns |e|²."""
    place, turned = _site_frame(site, node, position, rotation)
    square = 0.0
    if goal.first == 0:
        off = subtract(goal.position, place)
        error[0], error[1], error[2] = off.x, off.y, off.z
        square += off.x * off.x + off.y * off.y + off.z * off.z
    if goal.last == 6:
        left = to_rotation_vector(multiply(goal.rotation, conjugate(turned)))
        length = site[7]
        error[3], error[4], error[5] = length * left.x, length * left.y, length * left.z
        square += length * length * (left.x * left.x + left.y * left.y + left.z * left.z)
    return square


@kernel
def _site_frame(site: Array, i: int, position: Array, rotation: Array) -> tuple[Vector, Quaternion]:
    """World position and rotation of the site on node `i`."""
    carrier = quaternion_at(rotation, i)
    place = add(vector_at(position, i), rotate(carrier, Vector(site[0], site[1], site[2])))
    return place, multiply(carrier, Quaternion(site[3], site[4], site[5], site[6]))


@kernel
def error_sizes(error: Array, length: float) -> tuple[float, float]:
    """Errors of position [m] and of rotation [rad]; 0 for the one that does not count."""
    off = math.sqrt(error[0] * error[0] + error[1] * error[1] + error[2] * error[2])
    turned = math.sqrt(error[3] * error[3] + error[4] * error[4] + error[5] * error[5]) / length
    return off, turned


@kernel
def _arrived(error: Array, length: float, tolerance: float) -> bool:
    """Whether both errors are within the tolerance."""
    off, turned = error_sizes(error, length)
    return off <= tolerance and turned <= tolerance


@inner_kernel
def descend(path: Path, goal: Goal, work: Work, q: Array, most: int, stalled: float) -> tuple[float, int, bool]:
    """Decrease |e|² from posture `q` until it is within tolerance, stalls, or `most` steps were tried.

    Args:
        path: The path.
        goal: The goal.
        work: Workspace.
        q: (nq,) the posture, changed in place.
        most: Largest number of steps.
        stalled: The descent stalls after two steps in a row that decrease |e|² by less than this share.

    Returns:
        |e|² at the end, the number of steps, and whether the goal is met.
    """
    position, rotation, trial, error = work.position, work.rotation, work.trial, work.error
    tree, bounds, moving, length = path.tree, path.bounds, path.moving_q, path.site[7]
    curved = path.balls.shape[0] > 0 or path.couplings.shape[0] > 0
    cost = evaluate(path, goal, position, rotation, q, error)
    factor, slow, fresh, total = FIRST_DAMPING_FACTOR, 0, True, GOAL_ROWS
    for taken in range(most):
        if fresh:
            if _arrived(error, length, goal.tolerance):
                return cost, taken, True
            motion_axes(tree, rotation, work.axes)
            place, _ = _site_frame(path.site, path.node, position, rotation)
            jacobian(tree, position, work.axes, path.node, place, work.rows)
            _scale_rows(work.rows, length, error, work.low)
            _rate_bounds(q, path.dof_q, path.dof_held, bounds.lower, bounds.upper, work.lower, work.upper)
            if curved:
                total = coupling_rows(path, q, GOAL_ROWS, work.rows, work.low, work.high)
        damping = factor * min(cost, length * length)
        legal = True
        if curved:
            legal = _curved_step(path, goal, work, q, total, damping)
        else:
            _straight_step(path, goal, work, q, total, damping)
        new = evaluate(path, goal, position, rotation, trial, error) if legal else math.inf
        fresh = new < cost
        if fresh:
            gain = cost - new
            slow = slow + 1 if gain < stalled * cost else 0
            for i in range(moving.shape[0]):
                q[moving[i]] = trial[moving[i]]
            factor = max(LEAST_DAMPING_FACTOR, factor * DAMPING_DECREASE)
            done = slow > 1 or gain <= NO_DECREASE * cost
            cost = new
            if done:
                return cost, taken + 1, _arrived(error, length, goal.tolerance)
        else:
            factor *= DAMPING_INCREASE
            if factor > GREATEST_DAMPING_FACTOR:
                return cost, taken + 1, False
    return cost, most, fresh and _arrived(error, length, goal.tolerance)


@kernel
def _scale_rows(rows: Array, length: float, error: Array, low: Array) -> None:
    """Multiply the rotation rows by ℓ, to metres, and copy the error to the targets `low`."""
    for r in range(6):
        low[r] = error[r]
    for r in range(3, 6):
        for c in range(rows.shape[1]):
            rows[r, c] *= length


@kernel
def _rate_bounds(
    q: Array, dof_q: Array, dof_held: Array, least: Array, greatest: Array, lower: Array, upper: Array
) -> None:
    """Fill the bounds of each rate from the limits of its coordinate; 0 for held ones."""
    for c in range(dof_q.shape[0]):
        k = dof_q[c]
        if dof_held[c] == 1:
            lower[c], upper[c] = 0.0, 0.0
        elif k < 0:
            lower[c], upper[c] = -math.inf, math.inf
        else:
            lower[c], upper[c] = least[k] - q[k], greatest[k] - q[k]


@kernel
def _clip(dof_q: Array, least: Array, greatest: Array, q: Array) -> None:
    """Clamp the coordinates of turns and slides to their limits, which rounding may have exceeded."""
    for c in range(dof_q.shape[0]):
        k = dof_q[c]
        if k >= 0:
            q[k] = min(max(q[k], least[k]), greatest[k])


@inner_kernel
def _straight_step(path: Path, goal: Goal, work: Work, q: Array, total: int, damping: float) -> None:
    """Solve one step from `q` inside intervals and constraint rows; writes the posture after it to `trial`."""
    solve_step(work, goal.first, goal.last, total, damping)
    integrate(path.tree, q, work.v, work.trial)
    _clip(path.dof_q, path.bounds.lower, path.bounds.upper, work.trial)


@inner_kernel
def _curved_step(path: Path, goal: Goal, work: Work, q: Array, total: int, damping: float) -> bool:
    """Solve one step inside couplings and ball joint limits; False when the couplings could not be satisfied."""
    trial, side = work.trial, work.side
    for r in range(total, side.shape[0]):
        side[r] = 0
    for cut in range(CUT_ROUNDS + 1):
        _straight_step(path, goal, work, q, total, damping)
        before = total
        total = clamp_balls(path, q, trial, total, work.rows, work.low, work.high)
        if total == before or cut == CUT_ROUNDS:
            break
    return clamp_couplings(path, trial, work.wanted)
