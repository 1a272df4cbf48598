"""Joint torques that hold a figure under gravity and wrenches, their effort, and its gradient by the posture.

The generalised forces of the loads are Q = Σ Jᵀ f [Baerlocher 2001, eq. 6.11], summed from the leaves to the root. With
F and N the total force and moment (about o_k) on the subtree of velocity k, Q_k = a_k·N for a turn and Q_k = a_k·F for
a slide. The joint torques τ = -Q balance them.

The effort is f = ½ Σ (τ_k / s_k)², with s_k the strength of each joint [Baerlocher 2001, 6.5]. Its gradient needs the
derivatives ∂Q_k/∂v_j only in the combination Σ_k u_k ∂Q_k/∂v_j with constant u = Q / s². Read u as a velocity of the
figure; then Q·u is the power of the loads. Derivatives of points commute, so the derivative of this power by joint j is
the rate of Q_j under the motion u,

    Σ_k u_k ∂Q_k/∂v_j = d/dt (a_j·N_j) = a_j · (N_j × ω + Σ ẋ × f + Σ ω × t - ȯ_j × F_j)

with ω the angular velocity of the parent. Inside one ball joint derivatives do not commute: exchanging them exchanges
the frames of its axes, so a reversed ball, whose axes are fixed to its parent, takes the ω of its own node.
Three passes over the tree are enough for any number of forces. The terms of a load that rotates with its node cancel,
except for V × f if supports carry part of the load, with V = Σ share ẋ the mean velocity of the supports.
"""

from typing import Annotated

import numpy as np

from poise.kernels.body.tree import BALL_REVERSED, Tree
from poise.kernels.forces.statics import Wrenches, in_world, shared, total_load, world_point
from poise.kernels.jit.compile import kernel
from poise.kernels.jit.memory import Memory
from poise.kernels.maths.quaternion import quaternion_at, rotate
from poise.kernels.maths.vector import Vector, add, cross, dot, normalized, put_vector, scale, subtract, vector_at

Array = np.ndarray

PerNode = Annotated[Array, float, "nodes", "three"]


class LoadWork(Memory):
    """Workspace of the torque kernels: forces on the subtree of each node, and velocities of the node."""

    force: PerNode
    """Total force."""
    moment: PerNode
    """Total moment."""
    moment_rate: PerNode
    """Rate of change of the total moment."""
    angular_velocity: PerNode
    linear_velocity: PerNode


def make_load_work(nodes: int) -> LoadWork:
    """Allocate the workspace for a tree of so many nodes."""
    return LoadWork(nodes=nodes, three=3)


@kernel
def add_vector(rows: Array, i: int, v: Vector) -> None:
    """Add `v` to row `i` of an (n, 3) array."""
    rows[i, 0] += v.x
    rows[i, 1] += v.y
    rows[i, 2] += v.z


@kernel
def gather_loads(
    tree: Tree,
    position: Array,
    rotation: Array,
    wrenches: Wrenches,
    gravity: Vector,
    ref: Vector,
    # outputs
    work: LoadWork,
) -> None:
    """Fill `work` with the total force and the total moment about `ref` on each subtree."""
    node, points, forces, torques, local, share = wrenches
    parent, mass, own_center = tree.parent, tree.mass, tree.center
    down = normalized(gravity)
    load = total_load(rotation, wrenches, scale(gravity, tree.subtree_mass[0]))
    for i in range(parent.shape[0]):
        weight = scale(gravity, mass[i])
        center = world_point(position, rotation, i, own_center, i)
        put_vector(work.force, i, weight)
        put_vector(work.moment, i, cross(subtract(center, ref), weight))
    for i in range(node.shape[0]):
        own = in_world(rotation, node[i], local[i], forces, i)
        force = subtract(own, shared(load, share[i, 0], share[i, 1], down))
        lever = subtract(world_point(position, rotation, node[i], points, i), ref)
        torque = in_world(rotation, node[i], local[i], torques, i)
        add_vector(work.force, node[i], force)
        add_vector(work.moment, node[i], add(torque, cross(lever, force)))
    for i in range(parent.shape[0] - 1, 0, -1):
        add_vector(work.force, parent[i], vector_at(work.force, i))
        add_vector(work.moment, parent[i], vector_at(work.moment, i))


