"""Forward and backward reaching on a figure: points first, joints after [Aristidou et al. 2016].

A *point* is the centre of a joint that moves, or an end-point. The forward phase of a pass moves free points, see
`fabrik_points`. The backward phase fits the figure's joints to those points, from the root to the tips. For a joint at
x with frame Q at angle 0, let a_j be the points that it moves, in its rotated frame, and p_j their positions after
the forward phase. A hinge is set to

    θ = argmin Σ |Q R(axis, θ) a_j - (p_j - x)|² = atan2(Σ axis · (a_j × b_j), Σ a_j · b_j - (a_j · axis)(b_j · axis)),

b_j = Q⁻¹ (p_j - x), clamped to its limits, and a ball joint to the smallest rotation that does the same. So every pass
ends in a posture within limits, and the error is that of the figure itself. A hinge that does not move the next point,
such as a roll joint along a limb, is fitted to the first point beyond it that it does move.

The forward phase can move points out of the planes of their hinges, where no hinge can follow: the last links would
turn to the target, the others would stay, and no joint would turn the plane. So in a figure with hinges every joint is
also fitted to its end-points, whose wanted positions are their targets; the exception is a figure whose hinges are all
parallel and without limits. Once the joints have reached all other points, only the end-points move them.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.body.tree import BALL, BALL_REVERSED, TURN, forward
from poise.kernels.chains.ball_joints import clamp_ball_at
from poise.kernels.chains.fabrik_points import farthest, reach_forward
from poise.kernels.chains.goal import angle_within_limits
from poise.kernels.chains.rounds import ROUNDS_PER_STALL_CHECK, record_posture, stalled
from poise.kernels.jit.compile import inner_kernel, kernel
from poise.kernels.maths.quaternion import (
    Quaternion,
    about,
    conjugate,
    direct_rotation,
    multiply,
    put_quaternion,
    quaternion_at,
    rotate,
    unit,
)
from poise.kernels.maths.vector import Vector, add, cross, dot, normalized, put_vector, scale, subtract, vector_at
from poise.kernels.reach.path import Path, PathMemory, read_path

Array = np.ndarray


class Points(NamedTuple):
    """The points of a figure: moving joints, parents first, then end-points."""

    node: Array
    """(p,) node that each point is attached to."""
    place: Array
    """(p, 3) position of each point in its node's frame [m]; zero for joints."""
    parent: Array
    """(p,) parent of each point; -1 for a joint that no other joint moves."""
    length: Array
    """(p,) distance of each point from its parent [m]."""
    point: Array
    """(n,) index of each node's point; -1 for nodes without a moving joint."""
    lever_start: Array
    """(p + 1,) joint i is fitted to the points `lever[lever_start[i]:lever_start[i + 1]]`."""
    lever: Array
    """Indices of those points, for all joints in sequence."""


@kernel(counts_references=True)
def fabrik(
    memory: PathMemory, points: Points, targets: Array, start: Array, tolerance: float, max_passes: int,
    trace: Array,
    # outputs
    q: Array,
) -> tuple[float, int]:  # fmt: skip
    """Move the end-points of a figure to targets by FABRIK; returns the largest error and the number of passes.

    Args:
        memory: The tree and its limits, stored by `poise.kernels.reach.path.store_path`.
        points: The moving joints and end-points.
        targets: (e, 3) targets of the last e points [m].
        start: (nq,) initial posture, within limits.
        tolerance: The solve stops at this error [m].
        max_passes: Largest number of passes.
        trace: (t, nq) receives the posture after each of the first t passes.
        q: (nq,) the solution.
    """
    n, p = memory.parent.shape[0], points.node.shape[0]
    position, rotation, aim, pull = np.empty((n, 3)), np.empty((n, 4)), np.empty((p, 3)), np.empty((p, 4))
    return _fabrik(memory, points, targets, start, tolerance, max_passes, trace, position, rotation, aim, pull, q)


@inner_kernel
def _fabrik(
    memory: PathMemory, points: Points, targets: Array, start: Array, tolerance: float, max_passes: int,
    trace: Array, position: Array, rotation: Array, aim: Array, pull: Array,
    # outputs
    q: Array,
) -> tuple[float, int]:  # fmt: skip
    path = read_path(memory)
    for k in range(q.shape[0]):
        q[k] = start[k]
    forward(path.tree, q, position, rotation)
    _find_points(points, position, rotation, aim)
    error = farthest(aim, targets)
    before = error
    for taken in range(max_passes):
        if error <= tolerance:
            return error, taken
        reach_forward(points.parent, points.length, targets, aim, pull)
        _reach_backward(path, points, aim, position, rotation, q)
        _find_points(points, position, rotation, aim)
        error = farthest(aim, targets)
        record_posture(taken, q, trace)
        is_stalled, before = stalled(taken + 1, ROUNDS_PER_STALL_CHECK, error, before)
        if is_stalled:
            return error, taken + 1
    return error, max_passes


@inner_kernel
def _find_points(points: Points, position: Array, rotation: Array, aim: Array) -> None:
    """Write the world positions of all points to `aim` (p, 3), from the nodes' frames."""
    for i in range(points.node.shape[0]):
        put_vector(aim, i, _point(points.node, points.place, i, position, rotation))


@kernel
def _point(node: Array, place: Array, i: int, position: Array, rotation: Array) -> Vector:
    """World position of point `i`, from the nodes' frames [m]."""
    k = node[i]
    return add(vector_at(position, k), rotate(quaternion_at(rotation, k), vector_at(place, i)))


