"""Distances of capsules, exact: to each other, as the nearest points of two segments, and to other solids.

Of two nearly parallel capsules the nearest points run from one end of the overlap to the other at the slightest turn.
Both ends of the overlap then get rows of their own: each is a distance of a part of the solids, so that keeping it asks
for nothing that keeping the distance of the whole does not ask for. So do both ends of a capsule that nearly lies on a
box or a cylinder.
"""

from typing import NamedTuple

import numpy as np

from poise.kernels.distances.points import nearest_on_axis, point_to_solid
from poise.kernels.distances.segments import SAME, Shares, between, ends_overlap, nearest_of_segments, on_edge
from poise.kernels.distances.solids import (
    CAPSULES,
    ELLIPSOID,
    LIBRARY,
    NEARLY_PARALLEL,
    ROUND_FIRST,
    Placed,
    Rows,
    Solids,
    Watched,
)
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.quaternion import conjugate, quaternion_at, rotate
from poise.kernels.maths.vector import (
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


class Pair(NamedTuple):
    """Two solids whose distance is asked for."""

    number: int
    """Among all pairs."""
    node_a: int
    node_b: int


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
    start, end, middle, node = placed.start, placed.end, placed.middle, solids.node
    radius, extent = solids.radius, solids.extent
    count = more = 0
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
        pair = Pair(p, node[i], node[j])
        if how[p] == LIBRARY:
            left[more] = p
            more += 1
        elif how[p] == CAPSULES:
            count = _capsule_rows(pair, (a, u, b, v), shares, (radius[i], radius[j]), reach, count, rows)
        elif how[p] == ROUND_FIRST:
            count = _skin_rows(pair, solids, placed, (i, j), True, reach, count, rows)
        else:
            count = _skin_rows(pair, solids, placed, (j, i), False, reach, count, rows)
    return count, more


@kernel
def _capsule_rows(
    pair: Pair, segments: tuple[Vector, Vector, Vector, Vector], shares: Shares, radii: tuple[float, float],
    reach: float, row: int,
    # outputs
    rows: Rows,
) -> int:  # fmt: skip
    """Write the rows of two capsules from `row` on; returns the row after the last."""
    for attempt in range(5 if nearly_parallel(segments[1], segments[3]) else 1):
        witness = _capsule_witness(segments, shares, radii, attempt)
        if witness.distance < reach:
            behind = subtract(witness.point, scale(witness.normal, witness.distance))
            _put(pair, witness.point, behind, witness.normal, witness.distance, row, rows)
            row += 1
    return row


@kernel
def _skin_rows(
    pair: Pair, solids: Solids, placed: Placed, which: tuple[int, int], is_first: bool, reach: float, row: int,
    # outputs
    rows: Rows,
) -> int:  # fmt: skip
    """Write the rows of a capsule and a solid, `which`, from `row` on; the capsule is the first of its pair, or not."""
    i, k = which
    place, turn, start = vector_at(placed.position, k), quaternion_at(placed.rotation, k), vector_at(placed.start, i)
    kind, size, back = solids.kind[k], vector_at(solids.size, k), conjugate(turn)
    a, u = rotate(back, subtract(start, place)), rotate(back, subtract(vector_at(placed.end, i), start))
    nearest = nearest_on_axis(kind, size, a, u) if dot(u, u) > 0.0 else 0.0
    for attempt in range(3 if lies_flat(kind, size, a, u, nearest) else 1):
        witness = _skin_witness(kind, size, (a, u), solids.radius[i], nearest, attempt)
        if witness.distance < reach:
            point, normal = add(place, rotate(turn, witness.point)), rotate(turn, witness.normal)
            behind = subtract(point, scale(normal, witness.distance))
            if is_first:
                _put(pair, point, behind, normal, witness.distance, row, rows)
            else:
                _put(pair, behind, point, scale(normal, -1.0), witness.distance, row, rows)
            row += 1
    return row


@kernel
def _put(
    pair: Pair, point_a: Vector, point_b: Vector, normal: Vector, distance: float, row: int,
    # outputs
    rows: Rows,
) -> None:  # fmt: skip
    rows.node_a[row], rows.node_b[row], rows.pair[row] = pair.node_a, pair.node_b, pair.number
    put_vector(rows.point_a, row, point_a)
    put_vector(rows.point_b, row, point_b)
    put_vector(rows.normal, row, normal)
    rows.distance[row] = distance


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
