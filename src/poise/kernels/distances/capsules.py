"""Exact distances of capsules: to each other, as the nearest points of two segments, and to other solids.

The nearest points of two nearly parallel capsules jump from one end of the overlap to the other when the capsules turn
a little. Both ends of the overlap therefore get rows of their own. Each is the distance of a part of the solids, so it
is never below the distance of the whole, and constraining it adds no new restriction. The same holds for both ends of a
capsule that lies nearly flat on a box or a cylinder.
"""

from typing import NamedTuple

import numpy as np

from poise.kernels.distances.points import nearest_on_axis, point_to_solid
from poise.kernels.distances.segments import SAME_SHARE, Shares, between, ends_overlap, on_edge
from poise.kernels.distances.solids import ELLIPSOID, NEARLY_PARALLEL, Pair, Placed, Rows, Solids, put_row
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
    scale,
    subtract,
    vector_at,
)

_INTERSECTING = 1e-12
"""Axes nearer than this intersect, so that no direction leads from one to the other [m]."""


class Witness(NamedTuple):
    """A nearest point of a capsule, the normal towards it, and its distance; an infinite distance means none."""

    point: Vector
    normal: Vector
    distance: float


@kernel
def capsule_rows(
    pair: Pair, segments: tuple[Vector, Vector, Vector, Vector], shares: Shares, radii: tuple[float, float],
    reach: float, row: int,
    # outputs
    rows: Rows,
) -> int:  # fmt: skip
    """Fill the rows of two capsules from `row` on; returns the index of the next free row."""
    for attempt in range(5 if nearly_parallel(segments[1], segments[3]) else 1):
        witness = _capsule_witness(segments, shares, radii, attempt)
        if witness.distance < reach:
            behind = subtract(witness.point, scale(witness.normal, witness.distance))
            put_row(pair, witness.point, behind, witness.normal, witness.distance, row, rows)
            row += 1
    return row


@kernel
def capsule_solid_rows(
    pair: Pair, solids: Solids, placed: Placed, which: tuple[int, int], is_first: bool, reach: float, row: int,
    # outputs
    rows: Rows,
) -> int:  # fmt: skip
    """Fill the rows of the capsule and the solid with indices `which` from `row` on; returns the next free row.

    `is_first` says whether the capsule is the first of its pair.
    """
    i, k = which
    place, turn, start = vector_at(placed.position, k), quaternion_at(placed.rotation, k), vector_at(placed.start, i)
    kind, size, back = solids.kind[k], vector_at(solids.size, k), conjugate(turn)
    a, u = rotate(back, subtract(start, place)), rotate(back, subtract(vector_at(placed.end, i), start))
    nearest = nearest_on_axis(kind, size, a, u) if dot(u, u) > 0.0 else 0.0
    for attempt in range(3 if lies_flat(kind, size, a, u, nearest) else 1):
        witness = _capsule_solid_witness(kind, size, (a, u), solids.radius[i], nearest, attempt)
        if witness.distance < reach:
            point, normal = add(place, rotate(turn, witness.point)), rotate(turn, witness.normal)
            behind = subtract(point, scale(normal, witness.distance))
            if is_first:
                put_row(pair, point, behind, normal, witness.distance, row, rows)
            else:
                put_row(pair, behind, point, scale(normal, -1.0), witness.distance, row, rows)
            row += 1
    return row


@kernel
def nearly_parallel(u: Vector, v: Vector) -> bool:
    """Whether the angle between two axes is below `NEARLY_PARALLEL`; False for a sphere, whose axis has no length."""
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
    """Attempt 0: the nearest points of two capsules; attempts 1 to 4: the ends of their overlap."""
    a, u, b, v = segments
    if attempt > 0:
        other = on_edge(a, u, b, v, attempt - 1)
        same = abs(other.s - shares.s) < SAME_SHARE and abs(other.t - shares.t) < SAME_SHARE
        if same or not ends_overlap(a, u, b, v, attempt - 1):
            return Witness(a, u, np.inf)
        shares = other
    apart = between(a, u, b, v, shares)
    gap = length(apart)
    normal = scale(apart, 1.0 / gap) if gap > _INTERSECTING else _across(u, v)
    point = subtract(add(a, scale(u, shares.s)), scale(normal, radii[0]))
    return Witness(point, normal, gap - radii[0] - radii[1])


@kernel
def _capsule_solid_witness(
    kind: int, size: Vector, axis: tuple[Vector, Vector], radius: float, nearest: float, attempt: int
) -> Witness:
    """Attempt 0: the point of a capsule nearest to a solid; attempts 1 and 2: its ends; in the solid's frame."""
    share = nearest if attempt == 0 else float(attempt - 1)
    if attempt > 0 and abs(share - nearest) < SAME_SHARE:
        return Witness(axis[0], axis[1], np.inf)
    center = add(axis[0], scale(axis[1], share))
    surface = point_to_solid(kind, size, center)
    return Witness(subtract(center, scale(surface.normal, radius)), surface.normal, surface.distance - radius)


@kernel
def _across(u: Vector, v: Vector) -> Vector:
    """A unit vector orthogonal to both axes."""
    n = normalized(cross(u, v))
    if dot(n, n) > 0.5:
        return n
    longer = normalized(u) if dot(u, u) >= dot(v, v) else normalized(v)
    return orthogonal(longer)
