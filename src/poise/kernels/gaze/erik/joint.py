"""ERIK's joint model: the angle of a joint that turns its segment to a target direction [Ribeiro & Paiva 2019, 3.4].

The *latitude* of a direction t at joint k is t · p, with p the direction of the previous segment. A swing by θ brings
the joint's own segment to the latitude C + A cos θ + B sin θ (the constants `Chain.bend`). A latitude has two such
angles, one in each *hemisphere*, the two sides of the plane through the axis and p. The paper tabulates these angles
(LALUT); the default here is to solve for them, which is exact.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.chains.chain import Chain, allows, clamped, wrapped
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.portable_trigonometry import arc_cosine, arc_tangent
from poise.kernels.maths.quaternion import Quaternion, columns, conjugate, quaternion_at, rotate
from poise.kernels.maths.vector import Vector, cross, dot, length, scale, subtract, vector_at

Array = np.ndarray

SHORTEST_PROJECTION = 1e-4
"""The direction of a projected unit vector shorter than this is not used."""
PARALLEL_TOLERANCE = 1e-6
"""Unit directions are parallel if the absolute cosine of their angle differs from 1 by less than this."""
EDGE_DISTANCE = 1e-6
"""A joint within this distance of a limit counts as at the limit [rad]."""


class Lalut(NamedTuple):
    """The latitude look-up table: the angle of each joint as a function of latitude, in each hemisphere."""

    latitude: Array
    """(n, 2, m) increasing latitudes, mapped to [0, 1]; index 0 of the second axis is the negative hemisphere."""
    angle: Array
    """(n, 2, m) the angle of each latitude [rad]."""
    entries: Array
    """(n, 2) number of entries; all zero to solve for the angle instead."""


@kernel
def perpendicular(v: Vector, n: Vector) -> Vector:
    """v - (v · n) n: the part of `v` perpendicular to the unit vector `n`."""
    return subtract(v, scale(n, dot(v, n)))


@kernel
def signed_angle(a: Vector, b: Vector, axis: Vector) -> float:
    """Angle from `a` to `b`, positive about `axis` [rad]."""
    n = cross(a, b)
    angle = arc_tangent(length(n), dot(a, b))
    return -angle if dot(axis, n) < 0.0 else angle


@kernel
def twist_of(q: Quaternion) -> float:
    """Angle of the twist about y in q = swing ⊗ twist [rad], in (-π, π]."""
    return wrapped(2.0 * arc_tangent(q.y, q.w))


@kernel
def twist_sign(chain: Chain, k: int) -> float:
    """1 for a twister whose axis is its segment's +Y, -1 for one whose axis is -Y."""
    return 1.0 if chain.axis[k, 1] > 0.0 else -1.0


@kernel
def parent_direction(chain: Chain, k: int) -> Vector:
    """Direction of the previous segment in the frame of joint `k` at angle 0; for the root, of its own segment."""
    y = Vector(0.0, 1.0, 0.0)
    return y if k == 0 else rotate(conjugate(quaternion_at(chain.rest, k)), y)


@kernel
def hemisphere_of(chain: Chain, k: int, direction: Vector) -> int:
    """1 or -1: the side of the plane of axis and previous segment `direction` is on [Ribeiro & Paiva 2019, eq. 16]."""
    return -1 if dot(direction, cross(vector_at(chain.axis, k), parent_direction(chain, k))) < 0.0 else 1


@kernel
def swing_angle(chain: Chain, lalut: Lalut, k: int, direction: Vector, side: int) -> float:
    """Angle within limits that brings the segment to the latitude of `direction` in hemisphere `side`, ±1 [rad]."""
    latitude = dot(direction, parent_direction(chain, k))
    if lalut.entries[k, 0] + lalut.entries[k, 1] > 0:
        return clamped(chain, k, _table_angle(lalut, k, 0.5 * (latitude + 1.0), 1 if side > 0 else 0))
    c, a, b = chain.bend[k, 0], chain.bend[k, 1], chain.bend[k, 2]
    size = math.sqrt(a * a + b * b)
    if size < PARALLEL_TOLERANCE:
        return clamped(chain, k, _heading(chain, k, direction))
    apart = arc_cosine(min(max((latitude - c) / size, -1.0), 1.0))
    middle = arc_tangent(b, a)
    # The segment's height over the plane of axis and p is R sin(θ - middle), so `apart` > 0 is the positive side.
    return clamped(chain, k, wrapped(middle + apart if side > 0 else middle - apart))


