"""Distances of all watched pairs that need no collision library, in one call; and extra rows for the others.

The collision library returns one pair of nearest points. `tip_frame` and `add_tipped_rows` find more for solids that
lie flat on each other: the first solid is rotated by a small angle to several sides, and each nearest point found
there, rotated back, becomes a row of its own.
"""

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

_LIBRARY_ACCURACY = 1e-6
"""Accuracy of the library's nearest points [m]."""


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
    """Place the solids on node frames (n, 3), (n, 4) and fill the rows of all pairs that need no library.

    Returns:
        The number of rows, and the number of pairs in `left`: those for the library that may be nearer than `reach`.
    """
    place_solids(solids, position, rotation, placed)
    count, more = nearest_capsules(solids, watched, placed, reach, rows, left)
    return nearest_planes(solids, watched, placed, reach, count, rows), more


@kernel
def tip_frame(
    position: Array,
    matrix: Array,
    pivot: Array,
    normal: Array,
    # outputs
    turns: Array,
    positions: Array,
    matrices: Array,
) -> None:
    """Rotate a frame (3,), (3, 3) about a pivot c (3,) by a small angle to k sides of a normal (3,).

    x' = c + E (x - c),  R' = E R,  with `turns` E (k, 3, 3) rotations by `NEARLY_PARALLEL` about k tangents.
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
def add_tipped_rows(
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
    """Add rows, after row `first`, for the nearest points `tipped` (k, 3) and `others` (k, 3) found after `tip_frame`.

    The point of the tipped solid is rotated back, p = c + Eᵀ (p' - c), and its distance is measured along the normal n
    of row `first`. A row is kept if the distance is below `reach`, if its two points lie opposite each other along n,
    and if it is farther from all rows kept so far than tipping alone moves the nearest point of a sharp corner.

    Returns:
        The index of the next free row.
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
        # Tipping moves the points by the gap times the angle, and by the arm times its square.
        blur = NEARLY_PARALLEL * (2.0 * abs(gap) + NEARLY_PARALLEL * length(arm)) + _LIBRARY_ACCURACY
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
