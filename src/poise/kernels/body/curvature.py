"""Derivative of the generalised forces of constant wrenches by the posture: second derivatives of their work.

Constant world forces F act on points x that move with a tree, and constant world torques on their nodes. The first
derivative of Σ F·x(q ⊕ v) is Jᵀ F; this module computes the second. With o_k the origin of the node of velocity k and
a_k its world axis, a turn j above k rotates the motion of k,

    ∂²x/∂v_j∂v_k = a_j × ∂x/∂v_k        ∂x/∂v_k = a_k × (x - o_k)  for a turn,   a_k  for a slide

and a slide j above k does not change it: 0. Three sums over the points of the subtree of k are enough: the force F, the
first moment T = Σ (x - ref) Fᵀ and the torque τ. With T' = T - (o_k - ref) Fᵀ,

    H_jk = a_j · b_k        b_k = T' a_k - tr(T') a_k + ½ a_k × τ  for a turn,   a_k × F  for a slide

for every turn j above k, so the whole matrix costs one pass from the leaves to the root and one walk up from each
velocity. Inside one rotation (ball or free) exp(ω) has the symmetric second derivative ½ (a_j·b_k + a_k·b_j), without
torque. A constant torque has no potential; its term is the symmetric part of the derivative of τ·a_k.
"""

import numpy as np

from poise.kernels.body.tree import Tree
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.quaternion import quaternion_at, rotate
from poise.kernels.maths.vector import Vector, add, scale, vector_at

Array = np.ndarray


@kernel
def add_point_force(
    node: int,
    point: Vector,
    given: Vector,
    ref: Vector,
    # outputs
    force: Array,
    moment: Array,
) -> None:
    """Add a world force at a world point of `node` to `force` (n, 3) and to `moment` (n, 9) about `ref`."""
    rx, ry, rz = point.x - ref.x, point.y - ref.y, point.z - ref.z
    force[node, 0] += given.x
    force[node, 1] += given.y
    force[node, 2] += given.z
    moment[node, 0] += rx * given.x
    moment[node, 1] += rx * given.y
    moment[node, 2] += rx * given.z
    moment[node, 3] += ry * given.x
    moment[node, 4] += ry * given.y
    moment[node, 5] += ry * given.z
    moment[node, 6] += rz * given.x
    moment[node, 7] += rz * given.y
    moment[node, 8] += rz * given.z


@kernel
def add_center_force(
    tree: Tree,
    position: Array,
    rotation: Array,
    given: Vector,
    ref: Vector,
    # outputs
    force: Array,
    moment: Array,
) -> None:
    """Add a world force on the centre of mass, distributed over the nodes in proportion to their masses.

    For a figure without mass it adds nothing.
    """
    mass, center = tree.mass, tree.center
    total = tree.subtree_mass[0]
    if total <= 0.0:
        return
    for i in range(mass.shape[0]):
        if mass[i] > 0.0:
            point = add(vector_at(position, i), rotate(quaternion_at(rotation, i), vector_at(center, i)))
            add_point_force(i, point, scale(given, mass[i] / total), ref, force, moment)


@kernel
def curvature(
    tree: Tree,
    position: Array,
    axes: Array,
    ref: Vector,
    force: Array,
    torque: Array,
    moment: Array,
    # outputs
    out: Array,
) -> None:
    """Fill the symmetric `out` (nv, nv) with the second derivatives of Σ F·x(q ⊕ v) and of the torques' work.

    Args:
        tree: The tree, with the world `position` (n, 3) of its nodes and the world `axes` (nv, 3) of its velocities.
        position: Origins of the nodes [m].
        axes: Axes of the velocities.
        ref: Point about which `moment` is taken [m]; a point near the figure keeps rounding errors small.
        force: (n, 3) sum of the forces on the points of each node [N]. On return: of each subtree.
        torque: (n, 3) sum of the pure torques on each node [N m]. On return: of each subtree.
        moment: (n, 9) first moment Σ (x - ref) Fᵀ, row by row [N m]. On return: of each subtree.
        out: Curvature [N m/rad²], [N/rad] between a turn and a slide.
    """
    parent, v_start, v_count, turns = tree.parent, tree.v_start, tree.v_count, tree.dof_turns
    nv = out.shape[0]
    for j in range(nv):
        for k in range(nv):
            out[j, k] = 0.0
    for i in range(parent.shape[0] - 1, 0, -1):
        fx, fy, fz = force[i, 0], force[i, 1], force[i, 2]
        tx, ty, tz = torque[i, 0], torque[i, 1], torque[i, 2]
        # Forces that cancel may still form a couple, which shows in the first moment only.
        size = abs(fx) + abs(fy) + abs(fz) + abs(tx) + abs(ty) + abs(tz)
        for c in range(9):
            size += abs(moment[i, c])
        if size == 0.0:
            continue
        p = parent[i]
        force[p, 0] += fx
        force[p, 1] += fy
        force[p, 2] += fz
        torque[p, 0] += tx
        torque[p, 1] += ty
        torque[p, 2] += tz
        for c in range(9):
            moment[p, c] += moment[i, c]
        rx, ry, rz = position[i, 0] - ref.x, position[i, 1] - ref.y, position[i, 2] - ref.z
        xx, xy, xz = moment[i, 0] - rx * fx, moment[i, 1] - rx * fy, moment[i, 2] - rx * fz
        yx, yy, yz = moment[i, 3] - ry * fx, moment[i, 4] - ry * fy, moment[i, 5] - ry * fz
        zx, zy, zz = moment[i, 6] - rz * fx, moment[i, 7] - rz * fy, moment[i, 8] - rz * fz
        trace = xx + yy + zz
        first, last = v_start[i], v_start[i] + v_count[i]
        for k in range(first, last):
            ax, ay, az = axes[k, 0], axes[k, 1], axes[k, 2]
            if turns[k] == 1:
                bx = xx * ax + xy * ay + xz * az - trace * ax
                by = yx * ax + yy * ay + yz * az - trace * ay
                bz = zx * ax + zy * ay + zz * az - trace * az
                for j in range(first, last):
                    if turns[j] == 1:
                        half = 0.5 * (axes[j, 0] * bx + axes[j, 1] * by + axes[j, 2] * bz)
                        out[j, k] += half
                        out[k, j] += half
                bx += 0.5 * (ay * tz - az * ty)
                by += 0.5 * (az * tx - ax * tz)
                bz += 0.5 * (ax * ty - ay * tx)
            else:
                bx, by, bz = ay * fz - az * fy, az * fx - ax * fz, ax * fy - ay * fx
            above = p
            while above > 0:
                for j in range(v_start[above], v_start[above] + v_count[above]):
                    if turns[j] == 1:
                        value = axes[j, 0] * bx + axes[j, 1] * by + axes[j, 2] * bz
                        out[j, k] = value
                        out[k, j] = value
                above = parent[above]
