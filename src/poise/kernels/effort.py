"""Joint torques that hold a figure under forces, how they change with its posture, and how hard it all is.

The torques are those of the transposed Jacobians [Baerlocher 2001, eq. 6.11], gathered from the leaves to the root.
With F and N the force and the moment (about o_k) of all that acts on the subtree of velocity k, the loads push with
Q_k = a_k·N for a turn and a_k·F for a slide, and τ = -Q holds them.

Effort is f = ½ Σ (τ_k / s_k)², s_k the strength of each joint [Baerlocher 2001, 6.5]. Its gradient needs the
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

from poise.kernels.compile import kernel
from poise.kernels.quaternion import quaternion_at, rotate
from poise.kernels.statics import Wrenches, in_world, shared, total_load, world_point
from poise.kernels.tree import BALL_REVERSED, Tree
from poise.kernels.vector import Vector, add, cross, dot, normalized, scale, subtract, vector_at

Array = np.ndarray

FORCE, MOMENT, CHANGE, SPIN, DRIFT = 0, 3, 6, 9, 12
"""First columns, in a workspace, of a subtree's force, moment and change of moment, and of its node's velocities."""
WORK_COLUMNS = 15


@kernel
def _get(work: Array, i: int, column: int) -> Vector:
    return Vector(work[i, column], work[i, column + 1], work[i, column + 2])


@kernel
def _put(work: Array, i: int, column: int, v: Vector) -> None:
    work[i, column] = v.x
    work[i, column + 1] = v.y
    work[i, column + 2] = v.z


@kernel
def _gain(work: Array, i: int, column: int, v: Vector) -> None:
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
        _put(work, i, FORCE, weight)
        _put(work, i, MOMENT, cross(subtract(center, ref), weight))
    for i in range(node.shape[0]):
        own = in_world(rotation, node[i], local[i], forces, i)
        force = subtract(own, shared(load, share[i, 0], share[i, 1], down))
        lever = subtract(world_point(position, rotation, node[i], points, i), ref)
        torque = in_world(rotation, node[i], local[i], torques, i)
        _gain(work, node[i], FORCE, force)
        _gain(work, node[i], MOMENT, add(torque, cross(lever, force)))
    for i in range(parent.shape[0] - 1, 0, -1):
        _gain(work, parent[i], FORCE, _get(work, i, FORCE))
        _gain(work, parent[i], MOMENT, _get(work, i, MOMENT))


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
        force = _get(work, i, FORCE)
        if turns[k] == 1:
            arm = subtract(vector_at(position, i), ref)
            out[k] = dot(vector_at(axes, k), subtract(_get(work, i, MOMENT), cross(arm, force)))
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
    ref = _middle(position)
    gather_loads(tree, position, rotation, wrenches, gravity, ref, work)
    pushes_of_loads(tree, position, axes, ref, work, out)
    for k in range(out.shape[0]):
        out[k] = -out[k]


@kernel
def _middle(position: Array) -> Vector:
    """A point of the figure, about which moments keep their digits far from the world's origin."""
    return vector_at(position, 1 if position.shape[0] > 1 else 0)


@kernel
def _spread_velocity(tree: Tree, position: Array, axes: Array, u: Array, work: Array) -> None:
    """Angular velocity and velocity of the origin of every node while the figure moves with `u` (nv,)."""
    parent, start, count, turns = tree.parent, tree.v_start, tree.v_count, tree.dof_turns
    _put(work, 0, SPIN, Vector(0.0, 0.0, 0.0))
    _put(work, 0, DRIFT, Vector(0.0, 0.0, 0.0))
    for i in range(1, parent.shape[0]):
        p = parent[i]
        spin = _get(work, p, SPIN)
        arm = subtract(vector_at(position, i), vector_at(position, p))
        drift = add(_get(work, p, DRIFT), cross(spin, arm))
        for k in range(start[i], start[i] + count[i]):
            if turns[k] == 1:
                spin = add(spin, scale(vector_at(axes, k), u[k]))
            else:
                drift = add(drift, scale(vector_at(axes, k), u[k]))
        _put(work, i, SPIN, spin)
        _put(work, i, DRIFT, drift)


@kernel
def _velocity_at(position: Array, work: Array, node: int, point: Vector) -> Vector:
    """Velocity of a world point of `node`."""
    return add(_get(work, node, DRIFT), cross(_get(work, node, SPIN), subtract(point, vector_at(position, node))))


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
        velocity = add(_get(work, i, DRIFT), cross(_get(work, i, SPIN), arm))
        _put(work, i, CHANGE, cross(velocity, scale(gravity, mass[i])))
    carrying = Vector(0.0, 0.0, 0.0)
    for i in range(node.shape[0]):
        velocity = _velocity_at(position, work, node[i], world_point(position, rotation, node[i], points, i))
        carrying = add(carrying, shared(velocity, share[i, 0], share[i, 1], down))
        carried = shared(load, share[i, 0], share[i, 1], down)
        _gain(work, node[i], CHANGE, cross(carried, velocity))
        if local[i] == 0:
            _gain(work, node[i], CHANGE, cross(velocity, vector_at(forces, i)))
            _gain(work, node[i], CHANGE, cross(_get(work, node[i], SPIN), vector_at(torques, i)))
    for i in range(node.shape[0]):
        if local[i] == 1:
            _gain(work, node[i], CHANGE, cross(carrying, in_world(rotation, node[i], 1, forces, i)))
    for i in range(parent.shape[0] - 1, 0, -1):
        _gain(work, parent[i], CHANGE, _get(work, i, CHANGE))


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
        spin, force = _get(work, carrier, SPIN), _get(work, i, FORCE)
        if turns[j] == 1:
            moment = subtract(_get(work, i, MOMENT), cross(subtract(vector_at(position, i), ref), force))
            change = subtract(_get(work, i, CHANGE), cross(_get(work, i, DRIFT), force))
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
    ref = _middle(position)
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


@kernel
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
    ref = _middle(position)
    gather_loads(tree, position, rotation, wrenches, gravity, ref, work)
    u = np.zeros(nv)
    for k in range(nv):
        u[k] = 1.0
        push_slope(tree, position, rotation, axes, wrenches, gravity, ref, u, work, out[k])
        u[k] = 0.0
