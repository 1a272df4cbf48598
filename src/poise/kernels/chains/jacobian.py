"""Jacobian methods for one end-point: transpose, pseudoinverse, damped and selectively damped least squares.

Each takes steps q ← q ⊕ Δ [Ribeiro & Paiva 2019, alg. 1], with the Δ of `chain_steps` for the Jacobian J of the
end-point and what is left of the goal, e, cut to a length that J can be trusted for.

A joint that stands at a limit and would go beyond it is left out of J and the step is found again, so that its share
moves to the others. What a whole step would overshoot stops at the limit. The best posture seen is the answer.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.body.tree import forward, integrate, jacobian, motion_axes
from poise.kernels.chains.ball_joints import hold_ball
from poise.kernels.chains.chain import pointing
from poise.kernels.chains.goal import (
    DIRECTION,
    LOOK,
    ORIENTATION,
    POSITION,
    ChainGoal,
    Tip,
    goal_error,
    tip_of,
    unpacked,
    wanted_direction,
)
from poise.kernels.chains.jacobian_steps import clamp_largest, damped_step, selective_step, transpose_step
from poise.kernels.chains.rounds import keep, stalled
from poise.kernels.jit.compile import inner_kernel, kernel
from poise.kernels.maths.quaternion import conjugate, direct_rotation, multiply, to_rotation_vector
from poise.kernels.maths.singular_values import singular_rows
from poise.kernels.maths.vector import Vector, add, cross, dot, length, orthogonal, scale, subtract
from poise.kernels.reach.path import Path, unflatten

Array = np.ndarray

TRANSPOSE, PSEUDOINVERSE, DAMPED, SELECTIVE = 0, 1, 2, 3
PATIENCE = 25
"""Steps after which too little progress ends the search."""
TOUCHES = 1e-12
"""How near a coordinate is to a limit it stands at [rad or m]."""


class Damping(NamedTuple):
    """How careful the steps are."""

    method: int
    longest: float
    """|e| is cut to this [m or rad]; D_max of eq. 8."""
    turn: float
    """Greatest change of any joint in one step; γ_max of eq. 11 [rad]."""
    bound: float
    """Greatest |Δ| of a damped step; b_max of eq. 15 [rad]."""


class Room(NamedTuple):
    """Everything a solve writes to besides its answer."""

    position: Array
    """(k, 3) of all nodes."""
    rotation: Array
    """(k, 4) of all nodes."""
    axes: Array
    """(n, 3) of all rates."""
    whole: Array
    """(6, n) Jacobian."""
    rows: Array
    """(3, n) rows of the goal."""
    split: Array
    """(3, n) σ_i v_i."""
    left: Array
    """(3, 3) u_i."""
    sigma: Array
    """(3,)"""
    error: Array
    """(3,)"""
    step: Array
    """(n,)"""
    reach: Array
    """(n,) |∂s/∂θ_j|."""
    stuck: Array
    """(n,) 1 where a joint is left out."""
    here: Array
    """(nq,) current posture."""
    trial: Array
    """(nq,) posture after a step."""


@kernel(counts_references=True)
def jacobian_steps(
    integers: Array, numbers: Array, start: Array, goal: tuple[float, ...], damping: tuple[float, ...],
    tolerance: float, most: int, trace: Array,
    # outputs
    q: Array,
) -> tuple[float, int]:  # fmt: skip
    """Bring one site to a goal; returns the error and the steps it took.

    Args:
        integers: The path, see `reach_path.flatten`.
        numbers: The path.
        start: (nq,) legal posture to begin in.
        goal: Kind, vector and rotation, see `ChainGoal`.
        damping: The fields of a `Damping`.
        tolerance: Error that counts as none.
        most: Steps to try.
        trace: (t, nq) where the posture after each of the first t steps is kept.
        q: (nq,) the posture found.
    """
    nodes, n = integers[1] - integers[0], integers[6] - integers[5]
    room = Room(
        np.empty((nodes, 3)),
        np.empty((nodes, 4)),
        np.empty((n, 3)),
        np.empty((6, n)),
        np.empty((3, n)),
        np.empty((3, n)),
        np.empty((3, 3)),
        np.empty(3),
        np.empty(3),
        np.empty(n),
        np.empty(n),
        np.empty(n, dtype=np.int64),
        start.copy(),
        start.copy(),
    )
    asked = unpacked(goal)
    care = Damping(int(damping[0]), damping[1], damping[2], damping[3])
    return _steps(integers, numbers, asked, care, tolerance, most, trace, room, q)


@inner_kernel
def _steps(
    integers: Array, numbers: Array, goal: ChainGoal, care: Damping, tolerance: float, most: int, trace: Array,
    room: Room,
    # outputs
    q: Array,
) -> tuple[float, int]:  # fmt: skip
    path = unflatten(integers, numbers)
    here = room.here
    _copy(here, q)
    forward(path.tree, here, room.position, room.rotation)
    tip = tip_of(path.site, path.node, room.position, room.rotation)
    best = goal_error(goal, tip)
    before = best
    for taken in range(most):
        if best <= tolerance:
            return best, taken
        motion_axes(path.tree, room.rotation, room.axes)
        jacobian(path.tree, room.position, room.axes, path.node, tip.position, room.whole)
        m = goal_rows(goal, tip, room.whole, room.rows, room.error)
        _shorten(room.error, m, care.longest)
        _find_step(path, care, m, room)
        moved = _advance(path, room)
        forward(path.tree, here, room.position, room.rotation)
        tip = tip_of(path.site, path.node, room.position, room.rotation)
        error = goal_error(goal, tip)
        keep(taken, here, trace)
        if error < best:
            best = error
            _copy(here, q)
        enough, before = stalled(taken + 1, PATIENCE, best, before)
        if enough or not moved:
            return best, taken + 1
    return best, most


@kernel
def _copy(a: Array, b: Array) -> None:
    for k in range(a.shape[0]):
        b[k] = a[k]


@kernel
def goal_vector(goal: ChainGoal, tip: Tip) -> Vector:
    """What is left of a goal: an offset [m], or a rotation vector in world axes [rad]."""
    if goal.kind == POSITION:
        return subtract(goal.vector, tip.position)
    if goal.kind == DIRECTION or goal.kind == LOOK:
        return to_rotation_vector(direct_rotation(pointing(tip.rotation), wanted_direction(goal, tip)))
    return to_rotation_vector(multiply(goal.rotation, conjugate(tip.rotation)))


@kernel
def goal_rows(
    goal: ChainGoal, tip: Tip, whole: Array,
    # outputs
    rows: Array,
    error: Array,
) -> int:  # fmt: skip
    """What is left of a goal, `error` (3,), and how it shrinks per unit of each rate, `rows` (3, n).

    `whole` (6, n) is the tip's Jacobian. A direction and a line of sight have two rows, across the tip's +Y, since its
    roll is free; all else has three. Returns how many.
    """
    left = goal_vector(goal, tip)
    first = 0 if goal.kind == POSITION else 3
    if goal.kind == POSITION or goal.kind == ORIENTATION:
        error[0], error[1], error[2] = left.x, left.y, left.z
        for r in range(3):
            for k in range(rows.shape[1]):
                rows[r, k] = whole[first + r, k]
        return 3
    y = pointing(tip.rotation)
    a = orthogonal(y)
    b = cross(y, a)
    error[0], error[1], error[2] = dot(left, a), dot(left, b), 0.0
    sight = wanted_direction(goal, tip)
    nearness = 0.0
    if goal.kind == LOOK:
        nearness = 1.0 / max(1e-9, length(subtract(goal.vector, tip.position)))
    for k in range(rows.shape[1]):
        # A line of sight to a point turns by -d × v / |d| when the tip moves with v.
        v = Vector(whole[0, k], whole[1, k], whole[2, k])
        w = add(Vector(whole[3, k], whole[4, k], whole[5, k]), scale(cross(sight, v), nearness))
        rows[0, k] = dot(w, a)
        rows[1, k] = dot(w, b)
    return 2


@kernel
def _shorten(error: Array, m: int, longest: float) -> None:
    """Cut an error to a length: ClampMag of eq. 8."""
    square = 0.0
    for r in range(m):
        square += error[r] * error[r]
    if square > longest * longest:
        for r in range(m):
            error[r] *= longest / math.sqrt(square)


@inner_kernel
def _find_step(path: Path, care: Damping, m: int, room: Room) -> None:
    """Find `step` with all joints that are not held, again without those that it would take beyond a limit."""
    n = path.dof_q.shape[0]
    stuck = room.stuck
    for k in range(n):
        stuck[k] = path.dof_held[k]
    for _ in range(n):
        _one_step(care, m, room)
        more = False
        for k in range(n):
            if stuck[k] == 0 and _leaves(path, room, k):
                stuck[k] = 1
                more = True
        if not more:
            return


@inner_kernel
def _leaves(path: Path, room: Room, k: int) -> bool:
    """Whether a coordinate stands at a limit that the step would take it beyond."""
    at = path.dof_q[k]
    if at < 0:
        return False
    value, way = room.here[at], room.step[k]
    lower, upper = path.bounds.lower[at], path.bounds.upper[at]
    return (way < 0.0 and value <= lower + TOUCHES) or (way > 0.0 and value >= upper - TOUCHES)


@inner_kernel
def _one_step(care: Damping, m: int, room: Room) -> None:
    """The step of the joints that are not stuck."""
    rows, split, step, stuck = room.rows, room.split, room.step, room.stuck
    n = step.shape[0]
    for r in range(m):
        for k in range(n):
            split[r, k] = rows[r, k] if stuck[k] == 0 else 0.0
    for k in range(n):
        step[k] = 0.0
    if care.method == TRANSPOSE:
        transpose_step(m, split, room.error, step)
    else:
        if care.method == SELECTIVE:
            for k in range(n):
                room.reach[k] = 0.0
                for r in range(m):
                    room.reach[k] += split[r, k] * split[r, k]
                room.reach[k] = math.sqrt(room.reach[k])
        singular_rows(m, split, room.left, room.sigma)
        if care.method == SELECTIVE:
            selective_step(m, split, room.left, room.sigma, room.error, room.reach, care.turn, step)
        else:
            bound = care.bound if care.method == DAMPED else math.inf
            damped_step(m, split, room.left, room.sigma, room.error, bound, step)
    clamp_largest(step, care.turn)


@inner_kernel
def _advance(path: Path, room: Room) -> bool:
    """Take the step inside the limits; False when nothing moved."""
    here, trial, bounds = room.here, room.trial, path.bounds
    integrate(path.tree, here, room.step, trial)
    moved = False
    for i in range(path.moving_q.shape[0]):
        k = path.moving_q[i]
        trial[k] = min(max(trial[k], bounds.lower[k]), bounds.upper[k])
    for b in range(path.balls.shape[0]):
        hold_ball(path, b, trial)
    for i in range(path.moving_q.shape[0]):
        k = path.moving_q[i]
        moved = moved or abs(trial[k] - here[k]) > 1e-15
        here[k] = trial[k]
    return moved