@inner_kernel
def _reach_backward(path: Path, points: Points, aim: Array, position: Array, rotation: Array, q: Array) -> None:
    """Fit every joint, from the root to the tips, to the positions `aim` of its points; updates the nodes' frames.

    Nodes not yet visited still have their frames of the last pass, from which the fit takes the relative positions of
    the points that a joint moves.
    """
    tree = path.tree
    for i in range(1, tree.parent.shape[0]):
        above = tree.parent[i]
        carrier = quaternion_at(rotation, above)
        here = add(vector_at(position, above), rotate(carrier, vector_at(tree.placement_position, i)))
        frame = multiply(carrier, quaternion_at(tree.placement_rotation, i))
        kind, k, point = tree.kind[i], tree.q_start[i], points.point[i]
        turned = frame
        if kind == TURN:
            if point >= 0:
                wanted = _hinge_angle(path, points, i, point, here, frame, aim, position, rotation, q[k])
                q[k] = angle_within_limits(wanted, path.bounds.lower[k], path.bounds.upper[k], q[k])
            turned = multiply(frame, about(vector_at(tree.axis, i), q[k]))
        elif kind == BALL or kind == BALL_REVERSED:
            if point >= 0:
                _turn_ball(path, points, i, point, here, frame, aim, position, rotation, q)
            stored = Quaternion(q[k], q[k + 1], q[k + 2], q[k + 3])
            turned = multiply(frame, conjugate(stored) if kind == BALL_REVERSED else stored)
        else:
            # FABRIK does not move slides and free bases: the node keeps its frame relative to its parent.
            here, turned = _carried(path, i, q, carrier, here, frame)
        put_vector(position, i, here)
        put_quaternion(rotation, i, unit(turned))


@inner_kernel
def _carried(
    path: Path, i: int, q: Array, carrier: Quaternion, here: Vector, frame: Quaternion
) -> tuple[Vector, Quaternion]:
    """World frame of a node whose joint is a slide, a free base or fixed, at its value in `q`."""
    k = path.tree.q_start[i]
    if path.tree.v_count[i] == 1:
        return add(here, rotate(frame, scale(vector_at(path.tree.axis, i), q[k]))), frame
    if path.tree.v_count[i] == 6:
        place = add(here, rotate(frame, Vector(q[k], q[k + 1], q[k + 2])))
        return place, multiply(frame, Quaternion(q[k + 3], q[k + 4], q[k + 5], q[k + 6]))
    return here, frame


@inner_kernel
def _hinge_angle(
    path: Path, points: Points, i: int, point: int, here: Vector, frame: Quaternion, aim: Array, position: Array,
    rotation: Array, now: float,
) -> float:  # fmt: skip
    """The angle θ of the module docstring for a hinge [rad]; `now` if no angle changes the fit."""
    axis = vector_at(path.tree.axis, i)
    before, back, into = vector_at(position, i), conjugate(quaternion_at(rotation, i)), conjugate(frame)
    x = y = size = 0.0
    for j in range(points.lever_start[point], points.lever_start[point + 1]):
        there = points.lever[j]
        a = rotate(back, subtract(_point(points.node, points.place, there, position, rotation), before))
        b = rotate(into, subtract(vector_at(aim, there), here))
        x += dot(a, b) - dot(a, axis) * dot(b, axis)
        y += dot(axis, cross(a, b))
        size += dot(a, a) * dot(b, b)
    return math.atan2(y, x) if x * x + y * y > 1e-24 * size else now


@inner_kernel
def _turn_ball(
    path: Path, points: Points, i: int, point: int, here: Vector, frame: Quaternion, aim: Array, position: Array,
    rotation: Array, q: Array,
) -> None:  # fmt: skip
    """Rotate a ball joint to fit its points, and clamp it to its limits.

    The smallest rotation takes the sum of the points' directions onto that of their wanted directions; with several
    points, a twist about that direction then minimises the remaining distances.
    """
    k, reverse = path.tree.q_start[i], path.tree.kind[i] == BALL_REVERSED
    before, back, into = vector_at(position, i), conjugate(quaternion_at(rotation, i)), conjugate(frame)
    stored = Quaternion(q[k], q[k + 1], q[k + 2], q[k + 3])
    now = conjugate(stored) if reverse else stored
    a, b = Vector(0.0, 0.0, 0.0), Vector(0.0, 0.0, 0.0)
    for j in range(points.lever_start[point], points.lever_start[point + 1]):
        there = points.lever[j]
        a = add(a, rotate(back, subtract(_point(points.node, points.place, there, position, rotation), before)))
        b = add(b, rotate(into, subtract(vector_at(aim, there), here)))
    a, b = normalized(rotate(now, a)), normalized(b)
    if dot(a, a) > 0.5 and dot(b, b) > 0.5:
        now = multiply(direct_rotation(a, b), now)
    x = y = 0.0
    for j in range(points.lever_start[point], points.lever_start[point + 1]):
        there = points.lever[j]
        old = rotate(back, subtract(_point(points.node, points.place, there, position, rotation), before))
        c = rotate(now, old)
        d = rotate(into, subtract(vector_at(aim, there), here))
        x += dot(c, d) - dot(c, b) * dot(d, b)
        y += dot(b, cross(c, d))
    if points.lever_start[point + 1] - points.lever_start[point] > 1 and x * x + y * y > 0.0:
        now = multiply(about(b, math.atan2(y, x)), now)
    now = unit(now)
    stored = conjugate(now) if reverse else now
    q[k], q[k + 1], q[k + 2], q[k + 3] = stored.w, stored.x, stored.y, stored.z
    clamp_ball_at(path, k, q)
