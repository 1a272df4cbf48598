"""Statics: what wrenches on the points of a figure add up to, how it changes, and the torques that hold them.

A figure rests when the forces and the moments of all that acts on it vanish [Baerlocher 2001, eq. 6.1–6.2],

    w + Σ f_i = 0        t(q) = (G - O) × w + Σ ((E_i - O) × f_i + t_i) = 0

with w the weight at the centre of mass G and (f_i, t_i) the wrench of the environment at the point E_i. Supports keep
the first equation true by themselves: each carries its share of the load L = w + Σ f_i of all the others, a share of
what acts along gravity and a share of what acts across it. The second one is a condition on the posture. Its Jacobian
[Baerlocher 2001, eq. 6.6] is

    J_t = -[w ×] J_G - Σ [f_i ×] J_i

to which wrenches that turn with their node add what turning them does to their moment, and to the load that the
supports carry.
"""

from typing import NamedTuple

import numpy as np

from poise.kernels.compile import kernel
from poise.kernels.quaternion import quaternion_at, rotate
from poise.kernels.tree import Tree
from poise.kernels.vector import Vector, add, cross, dot, normalized, scale, subtract, vector_at

Array = np.ndarray


class Wrenches(NamedTuple):
    """What acts on a figure besides gravity, one row each; C-contiguous, int64 or float64, and writable."""

    node: Array
    """(m,) node that carries the point; 0 for a point of the world."""
    point: Array
    """(m, 3) the point in the node's frame [m]."""
    force: Array
    """(m, 3) force of the environment on the figure [N]."""
    torque: Array
    """(m, 3) pure torque [N m]."""
    local: Array
    """(m,) 1 where force and torque are given in the node's axes and turn with it, 0 where in the world's."""
    share: Array
    """(m, 2) share of the load that a support carries, along gravity and across it; 0 for what is no support."""


@kernel
def world_point(position: Array, rotation: Array, node: int, points: Array, i: int) -> Vector:
    """Point `i` of `points` (m, 3), given in the frame of `node`, in the world [m]."""
    return add(vector_at(position, node), rotate(quaternion_at(rotation, node), vector_at(points, i)))


@kernel
def in_world(rotation: Array, node: int, is_local: int, vectors: Array, i: int) -> Vector:
    """Vector `i` of `vectors` (m, 3) in world axes, where it may be given in those of `node`."""
    v = vector_at(vectors, i)
    return rotate(quaternion_at(rotation, node), v) if is_local == 1 else v


@kernel
def total_load(rotation: Array, wrenches: Wrenches, weight: Vector) -> Vector:
    """Sum of the weight and of all given forces [N], which the supports carry."""
    node, force, local = wrenches.node, wrenches.force, wrenches.local
    load = weight
    for i in range(node.shape[0]):
        load = add(load, in_world(rotation, node[i], local[i], force, i))
    return load


@kernel
def shared(v: Vector, along: float, across: float, down: Vector) -> Vector:
    """`along` times the part of `v` along the unit vector `down`, plus `across` times the rest."""
    return add(scale(v, across), scale(down, (along - across) * dot(v, down)))


@kernel
def acting_wrenches(
    tree: Tree,
    position: Array,
    rotation: Array,
    wrenches: Wrenches,
    gravity: Vector,
    # outputs
    point: Array,
    force: Array,
    torque: Array,
) -> None:
    """All wrenches in world axes, supports with what they carry: `point`, `force` and `torque` (m, 3)."""
    node, points, forces, torques, local, share = wrenches
    down = normalized(gravity)
    load = total_load(rotation, wrenches, scale(gravity, tree.subtree_mass[0]))
    for i in range(node.shape[0]):
        own = in_world(rotation, node[i], local[i], forces, i)
        f = subtract(own, shared(load, share[i, 0], share[i, 1], down))
        t = in_world(rotation, node[i], local[i], torques, i)
        p = world_point(position, rotation, node[i], points, i)
        point[i, 0], point[i, 1], point[i, 2] = p
        force[i, 0], force[i, 1], force[i, 2] = f
        torque[i, 0], torque[i, 1], torque[i, 2] = t


@kernel
def net_wrench(
    tree: Tree,
    position: Array,
    rotation: Array,
    center: Vector,
    wrenches: Wrenches,
    gravity: Vector,
    about: Vector,
) -> tuple[Vector, Vector]:
    """Sum of all forces [N] and of their moments about a point [N m], weight at the world `center` and supports too."""
    node, points, forces, torques, local, share = wrenches
    down = normalized(gravity)
    weight = scale(gravity, tree.subtree_mass[0])
    load = total_load(rotation, wrenches, weight)
    force, moment = weight, cross(subtract(center, about), weight)
    for i in range(node.shape[0]):
        own = in_world(rotation, node[i], local[i], forces, i)
        f = subtract(own, shared(load, share[i, 0], share[i, 1], down))
        lever = subtract(world_point(position, rotation, node[i], points, i), about)
        force = add(force, f)
        moment = add(moment, add(in_world(rotation, node[i], local[i], torques, i), cross(lever, f)))
    return force, moment


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
        wrenches: What acts on the figure, supports included.
        gravity: Acceleration of gravity in world axes [m/s²].
        about: Point of the world about which moments are taken [m]. It matters only where the forces do not balance.
        error: The moment.
        rows: Its change per unit of each velocity.
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
            # A turn of the force also turns what the supports carry of it.
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
    """Add what turning a force and a torque with `node` does: df = a × f moves the moment by beside × df + below × df∥.

    df∥ is the part of df along `down`.
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
