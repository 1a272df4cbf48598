"""The hinges on the way to a tip that move it in one plane, and the hinge that turns the plane.

Hinges with parallel axes move a tip in a plane. The largest group of them on the way to the tip is taken, the one
nearest to the tip among equals. All others stay as they are, but the last hinge before the group, which turns the plane
to where the target is: the turntable of an arm.

Turning the plane by φ is turning the target by -φ about the turntable's axis w through c. With v = target - c and the
plane's normal n, the target's height over the plane is C + A cos φ + B sin φ, C = (n·w)(v·w), A = n·v - C,
B = -n·(w × v). It is the tip's own height, which no hinge of the group changes, for two values of φ, or for none, and
then the nearest it gets is taken.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.body.limits import nearest_turn
from poise.kernels.body.tree import TURN, forward
from poise.kernels.chains.goal import Tip, tip_of
from poise.kernels.jit.compile import inner_kernel, kernel
from poise.kernels.maths.quaternion import about, quaternion_at, rotate
from poise.kernels.maths.vector import Vector, add, cross, dot, length, orthogonal, subtract, vector_at
from poise.kernels.reach.path import Path

Array = np.ndarray

PARALLEL = 1e-9
"""How far the cosine of two parallel axes may be from 1."""
SHORTEST = 1e-9
"""A link shorter than this has no direction, and a lever shorter than this no effect [m]."""


class Planar(NamedTuple):
    """A group of parallel hinges in one posture; arrays have room for all hinges on the way."""

    place: Array
    """(h,) where each hinge's value is in q, from the base to the tip."""
    length: Array
    """(h,) from each hinge to the next in the plane, the last to the tip [m]."""
    heading: Array
    """(h,) direction of each link in the plane [rad]."""
    sign: Array
    """(h,) 1 where the hinge's axis is the plane's normal, -1 where it is opposite."""
    x: Array
    """(h + 1,) hinges and tip in the plane, from the base [m]."""
    y: Array
    """(h + 1,)"""


class Setting(NamedTuple):
    """Where the plane is, and what turns it."""

    hinges: int
    """Hinges in the group; with fewer than two nothing else means anything."""
    base: Vector
    """The first hinge of the group [m]."""
    normal: Vector
    level: float
    """Height of the tip over the plane through the base [m]."""
    table: int
    """Where the turntable's value is in q; -1 without one."""
    center: Vector
    """A point of its axis [m]."""
    axis: Vector
    """Its axis."""


