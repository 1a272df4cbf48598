"""The parallel hinges of a path, which move its tip in a plane, and the hinge that turns that plane.

Hinges with parallel axes move a tip in a plane. `find_plane` takes the largest group of them on the path; of groups of
equal size, the one nearest to the tip. All other joints stay as they are, except the last hinge before the group, the
*turntable* of an arm, which turns the plane towards the target.

Turning the plane by φ is the same as turning the target by -φ about the turntable's axis w through c. With
v = target - c and the plane's normal n, the target's height over the plane is C + A cos φ + B sin φ, C = (n·w)(v·w),
A = n·v - C, B = -n·(w × v). No hinge of the group changes the tip's own height. Two values of φ give the target that
height, or none does, and then the φ that comes nearest is used.
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

PARALLEL_COSINE_ERROR = 1e-9
"""Axes are parallel if the absolute cosine of their angle differs from 1 by less than this."""
SHORTEST_LINK = 1e-9
"""A link shorter than this has no direction, and a lever arm shorter than this no effect [m]."""


class PlanarHinges(NamedTuple):
    """A group of parallel hinges in one posture; h is the size of the arrays, the group may be smaller."""

    q_index: Array
    """(h,) index of each hinge's value in q, from the base to the tip."""
    length: Array
    """(h,) distance in the plane from each hinge to the next, and from the last to the tip [m]."""
    heading: Array
    """(h,) direction of each link in the plane [rad]."""
    sign: Array
    """(h,) 1 if the hinge's axis is the plane's normal, -1 if it is opposite."""
    x: Array
    """(h + 1,) first plane coordinate of the hinges and the tip, relative to the base [m]."""
    y: Array
    """(h + 1,) second plane coordinate [m]."""


class MotionPlane(NamedTuple):
    """The plane in which a group of parallel hinges moves the tip, and the turntable that turns it."""

    hinges: int
    """Number of hinges in the group; with fewer than two all other fields are meaningless."""
    base: Vector
    """Position of the first hinge of the group [m]."""
    normal: Vector
    """Unit normal of the plane."""
    tip_height: float
    """Height of the tip over the plane through the base [m]."""
    turntable: int
    """Index of the turntable's value in q; -1 without a turntable."""
    center: Vector
    """A point of the turntable's axis [m]."""
    axis: Vector
    """Unit vector of the turntable's axis."""


