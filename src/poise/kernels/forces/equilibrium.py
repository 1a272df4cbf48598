"""The net moment of all forces on a figure, and its Jacobian.

    t(q) = (G - O) × w + Σ ((E_i - O) × f_i + t_i)        J_t = -[w ×] J_G - Σ [f_i ×] J_i

[Baerlocher 2001, eq. 6.3 and 6.6]. A wrench that rotates with its node adds a term for its rotation, which changes both
its own moment and the load that the supports carry.
"""

import numpy as np

from poise.kernels.body.curvature import add_center_force, add_point_force
from poise.kernels.body.tree import Tree
from poise.kernels.forces.statics import Wrenches, in_world, net_wrench, shared, total_load, world_point
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.vector import Vector, add, cross, dot, normalized, scale, subtract, vector_at

Array = np.ndarray


@kernel
def equilibrium_rows(
    tree: Tree,
    position: Array,
    rotation: Array,
    axes: Array,
    centers: Array,
    wrenches: Wrenches,
    gravity: Vector,
    about: Vector,
    # outputs
    error: Array,
    rows: Array,
) -> None:
    """Net moment `error` (3,) about a fixed point [N m], and its exact Jacobian `rows` (3, nv).

    Args:
        tree: The tree, with the world `position` (n, 3) and `rotation` (n, 4) of its nodes.
        position: Origins of the nodes [m].
        rotation: Rotations of the nodes.
        axes: (nv, 3) world axes of the velocities.
        centers: (n, 3) centre of mass of each subtree [m]; row 0 is that of the figure.
        wrenches: All wrenches on the figure, supports included.
        gravity: Acceleration of gravity in world axes [m/s²].
        about: Point of the world about which moments are taken [m]. It matters only where the forces do not balance.
        error: The net moment.
        rows: Derivative of the net moment by each velocity.
    """
    node, points, forces, torques, local, share = wrenches
    _, moment = net_wrench(tree, position, rotation, vector_at(centers, 0), wrenches, gravity, about)
    error[0], error[1], error[2] = moment
    _weight_rows(tree, position, axes, centers, gravity, rows)
    down = normalized(gravity)
    load = total_load(rotation, wrenches, scale(gravity, tree.subtree_mass[0]))
    along, across = support_levers(position, rotation, wrenches, about)
    for i in range(node.shape[0]):
        point = world_point(position, rotation, node[i], points, i)
        own = in_world(rotation, node[i], local[i], forces, i)
        acting = subtract(own, shared(load, share[i, 0], share[i, 1], down))
        _add_world_rows(tree, position, axes, node[i], point, acting, rows)
        if local[i] == 1:
            # Rotating the force also rotates the part of it that the supports carry.
            beside, below = subtract(subtract(point, about), across), subtract(across, along)
            torque = in_world(rotation, node[i], 1, torques, i)
            _add_turned_rows(tree, axes, node[i], own, torque, beside, below, down, rows)


@kernel
def support_levers(position: Array, rotation: Array, wrenches: Wrenches, about: Vector) -> tuple[Vector, Vector]:
    """Σ share (E - about) over the supports, for the shares along gravity and for those across it [m]."""
    node, points, share = wrenches.node, wrenches.point, wrenches.share
    along, across = Vector(0.0, 0.0, 0.0), Vector(0.0, 0.0, 0.0)
    for i in range(node.shape[0]):
        if share[i, 0] != 0.0 or share[i, 1] != 0.0:
            lever = subtract(world_point(position, rotation, node[i], points, i), about)
            along = add(along, scale(lever, share[i, 0]))
            across = add(across, scale(lever, share[i, 1]))
    return along, across


@kernel
def _weight_rows(
    tree: Tree,
    position: Array,
    axes: Array,
    centers: Array,
    gravity: Vector,
    # outputs
    rows: Array,
) -> None:
    """Set `rows` (3, nv) to the Jacobian of the moment of the weight."""
    dof_node, turns, mass = tree.dof_node, tree.dof_turns, tree.subtree_mass
    for k in range(dof_node.shape[0]):
        i = dof_node[k]
        v = vector_at(axes, k)
        if turns[k] == 1:
            v = cross(v, subtract(vector_at(centers, i), vector_at(position, i)))
        moved = cross(v, gravity)
        rows[0, k] = mass[i] * moved.x
        rows[1, k] = mass[i] * moved.y
        rows[2, k] = mass[i] * moved.z


@kernel
def _add_world_rows(
    tree: Tree,
    position: Array,
    axes: Array,
    node: int,
    point: Vector,
    force: Vector,
    # outputs
    rows: Array,
) -> None:
    """Add the Jacobian of the moment of a constant world force on a world point of `node`: dx × f."""
    parent, start, count, turns = tree.parent, tree.v_start, tree.v_count, tree.dof_turns
    while node > 0:
        lever = subtract(point, vector_at(position, node))
        for k in range(start[node], start[node] + count[node]):
            v = vector_at(axes, k)
            moved = cross(cross(v, lever) if turns[k] == 1 else v, force)
            rows[0, k] += moved.x
            rows[1, k] += moved.y
            rows[2, k] += moved.z
        node = parent[node]


@kernel
def _add_turned_rows(
    tree: Tree,
    axes: Array,
    node: int,
    force: Vector,
    torque: Vector,
    beside: Vector,
    below: Vector,
    down: Vector,
    # outputs
    rows: Array,
) -> None:
    """Add the Jacobian of the moment of a force and a torque that rotate with `node`.

    A turn about a changes the force by df = a × f, and the moment by beside × df + below × df∥ with df∥ the part of df
    along `down`.
    """
    parent, start, count, turns = tree.parent, tree.v_start, tree.v_count, tree.dof_turns
    while node > 0:
        for k in range(start[node], start[node] + count[node]):
            if turns[k] == 1:
                a = vector_at(axes, k)
                change = cross(a, force)
                moved = add(cross(beside, change), cross(below, scale(down, dot(change, down))))
                moved = add(moved, cross(a, torque))
                rows[0, k] += moved.x
                rows[1, k] += moved.y
                rows[2, k] += moved.z
        node = parent[node]


@kernel
def add_moment_pull(
    tree: Tree,
    position: Array,
    rotation: Array,
    wrenches: Wrenches,
    gravity: Vector,
    pull: Vector,
    ref: Vector,
    # outputs
    force: Array,
    moment: Array,
) -> None:
    """Add the forces whose potential is pull·t(q), for `curvature`: f_i × pull at each point, w × pull at the centre.

    Exact for wrenches fixed in the world; for wrenches that rotate with their node, the rotation is neglected.
    """
    node, points, forces, _, local, share = wrenches
    down = normalized(gravity)
    weight = scale(gravity, tree.subtree_mass[0])
    load = total_load(rotation, wrenches, weight)
    add_center_force(tree, position, rotation, cross(weight, pull), ref, force, moment)
    for i in range(node.shape[0]):
        own = in_world(rotation, node[i], local[i], forces, i)
        acting = subtract(own, shared(load, share[i, 0], share[i, 1], down))
        point = world_point(position, rotation, node[i], points, i)
        add_point_force(node[i], point, cross(acting, pull), ref, force, moment)
