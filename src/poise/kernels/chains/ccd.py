"""Cyclic coordinate descent: one joint at a time, from the tip to the root [Wang & Chen 1991].

With all joints but one held still, the error of the tip has one minimum over that joint, in closed form:

- a turn about the axis a through p takes tip - p towards goal - p in the plane across a (for a direction, the site's +Y
  towards it; for an orientation, by the twist about a of what is left; for a point to look at, that point of the line
  of sight which is as far from the axis as it);
- a slide along a covers a · (goal - tip);
- a ball takes tip - p straight towards goal - p.

Each is clamped to the joint's own limits. For turns and slides the minimum inside them then lies on the nearer bound,
so a sweep never makes the error larger. Going from the tip down, a joint that has turned moves nothing that the joints
still to come look at but the tip: a sweep costs one forward kinematics.
"""

import numpy as np

from poise.kernels.body.tree import BALL, BALL_REVERSED, SLIDE, TURN, forward
from poise.kernels.chains.ball_joints import hold_ball_at
from poise.kernels.chains.chain import pointing
from poise.kernels.chains.goal import (
    DIRECTION,
    LOOK,
    ORIENTATION,
    POSITION,
    ChainGoal,
    Tip,
    best_turn,
    goal_error,
    legal_angle,
    moved_tip,
    seen_point,
    tip_of,
    turn_about,
    turned_tip,
    unpacked,
)
from poise.kernels.chains.rounds import PATIENCE, keep, stalled
from poise.kernels.jit.compile import inner_kernel, kernel
from poise.kernels.maths.quaternion import Quaternion, conjugate, direct_rotation, multiply, quaternion_at, rotate, unit
from poise.kernels.maths.vector import Vector, dot, normalized, subtract, vector_at
from poise.kernels.reach.path import Path, unflatten

Array = np.ndarray


@kernel(counts_references=True)
def ccd(
    integers: Array, numbers: Array, start: Array, goal: tuple[float, ...], tolerance: float, most: int, trace: Array,
    # outputs
    q: Array,
) -> tuple[float, int]:  # fmt: skip
    """Bring one site to a goal; returns the error and the sweeps it took.

    Args:
        integers: The path, see `reach_path.flatten`.
        numbers: The path.
        start: (nq,) legal posture to begin in.
        goal: Kind, vector and rotation, see `ChainGoal`.
        tolerance: Error that counts as none.
        most: Sweeps to try.
        trace: (t, nq) where the posture after each of the first t sweeps is kept.
        q: (nq,) the posture found.
    """
    nodes = integers[1] - integers[0]
    position, rotation = np.empty((nodes, 3)), np.empty((nodes, 4))
    asked = unpacked(goal)
    return _ccd(integers, numbers, start, asked, tolerance, most, trace, position, rotation, q)


@inner_kernel
def _ccd(
    integers: Array, numbers: Array, start: Array, goal: ChainGoal, tolerance: float, most: int, trace: Array,
    position: Array, rotation: Array,
    # outputs
    q: Array,
) -> tuple[float, int]:  # fmt: skip
    path = unflatten(integers, numbers)
    for k in range(q.shape[0]):
        q[k] = start[k]
    forward(path.tree, q, position, rotation)
    error = goal_error(goal, tip_of(path.site, path.node, position, rotation))
    before = error
    for sweep in range(most):
        if error <= tolerance:
            return error, sweep
        _sweep(path, goal, position, rotation, q)
        forward(path.tree, q, position, rotation)
        error = goal_error(goal, tip_of(path.site, path.node, position, rotation))
        keep(sweep, q, trace)
        enough, before = stalled(sweep + 1, PATIENCE, error, before)
        if enough:
            return error, sweep + 1
    return error, most


@inner_kernel
def _sweep(path: Path, goal: ChainGoal, position: Array, rotation: Array, q: Array) -> None:
    """Turn every joint once, from the tip to the root; the frames are those before the sweep."""
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
                angle = legal_angle(wanted, bounds.lower[k], bounds.upper[k], q[k])
                tip = turn_about(axis, pivot, angle - q[k], tip)
                q[k] = angle
            elif kind == SLIDE and goal.kind == POSITION:
                axis = rotate(moved, vector_at(tree.axis, i))
                wanted = q[k] + dot(axis, subtract(goal.vector, tip.position))
                place = min(max(wanted, bounds.lower[k]), bounds.upper[k])
                tip = moved_tip(tip, axis, place - q[k])
                q[k] = place
            elif kind == BALL or kind == BALL_REVERSED:
                tip = _turn_ball(path, goal, i, pivot, moved, q, tip)
        i = tree.parent[i]


@inner_kernel
def _turn_ball(path: Path, goal: ChainGoal, i: int, pivot: Vector, moved: Quaternion, q: Array, tip: Tip) -> Tip:
    """Swing a ball joint towards the goal, as far as its limits let it."""
    k = path.tree.q_start[i]
    reverse = path.tree.kind[i] == BALL_REVERSED
    before = Quaternion(q[k], q[k + 1], q[k + 2], q[k + 3])
    applied = conjugate(before) if reverse else before
    frame = multiply(moved, conjugate(applied))
    after = unit(multiply(conjugate(frame), multiply(_swing(goal, tip, pivot), moved)))
    stored = conjugate(after) if reverse else after
    q[k], q[k + 1], q[k + 2], q[k + 3] = stored.w, stored.x, stored.y, stored.z
    hold_ball_at(path, k, q)
    stored = Quaternion(q[k], q[k + 1], q[k + 2], q[k + 3])
    result = multiply(frame, conjugate(stored) if reverse else stored)
    return turned_tip(tip, pivot, multiply(result, conjugate(moved)))


@kernel
def _swing(goal: ChainGoal, tip: Tip, pivot: Vector) -> Quaternion:
    """The smallest world rotation about `pivot` that meets the goal as well as any."""
    if goal.kind == ORIENTATION:
        return multiply(goal.rotation, conjugate(tip.rotation))
    a, b = normalized(subtract(tip.position, pivot)), normalized(subtract(goal.vector, pivot))
    if goal.kind == DIRECTION:
        a, b = pointing(tip.rotation), goal.vector
    elif goal.kind == LOOK:
        a = normalized(subtract(seen_point(goal, tip, pivot, Vector(0.0, 0.0, 0.0)), pivot))
    if dot(a, a) < 0.5 or dot(b, b) < 0.5:
        return Quaternion(1.0, 0.0, 0.0, 0.0)
    return direct_rotation(a, b)
