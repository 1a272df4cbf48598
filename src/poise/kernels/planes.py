"""Distances of solids to planes, exact, with as many rows as the solid has places to stand on.

A plane {x : n · x = o} forbids all that is below it. The part of a convex solid that comes lowest is its support point
against n. A solid that lies flat has many: a capsule touches with both ends, a box with the corners of its lower face, a
standing cylinder with its rim, a hull with the vertices that are lowest when it is tipped a little to each side. Each is
a point fixed to the body, and keeping every one above the plane keeps the solid above it.
"""

import math

import numpy as np

from poise.kernels.compile import kernel
from poise.kernels.quaternion import Quaternion, columns, conjugate, quaternion_at, rotate, transform
from poise.kernels.solids import BOX, CAPSULE, CYLINDER, ELLIPSOID, HULL, NEARLY_PARALLEL, Placed, Rows, Solids, put_row
from poise.kernels.solids import Watched as Pairs
from poise.kernels.vector import Vector, add, cross, dot, length, orthogonal, scale, subtract, vector_at

Array = np.ndarray

TIPS = 6
"""Sides to which a hull is tipped."""


@kernel
def nearest_planes(
    solids: Solids,
    watched: Pairs,
    placed: Placed,
    reach: float,
    count: int,
    # outputs
    rows: Rows,
) -> int:
    """Rows of all solids nearer than `reach` to a plane, written from row `count`; returns the next free row."""
    plane_solid, normals, offsets = watched.plane_solid, watched.plane_normal, watched.plane_offset
    start, end, radius, kinds = placed.start, placed.end, solids.radius, solids.kind
    pairs = watched.first.shape[0]
    for k in range(plane_solid.shape[0]):
        i = plane_solid[k]
        n, offset = vector_at(normals, k), offsets[k]
        a, b = vector_at(start, i), vector_at(end, i)
        low = offset + reach + radius[i]
        if dot(n, a) >= low and dot(n, b) >= low:
            continue
        kind = kinds[i]
        if kind == BOX:
            count = _box(solids, placed, i, pairs + k, n, offset, reach, count, rows)
        elif kind == CYLINDER:
            count = _cylinder(solids, placed, i, pairs + k, n, offset, reach, count, rows)
        elif kind == ELLIPSOID:
            count = _ellipsoid(solids, placed, i, pairs + k, n, offset, reach, count, rows)
        elif kind == HULL:
            count = _hull(solids, placed, i, pairs + k, n, offset, reach, count, rows)
        else:
            sole = scale(n, radius[i])
            count = _point(solids, i, pairs + k, subtract(a, sole), n, offset, reach, count, rows)
            if kind == CAPSULE:
                count = _point(solids, i, pairs + k, subtract(b, sole), n, offset, reach, count, rows)
    return count


@kernel
def _point(
    solids: Solids, i: int, pair: int, point: Vector, n: Vector, offset: float, reach: float, count: int, rows: Rows
) -> int:
    """The row of one point of solid `i`, if it is near."""
    distance = dot(n, point) - offset
    if distance >= reach:
        return count
    return put_row(count, pair, (solids.node[i], 0), point, n, distance, rows)


@kernel
def _box(
    solids: Solids, placed: Placed, i: int, pair: int, n: Vector, offset: float, reach: float, count: int, rows: Rows
) -> int:
    """The four corners of the face that looks most towards the plane."""
    x, y, z = columns(quaternion_at(placed.rotation, i))
    x, y, z = scale(x, solids.size[i, 0]), scale(y, solids.size[i, 1]), scale(z, solids.size[i, 2])
    slope_x, slope_y, slope_z = (
        dot(n, x) / solids.size[i, 0], dot(n, y) / solids.size[i, 1], dot(n, z) / solids.size[i, 2],
    )  # fmt: skip
    down, p, q, slope = x, y, z, slope_x
    if abs(slope_y) > abs(slope):
        down, p, q, slope = y, z, x, slope_y
    if abs(slope_z) > abs(slope):
        down, p, q, slope = z, x, y, slope_z
    face = add(vector_at(placed.position, i), scale(down, -1.0 if slope > 0.0 else 1.0))
    for corner in range(4):
        along = 1.0 if corner % 2 == 0 else -1.0
        across = 1.0 if corner < 2 else -1.0
        point = add(face, add(scale(p, along), scale(q, across)))
        count = _point(solids, i, pair, point, n, offset, reach, count, rows)
    return count


