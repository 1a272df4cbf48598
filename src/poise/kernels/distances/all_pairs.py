"""Distances of all watched pairs that need no collision library, in one call; and extra rows for the others.

Boxes, cylinders and what the collision library measures have one pair of nearest points. More are found for solids that
lie flat on each other: the first solid is rotated by a small angle to several sides, and each nearest point found
there, rotated back, becomes a row of its own (`_tipped_rows`; `tip_frame` and `add_tipped_rows` for the library).
"""

import math

import numpy as np

from poise.kernels.distances.capsules import capsule_rows, capsule_solid_rows
from poise.kernels.distances.convex import nearest_convex
from poise.kernels.distances.planes import nearest_planes
from poise.kernels.distances.segments import between, nearest_of_segments
from poise.kernels.distances.solids import (
    CAPSULES,
    CONVEX,
    ELLIPSOID,
    HULL,
    LIBRARY,
    NEARLY_PARALLEL,
    ROUND_FIRST,
    TIPPED_SIDES,
    TIPPING_REACH,
    Pair,
    Placed,
    Rows,
    Solids,
    Watched,
    place_solids,
    put_row,
)
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.quaternion import columns, conjugate, from_rotation_vector, multiply, quaternion_at, rotate
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

_POINT_ACCURACY = 1e-6
"""Accuracy of the nearest points of solids that are tilted for more contact points [m]."""


@kernel
def nearest_compiled(
    solids: Solids,
    watched: Watched,
    position: Array,
    rotation: Array,
    # outputs
    placed: Placed,
    rows: Rows,
) -> tuple[int, int]:
    """Place the solids on node frames (n, 3), (n, 4) and fill the rows of all pairs that need no library.

    Returns:
        The number of rows, and the number of pairs in `placed.left`: those for the library that may be nearer than
        their reach.
    """
    place_solids(solids, position, rotation, placed)
    return nearest_placed(solids, watched, placed, rows)


@kernel
def nearest_placed(
    solids: Solids,
    watched: Watched,
    placed: Placed,
    # outputs
    rows: Rows,
) -> tuple[int, int]:
    """The same as `nearest_compiled`, for solids whose world frames are already computed."""
    count, more = _nearest_solids(solids, watched, placed, rows)
    return nearest_planes(solids, watched, placed, count, rows), more


@kernel
def _nearest_solids(
    solids: Solids,
    watched: Watched,
    placed: Placed,
    # outputs
    rows: Rows,
) -> tuple[int, int]:
    """Fill the rows of all pairs of solids nearer than their reach, from row 0 on, and list the pairs for the library.

    Pairs whose bounding spheres or bounding capsules are farther apart are not looked at any closer. Returns the number
    of rows and of pairs for the library.
    """
    first, second, how, left = watched.first, watched.second, watched.how, placed.left
    start, end, middle, node = placed.start, placed.end, placed.middle, solids.node
    radius, extent = solids.radius, solids.extent
    count = more = 0
    for p in range(first.shape[0]):
        i, j, reach = first[p], second[p], watched.reach[p]
        span = reach + extent[i] + extent[j]
        x, y, z = middle[i, 0] - middle[j, 0], middle[i, 1] - middle[j, 1], middle[i, 2] - middle[j, 2]
        if x * x + y * y + z * z >= span * span:
            continue
        a, b = vector_at(start, i), vector_at(start, j)
        u, v = subtract(vector_at(end, i), a), subtract(vector_at(end, j), b)
        near = reach + radius[i] + radius[j]
        shares = nearest_of_segments(a, u, b, v)
        apart = between(a, u, b, v, shares)
        if dot(apart, apart) >= near * near:
            continue
        pair = Pair(p, node[i], node[j])
        if how[p] == LIBRARY:
            left[more] = p
            more += 1
        elif how[p] == CAPSULES:
            count = capsule_rows(pair, (a, u, b, v), shares, (radius[i], radius[j]), reach, count, rows)
        elif how[p] == CONVEX:
            count = _convex_rows(pair, solids, placed, (i, j), reach, count, rows)
        elif how[p] == ROUND_FIRST:
            count = capsule_solid_rows(pair, solids, placed, (i, j), True, reach, count, rows)
        else:
            count = capsule_solid_rows(pair, solids, placed, (j, i), False, reach, count, rows)
    return count, more


