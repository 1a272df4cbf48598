"""Goals of the chain solvers, and the error of one end-point.

A goal is a position, a direction of the site's own +Y, a full orientation, or a point for +Y to look at. All solvers of
`poise.chains` use the error defined here: a distance [m] for positions, an angle [rad] for all other goals.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.body.limits import nearest_turn
from poise.kernels.body.tree import forward
from poise.kernels.chains.chain import pointing
from poise.kernels.jit.compile import inner_kernel, kernel
from poise.kernels.maths.quaternion import (
    Quaternion,
    about,
    angle_of,
    conjugate,
    multiply,
    quaternion_at,
    rotate,
)
from poise.kernels.maths.vector import (
    Vector,
    add,
    angle_between,
    cross,
    dot,
    length,
    normalized,
    scale,
    subtract,
    vector_at,
)
from poise.kernels.reach.path import PathMemory, read_path

Array = np.ndarray

POSITION_GOAL, DIRECTION_GOAL, ORIENTATION_GOAL, LOOK_GOAL = 0, 1, 2, 3
"""Values of `ChainGoal.kind`."""


class ChainGoal(NamedTuple):
    """The goal of one site."""

    kind: int
    """POSITION_GOAL, DIRECTION_GOAL, ORIENTATION_GOAL or LOOK_GOAL."""
    vector: Vector
    """The position or the point to look at [m], or the unit direction; unused for an orientation."""
    rotation: Quaternion
    """World rotation wanted of the site; used for an orientation only."""


@kernel
def unpack_goal(goal: tuple[float, ...]) -> ChainGoal:
    """A goal from eight numbers: kind, vector, rotation."""
    return ChainGoal(int(goal[0]), Vector(goal[1], goal[2], goal[3]), Quaternion(goal[4], goal[5], goal[6], goal[7]))


class Tip(NamedTuple):
    """World frame of a site."""

    position: Vector
    """World position [m]."""
    rotation: Quaternion
    """World rotation."""


@kernel
def tip_of(site: Array, node: int, position: Array, rotation: Array) -> Tip:
    """World frame of a site, from the frames of all nodes; `site` (7,) is its position and rotation in its node."""
    carrier = quaternion_at(rotation, node)
    place = add(vector_at(position, node), rotate(carrier, Vector(site[0], site[1], site[2])))
    return Tip(place, multiply(carrier, Quaternion(site[3], site[4], site[5], site[6])))


@kernel
def goal_error(goal: ChainGoal, tip: Tip) -> float:
    """Distance from the position [m], or angle from the direction, orientation or line of sight [rad]."""
    if goal.kind == POSITION_GOAL:
        return length(subtract(goal.vector, tip.position))
    if goal.kind == DIRECTION_GOAL or goal.kind == LOOK_GOAL:
        return angle_between(pointing(tip.rotation), wanted_direction(goal, tip))
    return angle_of(multiply(goal.rotation, conjugate(tip.rotation)))


@kernel
def wanted_direction(goal: ChainGoal, tip: Tip) -> Vector:
    """The world direction that the tip's +Y must have; its current direction if the tip is at the point to look at."""
    if goal.kind == DIRECTION_GOAL:
        return goal.vector
    sight = subtract(goal.vector, tip.position)
    return normalized(sight) if dot(sight, sight) > 1e-24 else pointing(tip.rotation)


@kernel
def sight_line_point(goal: ChainGoal, tip: Tip, pivot: Vector, axis: Vector) -> Vector:
    """The point of the tip's line of sight whose distance from an axis is that of the point to look at.

    A turn about the axis can bring this point onto the target, up to a shift along the axis. If no point of the line is
    as near to the axis as the target, the nearest point is returned. A zero `axis` measures distances from `pivot`.
    """
    y = pointing(tip.rotation)
    r, p = subtract(tip.position, pivot), subtract(goal.vector, pivot)
    r = subtract(r, scale(axis, dot(r, axis)))
    p = subtract(p, scale(axis, dot(p, axis)))
    across = subtract(y, scale(axis, dot(y, axis)))
    square = dot(across, across)
    if square < 1e-24:
        return tip.position
    half = dot(r, across)
    rest = half * half - square * (dot(r, r) - dot(p, p))
    return add(tip.position, scale(y, (math.sqrt(max(0.0, rest)) - half) / square))


