"""The likely posture of a person for some handles, and the posture between it and another one.

`poise.figures.people.likely_posture` describes the model, `poise.engine.natural` how it is used. Handles and values are
relative to the *feet's frame*: its origin is midway between the soles, at the height of the lower one, and it is turned
about the vertical by the angle of

    f = z_left + z_right + ½ (left - right) × up

with z the directions of the feet and left, right their positions: where they point, and across the line between them.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.body.tree import Tree, difference, forward, integrate
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.quaternion import (
    Quaternion,
    conjugate,
    from_columns,
    from_rotation_vector,
    multiply,
    quaternion_at,
    rotate,
)
from poise.kernels.maths.vector import Vector, cross, dot, normalized, scale, subtract, vector_at

Array = np.ndarray

TURNED_POINTS = 7
"""How many of the first points can have a rotation."""
LEAST_TWIST = 1e-6
"""Length of the part of a quaternion that is a twist below which its angle is not defined."""
Y_AXIS, Z_AXIS = Vector(0.0, 1.0, 0.0), Vector(0.0, 0.0, 1.0)


class LikelyModel(NamedTuple):
    """The network, and where its values go in the coordinates of a figure."""

    weights: tuple[Array, Array, Array]
    """(inputs, outputs) of each layer."""
    bias: tuple[Array, Array, Array]
    """(outputs,) of each layer."""
    point_mean: Array
    """(p, 3) mean position of each point in the feet's frame [m]."""
    value_mean: Array
    """(count,) mean of the values."""
    value_scale: Array
    """(count,) spread of the values."""
    source: Array
    """(count,) the value of the mirror image that each value comes from."""
    sign: Array
    """(count,) its sign there."""
    other_point: Array
    """(p,) the mirror image of each point."""
    ball_q: Array
    """(b,) first coordinate of each ball joint."""
    ball_value: Array
    """(b,) first value of each ball joint."""
    ball_mean: Array
    """(b, 4) mean rotation of each ball joint."""
    hinge_q: Array
    """(h,) coordinate of each hinge."""
    hinge_value: Array
    """(h,) value of each hinge."""
    size: Array
    """(1,) size of the figure, as a multiple of that of the model."""
    layer: tuple[Array, Array, Array, Array]
    """Workspace: (2, inputs) of the posture and its mirror image, and the (2, outputs) of each layer."""
    values: Array
    """(count,) workspace."""


@kernel
def feet_frame(position: Array, rotation: Array) -> tuple[float, Vector]:
    """The turn [rad] and the origin [m] of the feet's frame, from the poses of the left and the right foot.

    Args:
        position: (2 or more, 3) positions, that of the left foot first [m].
        rotation: (2 or more, 4) rotations.
    """
    left, right = vector_at(position, 0), vector_at(position, 1)
    ahead_left, ahead_right = rotate(quaternion_at(rotation, 0), Z_AXIS), rotate(quaternion_at(rotation, 1), Z_AXIS)
    yaw = math.atan2(
        ahead_left.x + ahead_right.x - 0.5 * (left.z - right.z), ahead_left.z + ahead_right.z + 0.5 * (left.x - right.x)
    )
    return yaw, Vector(0.5 * (left.x + right.x), min(left.y, right.y), 0.5 * (left.z + right.z))


@kernel
def likely_coordinates(
    model: LikelyModel,
    position: Array,
    rotation: Array,
    placed: Array,
    turned: Array,
    # outputs
    q: Array,
) -> None:
    """Compute the likely coordinates `q` (nq,) for points at `position` (p, 3) with `rotation` (p, 4) in the world.

    `placed` and `turned` (p,) are 1 for points whose position and rotation are given, else 0; both feet come first.
    """
    yaw, origin = feet_frame(position, rotation)
    heading = Quaternion(math.cos(0.5 * yaw), 0.0, math.sin(0.5 * yaw), 0.0)
    values, answer = model.values, model.layer[3]
    for k in range(values.shape[0]):
        values[k] = 0.0
    for mirrored in range(2):
        _fill_inputs(model, position, rotation, placed, turned, heading, origin, mirrored == 1)
    _run_layer(model.layer[0], model.weights[0], model.bias[0], True, model.layer[1])
    _run_layer(model.layer[1], model.weights[1], model.bias[1], True, model.layer[2])
    _run_layer(model.layer[2], model.weights[2], model.bias[2], False, answer)
    for mirrored in range(2):
        for k in range(values.shape[0]):
            i = model.source[k] if mirrored == 1 else k
            half = 0.5 * (model.value_mean[i] + model.value_scale[i] * answer[mirrored, i])
            values[k] += model.sign[k] * half if mirrored == 1 else half
    _put_values(model, heading, origin, q)


