"""Distances of convex solids among each other, by the algorithm of Gilbert, Johnson and Keerthi.

The algorithm finds the point v of the Minkowski difference A - B nearest to the origin, from support points of both
solids alone, if they are separate [Gilbert et al. 1988]. Solids in contact are not. So solids that touch are *eroded*:
their sizes become smaller by a depth δ, and the distance is |v| less both depths. Eroding and growing again rounds
edges and corners by δ and leaves faces where they are; an ellipsoid keeps its form up to terms of second order. The
depth begins at 0 where solids are `NEARLY_TOUCHING`, so that the distance is continuous. If the eroded solids still
overlap, they are eroded twice as deep, and so on up to their smallest half sizes. Solids that overlap even then are
pushed apart along the line of their centres.

Spheres and capsules are always eroded down to their axes, which is exact. A hull is not eroded but made smaller about
its centre, in proportion to δ and the radius of a ball inside it, and the points found are moved back to its surface:
their distance along the normal found is exact, and never less deep than the shortest motion that separates the solids.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.distances.solids import BOX, CAPSULE, ELLIPSOID, HULL, SPHERE, Placed, Solids
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.quaternion import Quaternion, conjugate, multiply, quaternion_at, rotate
from poise.kernels.maths.vector import (
    Vector,
    add,
    cross,
    dot,
    normalized,
    put_vector,
    scale,
    subtract,
    vector_at,
)

Array = np.ndarray

FIRST_EROSION = 5e-5
"""Depth of erosion of solids that touch [m]."""
NEARLY_TOUCHING = 5e-4
"""Distance below which solids are eroded [m]."""
_MAX_ITERATIONS = 64
"""Largest number of support points of one search."""
_CONVERGED = 1e-12
"""Relative gap between the bounds of the squared distance at which a search ends."""
_OVERLAPPING = 1e-9
"""Distance of eroded solids up to which they overlap [m]."""
_LEAST_HULL = 0.05
"""Least size of a hull made smaller, as a share of the whole."""
_POINTS = 4
"""Points of a simplex; the second half of the workspace has the points of solid a that belong to them."""


class Apart(NamedTuple):
    """Nearest points of two solids and the unit normal from b to a; distance = normal · (point_a - point_b)."""

    point_a: Vector
    point_b: Vector
    normal: Vector
    distance: float


class Relative(NamedTuple):
    """Two solids in the frame of the second."""

    which: tuple[int, int]
    """Their indices."""
    place: Vector
    """Position of the first [m]."""
    turn: Quaternion
    """Rotation of the first."""


@kernel
def nearest_convex(
    solids: Solids, placed: Placed, i: int, j: int, place: Vector, turn: Quaternion, reach: float
) -> Apart:
    """Nearest points of solids `i`, at a given place and rotation, and `j`; rough if they are farther than `reach`."""
    home, frame = vector_at(placed.position, j), quaternion_at(placed.rotation, j)
    back = conjugate(frame)
    pair = Relative((i, j), rotate(back, subtract(place, home)), multiply(back, turn))
    least_a, thin_a = _erosion_range(solids, i)
    least_b, thin_b = _erosion_range(solids, j)
    a, b = least_a, least_b
    on_a, v, gap = _gap(solids, pair, a, b, reach + a + b, placed.simplex)
    if gap < NEARLY_TOUCHING:
        depth = FIRST_EROSION * (1.0 - gap / NEARLY_TOUCHING)
        gap = 0.0
        while gap <= _OVERLAPPING and depth < 2.0 * max(thin_a, thin_b):
            a, b = max(least_a, min(depth, thin_a)), max(least_b, min(depth, thin_b))
            on_a, v, gap = _gap(solids, pair, a, b, math.inf, placed.simplex)
            depth *= 2.0
    if gap > _OVERLAPPING:
        normal = scale(v, 1.0 / gap)
    else:
        normal, on_a, v = normalized(pair.place), scale(pair.place, 0.5), Vector(0.0, 0.0, 0.0)
        if dot(normal, normal) < 0.5:
            normal = Vector(0.0, 1.0, 0.0)
    point_a = _on_surface(solids, i, a, pair.place, on_a, scale(normal, -1.0))
    point_b = _on_surface(solids, j, b, Vector(0.0, 0.0, 0.0), subtract(on_a, v), normal)
    # Hulls move their points to the sides as well, so that only the part along the normal is a distance.
    distance = dot(normal, subtract(point_a, point_b))
    point_b = subtract(point_a, scale(normal, distance))
    return Apart(add(home, rotate(frame, point_a)), add(home, rotate(frame, point_b)), rotate(frame, normal), distance)


@kernel
def _erosion_range(solids: Solids, i: int) -> tuple[float, float]:
    """Least and greatest depth of erosion of a solid [m]."""
    kind, size = solids.kind[i], vector_at(solids.size, i)
    if kind == SPHERE or kind == CAPSULE:
        return size.x, size.x
    thin = min(size.x, size.y, size.z)
    return 0.0, (1.0 - _LEAST_HULL) * thin if kind == HULL else thin


@kernel
def _on_surface(solids: Solids, i: int, erosion: float, center: Vector, point: Vector, outward: Vector) -> Vector:
    """The point of a solid that erosion moved to `point`, for an outward normal there."""
    if solids.kind[i] == HULL:
        return add(center, scale(subtract(point, center), 1.0 / _hull_share(vector_at(solids.size, i), erosion)))
    return add(point, scale(outward, erosion))


@kernel
def _hull_share(size: Vector, erosion: float) -> float:
    """Size of a hull made smaller, as a share of the whole."""
    return 1.0 - erosion / min(size.x, size.y, size.z)


@kernel
def _gap(
    solids: Solids, pair: Relative, erosion_a: float, erosion_b: float, reach: float, simplex: Array
) -> tuple[Vector, Vector, float]:
    """Nearest point of an eroded solid a, the vector to it from that of b, and its length; 0 where they overlap."""
    count = _search(solids, pair, erosion_a, erosion_b, reach, simplex)
    if count == _POINTS:
        return pair.place, Vector(0.0, 0.0, 0.0), 0.0
    on_a, v = _weighted(simplex, count)
    return on_a, v, math.sqrt(dot(v, v))


@kernel
def _support(solids: Solids, i: int, erosion: float, d: Vector) -> Vector:
    """The point of an eroded solid, in its own frame, that is farthest along a direction."""
    kind, size = solids.kind[i], vector_at(solids.size, i)
    if kind == HULL:
        return scale(_farthest_vertex(solids, i, d), _hull_share(size, erosion))
    if kind == SPHERE or kind == CAPSULE:
        return Vector(0.0, 0.0, math.copysign(size.z, d.z) if kind == CAPSULE else 0.0)
    x, y, z = max(size.x - erosion, 0.0), max(size.y - erosion, 0.0), max(size.z - erosion, 0.0)
    if kind == BOX:
        return Vector(math.copysign(x, d.x), math.copysign(y, d.y), math.copysign(z, d.z))
    if kind == ELLIPSOID:
        stretched = Vector(x * x * d.x, y * y * d.y, z * z * d.z)
        size_along = dot(stretched, d)
        return scale(stretched, 1.0 / math.sqrt(size_along)) if size_along > 0.0 else Vector(0.0, 0.0, 0.0)
    across = math.sqrt(d.x * d.x + d.y * d.y)
    k = x / across if across > 0.0 else 0.0
    return Vector(k * d.x, k * d.y, math.copysign(z, d.z))


@kernel
def _farthest_vertex(solids: Solids, i: int, d: Vector) -> Vector:
    """The vertex of a hull that is farthest along a direction."""
    vertices, best, most = solids.vertices, solids.vertex_start[i], -math.inf
    for k in range(solids.vertex_start[i], solids.vertex_start[i + 1]):
        along = vertices[k, 0] * d.x + vertices[k, 1] * d.y + vertices[k, 2] * d.z
        if along > most:
            best, most = k, along
    return vector_at(vertices, best)


@kernel
def _search(
    solids: Solids,
    pair: Relative,
    erosion_a: float,
    erosion_b: float,
    reach: float,
    # outputs
    simplex: Array,
) -> int:
    """Find the simplex of the Minkowski difference that is nearest to the origin; returns its number of points.

    The search ends early once a plane separates the solids by more than `reach`: v · w / |v| is a lower bound. Four
    points mean that the eroded solids overlap. The weights of its points are those of `_weighted`.
    """
    v, count, last = pair.place, 0, math.inf
    if dot(v, v) == 0.0:
        v = Vector(1.0, 0.0, 0.0)
    back = conjugate(pair.turn)
    for _ in range(_MAX_ITERATIONS):
        local = _support(solids, pair.which[0], erosion_a, rotate(back, scale(v, -1.0)))
        on_a = add(pair.place, rotate(pair.turn, local))
        w = subtract(on_a, _support(solids, pair.which[1], erosion_b, v))
        square, along = dot(v, v), dot(v, w)
        if count > 0 and (
            square - along <= _CONVERGED * square or (along > 0.0 and along * along > reach * reach * square)
        ):
            return count
        put_vector(simplex, count, w)
        put_vector(simplex, _POINTS + count, on_a)
        count = _reduce(simplex, count + 1)
        if count == _POINTS:
            return count
        _, v = _weighted(simplex, count)
        square = dot(v, v)
        if square >= last:
            return count
        last = square
    return count


@kernel
def _weighted(simplex: Array, count: int) -> tuple[Vector, Vector]:
    """The point of solid a, and the point of the Minkowski difference, that are nearest: of a simplex of 1 to 3 points.

    The nearest point of the whole simplex is inside it, so that its weights follow from the lines or the plane.
    """
    p, on = vector_at(simplex, 0), vector_at(simplex, _POINTS)
    if count == 1:
        return on, p
    u = subtract(vector_at(simplex, 1), p)
    if count == 2:
        s = _share(p, u)
        return (
            add(on, scale(subtract(vector_at(simplex, _POINTS + 1), on), s)),
            add(p, scale(u, s)),
        )
    w = subtract(vector_at(simplex, 2), p)
    n = cross(u, w)
    size = dot(n, n)
    s, t = dot(cross(w, p), n) / size, dot(cross(p, u), n) / size
    point = scale(n, dot(n, p) / size)
    first = scale(subtract(vector_at(simplex, _POINTS + 1), on), s)
    second = scale(subtract(vector_at(simplex, _POINTS + 2), on), t)
    return add(on, add(first, second)), point


@kernel
def _share(p: Vector, u: Vector) -> float:
    """The parameter s of the point p + s u, 0 ≤ s ≤ 1, nearest to the origin."""
    uu = dot(u, u)
    return min(max(-dot(p, u) / uu, 0.0), 1.0) if uu > 0.0 else 0.0


@kernel
def _reduce(simplex: Array, count: int) -> int:
    """Keep only the points of a simplex whose hull has the point nearest to the origin inside; returns their number."""
    if count == 1:
        return 1
    if count == 2:
        return _keep(simplex, _nearest_end(simplex, 0, 1)[0])
    if count == 3:
        return _keep(simplex, _nearest_part(simplex, 0, 1, 2)[0])
    if _contains_origin(simplex):
        return _POINTS
    best, least = 0, math.inf
    for face in range(4):
        part, square = _nearest_part(simplex, (face + 1) % 4, (face + 2) % 4, (face + 3) % 4)
        if square < least:
            best, least = part, square
    return _keep(simplex, best)


@kernel
def _keep(simplex: Array, part: int) -> int:
    """Keep the points whose bits are set in `part`; returns their number."""
    count = 0
    for k in range(_POINTS):
        if part >> k & 1:
            if k != count:
                put_vector(simplex, count, vector_at(simplex, k))
                put_vector(simplex, _POINTS + count, vector_at(simplex, _POINTS + k))
            count += 1
    return count


@kernel
def _contains_origin(simplex: Array) -> bool:
    """Whether a tetrahedron that is not flat contains the origin."""
    p = vector_at(simplex, 0)
    a, b, c = (
        subtract(vector_at(simplex, 1), p), subtract(vector_at(simplex, 2), p), subtract(vector_at(simplex, 3), p)
    )  # fmt: skip
    volume = dot(a, cross(b, c))
    largest = math.sqrt(dot(a, a) * dot(b, b) * dot(c, c))
    if abs(volume) <= 1e-12 * largest:
        return False
    x = -dot(p, cross(b, c)) / volume
    y = -dot(a, cross(p, c)) / volume
    z = -dot(a, cross(b, p)) / volume
    return x >= 0.0 and y >= 0.0 and z >= 0.0 and x + y + z <= 1.0


@kernel
def _nearest_part(simplex: Array, i: int, j: int, k: int) -> tuple[int, float]:
    """The bits of the points of a triangle that its nearest point to the origin needs, and its squared distance."""
    a, b, c = vector_at(simplex, i), vector_at(simplex, j), vector_at(simplex, k)
    u, w = subtract(b, a), subtract(c, a)
    n = cross(u, w)
    size = dot(n, n)
    if size > 1e-24 * dot(u, u) * dot(w, w):
        s, t = dot(cross(w, a), n) / size, dot(cross(a, u), n) / size
        if s > 0.0 and t > 0.0 and s + t < 1.0:
            along = dot(n, a)
            return 1 << i | 1 << j | 1 << k, along * along / size
    best, least = _nearest_end(simplex, i, j)
    for other in range(2):
        part, square = _nearest_end(simplex, i if other == 0 else j, k)
        if square < least:
            best, least = part, square
    return best, least


@kernel
def _nearest_end(simplex: Array, i: int, j: int) -> tuple[int, float]:
    """The bits of the points of a segment that its nearest point to the origin needs, and its squared distance."""
    a = vector_at(simplex, i)
    u = subtract(vector_at(simplex, j), a)
    s = _share(a, u)
    point = add(a, scale(u, s))
    return (1 << i if s == 0.0 else 1 << j if s == 1.0 else 1 << i | 1 << j), dot(point, point)
