"""Curvature of rows that are pulled at: multipliers become forces, and forces become second derivatives."""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.body.curvature import add_center_force, add_point_force, curvature
from poise.kernels.body.tree import Tree
from poise.kernels.forces.equilibrium import add_moment_pull
from poise.kernels.goals.goals import (
    AIM,
    BALANCE,
    CENTER,
    POINT,
    SLOW,
    STAND,
    TURN_TO,
    Evaluation,
    Goals,
    loads_of,
    turn_excess,
)
from poise.kernels.goals.jacobian_rows import base_torque
from poise.kernels.goals.load_rows import moment_of_lean
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.vector import Vector, add, dot, scale, vector_at

Array = np.ndarray

LEAST_EXCESS = 1e-6
"""Logarithm under which the curvature of a slow goal does not grow any more."""


class NodeForces(NamedTuple):
    """Forces on the nodes."""

    force: Array
    """(n, 3)"""
    torque: Array
    """(n, 3)"""
    moment: Array
    """(n, 9) first moments about the reference point."""
    part: Array
    """(nv, nv) curvature of goals that may move some joints only."""


def make_node_forces(tree: Tree) -> NodeForces:
    """Workspace for a tree."""
    n, nv = tree.parent.shape[0], tree.dof_node.shape[0]
    return NodeForces(np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 9)), np.zeros((nv, nv)))


@kernel
def fill_curvature(
    tree: Tree,
    goals: Goals,
    stance: Evaluation,
    pulls: NodeForces,
    skip: int,
    pull: Array,
    # outputs
    out: Array,
) -> None:
    """out (nv, nv) = Σ pull_i ∇²φ_i over the weighted rows of all goals, the first of which is row `skip`.

    A goal that may move some joints only has no curvature in the others.
    """
    ref = vector_at(stance.position, min(1, stance.position.shape[0] - 1))
    masks, part, nv = goals.masks, pulls.part, out.shape[0]
    _gather(tree, goals, stance, pulls, skip, pull, -1, ref)
    curvature(tree, stance.position, stance.axes, ref, pulls.force, pulls.torque, pulls.moment, out)
    for mask in range(masks.shape[0]):
        if _gather(tree, goals, stance, pulls, skip, pull, mask, ref):
            curvature(tree, stance.position, stance.axes, ref, pulls.force, pulls.torque, pulls.moment, part)
            for j in range(nv):
                for k in range(nv):
                    out[j, k] += masks[mask, j] * masks[mask, k] * part[j, k]
    for g in range(goals.kind.shape[0]):
        if goals.kind[g] == SLOW:
            _add_slowness(tree, goals, stance, g, pull[skip + goals.first[g]] * goals.weight[goals.first[g]], out)


@kernel
def _add_slowness(tree: Tree, goals: Goals, stance: Evaluation, g: int, pull: float, out: Array) -> None:
    """Add what the wrench of slow goal `g` leaves out of its curvature: that it depends on the turn itself.

    With l = ln(x / t), s = |r_v|² and a turn ω: ∇l = r_w r_v / s and ∇²l = (r_w² 1 - r_v r_vᵀ) / 2s - ∇l ∇lᵀ, so that
    ∇²√2 l^(3/2) = √2 (¾ l^(-½) ∇l ∇lᵀ + (3/2) l^½ ∇²l).
    """
    turn, excess = turn_excess(goals, stance, g)
    if pull == 0.0 or excess == 0.0:
        return
    v, parent, turns, axes, mask = Vector(turn.x, turn.y, turn.z), tree.parent, tree.dof_turns, stance.axes, goals.mask
    s, root = dot(v, v), math.sqrt(max(excess, LEAST_EXCESS))
    even = pull * math.sqrt(2.0) * 1.5 * root * turn.w * turn.w / (2.0 * s)
    steep = turn.w * turn.w / (s * s)
    along = pull * math.sqrt(2.0) * (0.75 / root * steep - 1.5 * root * (0.5 / s + steep))
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
def _gather(
    tree: Tree, goals: Goals, stance: Evaluation, pulls: NodeForces, skip: int, pull: Array, mask: int, ref: Vector
) -> bool:
    """Forces on the nodes from the goals with one recruitment mask; False when there are none."""
    force, torque, moment = pulls.force, pulls.torque, pulls.moment
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
        push, twist = Vector(0.0, 0.0, 0.0), Vector(0.0, 0.0, 0.0)
        size = 0.0
        for i in range(first[g], first[g + 1]):
            k = pull[skip + i] * weight[i]
            size += abs(k)
            if kind == CENTER or kind == BALANCE:
                push = add(push, scale(vector_at(goals.direction, i), k))
            else:
                push = add(push, scale(vector_at(stance.force, i), k))
                twist = add(twist, scale(vector_at(stance.torque, i), k))
        if size == 0.0:
            continue
        found = True
        if kind == POINT or kind == TURN_TO or kind == AIM or kind == SLOW:
            _add_wrench(goals.node[g], vector_at(stance.point, g), push, twist, ref, force, torque, moment)
            if goals.base[g] > 0:
                back, point = scale(push, -1.0), vector_at(stance.base_point, g)
                twist = base_torque(kind, scale(twist, -1.0))
                _add_wrench(goals.base[g], point, back, twist, ref, force, torque, moment)
        elif kind == BALANCE:
            _add_moment(tree, goals, stance, g, scale(push, goals.value[g]), ref, force, moment)
        elif kind == STAND and goals.load_start[g] < goals.load_start[g + 1]:
            _add_moment(tree, goals, stance, g, moment_of_lean(tree, goals, g, push), ref, force, moment)
        elif kind == CENTER or kind == STAND:
            add_center_force(tree, stance.position, stance.rotation, push, ref, force, moment)
    return found


@kernel
def _add_wrench(
    node: int, point: Vector, push: Vector, twist: Vector, ref: Vector, force: Array, torque: Array, moment: Array
) -> None:
    add_point_force(node, point, push, ref, force, moment)
    torque[node, 0] += twist.x
    torque[node, 1] += twist.y
    torque[node, 2] += twist.z


@kernel
def _add_moment(
    tree: Tree, goals: Goals, stance: Evaluation, g: int, pull: Vector, ref: Vector, force: Array, moment: Array
) -> None:
    """Forces whose potential is pull · (moment of weight and loads of goal `g`)."""
    loads, gravity = loads_of(goals, g), vector_at(goals.gravity, g)
    add_moment_pull(tree, stance.position, stance.rotation, loads, gravity, pull, ref, force, moment)
