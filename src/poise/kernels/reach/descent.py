"""One descent of a reach: Levenberg–Marquardt steps inside all limits, from one posture to a minimum near it.

See `reach` for the method.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.body.tree import forward, integrate, jacobian, motion_axes
from poise.kernels.jit.compile import inner_kernel, kernel
from poise.kernels.maths.quaternion import Quaternion, conjugate, multiply, quaternion_at, rotate, to_rotation_vector
from poise.kernels.maths.vector import Vector, add, subtract, vector_at
from poise.kernels.reach.damped_step import GOAL_ROWS, Step, solve_step
from poise.kernels.reach.limits import coupling_rows, hold_balls, hold_couplings
from poise.kernels.reach.path import Path

Array = np.ndarray

FIRST_FACTOR = 0.3
"""μ at the start of a descent."""
EASED, STIFFENED = 0.7, 8.0
"""What a step that helps, and one that does not, do to μ."""
LEAST_FACTOR, GREATEST_FACTOR = 1e-9, 1e12
NOTHING = 1e-15
"""Share of |e|² below which a step changed nothing."""
CUT_ROUNDS = 3
"""Times a step is found again with rows for the ball joints that left their regions."""


class Goal(NamedTuple):
    """What is asked."""

    position: Vector
    rotation: Quaternion
    first: int
    """First row that counts: 0, or 3 when only the rotation is asked for."""
    last: int
    """Row after the last: 6, or 3 when only the position is asked for."""
    tolerance: float
    """Error of position [m] and of rotation [rad] that counts as none."""


class Work(NamedTuple):
    """Everything a reach writes to besides its answer."""

    position: Array
    """(k, 3) of all nodes."""
    rotation: Array
    """(k, 4) of all nodes."""
    axes: Array
    """(n, 3) of all velocities."""
    error: Array
    """(6,) of the posture last looked at."""
    trial: Array
    """(nq,) posture after a step."""
    here: Array
    """(nq,) posture of the current descent."""
    wanted: Array
    """(nq,) posture before couplings moved it."""
    step: Step


@inner_kernel
def look(
    path: Path, goal: Goal, position: Array, rotation: Array, q: Array,
    # outputs
    error: Array,
) -> float:  # fmt: skip
    """|e|² of posture `q`, and e; leaves the nodes' frames in `position` and `rotation`."""
    forward(path.tree, q, position, rotation)
    return find_error(goal, path.site, path.node, position, rotation, error)


@kernel
def find_error(
    goal: Goal, site: Array, node: int, position: Array, rotation: Array,
    # outputs
    error: Array,
) -> float:  # fmt: skip
    """e of the frames at hand, and |e|²."""
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
    carrier = quaternion_at(rotation, i)
    place = add(vector_at(position, i), rotate(carrier, Vector(site[0], site[1], site[2])))
    return place, multiply(carrier, Quaternion(site[3], site[4], site[5], site[6]))


@kernel
def error_sizes(error: Array, length: float) -> tuple[float, float]:
    """Errors of position [m] and of rotation [rad]; 0 for what is not asked for."""
    off = math.sqrt(error[0] * error[0] + error[1] * error[1] + error[2] * error[2])
    turned = math.sqrt(error[3] * error[3] + error[4] * error[4] + error[5] * error[5]) / length
    return off, turned


@kernel
def _arrived(error: Array, length: float, tolerance: float) -> bool:
    off, turned = error_sizes(error, length)
    return off <= tolerance and turned <= tolerance


@inner_kernel
def descend(path: Path, goal: Goal, work: Work, q: Array, most: int, stalled: float) -> tuple[float, int, bool]:
    """Bring |e|² down from posture `q` until it is zero, stalls, or `most` steps were tried."""
    position, rotation, trial, error = work.position, work.rotation, work.trial, work.error
    tree, bounds, moving, length, step = path.tree, path.bounds, path.moving_q, path.site[7], work.step
    curved = path.balls.shape[0] > 0 or path.couplings.shape[0] > 0
    cost = look(path, goal, position, rotation, q, error)
    factor, slow, fresh, total = FIRST_FACTOR, 0, True, GOAL_ROWS
    for taken in range(most):
        if fresh:
            if _arrived(error, length, goal.tolerance):
                return cost, taken, True
            motion_axes(tree, rotation, work.axes)
            place, _ = _site_frame(path.site, path.node, position, rotation)
            jacobian(tree, position, work.axes, path.node, place, step.rows)
            _scale_rows(step.rows, length, error, step.low)
            _room(q, path.dof_q, path.dof_held, bounds.lower, bounds.upper, step.lower, step.upper)
            if curved:
                total = coupling_rows(path, q, GOAL_ROWS, step.rows, step.low, step.high)
        damping = factor * min(cost, length * length)
        legal = True
        if curved:
            legal = _curved_step(path, goal, work, q, total, damping)
        else:
            _straight_step(path, goal, work, q, total, damping)
        new = look(path, goal, position, rotation, trial, error) if legal else math.inf
        fresh = new < cost
        if fresh:
            gain = cost - new
            slow = slow + 1 if gain < stalled * cost else 0
            for i in range(moving.shape[0]):
                q[moving[i]] = trial[moving[i]]
            factor = max(LEAST_FACTOR, factor * EASED)
            done = slow > 1 or gain <= NOTHING * cost
            cost = new
            if done:
                return cost, taken + 1, _arrived(error, length, goal.tolerance)
        else:
            factor *= STIFFENED
            if factor > GREATEST_FACTOR:
                return cost, taken + 1, False
    return cost, most, fresh and _arrived(error, length, goal.tolerance)


@kernel
def _scale_rows(rows: Array, length: float, error: Array, low: Array) -> None:
    """Make metres of the rotation's rows, and the error their target."""
    for r in range(6):
        low[r] = error[r]
    for r in range(3, 6):
        for c in range(rows.shape[1]):
            rows[r, c] *= length


@kernel
def _room(q: Array, dof_q: Array, dof_held: Array, least: Array, greatest: Array, lower: Array, upper: Array) -> None:
    """How far each rate may take its coordinate."""
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
    """Take off what rounding put beyond a limit."""
    for c in range(dof_q.shape[0]):
        k = dof_q[c]
        if k >= 0:
            q[k] = min(max(q[k], least[k]), greatest[k])


@inner_kernel
def _straight_step(path: Path, goal: Goal, work: Work, q: Array, total: int, damping: float) -> None:
    """Write to `trial` where the best step from `q` leads that keeps to its rows and to intervals."""
    rows, low, high, lower, upper, at, side, used, matrix, y, v, unclipped, last_y = work.step
    solve_step(
        rows, low, high, lower, upper, at, side, used, matrix, y, v, unclipped, last_y,
        goal.first, goal.last, total, damping,
    )  # fmt: skip
    integrate(path.tree, q, v, work.trial)
    _clip(path.dof_q, path.bounds.lower, path.bounds.upper, work.trial)


@inner_kernel
def _curved_step(path: Path, goal: Goal, work: Work, q: Array, total: int, damping: float) -> bool:
    """A step inside couplings and the regions of ball joints; False when the couplings could not be met."""
    step, trial = work.step, work.trial
    for r in range(total, step.side.shape[0]):
        step.side[r] = 0
    for cut in range(CUT_ROUNDS + 1):
        _straight_step(path, goal, work, q, total, damping)
        before = total
        total = hold_balls(path, q, trial, total, step.rows, step.low, step.high)
        if total == before or cut == CUT_ROUNDS:
            break
    return hold_couplings(path, trial, work.wanted)
