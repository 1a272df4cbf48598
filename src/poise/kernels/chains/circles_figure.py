"""Intersection of circles on a figure: turn the chain's plane to the target, then place the chain in that plane."""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.body.limits import nearest_turn
from poise.kernels.body.tree import forward
from poise.kernels.chains.circles import ARC, KEEP_HEADINGS
from poise.kernels.chains.circles_limits import place_chain
from poise.kernels.chains.goal import angle_within_limits, tip_of
from poise.kernels.chains.plane import (
    MotionPlane,
    PlanarHinges,
    find_plane,
    plane_coordinates,
    target_after_turn,
    turntable_turns,
)
from poise.kernels.jit.compile import inner_kernel, kernel
from poise.kernels.maths.vector import Vector, length, subtract
from poise.kernels.reach.path import Path, PathMemory, read_path

Array = np.ndarray

PLACEMENT_ROUNDING = 1e-12
"""Error of the turntable's angle [rad] or distance of a target from the safe zones [m] that counts as rounding."""


class Placed(NamedTuple):
    """Result for one end-point."""

    hinges: int
    """Number of parallel hinges that move the tip; with fewer than two no placement was made."""
    placements: int
    """Number of points placed, over all attempts."""
    inside: bool
    """Whether the target lies in the plane and between the safe zones."""
    error: float
    """Distance of the tip from the target [m]."""


class Zones(NamedTuple):
    """The annulus of distances from its base that a planar chain can reach, and the number of its hinges."""

    hinges: int
    least: float
    """Smallest distance [m]."""
    most: float
    """Largest distance [m]."""


class _Workspace(NamedTuple):
    """Scratch arrays for a path of n nodes."""

    position: Array
    """(n, 3) world positions of the nodes [m]."""
    rotation: Array
    """(n, 4) world rotations of the nodes."""
    hinges: Array
    """(n,) nodes of the hinges that may move."""
    group: Array
    """(2 n,) nodes of the parallel hinges: the current group, then the largest so far."""
    planar: PlanarHinges
    start: Array
    """(n,) start values of the parallel hinges [rad]."""
    lower: Array
    """(n,) their lower limits."""
    upper: Array
    """(n,) their upper limits."""
    side: Array
    """(n,) sides of the chain to which they bend, 1 or -1."""
    turned: Array
    """(n,) their values in the solution [rad]."""
    attempt: Array
    """(8, n + 1) scratch array of `place_chain`."""


@kernel(counts_references=True)
def circles_figure(
    memory: PathMemory, start: Array, target: Vector, tolerance: float, keep: float,
    # outputs
    q: Array,
    moves: Array,
) -> Placed:  # fmt: skip
    """Move the tip of a path to a target position by intersection of circles.

    Args:
        memory: The path, stored by `poise.kernels.reach.path.store_path`.
        start: (nq,) initial posture, within limits.
        target: Target position of the tip [m].
        tolerance: A target at most this far from the plane counts as in the plane [m].
        keep: KEEP_HEADINGS, KEEP_DISTANCES or ARC; 0 for the paper's radii.
        q: (nq,) the solution.
        moves: (nq,) set to 1 for the coordinates that the method may change.
    """
    nodes = memory.parent.shape[0]
    return _circles_figure(memory, start, target, tolerance, keep, _make_workspace(nodes), q, moves)


@kernel(counts_references=True)
def circle_zones(memory: PathMemory, q: Array) -> Zones:
    """Smallest and largest distance that the planar part of a path can reach, in posture `q`."""
    return _circle_zones(memory, q, _make_workspace(memory.parent.shape[0]))


@kernel(counts_references=True)
def _make_workspace(n: int) -> _Workspace:
    planar = PlanarHinges(
        np.empty(n, dtype=np.int64), np.empty(n), np.empty(n), np.empty(n), np.empty(n + 1), np.empty(n + 1)
    )
    return _Workspace(
        np.empty((n, 3)),
        np.empty((n, 4)),
        np.empty(n, dtype=np.int64),
        np.empty(2 * n, dtype=np.int64),
        planar,
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty((8, n + 1)),
    )


@inner_kernel
def _circle_zones(memory: PathMemory, q: Array, workspace: _Workspace) -> Zones:
    path = read_path(memory)
    plane = find_plane(
        path, q, workspace.position, workspace.rotation, workspace.hinges, workspace.group, workspace.planar
    )
    least, most = _zones(workspace.planar.length, plane.hinges)
    return Zones(plane.hinges, least, most)


@kernel
def _zones(links: Array, count: int) -> tuple[float, float]:
    """Smallest and largest reach max(0, 2 max r - Σ r) and Σ r of the first `count` links."""
    total, longest = 0.0, 0.0
    for k in range(count):
        total += links[k]
        longest = max(longest, links[k])
    return max(0.0, 2.0 * longest - total), total


