"""All distances that need no library, in one call."""

import math

import numpy as np

from poise.kernels.distances.capsules import nearest_capsules
from poise.kernels.distances.planes import nearest_planes
from poise.kernels.distances.solids import NEARLY_PARALLEL, Placed, Rows, Solids, Watched, place_solids
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.quaternion import columns, from_rotation_vector
from poise.kernels.maths.vector import (
    Vector,
    add,
    cross,
    dot,
    length,
    orthogonal,
    put_vector,
    scale,
    subtract,
    vector_at,
)

Array = np.ndarray

_ROUNDING = 1e-6
"""How exactly a library finds nearest points [m]."""


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
    # outputs
    turns: Array,
    positions: Array,
    matrices: Array,
) -> None:
    """A frame (3,), (3, 3) tipped about a point (3,) to k sides of a normal (3,).

    x' = c + E (x - c),  R' = E R,  with `turns` E (k, 3, 3) rotations by `NEARLY_PARALLEL` about tangents.
    """
    n = Vector(normal[0], normal[1], normal[2])
    first = orthogonal(n)
    second = cross(n, first)
    p, q, r = position[0] - pivot[0], position[1] - pivot[1], position[2] - pivot[2]
    sides = turns.shape[0]
    for side in range(sides):
        angle = (side + 0.5) * 2.0 * math.pi / sides
        tangent = add(scale(first, math.cos(angle)), scale(second, math.sin(angle)))
        x, y, z = columns(from_rotation_vector(scale(tangent, NEARLY_PARALLEL)))
        for row in range(3):
            positions[side, row] = pivot[row] + x[row] * p + y[row] * q + z[row] * r
            turns[side, row, 0] = x[row]
            turns[side, row, 1] = y[row]
            turns[side, row, 2] = z[row]
            for column in range(3):
                matrices[side, row, column] = (
                    x[row] * matrix[0, column] + y[row] * matrix[1, column] + z[row] * matrix[2, column]
                )


@kernel
def settle(
    turns: Array,
    tipped: Array,
    others: Array,
    first: int,
    reach: float,
    # outputs
    point_a: Array,
    point_b: Array,
    normal: Array,
    distance: Array,
) -> int:
    """Add rows for the nearest points `tipped` (k, 3) and `others` (k, 3) found after `tip`, after row `first`.

    The point of the tipped solid is moved back with it, p = c + Eᵀ (p' - c), and counts along the normal n of row
    `first`. A row is kept where it is near, where its points lie across from each other along n, and where it is not
    beside a row that is there already: farther than tipping alone would move the nearest point of a sharp corner.

    Returns:
        The next free row.
    """
    pivot, n = vector_at(point_a, first), vector_at(normal, first)
    count = first + 1
    for side in range(turns.shape[0]):
        arm = subtract(vector_at(tipped, side), pivot)
        x, y, z = arm
        back = Vector(
            turns[side, 0, 0] * x + turns[side, 1, 0] * y + turns[side, 2, 0] * z,
            turns[side, 0, 1] * x + turns[side, 1, 1] * y + turns[side, 2, 1] * z,
            turns[side, 0, 2] * x + turns[side, 1, 2] * y + turns[side, 2, 2] * z,
        )
        point = add(pivot, back)
        apart = subtract(point, vector_at(others, side))
        gap = dot(n, apart)
        # Tipping shears the gap by the angle, and bends the arm by its square.
        blur = NEARLY_PARALLEL * (2.0 * abs(gap) + NEARLY_PARALLEL * length(arm)) + _ROUNDING
        if not gap < reach or length(subtract(apart, scale(n, gap))) > blur:
            continue
        is_new = True
        for k in range(first, count):
            is_new = is_new and length(subtract(point, vector_at(point_a, k))) > blur
        if is_new:
            put_vector(point_a, count, point)
            put_vector(point_b, count, subtract(point, scale(n, gap)))
            put_vector(normal, count, n)
            distance[count] = gap
            count += 1
    return count
