"""Forward and backward reaching on a figure: points first, joints after [Aristidou et al. 2016].

A *point* is the centre of a joint that moves, or an end-point. The forward phase of a pass moves points alone, see
`fabrik_points`. The backward phase turns the figure's joints, from the root up: with the joint at x in its unmoved
frame Q, and with a_j the points that it carries, in its own moved frame, a hinge takes

    θ = argmin Σ |Q R(axis, θ) a_j - (p_j - x)|² = atan2(Σ axis · (a_j × b_j), Σ a_j · b_j - (a_j · axis)(b_j · axis)),

b_j = Q⁻¹ (p_j - x), clamped to its limits, and a ball the smallest swing that does the same. So every pass ends in a
posture that the figure can take, and the error is that of the figure. A hinge that does not move the next point, as one
that turns a limb about itself, looks at the first point beyond it that it does move.

Points that leave the planes of their hinges cannot be followed: the last links would swing to the target, the others
would stay, and nothing would ever turn the plane. So where there are hinges every joint also looks at its end-points,
which are wanted at their targets, unless all are parallel hinges without limits. At rest the points ask for nothing
more, and the end-points decide.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.body.tree import BALL, BALL_REVERSED, TURN, forward
from poise.kernels.chains.ball_joints import hold_ball_at
from poise.kernels.chains.fabrik_points import farthest, reach_forward
from poise.kernels.chains.goal import legal_angle
from poise.kernels.chains.rounds import PATIENCE, keep, stalled
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
from poise.kernels.reach.path import Path, unflatten

Array = np.ndarray


class Points(NamedTuple):
    """The points of a figure: joints that move, parents first, then end-points."""

    node: Array
    """(p,) node that each point sits on."""
    place: Array
    """(p, 3) where on it [m]; zero for joints."""
    parent: Array
    """(p,) point that each hangs from; -1 for a joint that nothing moves."""
    length: Array
    """(p,) distance from it [m]."""
    point: Array
    """(n,) point of each node; -1 for nodes that do not move by themselves."""
    lever_start: Array
    """(p + 1,) range of the points that each joint looks at."""
    lever: Array
    """Those points."""


@kernel(counts_references=True)
def fabrik(
    integers: Array, numbers: Array, points: Points, targets: Array, start: Array, tolerance: float, most: int,
    trace: Array,
    # outputs
    q: Array,
) -> tuple[float, int]:  # fmt: skip
    """Bring the end-points of a figure to targets; returns the largest error and the passes it took.

    Args:
        integers: The tree and its limits, see `reach_path.flatten`.
        numbers: The tree and its limits.
        points: What moves.
        targets: (e, 3) of the last e points [m].
        start: (nq,) legal posture to begin in.
        tolerance: Error that counts as none [m].
        most: Passes to try.
        trace: (t, nq) where the posture after each of the first t passes is kept.
        q: (nq,) the posture found.
    """
    n, p = integers[1] - integers[0], points.node.shape[0]
    position, rotation, aim, pull = np.empty((n, 3)), np.empty((n, 4)), np.empty((p, 3)), np.empty((p, 4))
    return _fabrik(integers, numbers, points, targets, start, tolerance, most, trace, position, rotation, aim, pull, q)


@inner_kernel
def _fabrik(
    integers: Array, numbers: Array, points: Points, targets: Array, start: Array, tolerance: float, most: int,
    trace: Array, position: Array, rotation: Array, aim: Array, pull: Array,
    # outputs
    q: Array,
) -> tuple[float, int]:  # fmt: skip
    path = unflatten(integers, numbers)
    for k in range(q.shape[0]):
        q[k] = start[k]
    forward(path.tree, q, position, rotation)
    _find_points(points, position, rotation, aim)
    error = farthest(aim, targets)
    before = error
    for taken in range(most):
        if error <= tolerance:
            return error, taken
        reach_forward(points.parent, points.length, targets, aim, pull)
        _reach_backward(path, points, aim, position, rotation, q)
        _find_points(points, position, rotation, aim)
        error = farthest(aim, targets)
        keep(taken, q, trace)
        enough, before = stalled(taken + 1, PATIENCE, error, before)
        if enough:
            return error, taken + 1
    return error, most


@inner_kernel
def _find_points(points: Points, position: Array, rotation: Array, aim: Array) -> None:
    """Where all points are, from the nodes' frames."""
    for i in range(points.node.shape[0]):
        put_vector(aim, i, _point(points.node, points.place, i, position, rotation))


@kernel
def _point(node: Array, place: Array, i: int, position: Array, rotation: Array) -> Vector:
    k = node[i]
    return add(vector_at(position, k), rotate(quaternion_at(rotation, k), vector_at(place, i)))


@inner_kernel
def _reach_backward(path: Path, points: Points, aim: Array, position: Array, rotation: Array, q: Array) -> None:
    """Turn every joint, from the root up, to bring its points to where `aim` has them; renews the nodes' frames.

    The frames of nodes still to come are those of the last pass: they say how the points hang from one another.
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
                q[k] = legal_angle(wanted, path.bounds.lower[k], path.bounds.upper[k], q[k])
            turned = multiply(frame, about(vector_at(tree.axis, i), q[k]))
        elif kind == BALL or kind == BALL_REVERSED:
            if point >= 0:
                _turn_ball(path, points, i, point, here, frame, aim, position, rotation, q)
            stored = Quaternion(q[k], q[k + 1], q[k + 2], q[k + 3])
            turned = multiply(frame, conjugate(stored) if kind == BALL_REVERSED else stored)
        else:
            # What neither turns nor swings keeps its own motion: its frame seen from the one above does not change.
            here, turned = _carried(path, i, q, carrier, here, frame)
        put_vector(position, i, here)
        put_quaternion(rotation, i, unit(turned))


@inner_kernel
def _carried(
    path: Path, i: int, q: Array, carrier: Quaternion, here: Vector, frame: Quaternion
) -> tuple[Vector, Quaternion]:
    """Frame of a slide or a free base, which stay as they are."""
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
    """The angle that brings the points of a hinge nearest to where they should be."""
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
    """Swing a ball towards its points, twist it between several, and keep it inside its limits."""
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
    hold_ball_at(path, k, q)
