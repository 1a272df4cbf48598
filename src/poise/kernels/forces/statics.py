"""Statics: wrenches on the points of a figure, and their sum.

A figure is in equilibrium when the sums of all forces and of all moments vanish [Baerlocher 2001, eq. 6.1–6.2],

    w + Σ f_i = 0        (G - O) × w + Σ ((E_i - O) × f_i + t_i) = 0

with w the weight at the centre of mass G and (f_i, t_i) the wrench of the environment at the point E_i. The supports
satisfy the first equation by definition: each carries a given share of the load L = w + Σ f_i of all other forces, one
share of the part along gravity and one of the part across it. The second equation is a condition on the posture.
"""

from typing import NamedTuple

import numpy as np

from poise.kernels.body.tree import Tree
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.quaternion import quaternion_at, rotate
from poise.kernels.maths.vector import Vector, add, cross, dot, normalized, scale, subtract, vector_at

Array = np.ndarray


class Wrenches(NamedTuple):
    """Wrenches on a figure besides gravity, one row each; arrays are C-contiguous, int64 or float64, and writable."""

    node: Array
    """(m,) node that the point is attached to; 0 for a point of the world."""
    point: Array
    """(m, 3) the point in the node's frame [m]."""
    force: Array
    """(m, 3) force of the environment on the figure [N]."""
    torque: Array
    """(m, 3) pure torque [N m]."""
    local: Array
    """(m,) 1 for a force and torque in the node's axes, which rotate with the node; 0 for world axes."""
    share: Array
    """(m, 2) share of the load that a support carries, along gravity and across it; 0 for other wrenches."""


@kernel
def world_point(position: Array, rotation: Array, node: int, points: Array, i: int) -> Vector:
    """World position of point `i` of `points` (m, 3), which is given in the frame of `node` [m]."""
    return add(vector_at(position, node), rotate(quaternion_at(rotation, node), vector_at(points, i)))


@kernel
def in_world(rotation: Array, node: int, is_local: int, vectors: Array, i: int) -> Vector:
    """Vector `i` of `vectors` (m, 3) in world axes; with `is_local` = 1 it is given in the axes of `node`."""
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
    """Fill `point`, `force` and `torque` (m, 3) with all wrenches in world axes; supports carry shares of the load."""
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
    """Sum of all forces [N] and of all moments about a point [N m], with the weight at `center` and the supports."""
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