@kernel
def _fill_inputs(
    model: LikelyModel,
    position: Array,
    rotation: Array,
    placed: Array,
    turned: Array,
    heading: Quaternion,
    origin: Vector,
    mirrored: bool,
) -> None:
    """Fill the inputs: positions, up and forward axes of the given points in the feet's frame, and what is given."""
    inputs, side, n = model.layer[0][1 if mirrored else 0], -1.0 if mirrored else 1.0, position.shape[0]
    from_world = conjugate(heading)
    for i in range(n):
        j = model.other_point[i] if mirrored else i
        place = rotate(from_world, subtract(vector_at(position, j), origin))
        inputs[3 * i] = 2.0 * placed[j] * (side * place.x / model.size[0] - model.point_mean[i, 0])
        inputs[3 * i + 1] = 2.0 * placed[j] * (place.y / model.size[0] - model.point_mean[i, 1])
        inputs[3 * i + 2] = 2.0 * placed[j] * (place.z / model.size[0] - model.point_mean[i, 2])
        if i < TURNED_POINTS:
            at = 3 * n + 6 * i
            turn = multiply(from_world, quaternion_at(rotation, j))
            up, ahead = rotate(turn, Y_AXIS), rotate(turn, Z_AXIS)
            inputs[at], inputs[at + 1], inputs[at + 2] = turned[j] * side * up.x, turned[j] * up.y, turned[j] * up.z
            inputs[at + 3], inputs[at + 4], inputs[at + 5] = (
                turned[j] * side * ahead.x, turned[j] * ahead.y, turned[j] * ahead.z
            )  # fmt: skip
        if i >= 2:
            inputs[3 * n + 6 * TURNED_POINTS + i - 2] = placed[j]
            if i < TURNED_POINTS:
                inputs[3 * n + 6 * TURNED_POINTS + n - 2 + i - 2] = turned[j]


@kernel
def _run_layer(inputs: Array, weights: Array, bias: Array, bounded: bool, out: Array) -> None:
    """Compute the outputs (2, n) of a layer for both lines of inputs (2, k), through tanh if they are `bounded`.

    The weights are read once for both: they are more than the processor's nearest caches hold.
    """
    for j in range(out.shape[1]):
        out[0, j], out[1, j] = bias[j], bias[j]
    for i in range(inputs.shape[1]):
        one, other = inputs[0, i], inputs[1, i]
        if one != 0.0 or other != 0.0:
            for j in range(out.shape[1]):
                weight = weights[i, j]
                out[0, j] += one * weight
                out[1, j] += other * weight
    if bounded:
        for j in range(out.shape[1]):
            out[0, j], out[1, j] = math.tanh(out[0, j]), math.tanh(out[1, j])


@kernel
def _put_values(model: LikelyModel, heading: Quaternion, origin: Vector, q: Array) -> None:
    """Write the posture with the `values` of the model to `q`; the axes of the pelvis are made orthonormal."""
    values, size = model.values, model.size[0]
    place = rotate(heading, Vector(size * values[0], size * values[1], size * values[2]))
    q[0], q[1], q[2] = origin.x + place.x, origin.y + place.y, origin.z + place.z
    left = normalized(Vector(values[3], values[4], values[5]))
    up = Vector(values[6], values[7], values[8])
    up = normalized(subtract(up, scale(left, dot(up, left))))
    pelvis = multiply(heading, from_columns(left, up, cross(left, up)))
    q[3], q[4], q[5], q[6] = pelvis.w, pelvis.x, pelvis.y, pelvis.z
    for b in range(model.ball_q.shape[0]):
        k, at = model.ball_value[b], model.ball_q[b]
        turn = multiply(
            quaternion_at(model.ball_mean, b), from_rotation_vector(Vector(values[k], values[k + 1], values[k + 2]))
        )
        q[at], q[at + 1], q[at + 2], q[at + 3] = turn.w, turn.x, turn.y, turn.z
    for i in range(model.hinge_q.shape[0]):
        q[model.hinge_q[i]] = values[model.hinge_value[i]]


