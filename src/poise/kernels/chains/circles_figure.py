"""Intersection of circles on a figure: turn the plane to the target, then place the chain in it."""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.body.limits import nearest_turn
from poise.kernels.body.tree import forward
from poise.kernels.chains.circles import KEEP_HEADINGS
from poise.kernels.chains.circles_limits import place_chain
from poise.kernels.chains.goal import legal_angle, tip_of
from poise.kernels.chains.plane import Planar, Setting, find_plane, in_plane, seen_after_turn, turntable_turns
from poise.kernels.jit.compile import inner_kernel, kernel
from poise.kernels.maths.vector import Vector, length, subtract
from poise.kernels.reach.path import Path, unflatten

Array = np.ndarray

TURNED = 1e-12
"""How far a turntable may stop before where it should and still be there [rad], or a target be from a zone [m]."""


class Placed(NamedTuple):
    """What came of one end-point."""

    hinges: int
    """In the group that moves it; with fewer than two nothing was done."""
    placements: int
    inside: bool
    """Whether the target is in the plane and between the safe zones."""
    error: float
    """Distance of the tip from the target [m]."""


class Zones(NamedTuple):
    """The safe zones of a chain, and how many hinges it has."""

    hinges: int
    least: float
    most: float


class _Room(NamedTuple):
    """Everything a placement writes to besides its answer."""

    position: Array
    rotation: Array
    hinges: Array
    group: Array
    flat: Planar
    chain: Array
    """(5, h) values, limits, sides and results of the group."""
    attempt: Array
    """(8, h + 1)"""


@kernel(counts_references=True)
def circles_figure(
    integers: Array, numbers: Array, start: Array, target: Vector, tolerance: float, keep: float,
    # outputs
    q: Array,
    moves: Array,
) -> Placed:  # fmt: skip
    """Put a tip on a target.

    Args:
        integers: The path, see `reach_path.flatten`.
        numbers: The path.
        start: (nq,) legal posture to begin in.
        target: Where the tip must be [m].
        tolerance: How far from the plane a target may be and still be in it [m].
        keep: KEEP_HEADINGS or KEEP_DISTANCES; 0 for the paper's choice.
        q: (nq,) the posture found.
        moves: (nq,) set to 1 for the coordinates that take part.
    """
    nodes = integers[1] - integers[0]
    return _circles_figure(integers, numbers, start, target, tolerance, keep, _make_room(nodes), q, moves)


@kernel(counts_references=True)
def circle_zones(integers: Array, numbers: Array, q: Array) -> Zones:
    """The safe zones of a path's tip in posture `q`."""
    return _circle_zones(integers, numbers, q, _make_room(integers[1] - integers[0]))


@kernel(counts_references=True)
def _make_room(n: int) -> _Room:
    flat = Planar(np.empty(n, dtype=np.int64), np.empty(n), np.empty(n), np.empty(n), np.empty(n + 1), np.empty(n + 1))
    return _Room(
        np.empty((n, 3)),
        np.empty((n, 4)),
        np.empty(n, dtype=np.int64),
        np.empty(2 * n, dtype=np.int64),
        flat,
        np.empty((5, n)),
        np.empty((8, n + 1)),
    )


@inner_kernel
def _circle_zones(integers: Array, numbers: Array, q: Array, room: _Room) -> Zones:
    path = unflatten(integers, numbers)
    setting = find_plane(path, q, room.position, room.rotation, room.hinges, room.group, room.flat)
    least, most = _zones(room.flat.length, setting.hinges)
    return Zones(setting.hinges, least, most)


@kernel
def _zones(links: Array, count: int) -> tuple[float, float]:
    """max(0, 2 max r - Σ r) and Σ r of the first links."""
    total, longest = 0.0, 0.0
    for k in range(count):
        total += links[k]
        longest = max(longest, links[k])
    return max(0.0, 2.0 * longest - total), total


@inner_kernel
def _circles_figure(
    integers: Array, numbers: Array, start: Array, target: Vector, tolerance: float, keep: float, room: _Room,
    # outputs
    q: Array,
    moves: Array,
) -> Placed:  # fmt: skip
    path = unflatten(integers, numbers)
    for k in range(start.shape[0]):
        q[k] = start[k]
    setting = find_plane(path, q, room.position, room.rotation, room.hinges, room.group, room.flat)
    if setting.hinges < 2:
        return Placed(setting.hinges, 0, False, math.inf)
    for k in range(setting.hinges):
        moves[room.flat.place[k]] = 1
    if setting.table >= 0:
        moves[setting.table] = 1
    placements, inside = _turn_and_place(path, setting, start, target, tolerance, keep, room, q)
    forward(path.tree, q, room.position, room.rotation)
    tip = tip_of(path.site, path.node, room.position, room.rotation)
    return Placed(setting.hinges, placements, inside, length(subtract(target, tip.position)))