@kernel
def tip_after_rotation(tip: Tip, pivot: Vector, turn: Quaternion) -> Tip:
    """The tip after a rotation `turn` about the point `pivot`."""
    place = add(pivot, rotate(turn, subtract(tip.position, pivot)))
    return Tip(place, multiply(turn, tip.rotation))


@kernel
def angle_about(a: Vector, b: Vector, axis: Vector) -> float:
    """The turn about the unit vector `axis` that minimises the angle from `a` to `b` [rad]; 0 if it has no effect."""
    along = dot(a, axis) * dot(b, axis)
    x, y = dot(a, b) - along, dot(axis, cross(a, b))
    return math.atan2(y, x) if x * x + y * y > 1e-30 * dot(a, a) * dot(b, b) else 0.0


@kernel
def best_turn(goal: ChainGoal, tip: Tip, pivot: Vector, axis: Vector) -> float:
    """The turn about an axis through `pivot` that minimises the error of the goal [rad].

    For an orientation it is the twist about the axis of the residual rotation (w, v), 2 atan2(v · axis, w): of all
    turns about the axis it leaves the smallest angle.
    """
    if goal.kind == POSITION_GOAL:
        return angle_about(subtract(tip.position, pivot), subtract(goal.vector, pivot), axis)
    if goal.kind == DIRECTION_GOAL:
        return angle_about(pointing(tip.rotation), goal.vector, axis)
    if goal.kind == LOOK_GOAL:
        seen = sight_line_point(goal, tip, pivot, axis)
        return angle_about(subtract(seen, pivot), subtract(goal.vector, pivot), axis)
    left = multiply(goal.rotation, conjugate(tip.rotation))
    along = left.x * axis.x + left.y * axis.y + left.z * axis.z
    if along * along + left.w * left.w < 1e-30:
        return 0.0
    return nearest_turn(2.0 * math.atan2(along, left.w), 0.0)


@kernel
def angle_within_limits(angle: float, low: float, high: float, near: float) -> float:
    """The angle in [low, high] that equals `angle` modulo 2π and is nearest to `near` [rad].

    If none exists, the limit that is nearer to `angle` on the circle.
    """
    turn = 2.0 * math.pi
    inside = nearest_turn(angle, near)
    if inside < low:
        inside += turn * math.ceil((low - inside) / turn)
    elif inside > high:
        inside -= turn * math.ceil((inside - high) / turn)
    if low <= inside <= high:
        return inside
    below = abs(nearest_turn(angle - low, 0.0))
    above = abs(nearest_turn(angle - high, 0.0))
    return low if below <= above else high


@kernel
def tip_after_turn(axis: Vector, pivot: Vector, angle: float, tip: Tip) -> Tip:
    """The tip after a turn of `angle` about an axis through `pivot`."""
    return tip_after_rotation(tip, pivot, about(axis, angle))


@kernel
def tip_after_slide(tip: Tip, axis: Vector, way: float) -> Tip:
    """The tip after a slide of length `way` along `axis`."""
    return Tip(add(tip.position, scale(axis, way)), tip.rotation)


@kernel(counts_references=True)
def error_of(memory: PathMemory, q: Array, goal: tuple[float, ...]) -> float:
    """Error of posture `q` [m or rad]; the path and the goal are given as for `poise.kernels.chains.ccd.ccd`."""
    nodes = memory.parent.shape[0]
    position, rotation = np.empty((nodes, 3)), np.empty((nodes, 4))
    return _error_of(memory, q, unpack_goal(goal), position, rotation)


@inner_kernel
def _error_of(memory: PathMemory, q: Array, goal: ChainGoal, position: Array, rotation: Array) -> float:
    path = read_path(memory)
    forward(path.tree, q, position, rotation)
    return goal_error(goal, tip_of(path.site, path.node, position, rotation))