@kernel(counts_references=True)
def blend_likely(
    tree: Tree,
    start: Array,
    was: Array,
    now: Array,
    spread: Array,
    part_start: Array,
    hanging: Array,
    up: Vector,
    way: Array,
    # outputs
    q: Array,
) -> None:
    """Move every joint from `start` (nq,) towards the likely posture `now`, by how far that is from `was`.

    Args:
        tree: The tree.
        start: (nq,) the posture to start from.
        was: (nq,) the posture that was likely there.
        now: (nq,) the posture that is likely now.
        spread: (nv,) how much joints of people vary.
        part_start: (parts + 1,) first velocity of each part of the motion that belongs together.
        hanging: (k,) nodes of ball joints whose limbs start from their direction in space, not in their parents.
        up: The vertical.
        way: (2, nv) workspace.
        q: (nq,) the posture between.
    """
    difference(tree, was, now, way[0])
    for part in range(part_start.shape[0] - 1):
        moved, varies = 0.0, 0.0
        for k in range(part_start[part], part_start[part + 1]):
            moved += way[0, k] * way[0, k]
            varies += spread[k] * spread[k]
        for k in range(part_start[part], part_start[part + 1]):
            way[0, k] = 1.0 - math.exp(-0.5 * moved / varies)
    _move_by_shares(tree, start, now, way, q)
    if hanging.shape[0] > 0:
        hung = start.copy()
        _keep_direction(tree, hanging, up, start, q, hung)
        _move_by_shares(tree, hung, now, way, q)


@kernel
def _move_by_shares(
    tree: Tree,
    start: Array,
    end: Array,
    way: Array,
    # outputs
    q: Array,
) -> None:
    """Move every joint from `start` (nq,) by the shares `way[0]` (nv,) of the way to `end`; `way[1]` is workspace."""
    difference(tree, start, end, way[1])
    for k in range(way.shape[1]):
        way[1, k] *= way[0, k]
    integrate(tree, start, way[1], q)


@kernel(counts_references=True)
def _keep_direction(
    tree: Tree,
    nodes: Array,
    up: Vector,
    before: Array,
    after: Array,
    # outputs
    q: Array,
) -> None:
    """Set ball joints in `q` (nq,) so that their limbs, carried from `before` to `after`, turn about `up` alone.

    With A the rotation of the joint's frame in the world, before and after, and Y the twist of A' A⁻¹ about `up`, the
    limb A r becomes A' r' = Y A r.
    """
    n = tree.parent.shape[0]
    position, old, new = np.empty((n, 3)), np.empty((n, 4)), np.empty((n, 4))
    forward(tree, before, position, old)
    forward(tree, after, position, new)
    for k in range(nodes.shape[0]):
        i = nodes[k]
        placement, at = quaternion_at(tree.placement_rotation, i), tree.q_start[i]
        was = multiply(quaternion_at(old, tree.parent[i]), placement)
        now = multiply(quaternion_at(new, tree.parent[i]), placement)
        turn = multiply(now, conjugate(was))
        rise = turn.x * up.x + turn.y * up.y + turn.z * up.z
        size = math.hypot(turn.w, rise)
        if size < LEAST_TWIST:
            continue
        twist = Quaternion(turn.w / size, rise * up.x / size, rise * up.y / size, rise * up.z / size)
        limb = Quaternion(before[at], before[at + 1], before[at + 2], before[at + 3])
        kept = multiply(conjugate(now), multiply(twist, multiply(was, limb)))
        q[at], q[at + 1], q[at + 2], q[at + 3] = kept.w, kept.x, kept.y, kept.z
