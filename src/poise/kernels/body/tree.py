"""Kinematics of a tree of joints: forward kinematics, Jacobians, centre of mass, inertia and torques.

A tree has nodes 0 … n-1 in an order where parents come first. Node 0 is the world. Every other node is moved by one
primitive: a turn or a slide along an axis, a ball (a unit quaternion), or a free motion (a position and a unit
quaternion). Joints with several degrees of freedom are chains of nodes, and rigidly attached bodies share a node.

For node i with parent p, placement (o_i, O_i) and motion (m_i, M_i) of its coordinates,

    R_i = R_p O_i M_i        x_i = x_p + R_p (o_i + O_i m_i)

Velocities: a turn or a slide has the rate of its coordinate; a ball has its angular velocity in its own moved axes
(q ← q ⊗ exp(ω)); a free node has a linear velocity in its unmoved axes, then such an angular velocity. A *reversed*
ball stores the rotation of its parent in the child's frame, so that re-rooting changes no stored value.
"""

from typing import NamedTuple

import numpy as np

from poise.kernels.jit.compile import kernel
from poise.kernels.maths.quaternion import (
    Quaternion,
    about,
    columns,
    conjugate,
    from_rotation_vector,
    multiply,
    put_quaternion,
    quaternion_at,
    rotate,
    to_rotation_vector,
    unit,
)
from poise.kernels.maths.vector import Vector, add, cross, dot, put_vector, scale, subtract, vector_at

Array = np.ndarray

FIXED, TURN, SLIDE, BALL, BALL_REVERSED, FREE = 0, 1, 2, 3, 4, 5
"""Primitives that move a node: none, revolute, prismatic, spherical (and seen from its child), six freedoms."""


class Tree(NamedTuple):
    """The constants of a tree; every array is C-contiguous, int64 or float64, and writable."""

    parent: Array
    """(n,) parent of each node; 0 for the world itself."""
    kind: Array
    """(n,) primitive that moves the node."""
    q_start: Array
    """(n,) first coordinate of the node."""
    v_start: Array
    """(n,) first velocity of the node."""
    v_count: Array
    """(n,) number of velocities of the node."""
    placement_position: Array
    """(n, 3) joint frame in the parent's frame [m]."""
    placement_rotation: Array
    """(n, 4) joint frame in the parent's frame."""
    axis: Array
    """(n, 3) unit axis of a turn or a slide, in the joint frame."""
    mass: Array
    """(n,) mass of the bodies on the node [kg]."""
    center: Array
    """(n, 3) centre of that mass, in the node's frame [m]."""
    inertia: Array
    """(n, 6) inertia of that mass about its centre, in the node's axes: xx, yy, zz, xy, xz, yz [kg m²]."""
    subtree_mass: Array
    """(n,) mass of the node and all its descendants [kg]."""
    dof_node: Array
    """(nv,) node moved by each velocity."""
    dof_turns: Array
    """(nv,) 1 where the velocity is angular, 0 where it is linear."""


@kernel
def forward(
    tree: Tree,
    q: Array,
    # outputs
    position: Array,
    rotation: Array,
) -> None:
    """World frames of all nodes: `position` (n, 3) [m] and `rotation` (n, 4) for coordinates `q` (nq,)."""
    put_vector(position, 0, Vector(0.0, 0.0, 0.0))
    put_quaternion(rotation, 0, Quaternion(1.0, 0.0, 0.0, 0.0))
    for i in range(1, tree.parent.shape[0]):
        p = tree.parent[i]
        kind = tree.kind[i]
        k = tree.q_start[i]
        parent_rotation = quaternion_at(rotation, p)
        joint_position = add(vector_at(position, p), rotate(parent_rotation, vector_at(tree.placement_position, i)))
        joint_rotation = multiply(parent_rotation, quaternion_at(tree.placement_rotation, i))
        if kind == TURN:
            joint_rotation = multiply(joint_rotation, about(vector_at(tree.axis, i), q[k]))
        elif kind == SLIDE:
            joint_position = add(joint_position, rotate(joint_rotation, scale(vector_at(tree.axis, i), q[k])))
        elif kind == BALL:
            joint_rotation = multiply(joint_rotation, Quaternion(q[k], q[k + 1], q[k + 2], q[k + 3]))
        elif kind == BALL_REVERSED:
            joint_rotation = multiply(joint_rotation, Quaternion(q[k], -q[k + 1], -q[k + 2], -q[k + 3]))
        elif kind == FREE:
            joint_position = add(joint_position, rotate(joint_rotation, Vector(q[k], q[k + 1], q[k + 2])))
            joint_rotation = multiply(joint_rotation, Quaternion(q[k + 3], q[k + 4], q[k + 5], q[k + 6]))
        put_vector(position, i, joint_position)
        put_quaternion(rotation, i, joint_rotation)