@inner_kernel
def find_plane(
    path: Path, q: Array, position: Array, rotation: Array, hinges: Array, group: Array,
    # outputs
    planar: PlanarHinges,
) -> MotionPlane:  # fmt: skip
    """Find the largest group of parallel hinges on a path in posture `q`, and the plane in which they move the tip.

    Args:
        path: The path from the root to the tip.
        q: (nq,) the posture.
        position: (n, 3) scratch array for the positions of the nodes.
        rotation: (n, 4) scratch array for their rotations.
        hinges: (n,) scratch array for the hinges that may move.
        group: (2 n,) scratch array for two groups of hinges.
        planar: The hinges of the group in the axes of the plane.
    """
    tree = path.tree
    forward(tree, q, position, rotation)
    tip = tip_of(path.site, path.node, position, rotation)
    total = _find_hinges(path, hinges)
    count = 0
    for last in range(total - 1, -1, -1):
        found = _parallel_hinges(path, hinges, total, last, tip, position, rotation, group, 0)
        if found > count:
            count = _parallel_hinges(path, hinges, total, last, tip, position, rotation, group, group.shape[0] // 2)
    zero = Vector(0.0, 0.0, 0.0)
    if count < 2:
        return MotionPlane(count, zero, zero, 0.0, -1, zero, zero)
    half = group.shape[0] // 2
    base, normal = vector_at(position, group[half]), _world_axis(path, rotation, group[half + count - 1])
    _fill_planar_hinges(path, group, half, count, tip, base, normal, position, rotation, planar)
    tip_height = dot(normal, subtract(tip.position, base))
    turntable, center, axis = -1, zero, zero
    for i in range(total):
        if hinges[i] < group[half]:
            turntable = tree.q_start[hinges[i]]
            center, axis = vector_at(position, hinges[i]), _world_axis(path, rotation, hinges[i])
    return MotionPlane(count, base, normal, tip_height, turntable, center, axis)


@inner_kernel
def _world_axis(path: Path, rotation: Array, node: int) -> Vector:
    return rotate(quaternion_at(rotation, node), vector_at(path.tree.axis, node))


@inner_kernel
def _find_hinges(path: Path, hinges: Array) -> int:
    """List the nodes of the hinges that may move, from the root to the tip; returns their number."""
    total = 0
    for i in range(1, path.node + 1):
        if path.tree.kind[i] == TURN and path.dof_held[path.tree.v_start[i]] == 0:
            hinges[total] = i
            total += 1
    return total


@inner_kernel
def _parallel_hinges(
    path: Path, hinges: Array, total: int, last: int, tip: Tip, position: Array, rotation: Array, group: Array,
    first: int,
) -> int:  # fmt: skip
    """Write to `group[first:]` the hinges that are parallel to hinge `last` and move the next hinge; returns how many.

    A hinge whose axis passes through the next hinge of the group, or the tip, does not move it and is left out.
    """
    axis, after, count = _world_axis(path, rotation, hinges[last]), tip.position, 0
    for i in range(total - 1, -1, -1):
        if abs(abs(dot(_world_axis(path, rotation, hinges[i]), axis)) - 1.0) < PARALLEL_COSINE_ERROR:
            here = vector_at(position, hinges[i])
            if length(cross(axis, subtract(after, here))) > SHORTEST_LINK:
                group[first + count] = hinges[i]
                count += 1
                after = here
    for i in range(count // 2):
        a, b = first + i, first + count - 1 - i
        group[a], group[b] = group[b], group[a]
    return count


@inner_kernel
def _fill_planar_hinges(
    path: Path, group: Array, first: int, count: int, tip: Tip, base: Vector, normal: Vector, position: Array,
    rotation: Array, planar: PlanarHinges,
) -> None:  # fmt: skip
    """Fill `planar` with the hinges of the group in the axes of their plane."""
    e = orthogonal(normal)
    f = cross(normal, e)
    for k in range(count + 1):
        there = tip.position if k == count else vector_at(position, group[first + k])
        way = subtract(there, base)
        planar.x[k], planar.y[k] = dot(e, way), dot(f, way)
    for k in range(count):
        node = group[first + k]
        planar.q_index[k] = path.tree.q_start[node]
        dx, dy = planar.x[k + 1] - planar.x[k], planar.y[k + 1] - planar.y[k]
        planar.length[k], planar.heading[k] = math.hypot(dx, dy), math.atan2(dy, dx)
        planar.sign[k] = 1.0 if dot(_world_axis(path, rotation, node), normal) > 0.0 else -1.0


@kernel
def plane_coordinates(plane: MotionPlane, target: Vector) -> tuple[float, float, float]:
    """Coordinates of a world point in the plane, and its height over the plane of the tip [m]."""
    way = subtract(target, plane.base)
    e = orthogonal(plane.normal)
    return dot(e, way), dot(cross(plane.normal, e), way), dot(plane.normal, way) - plane.tip_height


@kernel
def turntable_turns(plane: MotionPlane, target: Vector) -> tuple[float, float]:
    """The two turns of the turntable that bring the plane to the target, or as near as possible [rad]."""
    n, w = plane.normal, plane.axis
    v = subtract(target, plane.center)
    constant = dot(n, w) * dot(v, w)
    a, b = dot(n, v) - constant, -dot(n, cross(w, v))
    size = math.hypot(a, b)
    if size < SHORTEST_LINK:
        return 0.0, 0.0
    wanted = plane.tip_height + dot(n, subtract(plane.base, plane.center)) - constant
    middle, spread = math.atan2(b, a), math.acos(min(1.0, max(-1.0, wanted / size)))
    return nearest_turn(middle + spread, 0.0), nearest_turn(middle - spread, 0.0)


@kernel
def target_after_turn(plane: MotionPlane, target: Vector, turn: float) -> Vector:
    """The target turned by -`turn` about the turntable's axis, which is equivalent to turning the plane by `turn`."""
    back = about(plane.axis, -turn)
    return add(plane.center, rotate(back, subtract(target, plane.center)))
