"""FABRIK on points that no joint holds [Aristidou & Lasenby 2011].

Each point hangs from the one above it at a fixed distance l. A pass has two phases:

- forward, from the end-points to the root: an end-point goes to its target, and every other point onto the line from
  where its child now is to where it was, at the distance l from the child. A point with several children goes to the
  middle of what they ask. The root has left its place by then.
- backward, from the root to the end-points: the same the other way round, with the root where it belongs.
"""

import numpy as np

from poise.kernels.chains.rounds import PATIENCE, stalled
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
    """The forward phase: end-points, the last rows of `aim` (p, 3), go to `targets`, and all others follow.

    Args:
        parent: (p,) point that each hangs from, -1 for the roots.
        span: (p,) distance from it [m].
        targets: (e, 3) of the end-points [m].
        aim: (p, 3) the points.
        pull: (p, 4) sums of where children want each point, and how many they are.
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
    """The point at a distance from `origin` in the direction of another point; up when that is no direction."""
    way = subtract(towards, origin)
    size = length(way)
    if size < 1e-12 * distance or size == 0.0:
        return add(origin, Vector(0.0, distance, 0.0))
    return add(origin, scale(way, distance / size))


@kernel(counts_references=True)
def fabrik_points(
    parent: Array, span: Array, targets: Array, tolerance: float, most: int,
    # outputs
    points: Array,
) -> tuple[float, int]:  # fmt: skip
    """Move free points; returns the largest distance of an end-point from its target, and the passes it took."""
    p = points.shape[0]
    pull, root = np.empty((p, 4)), points.copy()
    error = farthest(points, targets)
    before = error
    for taken in range(most):
        if error <= tolerance:
            return error, taken
        reach_forward(parent, span, targets, points, pull)
        for i in range(p):
            if parent[i] < 0:
                put_vector(points, i, vector_at(root, i))
            else:
                put_vector(points, i, at_distance(vector_at(points, parent[i]), vector_at(points, i), span[i]))
        error = farthest(points, targets)
        enough, before = stalled(taken + 1, PATIENCE, error, before)
        if enough:
            return error, taken + 1
    return error, most


@kernel
def farthest(points: Array, targets: Array) -> float:
    """Largest distance of the last points from their targets."""
    first, worst = points.shape[0] - targets.shape[0], 0.0
    for j in range(targets.shape[0]):
        worst = max(worst, length(subtract(vector_at(points, first + j), vector_at(targets, j))))
    return worst
