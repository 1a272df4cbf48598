"""All distances that need no library, in one call."""

import math

import numpy as np

from poise.kernels.capsules import nearest_capsules
from poise.kernels.compile import kernel
from poise.kernels.planes import nearest_planes
from poise.kernels.quaternion import columns, from_rotation_vector
from poise.kernels.solids import NEARLY_PARALLEL, Placed, Rows, Solids, Watched, place_solids
from poise.kernels.vector import Vector, add, cross, orthogonal, scale

Array = np.ndarray


@kernel
def nearest_compiled(
    solids: Solids,
    watched: Watched,
    position: Array,
    rotation: Array,
    reach: float,
    # outputs
    placed: Placed,
    rows: Rows,
    left: Array,
) -> tuple[int, int]:
    """Place the solids on node frames (n, 3), (n, 4) and write the rows of spheres, capsules and planes.

    Returns:
        How many rows there are, and how many pairs in `left` may be nearer than `reach` but are no capsules.
    """
    place_solids(solids, position, rotation, placed)
    count, more = nearest_capsules(solids, watched, placed, reach, rows, left)
    return nearest_planes(solids, watched, placed, reach, count, rows), more


@kernel
def tip(
    position: Array,
    matrix: Array,
    pivot: Array,
    normal: Array,
    side: int,
    # outputs
    turn: Array,
    tipped_position: Array,
    tipped_matrix: Array,
) -> None:
    """A frame (3,), (3, 3) tipped about a point (3,) to one of four sides of a normal (3,).

    x' = c + E (x - c),  R' = E R,  with `turn` E (3, 3) a rotation by `NEARLY_PARALLEL` about a tangent.
    """
    n = Vector(normal[0], normal[1], normal[2])
    first = orthogonal(n)
    second = cross(n, first)
    angle = 0.25 * math.pi + 0.5 * math.pi * side
    tangent = add(scale(first, math.cos(angle)), scale(second, math.sin(angle)))
    x, y, z = columns(from_rotation_vector(scale(tangent, NEARLY_PARALLEL)))
    p, q, r = position[0] - pivot[0], position[1] - pivot[1], position[2] - pivot[2]
    for row in range(3):
        tipped_position[row] = pivot[row] + x[row] * p + y[row] * q + z[row] * r
        turn[row, 0] = x[row]
        turn[row, 1] = y[row]
        turn[row, 2] = z[row]
        for column in range(3):
            tipped_matrix[row, column] = (
                x[row] * matrix[0, column] + y[row] * matrix[1, column] + z[row] * matrix[2, column]
            )