@kernel
def _heading(chain: Chain, k: int, direction: Vector) -> float:
    """Angle that turns the segment to the heading of `direction` about an axis that keeps its latitude [rad]."""
    axis = vector_at(chain.axis, k)
    current, wanted = perpendicular(Vector(0.0, 1.0, 0.0), axis), perpendicular(direction, axis)
    if length(current) < SHORTEST_PROJECTION or length(wanted) < SHORTEST_PROJECTION:
        return 0.0
    return signed_angle(current, wanted, axis)


@kernel
def _table_angle(lalut: Lalut, k: int, latitude: float, row: int) -> float:
    """The table's angle at a latitude, interpolated linearly; outside the table, that of the nearest entry [rad]."""
    last = lalut.entries[k, row] - 1
    if last < 0:
        return 0.0
    low, high = 0, last
    while high - low > 1:
        half = (low + high) // 2
        if lalut.latitude[k, row, half] <= latitude:
            low = half
        else:
            high = half
    start, stop = lalut.latitude[k, row, low], lalut.latitude[k, row, high]
    part = 0.0 if stop <= start else min(max((latitude - start) / (stop - start), 0.0), 1.0)
    return (1.0 - part) * lalut.angle[k, row, low] + part * lalut.angle[k, row, high]


@kernel
def safe_twist(chain: Chain, k: int, angle: float) -> float:
    """The angle if it is within limits; else half a turn away, if that is; else the nearest limit [rad].

    Half a turn keeps the plane in which the next joint bends [Ribeiro & Paiva 2019, alg. 12]. The tip has no next
    joint and is not turned by half a turn.
    """
    angle = wrapped(angle)
    if not allows(chain, k, angle) and k < chain.role.shape[0] - 1:
        around = wrapped(angle + math.pi)
        if allows(chain, k, around):
            return around
    return clamped(chain, k, angle)


@kernel
def step_off_limit(chain: Chain, k: int, angle: float, step: float) -> float:
    """The angle, moved inside by `step` if it is at a limit [Ribeiro & Paiva 2019, 7.1 AvoidJointEdge]."""
    if abs(angle - chain.lower[k]) <= EDGE_DISTANCE:
        return min(angle + step, chain.upper[k])
    if abs(angle - chain.upper[k]) <= EDGE_DISTANCE:
        return max(angle - step, chain.lower[k])
    return angle


@kernel
def twist_between(target: Quaternion, current: Quaternion) -> float:
    """Turn about the current frame's y that brings its x or z nearest to the target's [Ribeiro & Paiva 2019, alg. 17].

    Of x and z, the one whose target is more nearly perpendicular to y is used.
    """
    tx, _, tz = columns(target)
    cx, cy, cz = columns(current)
    if abs(dot(tx, cy)) < abs(dot(tz, cy)):
        return signed_angle(cx, perpendicular(tx, cy), cy)
    return signed_angle(cz, perpendicular(tz, cy), cy)


@kernel
def tip_twist(chain: Chain, angle: float, symmetric: int) -> float:
    """Angle of the last joint, clamped to its limits: as given, or half a turn away if `symmetric` [rad].

    Of the two, the one within limits; the nearer to zero if both or neither are [Ribeiro & Paiva 2019, alg. 15
    l. 6-10].
    """
    last = chain.role.shape[0] - 1
    angle = wrapped(angle)
    around = wrapped(angle + math.pi)
    if symmetric:
        legal, legal_around = allows(chain, last, angle), allows(chain, last, around)
        if legal_around > legal or (legal_around == legal and abs(around) < abs(angle)):
            angle = around
    return clamped(chain, last, angle)
