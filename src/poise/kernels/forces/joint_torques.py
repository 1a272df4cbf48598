"""Joint torques that hold a figure under gravity and wrenches.

The generalised forces of the loads are Q = Σ Jᵀ f [Baerlocher 2001, eq. 6.11], summed from the leaves to the root. With
F and N the total force and moment (about o_k) on the subtree of velocity k, Q_k = a_k·N for a turn and Q_k = a_k·F for
a slide. The joint torques τ = -Q balance them.
"""

import numpy as np

from poise.kernels.body.tree import Tree
from poise.kernels.forces.statics import Wrenches, in_world, shared, total_load, world_point
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.vector import Vector, add, cross, dot, normalized, scale, subtract, vector_at

Array = np.ndarray

FORCE, MOMENT, MOMENT_RATE, ANGULAR_VELOCITY, LINEAR_VELOCITY = 0, 3, 6, 9, 12
"""First columns in the workspace: force, moment and rate of moment of a subtree, and velocities of its node."""
WORK_COLUMNS = 15
"""Columns of the workspace, one row per node."""


@kernel
def get(work: Array, i: int, column: int) -> Vector:
    """The vector in columns `column` to `column` + 2 of row `i`."""
    return Vector(work[i, column], work[i, column + 1], work[i, column + 2])


@kernel
def put(work: Array, i: int, column: int, v: Vector) -> None:
    """Write `v` to columns `column` to `column` + 2 of row `i`."""
    work[i, column] = v.x
    work[i, column + 1] = v.y
    work[i, column + 2] = v.z


@kernel
def add_to(work: Array, i: int, column: int, v: Vector) -> None:
    """Add `v` to columns `column` to `column` + 2 of row `i`."""
    work[i, column] += v.x
    work[i, column + 1] += v.y
    work[i, column + 2] += v.z


@kernel
def gather_loads(
    tree: Tree,
    position: Array,
    rotation: Array,
    wrenches: Wrenches,
    gravity: Vector,
    ref: Vector,
    # outputs
    work: Array,
) -> None:
    """Fill `work` (n, WORK_COLUMNS) with the total force and the total moment about `ref` on each subtree."""
    node, points, forces, torques, local, share = wrenches
    parent, mass, own_center = tree.parent, tree.mass, tree.center
    down = normalized(gravity)
    load = total_load(rotation, wrenches, scale(gravity, tree.subtree_mass[0]))
    for i in range(parent.shape[0]):
        weight = scale(gravity, mass[i])
        center = world_point(position, rotation, i, own_center, i)
        put(work, i, FORCE, weight)
        put(work, i, MOMENT, cross(subtract(center, ref), weight))
    for i in range(node.shape[0]):
        own = in_world(rotation, node[i], local[i], forces, i)
        force = subtract(own, shared(load, share[i, 0], share[i, 1], down))
        lever = subtract(world_point(position, rotation, node[i], points, i), ref)
        torque = in_world(rotation, node[i], local[i], torques, i)
        add_to(work, node[i], FORCE, force)
        add_to(work, node[i], MOMENT, add(torque, cross(lever, force)))
    for i in range(parent.shape[0] - 1, 0, -1):
        add_to(work, parent[i], FORCE, get(work, i, FORCE))
        add_to(work, parent[i], MOMENT, get(work, i, MOMENT))


@kernel
def generalised_forces(
    tree: Tree,
    position: Array,
    axes: Array,
    ref: Vector,
    work: Array,
    # outputs
    out: Array,
) -> None:
    """Fill `out` (nv,) with the generalised forces Q of the loads that `gather_loads` summed [N m or N]."""
    dof_node, turns = tree.dof_node, tree.dof_turns
    for k in range(dof_node.shape[0]):
        i = dof_node[k]
        force = get(work, i, FORCE)
        if turns[k] == 1:
            arm = subtract(vector_at(position, i), ref)
            out[k] = dot(vector_at(axes, k), subtract(get(work, i, MOMENT), cross(arm, force)))
        else:
            out[k] = dot(vector_at(axes, k), force)


@kernel
def holding_torques_under(
    tree: Tree,
    position: Array,
    rotation: Array,
    axes: Array,
    wrenches: Wrenches,
    gravity: Vector,
    work: Array,
    # outputs
    out: Array,
) -> None:
    """Fill `out` (nv,) with the joint torques and forces that balance gravity and all wrenches [N m or N].

    `work` is a workspace (n, WORK_COLUMNS). The entries of a floating base are the unbalanced part of the loads.
    """
    ref = reference_point(position)
    gather_loads(tree, position, rotation, wrenches, gravity, ref, work)
    generalised_forces(tree, position, axes, ref, work, out)
    for k in range(out.shape[0]):
        out[k] = -out[k]


@kernel
def reference_point(position: Array) -> Vector:
    """A point of the figure as reference of moments, so that they stay accurate far from the world's origin."""
    return vector_at(position, 1 if position.shape[0] > 1 else 0)
