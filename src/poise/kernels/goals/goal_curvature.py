"""Curvature of goals: second derivatives of their rows, weighted by multipliers.

Most rows are generalised forces of wrenches on nodes. Weighted by multipliers, these wrenches add up to forces and
torques on the nodes, whose first moments give the sum of all second derivatives at once (see `body.curvature`).
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.body.curvature import add_center_force, add_point_force, curvature
from poise.kernels.body.tree import Tree
from poise.kernels.forces.equilibrium import add_moment_pull
from poise.kernels.goals.goals import (
    AIM_GOAL,
    BALANCE_GOAL,
    CENTER_GOAL,
    POINT_GOAL,
    SLOW_GOAL,
    STAND_GOAL,
    TURN_GOAL,
    Evaluation,
    Goals,
    loads_of,
    turn_excess,
)
from poise.kernels.goals.jacobian_rows import base_torque, effective_center_moment
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.vector import Vector, add, dot, scale, vector_at

Array = np.ndarray

MIN_LOG_EXCESS = 1e-6
"""Value of ln(x / t) below which the curvature of a slow goal does not grow any more."""


class NodeForces(NamedTuple):
    """Workspace: forces and torques on the nodes, and the curvature of masked goals."""

    force: Array
    """(n, 3) force on each node."""
    torque: Array
    """(n, 3) torque on each node."""
    moment: Array
    """(n, 9) first moments of the forces about the reference point."""
    masked_curvature: Array
    """(nv, nv) curvature of the goals with one recruitment mask."""


def make_node_forces(tree: Tree) -> NodeForces:
    """Allocate the workspace for a tree."""
    n, nv = tree.parent.shape[0], tree.dof_node.shape[0]
    return NodeForces(np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 9)), np.zeros((nv, nv)))


@kernel
def fill_curvature(
    tree: Tree,
    goals: Goals,
    evaluation: Evaluation,
    node_forces: NodeForces,
    skip: int,
    multipliers: Array,
    # outputs
    out: Array,
) -> None:
    """out (nv, nv) = Σ μ_i ∇²φ_i over the weighted rows of all goals, with μ the multipliers; row `skip` is the first.

    A goal that may move only some joints has no curvature in the others.
    """
    ref = vector_at(evaluation.position, min(1, evaluation.position.shape[0] - 1))
    masks, masked, nv = goals.masks, node_forces.masked_curvature, out.shape[0]
    force, torque, moment = node_forces.force, node_forces.torque, node_forces.moment
    _collect_forces(tree, goals, evaluation, node_forces, skip, multipliers, -1, ref)
    curvature(tree, evaluation.position, evaluation.axes, ref, force, torque, moment, out)
    for mask in range(masks.shape[0]):
        if _collect_forces(tree, goals, evaluation, node_forces, skip, multipliers, mask, ref):
            curvature(tree, evaluation.position, evaluation.axes, ref, force, torque, moment, masked)
            for j in range(nv):
                for k in range(nv):
                    out[j, k] += masks[mask, j] * masks[mask, k] * masked[j, k]
    for g in range(goals.kind.shape[0]):
        if goals.kind[g] == SLOW_GOAL:
            multiplier = multipliers[skip + goals.first[g]] * goals.weight[goals.first[g]]
            _add_slow_curvature(tree, goals, evaluation, g, multiplier, out)


@kernel
def _add_slow_curvature(
    tree: Tree, goals: Goals, evaluation: Evaluation, g: int, multiplier: float, out: Array
) -> None:
    """Add the part of the curvature of slow goal `g` that comes from the change of its torque with the turn itself.

    With l = ln(x / t), s = |r_v|² and a turn ω: ∇l = r_w r_v / s and ∇²l = (r_w² 1 - r_v r_vᵀ) / 2s - ∇l ∇lᵀ, so that
    ∇²√2 l^(3/2) = √2 (¾ l^(-½) ∇l ∇lᵀ + (3/2) l^½ ∇²l).
    """
    turn, excess = turn_excess(goals, evaluation, g)
    if multiplier == 0.0 or excess == 0.0:
        return
    v, parent, turns, axes, mask = (
        Vector(turn.x, turn.y, turn.z),
        tree.parent,
        tree.dof_turns,
        evaluation.axes,
        goals.mask,
    )
    s, root = dot(v, v), math.sqrt(max(excess, MIN_LOG_EXCESS))
    even = multiplier * math.sqrt(2.0) * 1.5 * root * turn.w * turn.w / (2.0 * s)
    steep = turn.w * turn.w / (s * s)
    along = multiplier * math.sqrt(2.0) * (0.75 / root * steep - 1.5 * root * (0.5 / s + steep))
    i = goals.node[g]
    while i > 0:
        for j in range(tree.v_start[i], tree.v_start[i] + tree.v_count[i]):
            if turns[j] == 1 and (mask[g] < 0 or goals.masks[mask[g], j] > 0.0):
                a = vector_at(axes, j)
                other = goals.node[g]
                while other > 0:
                    for k in range(tree.v_start[other], tree.v_start[other] + tree.v_count[other]):
                        if turns[k] == 1 and (mask[g] < 0 or goals.masks[mask[g], k] > 0.0):
                            b = vector_at(axes, k)
                            out[j, k] += even * dot(a, b) + along * dot(a, v) * dot(b, v)
                    other = parent[other]
        i = parent[i]


@kernel
def _collect_forces(
    tree: Tree,
    goals: Goals,
    evaluation: Evaluation,
    node_forces: NodeForces,
    skip: int,
    multipliers: Array,
    mask: int,
    ref: Vector,
) -> bool:
    """Add up the forces on the nodes of the goals with one recruitment mask; returns False when there are none."""
    force, torque, moment = node_forces.force, node_forces.torque, node_forces.moment
    for i in range(force.shape[0]):
        for c in range(3):
            force[i, c] = 0.0
            torque[i, c] = 0.0
        for c in range(9):
            moment[i, c] = 0.0
    kinds, first, weight = goals.kind, goals.first, goals.weight
    found = False
    for g in range(kinds.shape[0]):
        if goals.mask[g] != mask:
            continue
        kind = kinds[g]
        goal_force, goal_torque = Vector(0.0, 0.0, 0.0), Vector(0.0, 0.0, 0.0)
        size = 0.0
        for i in range(first[g], first[g + 1]):
            k = multipliers[skip + i] * weight[i]
            size += abs(k)
            if kind == CENTER_GOAL or kind == BALANCE_GOAL:
                goal_force = add(goal_force, scale(vector_at(goals.direction, i), k))
            else:
                goal_force = add(goal_force, scale(vector_at(evaluation.force, i), k))
                goal_torque = add(goal_torque, scale(vector_at(evaluation.torque, i), k))
        if size == 0.0:
            continue
        found = True
        if kind == POINT_GOAL or kind == TURN_GOAL or kind == AIM_GOAL or kind == SLOW_GOAL:
            point = vector_at(evaluation.point, g)
            _add_wrench(goals.node[g], point, goal_force, goal_torque, ref, force, torque, moment)
            if goals.base[g] > 0:
                back, point = scale(goal_force, -1.0), vector_at(evaluation.base_point, g)
                goal_torque = base_torque(kind, scale(goal_torque, -1.0))
                _add_wrench(goals.base[g], point, back, goal_torque, ref, force, torque, moment)
        elif kind == BALANCE_GOAL:
            _add_moment(tree, goals, evaluation, g, scale(goal_force, goals.value[g]), ref, force, moment)
        elif kind == STAND_GOAL and goals.load_start[g] < goals.load_start[g + 1]:
            direction = effective_center_moment(tree, goals, g, goal_force)
            _add_moment(tree, goals, evaluation, g, direction, ref, force, moment)
        elif kind == CENTER_GOAL or kind == STAND_GOAL:
            add_center_force(tree, evaluation.position, evaluation.rotation, goal_force, ref, force, moment)
    return found


@kernel
def _add_wrench(
    node: int,
    point: Vector,
    goal_force: Vector,
    goal_torque: Vector,
    ref: Vector,
    force: Array,
    torque: Array,
    moment: Array,
) -> None:
    """Add a force at a point of a node, and a torque on the node."""
    add_point_force(node, point, goal_force, ref, force, moment)
    torque[node, 0] += goal_torque.x
    torque[node, 1] += goal_torque.y
    torque[node, 2] += goal_torque.z


@kernel
def _add_moment(
    tree: Tree, goals: Goals, evaluation: Evaluation, g: int, d: Vector, ref: Vector, force: Array, moment: Array
) -> None:
    """Add the forces whose potential is d · (moment of weight and loads of goal `g`)."""
    loads, gravity = loads_of(goals, g), vector_at(goals.gravity, g)
    add_moment_pull(tree, evaluation.position, evaluation.rotation, loads, gravity, d, ref, force, moment)