@kernel
def motion_axes(
    tree: Tree,
    rotation: Array,
    # outputs
    axes: Array,
) -> None:
    """Fill `axes` (nv, 3) with the world axis of every velocity, angular or linear as `dof_turns` says."""
    for i in range(1, tree.parent.shape[0]):
        kind = tree.kind[i]
        k = tree.v_start[i]
        if kind == TURN or kind == SLIDE:
            put_vector(axes, k, rotate(quaternion_at(rotation, i), vector_at(tree.axis, i)))
        elif kind == BALL:
            x, y, z = columns(quaternion_at(rotation, i))
            put_vector(axes, k, x)
            put_vector(axes, k + 1, y)
            put_vector(axes, k + 2, z)
        elif kind == BALL_REVERSED:
            x, y, z = columns(_unmoved_rotation(tree, rotation, i))
            put_vector(axes, k, scale(x, -1.0))
            put_vector(axes, k + 1, scale(y, -1.0))
            put_vector(axes, k + 2, scale(z, -1.0))
        elif kind == FREE:
            x, y, z = columns(_unmoved_rotation(tree, rotation, i))
            put_vector(axes, k, x)
            put_vector(axes, k + 1, y)
            put_vector(axes, k + 2, z)
            x, y, z = columns(quaternion_at(rotation, i))
            put_vector(axes, k + 3, x)
            put_vector(axes, k + 4, y)
            put_vector(axes, k + 5, z)


@kernel
def _unmoved_rotation(tree: Tree, rotation: Array, i: int) -> Quaternion:
    """World rotation of the joint frame of node `i` before its own motion."""
    return multiply(quaternion_at(rotation, tree.parent[i]), quaternion_at(tree.placement_rotation, i))


@kernel
def jacobian(
    tree: Tree,
    position: Array,
    axes: Array,
    node: int,
    point: Vector,
    # outputs
    out: Array,
) -> None:
    """Geometric Jacobian `out` (6, nv), world axes, of a point fixed to `node`: velocity rows, then angular velocity.

    The column of a turn about a through o is (a × (p - o), a), that of a slide along a is (a, 0)
    [Baerlocher 2001, 4.5.1–4.5.2].
    """
    out[:, :] = 0.0
    i = node
    while i > 0:
        lever = subtract(point, vector_at(position, i))
        for k in range(tree.v_start[i], tree.v_start[i] + tree.v_count[i]):
            a = vector_at(axes, k)
            if tree.dof_turns[k] == 1:
                v = cross(a, lever)
                out[0, k] = v.x
                out[1, k] = v.y
                out[2, k] = v.z
                out[3, k] = a.x
                out[4, k] = a.y
                out[5, k] = a.z
            else:
                out[0, k] = a.x
                out[1, k] = a.y
                out[2, k] = a.z
        i = tree.parent[i]


@kernel
def center_of_mass(
    tree: Tree,
    position: Array,
    rotation: Array,
    # outputs
    subtree_center: Array,
) -> Vector:
    """World centre of mass [m]; fills `subtree_center` (n, 3) with the centre of mass of every subtree [m].

    The centre of a massless subtree is the origin of its node.
    """
    n = tree.parent.shape[0]
    for i in range(n):
        center = add(vector_at(position, i), rotate(quaternion_at(rotation, i), vector_at(tree.center, i)))
        put_vector(subtree_center, i, scale(center, tree.mass[i]))
    for i in range(n - 1, 0, -1):
        p = tree.parent[i]
        subtree_center[p, 0] += subtree_center[i, 0]
        subtree_center[p, 1] += subtree_center[i, 1]
        subtree_center[p, 2] += subtree_center[i, 2]
        _divide_by_mass(tree, position, i, subtree_center)
    _divide_by_mass(tree, position, 0, subtree_center)
    return vector_at(subtree_center, 0)


@kernel
def _divide_by_mass(tree: Tree, position: Array, i: int, subtree_center: Array) -> None:
    """Divide the first moment of mass of subtree `i` by its mass, in place."""
    mass = tree.subtree_mass[i]
    if mass > 0.0:
        put_vector(subtree_center, i, scale(vector_at(subtree_center, i), 1.0 / mass))
    else:
        put_vector(subtree_center, i, vector_at(position, i))