@kernel
def _convex_rows(
    pair: Pair, solids: Solids, placed: Placed, which: tuple[int, int], reach: float, row: int,
    # outputs
    rows: Rows,
) -> int:  # fmt: skip
    """Fill the rows of the convex solids `which` from `row` on; returns the next free row."""
    i, j = which
    place, turn = vector_at(placed.position, i), quaternion_at(placed.rotation, i)
    found = nearest_convex(solids, placed, i, j, place, turn, reach)
    if found.distance >= reach:
        return row
    put_row(pair, found.point_a, found.point_b, found.normal, found.distance, row, rows)
    # Of hulls one row is enough: retargeting alone measures them here, and keeps them apart by a margin.
    kind_i, kind_j = solids.kind[i], solids.kind[j]
    single = kind_i == ELLIPSOID or kind_j == ELLIPSOID or kind_i == HULL or kind_j == HULL
    if single or found.distance >= TIPPING_REACH * reach:
        return row + 1
    n = found.normal
    side = orthogonal(n)
    beside = cross(n, side)
    count = row + 1
    for k in range(TIPPED_SIDES):
        angle = (k + 0.5) * 2.0 * math.pi / TIPPED_SIDES
        tangent = add(scale(side, math.cos(angle)), scale(beside, math.sin(angle)))
        tip = from_rotation_vector(scale(tangent, NEARLY_PARALLEL))
        tipped_place = add(found.point_a, rotate(tip, subtract(place, found.point_a)))
        tipped = nearest_convex(solids, placed, i, j, tipped_place, multiply(tip, turn), math.inf)
        point = add(found.point_a, rotate(conjugate(tip), subtract(tipped.point_a, found.point_a)))
        if _add_row_if_new(
            point, tipped.point_b, row, count, reach, rows.point_a, rows.point_b, rows.normal, rows.distance
        ):
            rows.node_a[count], rows.node_b[count], rows.pair[count] = pair.node_a, pair.node_b, pair.number
            count += 1
    return count


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

    The point of the tipped solid is rotated back: p = c + Eᵀ (p' - c).

    Returns:
        The index of the next free row.
    """
    pivot = vector_at(point_a, first)
    count = first + 1
    for side in range(turns.shape[0]):
        x, y, z = subtract(vector_at(tipped, side), pivot)
        back = Vector(
            turns[side, 0, 0] * x + turns[side, 1, 0] * y + turns[side, 2, 0] * z,
            turns[side, 0, 1] * x + turns[side, 1, 1] * y + turns[side, 2, 1] * z,
            turns[side, 0, 2] * x + turns[side, 1, 2] * y + turns[side, 2, 2] * z,
        )
        other = vector_at(others, side)
        if _add_row_if_new(add(pivot, back), other, first, count, reach, point_a, point_b, normal, distance):
            count += 1
    return count


@kernel
def _add_row_if_new(
    point: Vector,
    other: Vector,
    first: int,
    count: int,
    reach: float,
    # outputs
    point_a: Array,
    point_b: Array,
    normal: Array,
    distance: Array,
) -> bool:
    """Fill row `count` with the nearest point of a solid that was tipped, rotated back, and that of the `other` solid.

    The distance is measured along the normal n of row `first`. The row is kept if the distance is below `reach`, if its
    two points lie opposite each other along n, and if its point is new: farther from the points of all rows from
    `first` on than tipping alone can move a point. Returns whether it is.
    """
    pivot, n = vector_at(point_a, first), vector_at(normal, first)
    apart = subtract(point, other)
    gap = dot(n, apart)
    # Tipping moves the points by the gap times the angle, and by the arm times its square.
    arm = length(subtract(point, pivot))
    blur = NEARLY_PARALLEL * (2.0 * abs(gap) + NEARLY_PARALLEL * arm) + _POINT_ACCURACY
    if not gap < reach or length(subtract(apart, scale(n, gap))) > blur:
        return False
    for k in range(first, count):
        if length(subtract(point, vector_at(point_a, k))) <= blur:
            return False
    put_vector(point_a, count, point)
    put_vector(point_b, count, subtract(point, scale(n, gap)))
    put_vector(normal, count, n)
    distance[count] = gap
    return True
