"""How the motion of a figure moves a point of one node relative to a point of another."""

import numpy as np

from poise.kernels.body.queries import node_frames
from poise.kernels.body.tree import Tree, add_wrench_row
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.vector import Vector, scale, vector_at

Array = np.ndarray


@kernel(counts_references=True)
def relative_motion(tree: Tree, q: Array, nodes: tuple[int, int], points: Array, directions: Array) -> Array:
    """(k, nv) derivatives of d · (p_a - p_b) for directions d (k, 3) and points (2, 3) in the world, fixed to nodes."""
    position, _, axes = node_frames(tree, q)
    rows, zero = np.zeros((directions.shape[0], axes.shape[0])), Vector(0.0, 0.0, 0.0)
    for k in range(directions.shape[0]):
        along = vector_at(directions, k)
        add_wrench_row(tree, position, axes, nodes[0], vector_at(points, 0), along, zero, k, rows)
        add_wrench_row(tree, position, axes, nodes[1], vector_at(points, 1), scale(along, -1.0), zero, k, rows)
    return rows