@inner_kernel
def find_plane(
    path: Path, q: Array, position: Array, rotation: Array, hinges: Array, group: Array,
    # outputs
    flat: Planar,
) -> Setting:  # fmt: skip
    """The planar part of a path in posture `q`.

    Args:
        path: The way to the tip.
        q: (nq,) the posture.
        position: (n, 3) room for the nodes' places.
        rotation: (n, 4) room for their rotations.
        hinges: (n,) room for the hinges that may move.
        group: (n,) room for the group.
        flat: The group.
    """
    tree = path.tree
    forward(tree, q, position, rotation)
    tip = tip_of(path.site, path.node, position, rotation)
    total = _find_hinges(path, hinges)
    count = 0
    for last in range(total - 1, -1, -1):
        found = _parallel(path, hinges, total, last, tip, position, rotation, group, 0)
        if found > count:
            count = _parallel(path, hinges, total, last, tip, position, rotation, group, group.shape[0] // 2)
    zero = Vector(0.0, 0.0, 0.0)
    if count < 2:
        return Setting(count, zero, zero, 0.0, -1, zero, zero)
    half = group.shape[0] // 2
    base, normal = vector_at(position, group[half]), _axis(path, rotation, group[half + count - 1])
    _lay_out(path, group, half, count, tip, base, normal, position, rotation, flat)
    level = dot(normal, subtract(tip.position, base))
    table, center, axis = -1, zero, zero
    for i in range(total):
        if hinges[i] < group[half]:
            table = tree.q_start[hinges[i]]
            center, axis = vector_at(position, hinges[i]), _axis(path, rotation, hinges[i])
    return Setting(count, base, normal, level, table, center, axis)


@inner_kernel
def _axis(path: Path, rotation: Array, node: int) -> Vector:
    return rotate(quaternion_at(rotation, node), vector_at(path.tree.axis, node))


@inner_kernel
def _find_hinges(path: Path, hinges: Array) -> int:
    """List the hinges that may move, from the root up."""
    total = 0
    for i in range(1, path.node + 1):
        if path.tree.kind[i] == TURN and path.dof_held[path.tree.v_start[i]] == 0:
            hinges[total] = i
            total += 1
    return total


@inner_kernel
def _parallel(
    path: Path, hinges: Array, total: int, last: int, tip: Tip, position: Array, rotation: Array, group: Array,
    first: int,
) -> int:  # fmt: skip
    """List in `group`, from `first` on, the hinges parallel to one that move what comes after them; returns how many.

    From the tip down, a hinge whose axis goes through the next point of the chain does not move it in the plane.
    """
    axis, after, count = _axis(path, rotation, hinges[last]), tip.position, 0
    for i in range(total - 1, -1, -1):
        if abs(abs(dot(_axis(path, rotation, hinges[i]), axis)) - 1.0) < PARALLEL:
            here = vector_at(position, hinges[i])
            if length(cross(axis, subtract(after, here))) > SHORTEST:
                group[first + count] = hinges[i]
                count += 1
                after = here
    for i in range(count // 2):
        a, b = first + i, first + count - 1 - i
        group[a], group[b] = group[b], group[a]
    return count


@inner_kernel
def _lay_out(
    path: Path, group: Array, first: int, count: int, tip: Tip, base: Vector, normal: Vector, position: Array,
    rotation: Array, flat: Planar,
) -> None:  # fmt: skip
    """The group in the axes of its plane."""
    e = orthogonal(normal)
    f = cross(normal, e)
    for k in range(count + 1):
        there = tip.position if k == count else vector_at(position, group[first + k])
        way = subtract(there, base)
        flat.x[k], flat.y[k] = dot(e, way), dot(f, way)
    for k in range(count):
        node = group[first + k]
        flat.place[k] = path.tree.q_start[node]
        dx, dy = flat.x[k + 1] - flat.x[k], flat.y[k + 1] - flat.y[k]
        flat.length[k], flat.heading[k] = math.hypot(dx, dy), math.atan2(dy, dx)
        flat.sign[k] = 1.0 if dot(_axis(path, rotation, node), normal) > 0.0 else -1.0


@kernel
def in_plane(setting: Setting, target: Vector) -> tuple[float, float, float]:
    """A world point in the axes of the plane, and its height over the tip's own [m]."""
    way = subtract(target, setting.base)
    e = orthogonal(setting.normal)
    return dot(e, way), dot(cross(setting.normal, e), way), dot(setting.normal, way) - setting.level


@kernel
def turntable_turns(setting: Setting, target: Vector) -> tuple[float, float]:
    """The two turns of the turntable that bring the target to the plane, or as near as it gets [rad]."""
    n, w = setting.normal, setting.axis
    v = subtract(target, setting.center)
    constant = dot(n, w) * dot(v, w)
    a, b = dot(n, v) - constant, -dot(n, cross(w, v))
    size = math.hypot(a, b)
    if size < SHORTEST:
        return 0.0, 0.0
    wanted = setting.level + dot(n, subtract(setting.base, setting.center)) - constant
    middle, spread = math.atan2(b, a), math.acos(min(1.0, max(-1.0, wanted / size)))
    return nearest_turn(middle + spread, 0.0), nearest_turn(middle - spread, 0.0)


@kernel
def seen_after_turn(setting: Setting, target: Vector, turn: float) -> Vector:
    """Where the target is for a plane that the turntable has turned."""
    back = about(setting.axis, -turn)
    return add(setting.center, rotate(back, subtract(target, setting.center)))