@inner_kernel
def _turn_and_place(
    path: Path, setting: Setting, start: Array, target: Vector, tolerance: float, keep: float, room: _Room,
    q: Array,
) -> tuple[int, bool]:  # fmt: skip
    """Place the chain with the turntable turned one of two ways, and the other way when limits forbid the first.

    First comes the way that has the target between the safe zones, and of two such ways the nearer. Zones are compared
    before anything is placed, so that a second way costs placements only where limits ask for it.
    """
    if setting.table < 0:
        placements, inside, _ = _place(path, setting, start, target, tolerance, keep, room, q)
        return placements, inside
    k, total = setting.table, 0
    first, second = turntable_turns(setting, target)
    here, there = _outside(setting, target, first, room), _outside(setting, target, second, room)
    if there < here or (there == here and abs(second) < abs(first)):
        first, second = second, first
    for turn in (first, second):
        value = legal_angle(start[k] + turn, path.bounds.lower[k], path.bounds.upper[k], start[k])
        seen = seen_after_turn(setting, target, value - start[k])
        placements, inside, legal = _place(path, setting, start, seen, tolerance, keep, room, q)
        q[k] = value
        total += placements
        if legal and abs(nearest_turn(value - start[k] - turn, 0.0)) < TURNED:
            return total, inside
    # Limits forbid both ways: the first is at least the nearer.
    value = legal_angle(start[k] + first, path.bounds.lower[k], path.bounds.upper[k], start[k])
    seen = seen_after_turn(setting, target, value - start[k])
    placements, inside, _ = _place(path, setting, start, seen, tolerance, keep, room, q)
    q[k] = value
    return total + placements, inside


@inner_kernel
def _outside(setting: Setting, target: Vector, turn: float, room: _Room) -> float:
    """How far from the safe zones the target is once the plane has turned [m]; 0 between them."""
    x, y, _ = in_plane(setting, seen_after_turn(setting, target, turn))
    least, most = _zones(room.flat.length, setting.hinges)
    miss = max(least - math.hypot(x, y), math.hypot(x, y) - most)
    return miss if miss > TURNED else 0.0


@inner_kernel
def _place(
    path: Path, setting: Setting, start: Array, target: Vector, tolerance: float, keep: float, room: _Room,
    q: Array,
) -> tuple[int, bool, bool]:  # fmt: skip
    """Place the chain in its plane: placements, whether the target was inside the safe zones, and whether it is met."""
    m, flat, chain = setting.hinges, room.flat, room.chain
    x, y, off = in_plane(setting, target)
    least, most = _zones(flat.length, m)
    distance = math.hypot(x, y)
    nearest = min(max(distance, least), most)
    if distance > 0.0:
        x, y = x * nearest / distance, y * nearest / distance
    else:
        x, y = _along_tip(flat.x[m], flat.y[m], nearest)
    for k in range(m):
        at = flat.place[k]
        chain[0, k], chain[1, k], chain[2, k] = start[at], path.bounds.lower[at], path.bounds.upper[at]
        across = flat.x[k + 1] * flat.y[k] - flat.y[k + 1] * flat.x[k]
        chain[3, k] = -1.0 if across < 0.0 and (k == 1 or keep != KEEP_HEADINGS) else 1.0
    placements, legal = place_chain(
        flat.length[:m], flat.heading[:m], chain[0, :m], flat.sign[:m], chain[1, :m], chain[2, :m], chain[3, :m],
        keep if keep < 0.0 else nearest, x, y, room.attempt[:, : m + 1], chain[4, :m],
    )  # fmt: skip
    for k in range(m):
        q[flat.place[k]] = chain[4, k]
    return placements, least <= distance <= most and abs(off) <= tolerance, legal


@kernel
def _along_tip(x: float, y: float, distance: float) -> tuple[float, float]:
    """The place at a distance from the base in the direction of the tip, for a target that is on the base itself."""
    size = math.hypot(x, y)
    return (x * distance / size, y * distance / size) if size > 0.0 else (distance, 0.0)
