"""Curvature of rows that are pulled at: multipliers become forces, and forces become second derivatives."""

from typing import NamedTuple

import numpy as np

from poise.kernels.compile import kernel
from poise.kernels.curvature import add_center_force, add_point_force, curvature
from poise.kernels.equilibrium import add_moment_pull
from poise.kernels.goal_rows import base_torque
from poise.kernels.goals import AIM, BALANCE, CENTER, POINT, STAND, TURN_TO, Goals, Stance, loads_of
from poise.kernels.load_rows import moment_of_lean
from poise.kernels.tree import Tree
from poise.kernels.vector import Vector, add, scale, vector_at

Array = np.ndarray


class Pulls(NamedTuple):
    """Forces on the nodes."""

    force: Array
    """(n, 3)"""
    torque: Array
    """(n, 3)"""
    moment: Array
    """(n, 9) first moments about the reference point."""
    part: Array
    """(nv, nv) curvature of goals that may move some joints only."""


def make_pulls(tree: Tree) -> Pulls:
    """Workspace for a tree."""
    n, nv = tree.parent.shape[0], tree.dof_node.shape[0]
    return Pulls(np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 9)), np.zeros((nv, nv)))


@kernel(borrows=True)
def fill_curvature(
    tree: Tree,
    goals: Goals,
    stance: Stance,
    pulls: Pulls,
    skip: int,
    pull: Array,
    # outputs
    out: Array,
) -> None:
    """out (nv, nv) = Σ pull_i ∇²φ_i over the weighted rows of all goals, the first of which is row `skip`.

    A goal that may move some joints only has no curvature in the others.
    """
    ref = vector_at(stance.centers, 0)
    masks, part, nv = goals.masks, pulls.part, out.shape[0]
    _gather(tree, goals, stance, pulls, skip, pull, -1, ref)
    curvature(tree, stance.position, stance.axes, ref, pulls.force, pulls.torque, pulls.moment, out)
    for mask in range(masks.shape[0]):
        if _gather(tree, goals, stance, pulls, skip, pull, mask, ref):
            curvature(tree, stance.position, stance.axes, ref, pulls.force, pulls.torque, pulls.moment, part)
            for j in range(nv):
                for k in range(nv):
                    out[j, k] += masks[mask, j] * masks[mask, k] * part[j, k]


@kernel(borrows=True)
def _gather(
    tree: Tree, goals: Goals, stance: Stance, pulls: Pulls, skip: int, pull: Array, mask: int, ref: Vector
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
        if kind == POINT or kind == TURN_TO or kind == AIM:
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


@kernel(borrows=True)
def _add_wrench(
    node: int, point: Vector, push: Vector, twist: Vector, ref: Vector, force: Array, torque: Array, moment: Array
) -> None:
    add_point_force(node, point, push, ref, force, moment)
    torque[node, 0] += twist.x
    torque[node, 1] += twist.y
    torque[node, 2] += twist.z


@kernel(borrows=True)
def _add_moment(
    tree: Tree, goals: Goals, stance: Stance, g: int, pull: Vector, ref: Vector, force: Array, moment: Array
) -> None:
    """Forces whose potential is pull · (moment of weight and loads of goal `g`)."""
    loads, gravity = loads_of(goals, g), vector_at(goals.gravity, g)
    add_moment_pull(tree, stance.position, stance.rotation, loads, gravity, pull, ref, force, moment)
