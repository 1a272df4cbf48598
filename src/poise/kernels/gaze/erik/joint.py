"""ERIK's joint model: what angle takes a joint's segment to a target [Ribeiro & Paiva 2019, 3.4].

The *latitude* of a direction t seen from joint k is t · p, with p the segment below. A swing by θ takes the joint's own
segment to the latitude C + A cos θ + B sin θ (the constants `Chain.bend`), which has two roots, one in each
*hemisphere*: the side of the plane of axis and p on which the segment comes to lie. The paper tabulates the roots
(LALUT); solving for them is exact, and the default.
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

SHORT = 1e-4
"""A projection shorter than this has no direction worth following."""
PARALLEL = 1e-6
"""How far the cosine of two parallel directions may be from 1."""
AT_LIMIT = 1e-6
"""A joint this near to a limit is at it [rad]."""


class Lalut(NamedTuple):
    """The latitude look-up table: angles of every joint over latitude, one row for each hemisphere."""

    latitude: Array
    """(n, 2, m) rising latitudes, from 0 to 1; hemisphere 0 is the negative one."""
    angle: Array
    """(n, 2, m) the angle that reaches each [rad]."""
    entries: Array
    """(n, 2) how many there are; all zero to solve for the angle instead."""


@kernel
def across(v: Vector, n: Vector) -> Vector:
    """v - (v · n) n: the part of `v` at right angles to the unit vector `n`."""
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
    """1 for a twister about its segment's +Y, -1 for one about -Y."""
    return 1.0 if chain.axis[k, 1] > 0.0 else -1.0


@kernel
def parent_direction(chain: Chain, k: int) -> Vector:
    """The segment below joint `k`, in the joint's frame at angle 0; for the root, its own segment."""
    y = Vector(0.0, 1.0, 0.0)
    return y if k == 0 else rotate(conjugate(quaternion_at(chain.rest, k)), y)


@kernel
def hemisphere_of(chain: Chain, k: int, direction: Vector) -> int:
    """1 on the positive side of the plane of axis and segment below, else -1 [Ribeiro & Paiva 2019, eq. 16]."""
    return -1 if dot(direction, cross(vector_at(chain.axis, k), parent_direction(chain, k))) < 0.0 else 1


@kernel
def swing_angle(chain: Chain, lalut: Lalut, k: int, direction: Vector, side: int) -> float:
    """Angle within limits that brings the segment to the latitude of `direction` on one side, 1 or -1 [rad]."""
    latitude = dot(direction, parent_direction(chain, k))
    if lalut.entries[k, 0] + lalut.entries[k, 1] > 0:
        return clamped(chain, k, _looked_up(lalut, k, 0.5 * (latitude + 1.0), 1 if side > 0 else 0))
    c, a, b = chain.bend[k, 0], chain.bend[k, 1], chain.bend[k, 2]
    size = math.sqrt(a * a + b * b)
    if size < PARALLEL:
        return clamped(chain, k, _heading(chain, k, direction))
    apart = arc_cosine(min(max((latitude - c) / size, -1.0), 1.0))
    middle = arc_tangent(b, a)
    # The height of the segment over the plane of axis and p is R sin(θ - middle) for the same R.
    return clamped(chain, k, wrapped(middle + apart if side > 0 else middle - apart))


@kernel
def _heading(chain: Chain, k: int, direction: Vector) -> float:
    """Angle that turns the segment to the heading of `direction` about an axis that keeps its latitude [rad]."""
    axis = vector_at(chain.axis, k)
    mine, wanted = across(Vector(0.0, 1.0, 0.0), axis), across(direction, axis)
    if length(mine) < SHORT or length(wanted) < SHORT:
        return 0.0
    return signed_angle(mine, wanted, axis)


@kernel
def _looked_up(lalut: Lalut, k: int, latitude: float, row: int) -> float:
    """The table's angle for a latitude, linear between entries; outside them, the nearest entry's."""
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
    """The angle if it is legal; else half a turn away, which bends in the same plane; else the nearest limit.

    [Ribeiro & Paiva 2019, alg. 12]; the tip, which has nothing above it to bend, is not turned around.
    """
    angle = wrapped(angle)
    if not allows(chain, k, angle) and k < chain.role.shape[0] - 1:
        around = wrapped(angle + math.pi)
        if allows(chain, k, around):
            return around
    return clamped(chain, k, angle)


@kernel
def off_edge(chain: Chain, k: int, angle: float, step: float) -> float:
    """The angle, a step inside if it is at a limit [Ribeiro & Paiva 2019, 7.1 AvoidJointEdge]."""
    if abs(angle - chain.lower[k]) <= AT_LIMIT:
        return min(angle + step, chain.upper[k])
    if abs(angle - chain.upper[k]) <= AT_LIMIT:
        return max(angle - step, chain.lower[k])
    return angle


@kernel
def twist_between(target: Quaternion, current: Quaternion) -> float:
    """Turn about the current frame's y that brings its x or z nearest to the target's [Ribeiro & Paiva 2019, alg. 17].

    Of x and z, the one whose target lies more across that y decides.
    """
    tx, _, tz = columns(target)
    cx, cy, cz = columns(current)
    if abs(dot(tx, cy)) < abs(dot(tz, cy)):
        return signed_angle(cx, across(tx, cy), cy)
    return signed_angle(cz, across(tz, cy), cy)


@kernel
def tip_twist(chain: Chain, angle: float, symmetric: int) -> float:
    """Angle of the last joint: as given, or half a turn away where the tip may be upside down.

    Of the two, the one within limits, and the nearer to zero if both are or none is; then the nearest limit
    [Ribeiro & Paiva 2019, alg. 15 l. 6-10].
    """
    last = chain.role.shape[0] - 1
    angle = wrapped(angle)
    around = wrapped(angle + math.pi)
    if symmetric:
        legal, legal_around = allows(chain, last, angle), allows(chain, last, around)
        if legal_around > legal or (legal_around == legal and abs(around) < abs(angle)):
            angle = around
    return clamped(chain, last, angle)