@kernel
def generalised_forces(
    tree: Tree,
    position: Array,
    axes: Array,
    ref: Vector,
    work: LoadWork,
    # outputs
    out: Array,
) -> None:
    """Fill `out` (nv,) with the generalised forces Q of the loads that `gather_loads` summed [N m or N]."""
    dof_node, turns = tree.dof_node, tree.dof_turns
    for k in range(dof_node.shape[0]):
        i = dof_node[k]
        force = vector_at(work.force, i)
        if turns[k] == 1:
            arm = subtract(vector_at(position, i), ref)
            out[k] = dot(vector_at(axes, k), subtract(vector_at(work.moment, i), cross(arm, force)))
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
    work: LoadWork,
    # outputs
    out: Array,
) -> None:
    """Fill `out` (nv,) with the joint torques and forces that balance gravity and all wrenches [N m or N].

    The entries of a floating base are the unbalanced part of the loads.
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


@kernel
def _fill_velocities(tree: Tree, position: Array, axes: Array, u: Array, work: LoadWork) -> None:
    """Fill `work` with the angular and linear velocity of every node while the figure moves with velocity `u` (nv,)."""
    parent, start, count, turns = tree.parent, tree.v_start, tree.v_count, tree.dof_turns
    put_vector(work.angular_velocity, 0, Vector(0.0, 0.0, 0.0))
    put_vector(work.linear_velocity, 0, Vector(0.0, 0.0, 0.0))
    for i in range(1, parent.shape[0]):
        p = parent[i]
        spin = vector_at(work.angular_velocity, p)
        arm = subtract(vector_at(position, i), vector_at(position, p))
        velocity = add(vector_at(work.linear_velocity, p), cross(spin, arm))
        for k in range(start[i], start[i] + count[i]):
            if turns[k] == 1:
                spin = add(spin, scale(vector_at(axes, k), u[k]))
            else:
                velocity = add(velocity, scale(vector_at(axes, k), u[k]))
        put_vector(work.angular_velocity, i, spin)
        put_vector(work.linear_velocity, i, velocity)


@kernel
def _velocity_at(position: Array, work: LoadWork, node: int, point: Vector) -> Vector:
    """Velocity of a world point fixed to `node`."""
    return add(
        vector_at(work.linear_velocity, node),
        cross(vector_at(work.angular_velocity, node), subtract(point, vector_at(position, node))),
    )


@kernel
def _sum_moment_rates(
    tree: Tree,
    position: Array,
    rotation: Array,
    wrenches: Wrenches,
    gravity: Vector,
    # outputs
    work: LoadWork,
) -> None:
    """Sum Σ ẋ × f + Σ ω × t over each subtree into `work`, with V × f for loads that rotate with their node."""
    node, points, forces, torques, local, share = wrenches
    parent, mass, own_center = tree.parent, tree.mass, tree.center
    down = normalized(gravity)
    load = total_load(rotation, wrenches, scale(gravity, tree.subtree_mass[0]))
    for i in range(parent.shape[0]):
        arm = rotate(quaternion_at(rotation, i), vector_at(own_center, i))
        velocity = add(vector_at(work.linear_velocity, i), cross(vector_at(work.angular_velocity, i), arm))
        put_vector(work.moment_rate, i, cross(velocity, scale(gravity, mass[i])))
    carrying = Vector(0.0, 0.0, 0.0)
    for i in range(node.shape[0]):
        velocity = _velocity_at(position, work, node[i], world_point(position, rotation, node[i], points, i))
        carrying = add(carrying, shared(velocity, share[i, 0], share[i, 1], down))
        carried = shared(load, share[i, 0], share[i, 1], down)
        add_vector(work.moment_rate, node[i], cross(carried, velocity))
        if local[i] == 0:
            add_vector(work.moment_rate, node[i], cross(velocity, vector_at(forces, i)))
            add_vector(
                work.moment_rate, node[i], cross(vector_at(work.angular_velocity, node[i]), vector_at(torques, i))
            )
    for i in range(node.shape[0]):
        if local[i] == 1:
            add_vector(work.moment_rate, node[i], cross(carrying, in_world(rotation, node[i], 1, forces, i)))
    for i in range(parent.shape[0] - 1, 0, -1):
        add_vector(work.moment_rate, parent[i], vector_at(work.moment_rate, i))


@kernel
def weighted_force_derivative(
    tree: Tree,
    position: Array,
    rotation: Array,
    axes: Array,
    wrenches: Wrenches,
    gravity: Vector,
    ref: Vector,
    u: Array,
    work: LoadWork,
    # outputs
    out: Array,
) -> None:
    """Fill `out` (nv,) with Σ_k u_k ∂Q_k/∂v_j; `gather_loads` about the same `ref` must have filled `work`."""
    parent, kind, dof_node, turns = tree.parent, tree.kind, tree.dof_node, tree.dof_turns
    _fill_velocities(tree, position, axes, u, work)
    _sum_moment_rates(tree, position, rotation, wrenches, gravity, work)
    for j in range(dof_node.shape[0]):
        i = dof_node[j]
        carrier = i if kind[i] == BALL_REVERSED else parent[i]
        spin, force = vector_at(work.angular_velocity, carrier), vector_at(work.force, i)
        if turns[j] == 1:
            moment = subtract(vector_at(work.moment, i), cross(subtract(vector_at(position, i), ref), force))
            change = subtract(vector_at(work.moment_rate, i), cross(vector_at(work.linear_velocity, i), force))
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
    work: LoadWork,
    # outputs
    torque: Array,
    gradient: Array,
) -> float:
    """Effort f = ½ Σ (weakness_k τ_k)², the torques τ in `torque` (nv,) and the exact `gradient` (nv,) of f.

    Args:
        tree: The tree, with the world `position` (n, 3) and `rotation` (n, 4) of its nodes.
        position: Origins of the nodes [m].
        rotation: Rotations of the nodes.
        axes: (nv, 3) world axes of the velocities.
        wrenches: All wrenches on the figure, supports included.
        gravity: Acceleration of gravity in world axes [m/s²].
        weakness: (nv,) 1 / strength of each joint, 0 for a joint whose torque costs no effort.
        work: Workspace.
        torque: Torques that hold the posture [N m or N].
        gradient: Change of f per unit of each velocity.
    """
    ref = reference_point(position)
    gather_loads(tree, position, rotation, wrenches, gravity, ref, work)
    generalised_forces(tree, position, axes, ref, work, torque)
    effort = 0.0
    for k in range(torque.shape[0]):
        effort += 0.5 * (weakness[k] * torque[k]) ** 2
        torque[k] *= weakness[k] * weakness[k]
    weighted_force_derivative(tree, position, rotation, axes, wrenches, gravity, ref, torque, work, gradient)
    generalised_forces(tree, position, axes, ref, work, torque)
    for k in range(torque.shape[0]):
        torque[k] = -torque[k]
    return effort


@kernel(counts_references=True)
def force_derivatives(
    tree: Tree,
    position: Array,
    rotation: Array,
    axes: Array,
    wrenches: Wrenches,
    gravity: Vector,
    work: LoadWork,
    # outputs
    out: Array,
) -> None:
    """Fill `out` (nv, nv) with ∂Q_k/∂v_j, row k by row; symmetric without pure torques and rotating loads."""
    nv = out.shape[0]
    ref = reference_point(position)
    gather_loads(tree, position, rotation, wrenches, gravity, ref, work)
    u = np.zeros(nv)
    for k in range(nv):
        u[k] = 1.0
        weighted_force_derivative(tree, position, rotation, axes, wrenches, gravity, ref, u, work, out[k])
        u[k] = 0.0
