"""Exact distances of solids to planes, with one row per point on which the solid can stand.

A solid must stay above a plane {x : n · x = o}. The lowest point of a convex solid is its support point against n. A
solid that lies flat has several: the two ends of a capsule, the corners of a box's lower face, points of the rim of a
standing cylinder, and the vertices of a hull that are lowest when it is tipped a little to each side. Each is a point
fixed to the body, and if all of them stay above the plane, so does the solid.
"""

import math

import numpy as np

from poise.kernels.distances.solids import (
    BOX,
    CAPSULE,
    CYLINDER,
    ELLIPSOID,
    HULL,
    NEARLY_PARALLEL,
    Pair,
    Placed,
    Rows,
    Solids,
    Watched,
    put_row,
)
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.quaternion import Quaternion, columns, conjugate, quaternion_at, rotate, transform
from poise.kernels.maths.vector import (
    Vector,
    add,
    cross,
    dot,
    length,
    orthogonal,
    scale,
    subtract,
    vector_at,
)

Array = np.ndarray

HULL_TIPS = 6
"""Number of sides to which a hull is tipped."""


@kernel
def nearest_planes(
    solids: Solids,
    watched: Watched,
    placed: Placed,
    count: int,
    # outputs
    rows: Rows,
) -> int:
    """Fill the rows of all solids near a plane, from row `count` on; returns the next free row."""
    plane_solid, normals, offsets = watched.plane_solid, watched.plane_normal, watched.plane_offset
    pairs = watched.first.shape[0]
    position, rotation, start, end = placed.position, placed.rotation, placed.start, placed.end
    kind, node, size, radius = solids.kind, solids.node, solids.size, solids.radius
    vertex_start, vertices = solids.vertex_start, solids.vertices
    for k in range(plane_solid.shape[0]):
        i = plane_solid[k]
        n, offset, reach = vector_at(normals, k), offsets[k], watched.reach[pairs + k]
        a, b = vector_at(start, i), vector_at(end, i)
        low = offset + reach + radius[i]
        if dot(n, a) >= low and dot(n, b) >= low:
            continue
        place, turn = vector_at(position, i), quaternion_at(rotation, i)
        begin = count
        for attempt in range(standing_points(kind[i], turn, n)):
            if kind[i] == HULL:
                vertex = _lowest_vertex(vertices, vertex_start[i], vertex_start[i + 1], turn, _tipped(n, attempt))
                point = transform(place, turn, vector_at(vertices, vertex))
                if _is_known(rows.point_a, begin, count, point):
                    continue
            else:
                point = standing_point(kind[i], vector_at(size, i), place, turn, n, attempt)
            gap = dot(n, point) - offset
            if gap >= reach:
                continue
            put_row(Pair(pairs + k, node[i], 0), point, subtract(point, scale(n, gap)), n, gap, count, rows)
            count += 1
    return count


@kernel
def standing_points(kind: int, turn: Quaternion, n: Vector) -> int:
    """Number of points on which a solid can stand on a plane with normal `n`."""
    if kind == CAPSULE:
        return 2
    if kind == BOX:
        return 4
    if kind == CYLINDER:
        return 3 if _stands(turn, n) else 2
    return HULL_TIPS + 1 if kind == HULL else 1


@kernel
def standing_point(kind: int, size: Vector, place: Vector, turn: Quaternion, n: Vector, which: int) -> Vector:
    """World position of point `which` of those on which a solid can stand (see `Solids.size`)."""
    if kind == BOX:
        return add(place, _box_corner(size, turn, n, which))
    if kind == CYLINDER:
        return add(place, _rim_point(size, turn, n, which))
    if kind == ELLIPSOID:
        return transform(place, turn, _lowest_of_ellipsoid(size, rotate(conjugate(turn), n)))
    center = subtract(place, scale(n, size.x))
    if kind == CAPSULE:
        _, _, z = columns(turn)
        return add(center, scale(z, size.z if which == 0 else -size.z))
    return center


@kernel
def _box_corner(half: Vector, turn: Quaternion, n: Vector, which: int) -> Vector:
    """Corner `which` of the face of a box that faces the plane most, relative to the centre."""
    m = rotate(conjugate(turn), n)
    first = 1.0 if which % 2 == 0 else -1.0
    second = 1.0 if which < 2 else -1.0
    x, y, z = first, second, math.copysign(1.0, -m.z)
    if abs(m.x) > abs(m.z) and abs(m.x) >= abs(m.y):
        x, y, z = math.copysign(1.0, -m.x), first, second
    elif abs(m.y) > abs(m.z):
        x, y, z = second, math.copysign(1.0, -m.y), first
    return rotate(turn, Vector(x * half.x, y * half.y, z * half.z))


@kernel
def _stands(turn: Quaternion, n: Vector) -> bool:
    """Whether a cylinder stands nearly upright."""
    _, _, z = columns(turn)
    return length(cross(z, n)) < NEARLY_PARALLEL


@kernel
def _rim_point(size: Vector, turn: Quaternion, n: Vector, which: int) -> Vector:
    """One of three points of the lower rim of a standing cylinder, else the lowest point of either rim."""
    x, _, z = columns(turn)
    upright = dot(n, z)
    downhill = subtract(scale(z, upright), n)
    slope = length(downhill)
    out = scale(downhill, 1.0 / slope) if slope > 1e-9 else x
    end = 1.0 if which == 0 else -1.0
    if _stands(turn, n):
        end = -1.0 if upright > 0.0 else 1.0
        angle = which * 2.0 * math.pi / 3.0
        out = add(scale(out, math.cos(angle)), scale(cross(z, out), math.sin(angle)))
    return add(scale(z, end * size.z), scale(out, size.x))


@kernel
def _lowest_of_ellipsoid(e: Vector, m: Vector) -> Vector:
    """Lowest point of an ellipsoid, -eₖ² mₖ / √(Σ eⱼ² mⱼ²), for half axes e and the normal m in its own axes."""
    stretched = Vector(e.x * e.x * m.x, e.y * e.y * m.y, e.z * e.z * m.z)
    return scale(stretched, -1.0 / math.sqrt(dot(stretched, m)))


@kernel
def _tipped(n: Vector, side: int) -> Vector:
    """The normal `n` for side 0, else `n` tipped to one of `HULL_TIPS` sides."""
    if side == 0:
        return n
    t = orthogonal(n)
    angle = side * 2.0 * math.pi / HULL_TIPS
    lean = add(scale(t, math.cos(angle)), scale(cross(n, t), math.sin(angle)))
    return add(n, scale(lean, NEARLY_PARALLEL))


@kernel
def _lowest_vertex(vertices: Array, begin: int, end: int, turn: Quaternion, direction: Vector) -> int:
    """Index of the vertex of a rotated hull that is lowest along a world direction."""
    m = rotate(conjugate(turn), direction)
    best = begin
    least = np.inf
    for k in range(begin, end):
        height = m.x * vertices[k, 0] + m.y * vertices[k, 1] + m.z * vertices[k, 2]
        if height < least:
            least = height
            best = k
    return best


@kernel
def _is_known(points: Array, begin: int, end: int, point: Vector) -> bool:
    """Whether `point` equals one of rows `begin` to `end` - 1 of `points`."""
    for k in range(begin, end):
        if points[k, 0] == point.x and points[k, 1] == point.y and points[k, 2] == point.z:
            return True
    return False
