"""Distances of capsules, exact: to each other, as the nearest points of two segments, and to other solids.

Of two nearly parallel capsules the nearest points run from one end of the overlap to the other at the slightest turn.
Both ends of the overlap then get rows of their own: each is a distance of a part of the solids, so that keeping it asks
for nothing that keeping the distance of the whole does not ask for. So do both ends of a capsule that nearly lies on a
box or a cylinder.
"""

from typing import NamedTuple

import numpy as np

from poise.kernels.compile import kernel
from poise.kernels.quaternion import Quaternion, conjugate, quaternion_at, rotate
from poise.kernels.segments import SAME, Shares, between, ends_overlap, nearest_of_segments, on_edge
from poise.kernels.skins import nearest_on_axis, point_to_solid
from poise.kernels.solids import (
    CAPSULES,
    ELLIPSOID,
    LIBRARY,
    NEARLY_PARALLEL,
    ROUND_FIRST,
    ROUND_SECOND,
    Placed,
    Rows,
    Solids,
    Watched,
)
from poise.kernels.vector import (
    Vector,
    add,
    cross,
    dot,
    length,
    normalized,
    orthogonal,
    put_vector,
    scale,
    subtract,
    vector_at,
)

Array = np.ndarray

_CROSSING = 1e-12
"""Axes nearer than this have no direction between them [m]."""


class Witness(NamedTuple):
    """A point of a capsule, the normal towards it, and its distance; infinitely far for none."""

    point: Vector
    normal: Vector
    distance: float


NO_TURN = Quaternion(1.0, 0.0, 0.0, 0.0)


@kernel
def nearest_capsules(
    solids: Solids,
    watched: Watched,
    placed: Placed,
    reach: float,
    # outputs
    rows: Rows,
    left: Array,
) -> tuple[int, int]:
    """Rows of all pairs of capsules nearer than `reach`, and the pairs that need more than capsules to be told apart.

    Args:
        solids: The solids.
        watched: Their pairs.
        placed: Where they are.
        reach: Distance from which on a pair is left out [m].
        rows: Written from row 0.
        left: (p,) written with the pairs for a library whose bounding capsules are nearer than `reach`.

    Returns:
        How many rows and how many pairs were written.
    """
    first, second, how = watched.first, watched.second, watched.how
    position, rotation, start, end, middle = placed.position, placed.rotation, placed.start, placed.end, placed.middle
    kind, node, size, radius, extent = solids.kind, solids.node, solids.size, solids.radius, solids.extent
    node_a, node_b, point_a, point_b, normal, distance, pair = rows
    count = 0
    more = 0
    for p in range(first.shape[0]):
        i, j = first[p], second[p]
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
        if how[p] == LIBRARY:
            left[more] = p
            more += 1
            continue
        sign = -1.0 if how[p] == ROUND_SECOND else 1.0
        tries = 5 if nearly_parallel(u, v) else 1
        place, turn, skin_kind, skin_size, s = a, NO_TURN, 0, a, 0.0
        if how[p] != CAPSULES:
            r, k = (i, j) if how[p] == ROUND_FIRST else (j, i)
            if how[p] == ROUND_SECOND:
                a, u = b, v
            place, turn = vector_at(position, k), quaternion_at(rotation, k)
            skin_kind, skin_size = kind[k], vector_at(size, k)
            a, u = rotate(conjugate(turn), subtract(a, place)), rotate(conjugate(turn), u)
            near = radius[r]
            s = nearest_on_axis(skin_kind, skin_size, a, u) if dot(u, u) > 0.0 else 0.0
            tries = 3 if lies_flat(skin_kind, skin_size, a, u, s) else 1
        for attempt in range(tries):
            if how[p] == CAPSULES:
                witness = _capsule_witness((a, u, b, v), shares, (radius[i], radius[j]), attempt)
            else:
                witness = _skin_witness(skin_kind, skin_size, (a, u), near, s, attempt)
            if witness.distance >= reach:
                continue
            n, point = rotate(turn, witness.normal), witness.point
            if how[p] != CAPSULES:
                point = add(place, rotate(turn, point))
            behind = subtract(point, scale(n, witness.distance))
            node_a[count] = node[i]
            node_b[count] = node[j]
            put_vector(point_a, count, point if sign > 0.0 else behind)
            put_vector(point_b, count, behind if sign > 0.0 else point)
            put_vector(normal, count, scale(n, sign))
            distance[count] = witness.distance
            pair[count] = p
            count += 1
    return count, more


@kernel
def nearly_parallel(u: Vector, v: Vector) -> bool:
    """Whether two axes are within `NEARLY_PARALLEL` of each other; never for a sphere's."""
    uu, uv, vv = dot(u, u), dot(u, v), dot(v, v)
    return uu * vv - uv * uv < NEARLY_PARALLEL * NEARLY_PARALLEL * uu * vv


@kernel
def lies_flat(kind: int, size: Vector, a: Vector, u: Vector, s: float) -> bool:
    """Whether the axis a + s u lies nearly flat on a box or a cylinder at its nearest point."""
    uu = dot(u, u)
    if kind == ELLIPSOID or uu == 0.0:
        return False
    slope = dot(point_to_solid(kind, size, add(a, scale(u, s))).normal, u)
    return slope * slope < NEARLY_PARALLEL * NEARLY_PARALLEL * uu


@kernel
def _capsule_witness(
    segments: tuple[Vector, Vector, Vector, Vector], shares: Shares, radii: tuple[float, float], attempt: int
) -> Witness:
    """The nearest points of two capsules, then, for attempts 1 to 4, the ends of their overlap."""
    a, u, b, v = segments
    if attempt > 0:
        other = on_edge(a, u, b, v, attempt - 1)
        same = abs(other.s - shares.s) < SAME and abs(other.t - shares.t) < SAME
        if same or not ends_overlap(a, u, b, v, attempt - 1):
            return Witness(a, u, np.inf)
        shares = other
    apart = between(a, u, b, v, shares)
    gap = length(apart)
    normal = scale(apart, 1.0 / gap) if gap > _CROSSING else _across(u, v)
    point = subtract(add(a, scale(u, shares.s)), scale(normal, radii[0]))
    return Witness(point, normal, gap - radii[0] - radii[1])


@kernel
def _skin_witness(
    kind: int, size: Vector, axis: tuple[Vector, Vector], radius: float, nearest: float, attempt: int
) -> Witness:
    """The nearest point of a capsule to a solid, then, for attempts 1 and 2, its ends; in the solid's own frame."""
    share = nearest if attempt == 0 else float(attempt - 1)
    if attempt > 0 and abs(share - nearest) < SAME:
        return Witness(axis[0], axis[1], np.inf)
    center = add(axis[0], scale(axis[1], share))
    skin = point_to_solid(kind, size, center)
    return Witness(subtract(center, scale(skin.normal, radius)), skin.normal, skin.distance - radius)


@kernel
def _across(u: Vector, v: Vector) -> Vector:
    """A direction at right angles to both axes, where they cross."""
    n = normalized(cross(u, v))
    if dot(n, n) > 0.5:
        return n
    longer = normalized(u) if dot(u, u) >= dot(v, v) else normalized(v)
    return orthogonal(longer)
