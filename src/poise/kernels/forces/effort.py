"""How hard it is to hold a posture, and how that changes with it.

Effort is f = ½ Σ (τ_k / s_k)², s_k the strength of each joint [Baerlocher 2001, 6.5] and τ = -Q the torques that hold
the pushes Q of the loads (see `holding`; F and N as there). Its gradient needs the
derivatives ∂Q_k/∂v_j only in the one combination Σ_k u_k ∂Q_k/∂v_j, u = Q / s², and the constants u are best read as
velocities: Q·u is the power of the loads while the figure moves with u. Derivatives of points commute, so turning
the whole motion by joint j changes that power as the motion changes Q_j,

    Σ_k u_k ∂Q_k/∂v_j = d/dt (a_j·N_j) = a_j · (N_j × ω + Σ ẋ × f + Σ ω × t - ȯ_j × F_j)

with ω the angular velocity of the parent. Inside one ball derivatives do not commute: exchanging them exchanges the
frames that carry its axes, so that a reversed ball, whose axes ride on its parent, takes the ω of its own node. Three
passes over the tree do, however many forces there are. Where a load turns with its node its own terms cancel; if
supports carry part of it, V × f is left, V = Σ share ẋ their velocity.
"""

import numpy as np

from poise.kernels.body.tree import BALL_REVERSED, Tree
from poise.kernels.forces.joint_torques import (
    CHANGE,
    DRIFT,
    FORCE,
    MOMENT,
    SPIN,
    gain,
    gather_loads,
    get,
    middle_of,
    pushes_of_loads,
    put,
)
from poise.kernels.forces.statics import Wrenches, in_world, shared, total_load, world_point
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.quaternion import quaternion_at, rotate
from poise.kernels.maths.vector import Vector, add, cross, dot, normalized, scale, subtract, vector_at

Array = np.ndarray


@kernel
def _spread_velocity(tree: Tree, position: Array, axes: Array, u: Array, work: Array) -> None:
    """Angular velocity and velocity of the origin of every node while the figure moves with `u` (nv,)."""
    parent, start, count, turns = tree.parent, tree.v_start, tree.v_count, tree.dof_turns
    put(work, 0, SPIN, Vector(0.0, 0.0, 0.0))
    put(work, 0, DRIFT, Vector(0.0, 0.0, 0.0))
    for i in range(1, parent.shape[0]):
        p = parent[i]
        spin = get(work, p, SPIN)
        arm = subtract(vector_at(position, i), vector_at(position, p))
        drift = add(get(work, p, DRIFT), cross(spin, arm))
        for k in range(start[i], start[i] + count[i]):
            if turns[k] == 1:
                spin = add(spin, scale(vector_at(axes, k), u[k]))
            else:
                drift = add(drift, scale(vector_at(axes, k), u[k]))
        put(work, i, SPIN, spin)
        put(work, i, DRIFT, drift)


@kernel
def _velocity_at(position: Array, work: Array, node: int, point: Vector) -> Vector:
    """Velocity of a world point of `node`."""
    return add(get(work, node, DRIFT), cross(get(work, node, SPIN), subtract(point, vector_at(position, node))))


@kernel
def _gather_changes(
    tree: Tree,
    position: Array,
    rotation: Array,
    wrenches: Wrenches,
    gravity: Vector,
    # outputs
    work: Array,
) -> None:
    """Σ ẋ × f + Σ ω × t over each subtree, and V × f for what turns with its node."""
    node, points, forces, torques, local, share = wrenches
    parent, mass, own_center = tree.parent, tree.mass, tree.center
    down = normalized(gravity)
    load = total_load(rotation, wrenches, scale(gravity, tree.subtree_mass[0]))
    for i in range(parent.shape[0]):
        arm = rotate(quaternion_at(rotation, i), vector_at(own_center, i))
        velocity = add(get(work, i, DRIFT), cross(get(work, i, SPIN), arm))
        put(work, i, CHANGE, cross(velocity, scale(gravity, mass[i])))
    carrying = Vector(0.0, 0.0, 0.0)
    for i in range(node.shape[0]):
        velocity = _velocity_at(position, work, node[i], world_point(position, rotation, node[i], points, i))
        carrying = add(carrying, shared(velocity, share[i, 0], share[i, 1], down))
        carried = shared(load, share[i, 0], share[i, 1], down)
        gain(work, node[i], CHANGE, cross(carried, velocity))
        if local[i] == 0:
            gain(work, node[i], CHANGE, cross(velocity, vector_at(forces, i)))
            gain(work, node[i], CHANGE, cross(get(work, node[i], SPIN), vector_at(torques, i)))
    for i in range(node.shape[0]):
        if local[i] == 1:
            gain(work, node[i], CHANGE, cross(carrying, in_world(rotation, node[i], 1, forces, i)))
    for i in range(parent.shape[0] - 1, 0, -1):
        gain(work, parent[i], CHANGE, get(work, i, CHANGE))


