"""Joint torques that hold a figure under forces.

They are those of the transposed Jacobians [Baerlocher 2001, eq. 6.11], gathered from the leaves to the root. With F
and N the force and the moment (about o_k) of all that acts on the subtree of velocity k, the loads push with
Q_k = a_k·N for a turn and Q_k = a_k·F for a slide, and τ = -Q holds them.
"""

import numpy as np

from poise.kernels.body.tree import Tree
from poise.kernels.forces.statics import Wrenches, in_world, shared, total_load, world_point
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.vector import Vector, add, cross, dot, normalized, scale, subtract, vector_at

Array = np.ndarray

FORCE, MOMENT, CHANGE, SPIN, DRIFT = 0, 3, 6, 9, 12
"""First columns, in a workspace, of a subtree's force, moment and change of moment, and of its node's velocities."""
WORK_COLUMNS = 15


@kernel
def get(work: Array, i: int, column: int) -> Vector:
    """Three columns of a row."""
    return Vector(work[i, column], work[i, column + 1], work[i, column + 2])


@kernel
def put(work: Array, i: int, column: int, v: Vector) -> None:
    """Set three columns of a row."""
    work[i, column] = v.x
    work[i, column + 1] = v.y
    work[i, column + 2] = v.z


@kernel
def gain(work: Array, i: int, column: int, v: Vector) -> None:
    """Add to three columns of a row."""
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
    """Put force and moment about `ref` of all that acts on each subtree into `work` (n, WORK_COLUMNS)."""
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
        gain(work, node[i], FORCE, force)
        gain(work, node[i], MOMENT, add(torque, cross(lever, force)))
    for i in range(parent.shape[0] - 1, 0, -1):
        gain(work, parent[i], FORCE, get(work, i, FORCE))
        gain(work, parent[i], MOMENT, get(work, i, MOMENT))


@kernel
def pushes_of_loads(
    tree: Tree,
    position: Array,
    axes: Array,
    ref: Vector,
    work: Array,
    # outputs
    out: Array,
) -> None:
    """Generalised forces Q `out` (nv,) of gathered loads [N m or N]; -Q are the torques that hold them."""
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
    """Torques and forces `out` (nv,) with which the joints hold gravity and all wrenches [N m or N].

    `work` is (n, WORK_COLUMNS). At the joint of a floating base stands what the loads leave unbalanced.
    """
    ref = middle_of(position)
    gather_loads(tree, position, rotation, wrenches, gravity, ref, work)
    pushes_of_loads(tree, position, axes, ref, work, out)
    for k in range(out.shape[0]):
        out[k] = -out[k]


@kernel
def middle_of(position: Array) -> Vector:
    """A point of the figure, about which moments keep their digits far from the world's origin."""
    return vector_at(position, 1 if position.shape[0] > 1 else 0)
