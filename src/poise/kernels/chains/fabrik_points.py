"""FABRIK on free points, without joints [Aristidou & Lasenby 2011].

Each point has a fixed distance l from its parent. A pass has two phases:

- forward, from the end-points to the root: an end-point moves to its target, and every other point to the distance l
  from its child's new position, on the line towards its own old position. A point with several children moves to the
  mean of the positions that they give it. This phase also moves the root.
- backward, from the root to the end-points: the root returns to its place, and every other point moves to the distance
  l from its parent's new position, on the line towards its own position.
"""

import numpy as np

from poise.kernels.chains.rounds import ROUNDS_PER_STALL_CHECK, stalled
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.vector import Vector, add, length, put_vector, scale, subtract, vector_at

Array = np.ndarray


@kernel
def reach_forward(
    parent: Array, span: Array, targets: Array,
    # outputs
    aim: Array,
    pull: Array,
) -> None:  # fmt: skip
    """Run the forward phase: end-points, the last rows of `aim`, move to `targets`, and their ancestors follow.

    Args:
        parent: (p,) parent of each point, -1 for the roots.
        span: (p,) distance of each point from its parent [m].
        targets: (e, 3) targets of the end-points [m].
        aim: (p, 3) positions of the points [m].
        pull: (p, 4) scratch array: sum of the positions that a point's children give it, and their number.
    """
    p, e = aim.shape[0], targets.shape[0]
    for i in range(p):
        pull[i, 0], pull[i, 1], pull[i, 2], pull[i, 3] = 0.0, 0.0, 0.0, 0.0
    for i in range(p - 1, -1, -1):
        if i >= p - e:
            put_vector(aim, i, vector_at(targets, i - (p - e)))
        elif pull[i, 3] > 0.0:
            put_vector(aim, i, scale(Vector(pull[i, 0], pull[i, 1], pull[i, 2]), 1.0 / pull[i, 3]))
        else:
            continue
        above = parent[i]
        if above >= 0:
            wanted = at_distance(vector_at(aim, i), vector_at(aim, above), span[i])
            pull[above, 0] += wanted.x
            pull[above, 1] += wanted.y
            pull[above, 2] += wanted.z
            pull[above, 3] += 1.0


@kernel
def at_distance(origin: Vector, towards: Vector, distance: float) -> Vector:
    """The point at a distance from `origin` in the direction of `towards`; along +Y if the two points coincide."""
    way = subtract(towards, origin)
    size = length(way)
    if size < 1e-12 * distance or size == 0.0:
        return add(origin, Vector(0.0, distance, 0.0))
    return add(origin, scale(way, distance / size))


@kernel(counts_references=True)
def fabrik_points(
    parent: Array, span: Array, targets: Array, tolerance: float, max_passes: int,
    # outputs
    points: Array,
) -> tuple[float, int]:  # fmt: skip
    """Move free points by FABRIK; returns the largest distance of an end-point from its target and the passes used.

    `points` (p, 3) is the start and then the solution [m]; the other arguments are those of `reach_forward`.
    """
    p = points.shape[0]
    pull, root = np.empty((p, 4)), points.copy()
    error = farthest(points, targets)
    before = error
    for taken in range(max_passes):
        if error <= tolerance:
            return error, taken
        reach_forward(parent, span, targets, points, pull)
        for i in range(p):
            if parent[i] < 0:
                put_vector(points, i, vector_at(root, i))
            else:
                put_vector(points, i, at_distance(vector_at(points, parent[i]), vector_at(points, i), span[i]))
        error = farthest(points, targets)
        is_stalled, before = stalled(taken + 1, ROUNDS_PER_STALL_CHECK, error, before)
        if is_stalled:
            return error, taken + 1
    return error, max_passes


@kernel
def farthest(points: Array, targets: Array) -> float:
    """Largest distance of an end-point, one of the last rows of `points`, from its target [m]."""
    first, worst = points.shape[0] - targets.shape[0], 0.0
    for j in range(targets.shape[0]):
        worst = max(worst, length(subtract(vector_at(points, first + j), vector_at(targets, j))))
    return worst
