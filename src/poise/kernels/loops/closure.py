"""Closure constraints of cut loop joints: residuals and Jacobian.

A joint that closes a loop allows some relative motion of its two bodies A and B; each direction that it blocks gives
one row [Schumacher et al. 2021, III.B]. With the joint's anchors p_A and p_B on the two bodies, there are two kinds of
rows:

    distance    c = n·(p_A - p_B) - d       n a direction fixed to B
    direction   c = ℓ (u·w - d)             u fixed to A, w fixed to B, ℓ a length that converts to metres

The first is the distance of p_A from a plane fixed to B. Its rate depends only on the velocities of two points that
coincide at p = p_A, one fixed to A and one fixed to B. With a_k, o_k the axis and origin of velocity k, and s_k = 1 on
the path from the common ancestor to A and -1 on the path to B,

    ∂c/∂v_k = s_k n·(a_k × (p - o_k)),  s_k n·a_k for a slide        ∂c/∂v_k = s_k ℓ a_k·(u × w),  0 for a slide

and velocities that move both bodies drop out exactly. Loops that share velocities form a block; the Jacobian is block
diagonal.
"""

from typing import NamedTuple

import numpy as np

from poise.kernels.body.tree import Tree
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.quaternion import Quaternion, quaternion_at, rotate
from poise.kernels.maths.vector import Vector, add, cross, dot, scale, subtract, vector_at

Array = np.ndarray


class Closures(NamedTuple):
    """All loops of a figure; the loops of one block are consecutive, and so are their rows."""

    a_node: Array
    """(m,) node of the first body of each loop."""
    a_point: Array
    """(m, 3) anchor on the first body, in the node's frame [m]."""
    b_node: Array
    """(m,) node of the second body."""
    b_point: Array
    """(m, 3) anchor on the second body, in the node's frame [m]."""
    row_start: Array
    """(m + 1,) first row of each loop."""
    turns: Array
    """(r,) 1 for rows that compare directions, 0 for distances."""
    u: Array
    """(r, 3) direction fixed to the first body, in its node's frame."""
    w: Array
    """(r, 3) direction fixed to the second body, in its node's frame."""
    offset: Array
    """(r,) d, the value of n·(p_A - p_B) [m] or of u·w in a closed loop."""
    length: Array
    """(r,) ℓ [m]; 1 for distances."""
    path_start: Array
    """(m + 1,) first entry of each loop in `path_dof` and `path_side`."""
    path_dof: Array
    """Velocities that move one body of a loop and not the other, from the root outward on each side."""
    path_side: Array
    """s_k: 1.0 where the velocity of `path_dof` moves the first body, -1.0 where it moves the second."""
    block_loop: Array
    """(b + 1,) first loop of each block."""
    block_start: Array
    """(b + 1,) first entry of each block in `block_dof`."""
    block_dof: Array
    """Velocities of all blocks, one block after another."""


@kernel(inline=True)
def anchor(node: Array, point: Array, loop: int, position: Array, rotation: Array) -> Vector:
    """World position of one anchor of a loop."""
    i = node[loop]
    return add(vector_at(position, i), rotate(quaternion_at(rotation, i), vector_at(point, loop)))


@kernel(inline=True)
def closure_residual(
    closures: Closures,
    position: Array,
    rotation: Array,
    # outputs
    out: Array,
) -> float:
    """Fill `out` (r,) with the residual c of each row [m]; returns the largest absolute value.

    Args:
        closures: The loops.
        position: (n, 3) world positions of the nodes [m].
        rotation: (n, 4) their world rotations.
        out: The residuals.
    """
    row_start, turns, u, w = closures.row_start, closures.turns, closures.u, closures.w
    offset, length = closures.offset, closures.length
    worst = 0.0
    for loop in range(closures.a_node.shape[0]):
        near = quaternion_at(rotation, closures.a_node[loop])
        far = quaternion_at(rotation, closures.b_node[loop])
        p = anchor(closures.a_node, closures.a_point, loop, position, rotation)
        gap = subtract(p, anchor(closures.b_node, closures.b_point, loop, position, rotation))
        for i in range(row_start[loop], row_start[loop + 1]):
            carried = rotate(far, vector_at(w, i))
            if turns[i] == 1:
                out[i] = length[i] * (dot(rotate(near, vector_at(u, i)), carried) - offset[i])
            else:
                out[i] = dot(carried, gap) - offset[i]
            worst = max(worst, abs(out[i]))
    return worst


@kernel(inline=True)
def closure_rows(
    tree: Tree,
    closures: Closures,
    position: Array,
    rotation: Array,
    axes: Array,
    first: int,
    # outputs
    rows: Array,
) -> None:
    """Fill `rows` (…, nv), from row `first` on, with the Jacobian of all closure rows.

    Args:
        tree: The tree.
        closures: The loops.
        position: (n, 3) world positions of the nodes [m].
        rotation: (n, 4) their world rotations.
        axes: (nv, 3) world axes of the velocities.
        first: Index of the row of `rows` that the first closure row fills.
        rows: The Jacobian.
    """
    row_start, path_start, path_dof, path_side = (
        closures.row_start, closures.path_start, closures.path_dof, closures.path_side
    )  # fmt: skip
    dof_node, dof_turns, turns = tree.dof_node, tree.dof_turns, closures.turns
    nv = rows.shape[1]
    for loop in range(closures.a_node.shape[0]):
        near = quaternion_at(rotation, closures.a_node[loop])
        far = quaternion_at(rotation, closures.b_node[loop])
        p = anchor(closures.a_node, closures.a_point, loop, position, rotation)
        for i in range(row_start[loop], row_start[loop + 1]):
            for k in range(nv):
                rows[first + i, k] = 0.0
            direction, twist = _direction_and_twist(closures, i, near, far)
            for e in range(path_start[loop], path_start[loop + 1]):
                k = path_dof[e]
                a = vector_at(axes, k)
                if dof_turns[k] == 0:
                    slope = dot(a, direction)
                elif turns[i] == 1:
                    slope = dot(a, twist)
                else:
                    slope = dot(a, cross(subtract(p, vector_at(position, dof_node[k])), direction))
                rows[first + i, k] = path_side[e] * slope


@kernel(inline=True)
def _direction_and_twist(closures: Closures, i: int, near: Quaternion, far: Quaternion) -> tuple[Vector, Vector]:
    """Derivative of row `i` by the velocity of p and by the angular velocity: n and 0, or 0 and ℓ u × w."""
    carried = rotate(far, vector_at(closures.w, i))
    if closures.turns[i] == 0:
        return carried, Vector(0.0, 0.0, 0.0)
    twist = scale(cross(rotate(near, vector_at(closures.u, i)), carried), closures.length[i])
    return Vector(0.0, 0.0, 0.0), twist