@kernel
def center_of_mass_jacobian(
    tree: Tree,
    position: Array,
    axes: Array,
    subtree_center: Array,
    # outputs
    out: Array,
) -> None:
    """Jacobian `out` (3, nv) of the centre of mass.

    The column of a velocity is m_U / m_tot times that of the centre G_U of its upper body [Baerlocher 2001, 4.5.4].
    """
    total = tree.subtree_mass[0]
    for k in range(tree.dof_node.shape[0]):
        i = tree.dof_node[k]
        share = tree.subtree_mass[i] / total if total > 0.0 else 0.0
        v = vector_at(axes, k)
        if tree.dof_turns[k] == 1:
            v = cross(v, subtract(vector_at(subtree_center, i), vector_at(position, i)))
        out[0, k] = share * v.x
        out[1, k] = share * v.y
        out[2, k] = share * v.z


@kernel
def gravity_torques(
    tree: Tree,
    position: Array,
    axes: Array,
    subtree_center: Array,
    gravity: Vector,
    # outputs
    out: Array,
) -> None:
    """Joint torques `out` (nv,) that hold the figure against `gravity` [m/s²]: τ = -J_comᵀ m g [N m or N]."""
    for k in range(tree.dof_node.shape[0]):
        i = tree.dof_node[k]
        v = vector_at(axes, k)
        if tree.dof_turns[k] == 1:
            v = cross(v, subtract(vector_at(subtree_center, i), vector_at(position, i)))
        out[k] = -tree.subtree_mass[i] * dot(v, gravity)


@kernel
def add_wrench_row(
    tree: Tree,
    position: Array,
    axes: Array,
    node: int,
    point: Vector,
    force: Vector,
    torque: Vector,
    row: int,
    # outputs
    rows: Array,
) -> None:
    """Add to rows[row] (nv,) the generalised force Jᵀ (f, t) of a world wrench at a point fixed to `node`.

    With a unit force and no torque it is the Jacobian of that point along the force.
    """
    parent, v_start, v_count, turns = tree.parent, tree.v_start, tree.v_count, tree.dof_turns
    i = node
    while i > 0:
        moment = add(torque, cross(subtract(point, vector_at(position, i)), force))
        for k in range(v_start[i], v_start[i] + v_count[i]):
            a = vector_at(axes, k)
            rows[row, k] += dot(a, moment) if turns[k] == 1 else dot(a, force)
        i = parent[i]


@kernel
def subtree_inertias(
    tree: Tree,
    rotation: Array,
    subtree_center: Array,
    world_center: Array,
    # outputs
    out: Array,
) -> None:
    """Inertia `out` (n, 6) of every subtree about its own centre of mass, in world axes [kg m²].

    `world_center` (n, 3) holds the centre of each node's own mass. Tensors are stored xx, yy, zz, xy, xz, yz and moved
    by the parallel-axis theorem, I += m (|d|² 1 - d dᵀ).
    """
    n = tree.parent.shape[0]
    for i in range(n):
        _rotate_inertia(tree.inertia, i, quaternion_at(rotation, i), out)
        d = subtract(vector_at(world_center, i), vector_at(subtree_center, i))
        _add_point_mass(out, i, tree.mass[i], d)
    for i in range(n - 1, 0, -1):
        p = tree.parent[i]
        for c in range(6):
            out[p, c] += out[i, c]
        d = subtract(vector_at(subtree_center, i), vector_at(subtree_center, p))
        _add_point_mass(out, p, tree.subtree_mass[i], d)


@kernel
def _add_point_mass(out: Array, i: int, mass: float, d: Vector) -> None:
    """out[i] += m (|d|² 1 - d dᵀ)."""
    out[i, 0] += mass * (d.y * d.y + d.z * d.z)
    out[i, 1] += mass * (d.x * d.x + d.z * d.z)
    out[i, 2] += mass * (d.x * d.x + d.y * d.y)
    out[i, 3] -= mass * d.x * d.y
    out[i, 4] -= mass * d.x * d.z
    out[i, 5] -= mass * d.y * d.z


@kernel
def apply_inertia(tensors: Array, i: int, v: Vector) -> Vector:
    """I v for row `i` of (n, 6) tensors stored xx, yy, zz, xy, xz, yz."""
    xx, yy, zz = tensors[i, 0], tensors[i, 1], tensors[i, 2]
    xy, xz, yz = tensors[i, 3], tensors[i, 4], tensors[i, 5]
    return Vector(xx * v.x + xy * v.y + xz * v.z, xy * v.x + yy * v.y + yz * v.z, xz * v.x + yz * v.y + zz * v.z)


