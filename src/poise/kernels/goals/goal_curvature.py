"""Second derivatives of goals, weighted by multipliers: the curvature of a level.

Most rows are generalised forces of wrenches on nodes. Weighted by multipliers, these wrenches add up to forces and
torques on the nodes, whose first moments give the second derivatives for constant wrenches at once (see
`body.curvature`); the change of the wrenches is added goal by goal (see `wrench_change`).
"""

from typing import NamedTuple

import numpy as np

from poise.kernels.body.curvature import add_center_force, add_point_force, curvature
from poise.kernels.body.tree import Tree
from poise.kernels.forces.equilibrium import add_moment_pull
from poise.kernels.goals.contacts import Contacts
from poise.kernels.goals.goal_derivatives import (
    base_torque,
    corner_position,
    effective_center_moment,
    has_wrench,
    height_over_edge,
)
from poise.kernels.goals.goals import BALANCE_GOAL, CENTER_GOAL, STAND_GOAL, Evaluation, Goals, loads_of
from poise.kernels.goals.wrench_change import Motion, add_wrench_change, make_motion
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.vector import Vector, add, scale, vector_at

Array = np.ndarray


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
    motion: Motion
    """Motion of the frames of a goal."""
    edge_force: Array
    """(c,) force of each edge of the supports, inwards on the centre of mass: see `height_over_edge`."""


def make_node_forces(tree: Tree, corners: int) -> NodeForces:
    """Allocate the workspace for a tree and a number of corners of supports."""
    n, nv = tree.parent.shape[0], tree.dof_node.shape[0]
    return NodeForces(
        force=np.zeros((n, 3)),
        torque=np.zeros((n, 3)),
        moment=np.zeros((n, 9)),
        masked_curvature=np.zeros((nv, nv)),
        motion=make_motion(nv),
        edge_force=np.zeros(corners),
    )


@kernel
def fill_curvature(
    tree: Tree,
    goals: Goals,
    evaluation: Evaluation,
    contacts: Contacts,
    node_forces: NodeForces,
    skip: int,
    multipliers: Array,
    # outputs
    out: Array,
) -> None:
    """out (nv, nv) = Σ μ_i ∇²φ_i over the weighted rows of all goals, with μ the multipliers; row `skip` is the first.

    The edges of supports (`node_forces.edge_force`) and the contacts (`contacts.force`) are added; the shapes of bodies
    count as flat, and feet as not turning. A goal that may move only some joints has no curvature in the others.
    """
    ref = vector_at(evaluation.position, min(1, evaluation.position.shape[0] - 1))
    masks, masked, nv = goals.masks, node_forces.masked_curvature, out.shape[0]
    force, torque, moment = node_forces.force, node_forces.torque, node_forces.moment
    _collect_forces(tree, goals, evaluation, node_forces, skip, multipliers, -1, ref)
    for c in range(contacts.used[0]):
        push, zero = scale(vector_at(contacts.normal, c), contacts.force[c]), Vector(0.0, 0.0, 0.0)
        if contacts.force[c] != 0.0:
            a, b = vector_at(contacts.point_a, c), vector_at(contacts.point_b, c)
            _add_wrench(contacts.node_a[c], a, push, zero, ref, force, torque, moment)
            _add_wrench(contacts.node_b[c], b, scale(push, -1.0), zero, ref, force, torque, moment)
    curvature(tree, evaluation.position, evaluation.axes, ref, force, torque, moment, out)
    for mask in range(masks.shape[0]):
        if _collect_forces(tree, goals, evaluation, node_forces, skip, multipliers, mask, ref):
            curvature(tree, evaluation.position, evaluation.axes, ref, force, torque, moment, masked)
            for j in range(nv):
                for k in range(nv):
                    out[j, k] += masks[mask, j] * masks[mask, k] * masked[j, k]
    for g in range(goals.kind.shape[0]):
        if has_wrench(goals.kind[g]):
            add_wrench_change(tree, goals, evaluation, node_forces.motion, g, skip, multipliers, out)


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
        if kind == STAND_GOAL:
            near = vector_at(evaluation.nearest, g)
            if size > 0.0:
                _push_edge(goals, evaluation, g, int(near.x), int(near.y), near.z, goal_force, ref, force, moment)
            start, count = goals.corner_start[g], evaluation.hull_count[g]
            for e in range(count):
                push = node_forces.edge_force[start + e]
                if push != 0.0:
                    size += abs(push)
                    _, inward, share = height_over_edge(goals, evaluation, evaluation, g, e)
                    a, b = evaluation.hull[start + e], evaluation.hull[start + (e + 1) % count]
                    goal_force = add(goal_force, scale(inward, push))
                    _push_edge(goals, evaluation, g, a, b, share, scale(inward, push), ref, force, moment)
        if size == 0.0:
            continue
        found = True
        if has_wrench(kind):
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
def _push_edge(
    goals: Goals,
    evaluation: Evaluation,
    g: int,
    a: int,
    b: int,
    share: float,
    push: Vector,
    ref: Vector,
    force: Array,
    moment: Array,
) -> None:
    """Add the force on the edge from corner `a` to corner `b` that is opposite to `push`: see `_edge_row`."""
    at, opposite = corner_position(goals, evaluation, g, a), scale(push, share - 1.0)
    add_point_force(goals.corner_node[a], at, opposite, ref, force, moment)
    at, opposite = corner_position(goals, evaluation, g, b), scale(push, -share)
    add_point_force(goals.corner_node[b], at, opposite, ref, force, moment)


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