@inner_kernel
def _circles_figure(
    memory: PathMemory, start: Array, target: Vector, tolerance: float, keep: float, workspace: _Workspace,
    # outputs
    q: Array,
    moves: Array,
) -> Placed:  # fmt: skip
    path = read_path(memory)
    for k in range(start.shape[0]):
        q[k] = start[k]
    plane = find_plane(
        path, q, workspace.position, workspace.rotation, workspace.hinges, workspace.group, workspace.planar
    )
    if plane.hinges < 2:
        return Placed(plane.hinges, 0, False, math.inf)
    for k in range(plane.hinges):
        moves[workspace.planar.q_index[k]] = 1
    if plane.turntable >= 0:
        moves[plane.turntable] = 1
    placements, inside = _turn_and_place(path, plane, start, target, tolerance, keep, workspace, q)
    forward(path.tree, q, workspace.position, workspace.rotation)
    tip = tip_of(path.site, path.node, workspace.position, workspace.rotation)
    return Placed(plane.hinges, placements, inside, length(subtract(target, tip.position)))


@inner_kernel
def _turn_and_place(
    path: Path, plane: MotionPlane, start: Array, target: Vector, tolerance: float, keep: float, workspace: _Workspace,
    q: Array,
) -> tuple[int, bool]:  # fmt: skip
    """Turn the turntable to one of two angles and place the chain; if limits forbid that, use the other angle.

    The first angle to try is the one that brings the target nearer to the safe zones; if both bring it as near, the
    smaller turn. The zones are compared before any placement, so the second angle costs placements only if the first
    breaks a limit. Returns the number of placements and whether the target lies between the zones.
    """
    if plane.turntable < 0:
        placements, inside, _ = _place(path, plane, start, target, tolerance, keep, workspace, q)
        return placements, inside
    k, total = plane.turntable, 0
    first, second = turntable_turns(plane, target)
    first_miss = _distance_outside_zones(plane, target, first, workspace)
    second_miss = _distance_outside_zones(plane, target, second, workspace)
    if second_miss < first_miss or (second_miss == first_miss and abs(second) < abs(first)):
        first, second = second, first
    for turn in (first, second):
        value = angle_within_limits(start[k] + turn, path.bounds.lower[k], path.bounds.upper[k], start[k])
        turned_target = target_after_turn(plane, target, value - start[k])
        placements, inside, legal = _place(path, plane, start, turned_target, tolerance, keep, workspace, q)
        q[k] = value
        total += placements
        if legal and abs(nearest_turn(value - start[k] - turn, 0.0)) < PLACEMENT_ROUNDING:
            return total, inside
    # Limits forbid both angles; the first leaves the smaller error.
    value = angle_within_limits(start[k] + first, path.bounds.lower[k], path.bounds.upper[k], start[k])
    turned_target = target_after_turn(plane, target, value - start[k])
    placements, inside, _ = _place(path, plane, start, turned_target, tolerance, keep, workspace, q)
    q[k] = value
    return total + placements, inside


@inner_kernel
def _distance_outside_zones(plane: MotionPlane, target: Vector, turn: float, workspace: _Workspace) -> float:
    """Distance of the target from the safe zones after the plane has turned by `turn` [m]; 0 between them."""
    x, y, _ = plane_coordinates(plane, target_after_turn(plane, target, turn))
    least, most = _zones(workspace.planar.length, plane.hinges)
    miss = max(least - math.hypot(x, y), math.hypot(x, y) - most)
    return miss if miss > PLACEMENT_ROUNDING else 0.0


@inner_kernel
def _place(
    path: Path, plane: MotionPlane, start: Array, target: Vector, tolerance: float, keep: float, workspace: _Workspace,
    q: Array,
) -> tuple[int, bool, bool]:  # fmt: skip
    """Place the chain in its plane.

    Returns the number of placements, whether the target lies in the plane between the safe zones, and whether the
    placement is within limits.
    """
    m, planar, side, turned = plane.hinges, workspace.planar, workspace.side, workspace.turned
    current, lower, upper = workspace.start, workspace.lower, workspace.upper
    x, y, height = plane_coordinates(plane, target)
    least, most = _zones(planar.length, m)
    distance = math.hypot(x, y)
    nearest = min(max(distance, least), most)
    if distance > 0.0:
        x, y = x * nearest / distance, y * nearest / distance
    else:
        x, y = _point_towards_tip(planar.x[m], planar.y[m], nearest)
    bent = 0.0
    for k in range(m):
        at = planar.q_index[k]
        current[k], lower[k], upper[k] = start[at], path.bounds.lower[at], path.bounds.upper[at]
        across = planar.x[k + 1] * planar.y[k] - planar.y[k + 1] * planar.x[k]
        side[k] = -1.0 if across < 0.0 and (k == 1 or keep != KEEP_HEADINGS) else 1.0
        bent += across
    if keep == ARC:
        for k in range(m):
            side[k] = -1.0 if bent < 0.0 else 1.0
    placements, legal = place_chain(
        planar.length[:m], planar.heading[:m], current[:m], planar.sign[:m], lower[:m], upper[:m], side[:m],
        keep if keep < 0.0 else nearest, x, y, workspace.attempt[:, : m + 1], turned[:m],
    )  # fmt: skip
    for k in range(m):
        q[planar.q_index[k]] = turned[k]
    return placements, least <= distance <= most and abs(height) <= tolerance, legal


@kernel
def _point_towards_tip(x: float, y: float, distance: float) -> tuple[float, float]:
    """The point at `distance` from the base towards the tip (x, y); used for a target at the base itself."""
    size = math.hypot(x, y)
    return (x * distance / size, y * distance / size) if size > 0.0 else (distance, 0.0)
