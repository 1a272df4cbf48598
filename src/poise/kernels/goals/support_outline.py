"""The support polygon of points that are fixed to nodes."""

import numpy as np

from poise.kernels.jit.compile import kernel
from poise.kernels.maths.nearest_point import convex_hull, nearest_on_hull
from poise.kernels.maths.quaternion import quaternion_at, rotate
from poise.kernels.maths.vector import Vector, vector_at

Array = np.ndarray


@kernel(counts_references=True)
def support_outline(
    position: Array, rotation: Array, center: Vector, node: Array, place: Array, up: int
) -> tuple[Array, float]:
    """Corners (k, 3) of the support polygon, at the height of the lowest point, and how far inside `center` is.

    Args:
        position: (n, 3) positions of all nodes [m].
        rotation: (n, 4) their rotations.
        center: The centre of mass [m].
        node: (c,) node that each point is fixed to.
        place: (c, 3) position of each point in its node [m].
        up: Index of the axis that points up.
    """
    c, along, across = node.shape[0], 0 if up != 0 else 1, 2 if up != 2 else 1
    flat, order, lowest = np.empty((c, 2)), np.zeros(c, dtype=np.int64), np.inf
    for i in range(c):
        turned = rotate(quaternion_at(rotation, node[i]), vector_at(place, i))
        point = (position[node[i], 0] + turned.x, position[node[i], 1] + turned.y, position[node[i], 2] + turned.z)
        flat[i, 0], flat[i, 1] = point[along], point[across]
        lowest = min(lowest, point[up])
    count = convex_hull(flat, 0, c, order)
    middle = (center.x, center.y, center.z)
    inside = -nearest_on_hull(flat, order, 0, count, middle[along], middle[across]).distance
    corners = np.empty((count, 3))
    for k in range(count):
        corners[k, along], corners[k, across], corners[k, up] = flat[order[k], 0], flat[order[k], 1], lowest
    return corners, inside
