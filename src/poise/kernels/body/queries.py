"""Kinematic and static quantities of one posture; each call allocates its own workspace."""

import numpy as np

from poise.kernels.body.tree import (
    Tree,
    add_wrench_row,
    attached_frames,
    center_of_mass,
    center_of_mass_jacobian,
    forward,
    gravity_torques,
    jacobian,
    mass_centers,
    moment_of_inertia,
    motion_axes,
    subtree_inertias,
)
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.vector import Vector, vector_at

Array = np.ndarray


@kernel(counts_references=True)
def node_frames(tree: Tree, q: Array) -> tuple[Array, Array, Array]:
    """World positions (n, 3) and rotations (n, 4) of all nodes, and world axes (nv, 3) of all velocities."""
    n = tree.parent.shape[0]
    position, rotation, axes = np.empty((n, 3)), np.empty((n, 4)), np.empty((tree.dof_node.shape[0], 3))
    forward(tree, q, position, rotation)
    motion_axes(tree, rotation, axes)
    return position, rotation, axes


@kernel(counts_references=True)
def frames_at(tree: Tree, q: Array, node: Array, local_position: Array, local_rotation: Array) -> tuple[Array, Array]:
    """World positions (m, 3) and rotations (m, 4) of frames attached to nodes."""
    n, m = tree.parent.shape[0], node.shape[0]
    position, rotation = np.empty((n, 3)), np.empty((n, 4))
    forward(tree, q, position, rotation)
    out_position, out_rotation = np.empty((m, 3)), np.empty((m, 4))
    attached_frames(node, local_position, local_rotation, position, rotation, out_position, out_rotation)
    return out_position, out_rotation


@kernel(counts_references=True)
def frame_jacobian(
    tree: Tree, q: Array, node: Array, local_position: Array, local_rotation: Array, frame: int
) -> Array:
    """Jacobian (6, nv) at the origin of attached frame `frame`."""
    position, rotation, axes = node_frames(tree, q)
    one = slice(frame, frame + 1)
    point, turned = np.empty((1, 3)), np.empty((1, 4))
    attached_frames(node[one], local_position[one], local_rotation[one], position, rotation, point, turned)
    out = np.empty((6, axes.shape[0]))
    jacobian(tree, position, axes, node[frame], vector_at(point, 0), out)
    return out


@kernel(counts_references=True)
def mass_center(tree: Tree, q: Array) -> tuple[Array, Array]:
    """World centre of mass (3,) and its Jacobian (3, nv)."""
    position, rotation, axes = node_frames(tree, q)
    centers = np.empty_like(position)
    center_of_mass(tree, position, rotation, centers)
    out = np.empty((3, axes.shape[0]))
    center_of_mass_jacobian(tree, position, axes, centers, out)
    return centers[0].copy(), out


@kernel(counts_references=True)
def holding_torques(tree: Tree, q: Array, gravity: Vector) -> Array:
    """Joint torques (nv,) that hold the posture against gravity [N m or N]."""
    position, rotation, axes = node_frames(tree, q)
    centers = np.empty_like(position)
    center_of_mass(tree, position, rotation, centers)
    out = np.empty(axes.shape[0])
    gravity_torques(tree, position, axes, centers, gravity, out)
    return out


@kernel(counts_references=True)
def pushed_torques(tree: Tree, q: Array, node: int, point: Vector, force: Vector, torque: Vector) -> Array:
    """Generalised force (nv,) of a world wrench at a world point fixed to `node`."""
    position, _, axes = node_frames(tree, q)
    out = np.zeros((1, axes.shape[0]))
    add_wrench_row(tree, position, axes, node, point, force, torque, 0, out)
    return out[0]


@kernel(counts_references=True)
def inertia_about(tree: Tree, q: Array, axis: Vector) -> tuple[float, Array]:
    """Moment of inertia about an axis through the centre of mass, and its gradient (nv,)."""
    position, rotation, axes = node_frames(tree, q)
    centers, own = np.empty_like(position), np.empty_like(position)
    center_of_mass(tree, position, rotation, centers)
    mass_centers(tree, position, rotation, own)
    tensors = np.empty((position.shape[0], 6))
    subtree_inertias(tree, rotation, centers, own, tensors)
    gradient = np.empty(axes.shape[0])
    moment = moment_of_inertia(tree, position, axes, centers, tensors, axis, gradient)
    return moment, gradient
