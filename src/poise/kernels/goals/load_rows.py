"""Jacobian rows of a point, of the centre of mass, and of the moment of weight and loads."""

import numpy as np

from poise.kernels.body.tree import Tree
from poise.kernels.forces.equilibrium import support_levers
from poise.kernels.forces.statics import Wrenches, in_world, shared, total_load, world_point
from poise.kernels.goals.goals import Evaluation, Goals, loads_of
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.vector import Vector, add, cross, dot, normalized, scale, subtract, vector_at

Array = np.ndarray


@kernel
def add_point_row(
    tree: Tree, evaluation: Evaluation, node: int, p: Vector, force: Vector, torque: Vector, row: int, rows: Array
) -> None:
    """rows[row] += Jᵀ (force, torque), with J the Jacobian of point `p` of `node`."""
    parent, v_start, v_count, turns = tree.parent, tree.v_start, tree.v_count, tree.dof_turns
    position, axes = evaluation.position, evaluation.axes
    i = node
    while i > 0:
        moment = add(torque, cross(subtract(p, vector_at(position, i)), force))
        for k in range(v_start[i], v_start[i] + v_count[i]):
            a = vector_at(axes, k)
            rows[row, k] += dot(a, moment) if turns[k] == 1 else dot(a, force)
        i = parent[i]


@kernel
def add_center_row(tree: Tree, evaluation: Evaluation, direction: Vector, weight: float, row: int, rows: Array) -> None:
    """rows[row] += weight × direction · (Jacobian of the centre of mass)."""
    node, turns, subtree = tree.dof_node, tree.dof_turns, tree.subtree_mass
    position, axes, centers = evaluation.position, evaluation.axes, evaluation.centers
    if subtree[0] <= 0.0:
        return
    for k in range(node.shape[0]):
        i = node[k]
        v = vector_at(axes, k)
        if turns[k] == 1:
            v = cross(v, subtract(vector_at(centers, i), vector_at(position, i)))
        rows[row, k] += weight * subtree[i] / subtree[0] * dot(direction, v)


@kernel
def add_moment_row(tree: Tree, goals: Goals, evaluation: Evaluation, g: int, d: Vector, row: int, rows: Array) -> None:
    """rows[row] += d · (Jacobian of the moment of weight and loads of goal `g`).

    d · (dx × f) = (f × d) · dx, so that every load is the row of a force f × d at its point; a load that turns with its
    node is a torque there, too (see `equilibrium`).
    """
    gravity, about = vector_at(goals.gravity, g), vector_at(goals.position, g)
    weight, down = scale(gravity, tree.subtree_mass[0]), normalized(gravity)
    loads: Wrenches = loads_of(goals, g)
    node, points, forces, torques, local, share = loads
    position, rotation = evaluation.position, evaluation.rotation
    add_center_row(tree, evaluation, cross(weight, d), 1.0, row, rows)
    load = total_load(rotation, loads, weight)
    along, across = support_levers(position, rotation, loads, about)
    below = subtract(across, along)
    for i in range(node.shape[0]):
        point = world_point(position, rotation, node[i], points, i)
        own = in_world(rotation, node[i], local[i], forces, i)
        acting = subtract(own, shared(load, share[i, 0], share[i, 1], down))
        twist = Vector(0.0, 0.0, 0.0)
        if local[i] == 1:
            beside = subtract(subtract(point, about), across)
            twist = cross(own, add(cross(d, beside), scale(down, dot(d, cross(below, down)))))
            twist = add(twist, cross(in_world(rotation, node[i], 1, torques, i), d))
        add_point_row(tree, evaluation, node[i], point, cross(acting, d), twist, row, rows)


@kernel
def effective_center_moment(tree: Tree, goals: Goals, g: int, way: Vector) -> Vector:
    """Direction d for which d · (moment of weight and loads) changes like `way` · (effective centre): way × w / w²."""
    weight = scale(vector_at(goals.gravity, g), tree.subtree_mass[0])
    return scale(cross(way, weight), 1.0 / dot(weight, weight))