@kernel
def _cylinder(
    solids: Solids, placed: Placed, i: int, pair: int, n: Vector, offset: float, reach: float, count: int, rows: Rows
) -> int:
    """The lowest point of each rim; three points of the lower rim when the cylinder stands."""
    x, _, z = columns(quaternion_at(placed.rotation, i))
    center = vector_at(placed.position, i)
    upright = dot(n, z)
    downhill = subtract(scale(z, upright), n)
    slope = length(downhill)
    downhill = scale(downhill, 1.0 / slope) if slope > 1e-9 else x
    sideways = cross(z, downhill)
    stands = slope < NEARLY_PARALLEL
    for end in range(2):
        side = 1.0 if end == 0 else -1.0
        if stands and side * upright > 0.0:
            continue
        rim = add(center, scale(z, side * solids.size[i, 2]))
        for turn in range(3 if stands else 1):
            angle = turn * 2.0 * math.pi / 3.0
            out = add(scale(downhill, math.cos(angle)), scale(sideways, math.sin(angle)))
            point = add(rim, scale(out, solids.size[i, 0]))
            count = _point(solids, i, pair, point, n, offset, reach, count, rows)
    return count


@kernel
def _ellipsoid(
    solids: Solids, placed: Placed, i: int, pair: int, n: Vector, offset: float, reach: float, count: int, rows: Rows
) -> int:
    """The one lowest point c - Σ rₖ² (n·eₖ) eₖ / √(Σ rₖ² (n·eₖ)²)."""
    turn = quaternion_at(placed.rotation, i)
    m = rotate(conjugate(turn), n)
    p, q, r = solids.size[i, 0], solids.size[i, 1], solids.size[i, 2]
    stretched = Vector(p * p * m.x, q * q * m.y, r * r * m.z)
    lowest = scale(stretched, -1.0 / math.sqrt(dot(stretched, m)))
    point = transform(vector_at(placed.position, i), turn, lowest)
    return _point(solids, i, pair, point, n, offset, reach, count, rows)


@kernel
def _hull(
    solids: Solids, placed: Placed, i: int, pair: int, n: Vector, offset: float, reach: float, count: int, rows: Rows
) -> int:
    """The lowest vertex, and those that are lowest when the hull is tipped to each of `TIPS` sides."""
    turn = quaternion_at(placed.rotation, i)
    begin = count
    t = orthogonal(n)
    s = cross(n, t)
    for tip in range(TIPS + 1):
        direction = n
        if tip > 0:
            angle = tip * 2.0 * math.pi / TIPS
            lean = add(scale(t, math.cos(angle)), scale(s, math.sin(angle)))
            direction = add(n, scale(lean, NEARLY_PARALLEL))
        vertex = vector_at(solids.vertices, _lowest_vertex(solids, i, turn, direction))
        point = transform(vector_at(placed.position, i), turn, vertex)
        if not _is_known(rows.point_a, begin, count, point):
            count = _point(solids, i, pair, point, n, offset, reach, count, rows)
    return count


@kernel
def _lowest_vertex(solids: Solids, i: int, turn: Quaternion, direction: Vector) -> int:
    """The vertex of hull `i` that comes last along a world direction."""
    m = rotate(conjugate(turn), direction)
    vertices = solids.vertices
    best = solids.vertex_start[i]
    least = np.inf
    for k in range(solids.vertex_start[i], solids.vertex_start[i + 1]):
        height = m.x * vertices[k, 0] + m.y * vertices[k, 1] + m.z * vertices[k, 2]
        if height < least:
            least = height
            best = k
    return best


@kernel
def _is_known(points: Array, begin: int, end: int, point: Vector) -> bool:
    for k in range(begin, end):
        if points[k, 0] == point.x and points[k, 1] == point.y and points[k, 2] == point.z:
            return True
    return False