@kernel
def push_slope(
    tree: Tree,
    position: Array,
    rotation: Array,
    axes: Array,
    wrenches: Wrenches,
    gravity: Vector,
    ref: Vector,
    u: Array,
    work: Array,
    # outputs
    out: Array,
) -> None:
    """Σ_k u_k ∂Q_k/∂v_j, `out` (nv,), after `gather_loads` about the same `ref` has filled `work`."""
    parent, kind, dof_node, turns = tree.parent, tree.kind, tree.dof_node, tree.dof_turns
    _spread_velocity(tree, position, axes, u, work)
    _gather_changes(tree, position, rotation, wrenches, gravity, work)
    for j in range(dof_node.shape[0]):
        i = dof_node[j]
        carrier = i if kind[i] == BALL_REVERSED else parent[i]
        spin, force = get(work, carrier, SPIN), get(work, i, FORCE)
        if turns[j] == 1:
            moment = subtract(get(work, i, MOMENT), cross(subtract(vector_at(position, i), ref), force))
            change = subtract(get(work, i, CHANGE), cross(get(work, i, DRIFT), force))
            change = add(change, cross(moment, spin))
        else:
            change = cross(force, spin)
        out[j] = dot(vector_at(axes, j), change)


@kernel
def torque_gradient(
    tree: Tree,
    position: Array,
    rotation: Array,
    axes: Array,
    wrenches: Wrenches,
    gravity: Vector,
    weakness: Array,
    work: Array,
    # outputs
    torque: Array,
    gradient: Array,
) -> float:
    """Effort f = ½ Σ (ease_k τ_k)², the torques τ `torque` (nv,) and the exact `gradient` (nv,) of f.

    Args:
        tree: The tree, with the world `position` (n, 3) and `rotation` (n, 4) of its nodes.
        position: Origins of the nodes [m].
        rotation: Rotations of the nodes.
        axes: (nv, 3) world axes of the velocities.
        wrenches: What acts on the figure, supports included.
        gravity: Acceleration of gravity in world axes [m/s²].
        weakness: (nv,) 1 / strength of each joint, 0 for what tires nobody.
        work: (n, WORK_COLUMNS) scratch.
        torque: Torques that hold the posture [N m or N].
        gradient: Change of f per unit of each velocity.
    """
    ref = middle_of(position)
    gather_loads(tree, position, rotation, wrenches, gravity, ref, work)
    pushes_of_loads(tree, position, axes, ref, work, torque)
    effort = 0.0
    for k in range(torque.shape[0]):
        effort += 0.5 * (weakness[k] * torque[k]) ** 2
        torque[k] *= weakness[k] * weakness[k]
    push_slope(tree, position, rotation, axes, wrenches, gravity, ref, torque, work, gradient)
    pushes_of_loads(tree, position, axes, ref, work, torque)
    for k in range(torque.shape[0]):
        torque[k] = -torque[k]
    return effort


@kernel(counts_references=True)
def push_slopes(
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
    """The whole matrix ∂Q_k/∂v_j, `out` (nv, nv), row by row; symmetric where torques and turning loads are absent."""
    nv = out.shape[0]
    ref = middle_of(position)
    gather_loads(tree, position, rotation, wrenches, gravity, ref, work)
    u = np.zeros(nv)
    for k in range(nv):
        u[k] = 1.0
        push_slope(tree, position, rotation, axes, wrenches, gravity, ref, u, work, out[k])
        u[k] = 0.0
