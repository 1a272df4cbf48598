"""What a chain solver is asked, and how far off one end-point is.

A goal is a position, a direction of the site's own +Y, or a full orientation. All solvers of `poise.chains` measure
their error here: a distance [m] for positions, an angle [rad] for directions and orientations.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.compile import kernel
from poise.kernels.limits import nearest_turn
from poise.kernels.quaternion import (
    Quaternion,
    about,
    angle_of,
    conjugate,
    multiply,
    quaternion_at,
    rotate,
)
from poise.kernels.vector import Vector, add, angle_between, cross, dot, length, scale, subtract, vector_at

Array = np.ndarray

POSITION, DIRECTION, ORIENTATION = 0, 1, 2
POINTING = Vector(0.0, 1.0, 0.0)
"""The axis of a site that a direction is about."""


class ChainGoal(NamedTuple):
    """What is asked of one site."""

    kind: int
    vector: Vector
    """The position [m], or the unit direction."""
    rotation: Quaternion


class Tip(NamedTuple):
    """Where a site is."""

    position: Vector
    rotation: Quaternion


@kernel(borrows=True)
def tip_of(site: Array, node: int, position: Array, rotation: Array) -> Tip:
    """World frame of a site whose place in its node is `site` (7,), from the frames of all nodes."""
    carrier = quaternion_at(rotation, node)
    place = add(vector_at(position, node), rotate(carrier, Vector(site[0], site[1], site[2])))
    return Tip(place, multiply(carrier, Quaternion(site[3], site[4], site[5], site[6])))


@kernel(borrows=True)
def goal_error(goal: ChainGoal, tip: Tip) -> float:
    """Distance from the position [m], or angle from the direction or orientation [rad]."""
    if goal.kind == POSITION:
        return length(subtract(goal.vector, tip.position))
    if goal.kind == DIRECTION:
        return angle_between(rotate(tip.rotation, Vector(0.0, 1.0, 0.0)), goal.vector)
    return angle_of(multiply(goal.rotation, conjugate(tip.rotation)))


@kernel(borrows=True)
def turned_tip(tip: Tip, pivot: Vector, turn: Quaternion) -> Tip:
    """The tip after everything turned about a point."""
    place = add(pivot, rotate(turn, subtract(tip.position, pivot)))
    return Tip(place, multiply(turn, tip.rotation))


@kernel(borrows=True)
def angle_about(a: Vector, b: Vector, axis: Vector) -> float:
    """The turn about the unit vector `axis` that takes `a` as near to `b` as it can [rad]; 0 when none does."""
    along = dot(a, axis) * dot(b, axis)
    x, y = dot(a, b) - along, dot(axis, cross(a, b))
    return math.atan2(y, x) if x * x + y * y > 1e-30 * dot(a, a) * dot(b, b) else 0.0


@kernel(borrows=True)
def best_turn(goal: ChainGoal, tip: Tip, pivot: Vector, axis: Vector) -> float:
    """The turn about an axis through `pivot` that brings the error to its minimum [rad].

    For an orientation it is the twist about the axis of what is left, 2 atan2(v · axis, w): of all turns about the axis
    it leaves the smallest angle.
    """
    if goal.kind == POSITION:
        return angle_about(subtract(tip.position, pivot), subtract(goal.vector, pivot), axis)
    if goal.kind == DIRECTION:
        return angle_about(rotate(tip.rotation, Vector(0.0, 1.0, 0.0)), goal.vector, axis)
    left = multiply(goal.rotation, conjugate(tip.rotation))
    along = left.x * axis.x + left.y * axis.y + left.z * axis.z
    if along * along + left.w * left.w < 1e-30:
        return 0.0
    return nearest_turn(2.0 * math.atan2(along, left.w), 0.0)


@kernel(borrows=True)
def legal_angle(angle: float, low: float, high: float, near: float) -> float:
    """The angle in [low, high] that turns as `angle` does and is nearest to `near`; else the bound nearest around."""
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


@kernel(borrows=True)
def turn_about(axis: Vector, pivot: Vector, angle: float, tip: Tip) -> Tip:
    """The tip after a turn of `angle` about an axis through `pivot`."""
    return turned_tip(tip, pivot, about(axis, angle))


@kernel(borrows=True)
def moved_tip(tip: Tip, axis: Vector, way: float) -> Tip:
    """The tip after a slide along `axis`."""
    return Tip(add(tip.position, scale(axis, way)), tip.rotation)