@kernel
def _rotate_inertia(local: Array, i: int, r: Quaternion, out: Array) -> None:
    """out[i] = R I Rᵀ."""
    x, y, z = columns(conjugate(r))
    a = rotate(r, apply_inertia(local, i, x))
    b = rotate(r, apply_inertia(local, i, y))
    c = rotate(r, apply_inertia(local, i, z))
    out[i, 0] = a.x
    out[i, 1] = b.y
    out[i, 2] = c.z
    out[i, 3] = b.x
    out[i, 4] = c.x
    out[i, 5] = c.y


@kernel
def moment_of_inertia(
    tree: Tree,
    position: Array,
    axes: Array,
    subtree_center: Array,
    tensors: Array,
    about_axis: Vector,
    # outputs
    gradient: Array,
) -> float:
    """Moment of inertia about an axis a through the centre of mass G, and its `gradient` (nv,).

    A velocity moves one subtree S (mass m, centre c, tensor I about c) relative to the rest. With the figure as two
    rigid parts, the rate is 2 (a × w)·(I a) + 2 m (a × (c - G))·(a × ċ), with w the angular rate and ċ the velocity of
    c [Baerlocher 2001, 7.3.3 names the task; the gradient is ours].
    """
    center = vector_at(subtree_center, 0)
    for k in range(tree.dof_node.shape[0]):
        i = tree.dof_node[k]
        w = vector_at(axes, k)
        c = vector_at(subtree_center, i)
        rate = w
        turning = 0.0
        if tree.dof_turns[k] == 1:
            rate = cross(w, subtract(c, vector_at(position, i)))
            turning = dot(cross(about_axis, w), apply_inertia(tensors, i, about_axis))
        lever = cross(about_axis, subtract(c, center))
        gradient[k] = 2.0 * (turning + tree.subtree_mass[i] * dot(lever, cross(about_axis, rate)))
    return dot(about_axis, apply_inertia(tensors, 0, about_axis))


@kernel
def mass_centers(
    tree: Tree,
    position: Array,
    rotation: Array,
    # outputs
    out: Array,
) -> None:
    """Fill `out` (n, 3) with the world centre of each node's own mass [m]."""
    for i in range(tree.parent.shape[0]):
        put_vector(out, i, add(vector_at(position, i), rotate(quaternion_at(rotation, i), vector_at(tree.center, i))))


@kernel(inline=True)
def integrate(
    tree: Tree,
    q: Array,
    v: Array,
    # outputs
    out: Array,
) -> None:
    """out = q ⊕ v on the configuration manifold: sums for turns, slides and positions, q ⊗ exp(ω) for rotations."""
    for i in range(1, tree.parent.shape[0]):
        kind = tree.kind[i]
        k = tree.q_start[i]
        j = tree.v_start[i]
        if kind == TURN or kind == SLIDE:
            out[k] = q[k] + v[j]
        else:
            if kind == FREE:
                for c in range(3):
                    out[k + c] = q[k + c] + v[j + c]
                k += 3
                j += 3
            turned = multiply(
                Quaternion(q[k], q[k + 1], q[k + 2], q[k + 3]),
                from_rotation_vector(Vector(v[j], v[j + 1], v[j + 2])),
            )
            out[k], out[k + 1], out[k + 2], out[k + 3] = unit(turned)


@kernel(inline=True)
def difference(
    tree: Tree,
    a: Array,
    b: Array,
    # outputs
    out: Array,
) -> None:
    """Fill `out` (nv,) with b ⊖ a, the velocity for which a ⊕ out = b; rotations take the shortest way."""
    for i in range(1, tree.parent.shape[0]):
        kind = tree.kind[i]
        k = tree.q_start[i]
        j = tree.v_start[i]
        if kind == TURN or kind == SLIDE:
            out[j] = b[k] - a[k]
        else:
            if kind == FREE:
                for c in range(3):
                    out[j + c] = b[k + c] - a[k + c]
                k += 3
                j += 3
            turn = multiply(
                Quaternion(a[k], -a[k + 1], -a[k + 2], -a[k + 3]), Quaternion(b[k], b[k + 1], b[k + 2], b[k + 3])
            )
            out[j], out[j + 1], out[j + 2] = to_rotation_vector(turn)


@kernel
def attached_frames(
    node: Array,
    local_position: Array,
    local_rotation: Array,
    position: Array,
    rotation: Array,
    # outputs
    out_position: Array,
    out_rotation: Array,
) -> None:
    """World frames (m, 3), (m, 4) of frames rigidly attached to nodes `node` (m,) at local positions and rotations."""
    for f in range(node.shape[0]):
        i = node[f]
        carrier = quaternion_at(rotation, i)
        put_vector(out_position, f, add(vector_at(position, i), rotate(carrier, vector_at(local_position, f))))
        put_quaternion(out_rotation, f, unit(multiply(carrier, quaternion_at(local_rotation, f))))
