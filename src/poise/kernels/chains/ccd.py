"""Cyclic coordinate descent: one joint at a time, from the tip to the root [Wang & Chen 1991].

With all joints but one fixed, the error of the tip has one minimum over that joint, in closed form:

- a hinge with axis a through p turns tip - p towards goal - p in the plane perpendicular to a. For a direction goal it
  turns the site's +Y towards the direction; for an orientation goal it turns by the twist about a of the residual
  rotation; for a look goal it takes the point on the line of sight that is as far from a as the target, and turns it
  towards the target;
- a slide along a moves by a · (goal - tip);
- a ball joint rotates tip - p onto the direction of goal - p by the smallest rotation.

Each value is clamped to the joint's limits. For hinges and slides the constrained minimum is then at the nearer limit,
so a sweep never increases the error. A sweep goes from the tip to the root. A joint that turns moves only bodies nearer
to the tip, so the frames of the joints still to be visited stay valid, and a sweep costs one forward kinematics.
"""

import numpy as np

from poise.kernels.body.tree import BALL, BALL_REVERSED, SLIDE, TURN, forward
from poise.kernels.chains.ball_joints import clamp_ball_at
from poise.kernels.chains.chain import pointing
from poise.kernels.chains.goal import (
    DIRECTION_GOAL,
    LOOK_GOAL,
    ORIENTATION_GOAL,
    POSITION_GOAL,
    ChainGoal,
    Tip,
    angle_within_limits,
    best_turn,
    goal_error,
    sight_line_point,
    tip_after_rotation,
    tip_after_slide,
    tip_after_turn,
    tip_of,
    unpack_goal,
)
from poise.kernels.chains.rounds import ROUNDS_PER_STALL_CHECK, record_posture, stalled
from poise.kernels.jit.compile import inner_kernel, kernel
from poise.kernels.maths.quaternion import Quaternion, conjugate, direct_rotation, multiply, quaternion_at, rotate, unit
from poise.kernels.maths.vector import Vector, dot, normalized, subtract, vector_at
from poise.kernels.reach.path import Path, PathMemory, read_path

Array = np.ndarray


@kernel(counts_references=True)
def ccd(
    memory: PathMemory, start: Array, goal: tuple[float, ...], tolerance: float, max_sweeps: int,
    trace: Array,
    # outputs
    q: Array,
) -> tuple[float, int]:  # fmt: skip
    """Move one site to a goal by CCD; returns the remaining error and the number of sweeps.

    Args:
        memory: The path, stored by `poise.kernels.reach.path.store_path`.
        start: (nq,) initial posture, within limits.
        goal: Kind, vector and rotation of a `ChainGoal`, as eight numbers.
        tolerance: The solve stops at this error [m or rad].
        max_sweeps: Largest number of sweeps.
        trace: (t, nq) receives the posture after each of the first t sweeps.
        q: (nq,) the solution.
    """
    nodes = memory.parent.shape[0]
    position, rotation = np.empty((nodes, 3)), np.empty((nodes, 4))
    chain_goal = unpack_goal(goal)
    return _ccd(memory, start, chain_goal, tolerance, max_sweeps, trace, position, rotation, q)


@inner_kernel
def _ccd(
    memory: PathMemory, start: Array, goal: ChainGoal, tolerance: float, max_sweeps: int, trace: Array,
    position: Array, rotation: Array,
    # outputs
    q: Array,
) -> tuple[float, int]:  # fmt: skip
    path = read_path(memory)
    for k in range(q.shape[0]):
        q[k] = start[k]
    forward(path.tree, q, position, rotation)
    error = goal_error(goal, tip_of(path.site, path.node, position, rotation))
    before = error
    for sweep in range(max_sweeps):
        if error <= tolerance:
            return error, sweep
        _sweep(path, goal, position, rotation, q)
        forward(path.tree, q, position, rotation)
        error = goal_error(goal, tip_of(path.site, path.node, position, rotation))
        record_posture(sweep, q, trace)
        is_stalled, before = stalled(sweep + 1, ROUNDS_PER_STALL_CHECK, error, before)
        if is_stalled:
            return error, sweep + 1
    return error, max_sweeps


@inner_kernel
def _sweep(path: Path, goal: ChainGoal, position: Array, rotation: Array, q: Array) -> None:
    """Set every joint once, from the tip to the root; `position` and `rotation` are the frames before the sweep."""
    tree, bounds, held = path.tree, path.bounds, path.dof_held
    tip = tip_of(path.site, path.node, position, rotation)
    i = path.node
    while i > 0:
        kind, k = tree.kind[i], tree.q_start[i]
        if tree.v_count[i] > 0 and held[tree.v_start[i]] == 0:
            pivot = vector_at(position, i)
            moved = quaternion_at(rotation, i)
            if kind == TURN:
                axis = rotate(moved, vector_at(tree.axis, i))
                wanted = q[k] + best_turn(goal, tip, pivot, axis)
                angle = angle_within_limits(wanted, bounds.lower[k], bounds.upper[k], q[k])
                tip = tip_after_turn(axis, pivot, angle - q[k], tip)
                q[k] = angle
            elif kind == SLIDE and goal.kind == POSITION_GOAL:
                axis = rotate(moved, vector_at(tree.axis, i))
                wanted = q[k] + dot(axis, subtract(goal.vector, tip.position))
                displacement = min(max(wanted, bounds.lower[k]), bounds.upper[k])
                tip = tip_after_slide(tip, axis, displacement - q[k])
                q[k] = displacement
            elif kind == BALL or kind == BALL_REVERSED:
                tip = _turn_ball(path, goal, i, pivot, moved, q, tip)
        i = tree.parent[i]


@inner_kernel
def _turn_ball(path: Path, goal: ChainGoal, i: int, pivot: Vector, moved: Quaternion, q: Array, tip: Tip) -> Tip:
    """Rotate a ball joint towards the goal, clamp it to its limits, and return the tip after that rotation."""
    k = path.tree.q_start[i]
    reverse = path.tree.kind[i] == BALL_REVERSED
    before = Quaternion(q[k], q[k + 1], q[k + 2], q[k + 3])
    applied = conjugate(before) if reverse else before
    frame = multiply(moved, conjugate(applied))
    after = unit(multiply(conjugate(frame), multiply(_swing(goal, tip, pivot), moved)))
    stored = conjugate(after) if reverse else after
    q[k], q[k + 1], q[k + 2], q[k + 3] = stored.w, stored.x, stored.y, stored.z
    clamp_ball_at(path, k, q)
    stored = Quaternion(q[k], q[k + 1], q[k + 2], q[k + 3])
    result = multiply(frame, conjugate(stored) if reverse else stored)
    return tip_after_rotation(tip, pivot, multiply(result, conjugate(moved)))


@kernel
def _swing(goal: ChainGoal, tip: Tip, pivot: Vector) -> Quaternion:
    """The smallest world rotation about `pivot` that minimises the error of the goal."""
    if goal.kind == ORIENTATION_GOAL:
        return multiply(goal.rotation, conjugate(tip.rotation))
    a, b = normalized(subtract(tip.position, pivot)), normalized(subtract(goal.vector, pivot))
    if goal.kind == DIRECTION_GOAL:
        a, b = pointing(tip.rotation), goal.vector
    elif goal.kind == LOOK_GOAL:
        a = normalized(subtract(sight_line_point(goal, tip, pivot, Vector(0.0, 0.0, 0.0)), pivot))
    if dot(a, a) < 0.5 or dot(b, b) < 0.5:
        return Quaternion(1.0, 0.0, 0.0, 0.0)
    return direct_rotation(a, b)
