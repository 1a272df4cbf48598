"""Second derivatives of the closure rows, weighted by their multipliers.

With multipliers λ, the distance rows of a loop act like a force f = Σ λ n at the common point p on both bodies, and the
direction rows like couples with W = Σ λ ℓ w uᵀ. Let d_k be the rate of p with velocity k: a_k × (p - o_k) for a
turn, the axis itself for a slide. Below, a_k is an angular rate, so it is 0 for a slide. For j above k on the path to
the same body,

    to A    ∂²(λ·c)/∂v_j∂v_k = f·(a_j × d_k) + a_k·W a_j - tr(W) a_j·a_k
    to B                       f·(a_k × d_j) + a_j·W a_k - tr(W) a_j·a_k

and for j on the path to A and k on the path to B

                             - f·(a_k × d_j) - a_j·W a_k + tr(W) a_j·a_k

On the path to B the order of j and k is reversed, because the directions n move with B. Inside one rotation (ball or
free) exp(ω) has the symmetric mean of both orders. Velocities that move both bodies have no second derivative.
"""

import numpy as np

from poise.kernels.body.tree import Tree
from poise.kernels.jit.compile import kernel
from poise.kernels.loops.closure import Closures, anchor
from poise.kernels.maths.quaternion import quaternion_at, rotate
from poise.kernels.maths.vector import Vector, cross, dot, subtract, vector_at

Array = np.ndarray

NO_ROTATION = Vector(0.0, 0.0, 0.0)
"""Angular rate of a slide."""


@kernel
def add_closure_curvature(
    tree: Tree,
    closures: Closures,
    position: Array,
    rotation: Array,
    axes: Array,
    multipliers: Array,
    first: int,
    couple: Array,
    # outputs
    out: Array,
) -> None:
    """Add Σ λ_i ∇²c_i over all rows to the symmetric `out` (nv, nv).

    Args:
        tree: The tree.
        closures: The loops.
        position: (n, 3) world positions of the nodes [m].
        rotation: (n, 4) their world rotations.
        axes: (nv, 3) world axes of the velocities.
        multipliers: λ of all rows, from entry `first` on.
        first: Entry of `multipliers` that belongs to the first closure row.
        couple: (3, 3) workspace.
        out: The matrix to add to.
    """
    row_start, path_start, path_dof, path_side = (
        closures.row_start, closures.path_start, closures.path_dof, closures.path_side
    )  # fmt: skip
    dof_node, dof_turns = tree.dof_node, tree.dof_turns
    for loop in range(closures.a_node.shape[0]):
        size = 0.0
        for i in range(row_start[loop], row_start[loop + 1]):
            size += abs(multipliers[first + i])
        if size == 0.0:
            continue
        force = _force_and_couple(closures, loop, rotation, multipliers, first, couple)
        trace = couple[0, 0] + couple[1, 1] + couple[2, 2]
        p = anchor(closures.a_node, closures.a_point, loop, position, rotation)
        for e in range(path_start[loop], path_start[loop + 1]):
            j, side = path_dof[e], path_side[e]
            turn_j, rate_j = _motion(tree, position, axes, p, j)
            for other in range(path_start[loop], path_start[loop + 1]):
                k = path_dof[other]
                if side < 0.0 and path_side[other] > 0.0:
                    continue
                # A free node first moves, then turns.
                below = dof_node[j] == dof_node[k] and dof_turns[j] > dof_turns[k]
                if side == path_side[other] and (below or dof_node[j] > dof_node[k]):
                    continue
                turn_k, rate_k = _motion(tree, position, axes, p, k)
                straight = trace * dot(turn_j, turn_k)
                if side > 0.0 and path_side[other] > 0.0:
                    value = dot(force, cross(turn_j, rate_k)) + _bilinear(turn_k, couple, turn_j) - straight
                else:
                    value = dot(force, cross(turn_k, rate_j)) + _bilinear(turn_j, couple, turn_k) - straight
                    value *= -side
                if dof_node[j] == dof_node[k] and dof_turns[k] == 1:
                    value *= 0.5 if dof_turns[j] == 1 else 1.0
                out[j, k] += value
                out[k, j] += value


@kernel
def _force_and_couple(
    closures: Closures, loop: int, rotation: Array, multipliers: Array, first: int, couple: Array
) -> Vector:
    """The force f of one loop's multipliers; fills `couple` (3, 3) with W."""
    near = quaternion_at(rotation, closures.a_node[loop])
    far = quaternion_at(rotation, closures.b_node[loop])
    fx, fy, fz = 0.0, 0.0, 0.0
    for i in range(3):
        for j in range(3):
            couple[i, j] = 0.0
    for i in range(closures.row_start[loop], closures.row_start[loop + 1]):
        w = rotate(far, vector_at(closures.w, i))
        k = multipliers[first + i] * closures.length[i]
        if closures.turns[i] == 0:
            fx, fy, fz = fx + k * w.x, fy + k * w.y, fz + k * w.z
            continue
        u = rotate(near, vector_at(closures.u, i))
        for row in range(3):
            couple[row, 0] += k * w[row] * u.x
            couple[row, 1] += k * w[row] * u.y
            couple[row, 2] += k * w[row] * u.z
    return Vector(fx, fy, fz)


@kernel
def _motion(tree: Tree, position: Array, axes: Array, p: Vector, k: int) -> tuple[Vector, Vector]:
    """Angular rate of velocity `k` and the rate d_k of the point p."""
    a = vector_at(axes, k)
    if tree.dof_turns[k] == 0:
        return NO_ROTATION, a
    return a, cross(a, subtract(p, vector_at(position, tree.dof_node[k])))


@kernel
def _bilinear(a: Vector, matrix: Array, b: Vector) -> float:
    """The bilinear form a·M b."""
    x = matrix[0, 0] * b.x + matrix[0, 1] * b.y + matrix[0, 2] * b.z
    y = matrix[1, 0] * b.x + matrix[1, 1] * b.y + matrix[1, 2] * b.z
    z = matrix[2, 0] * b.x + matrix[2, 1] * b.y + matrix[2, 2] * b.z
    return a.x * x + a.y * y + a.z * z
