"""How the wrench of a goal changes with the posture: the second derivatives of its error by the motion of its frames.

A goal's error depends on the posture through the motion of its frames: the displacement w of its point relative to node
b, the turn ε of node a relative to node b, and the turn ω of node b itself. The first derivatives are the wrench: the
force F belongs to w, the torque T to ε. `body.curvature` accounts for the second derivatives of w and ε by the
velocities, and this module for those of the error by w, ε and ω: for velocities j and k of the figure,

    H_jk = F_j · w_k + T_j · ε_k + ω_k · (F × w_j + ½ T × ε_j)
    F_j  = K_ww w_j + K_wε ε_j + ω_j × F        T_j = K_εw w_j + K_εε ε_j + ½ ω_j × T

with the change K (6, 6) of the wrench with the motion of node a. The terms in ω are those of a goal that is measured in
the axes of node b, because exp(-ω) exp(ω + ε) = exp(ε - ½ ω × ε + …). All derivatives are multiplied by the multipliers
μ of the goal's rows and added up: F = Σ μ_i f_i and so on. The changes K:

    point     0
    turn      second derivatives of -m · log(exp(g) exp(-ε)) with the error g and m = Σ μ_i d_i
    aim       second derivatives of -m · (θ / sin θ) (d × u), with m = Σ μ_i c_i: see `_aim_bend`
    distance  K_ww = (1 - u uᵀ) / distance, with the unit vector u
    surface   K_ww = ∇ of the normal
    slow      K_εε = √2 (¾ l^(-½) ∇l ∇lᵀ + (3/2) l^½ ∇²l) with l = ln(x / t), ∇l = r_w r_v / s,
              ∇²l = (r_w² 1 - r_v r_vᵀ) / 2s - ∇l ∇lᵀ and s = |r_v|²
    drift     K_ww, the same with ∇l = 2 d / |d|² and ∇²l = (2 / |d|²) (1 - 2 d dᵀ / |d|²)
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.body.tree import Tree
from poise.kernels.goals.goals import (
    AIM_GOAL,
    DISTANCE_GOAL,
    DRIFT_GOAL,
    MIN_AIM_DISTANCE,
    MIN_AIM_SINE,
    MIN_DISTANCE,
    POINT_GOAL,
    SLOW_GOAL,
    SURFACE_GOAL,
    TURN_GOAL,
    Evaluation,
    Goals,
    aim_lines,
    drift_excess,
    frame_of,
    surface_distance,
    turn_excess,
)
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.ellipsoid import normal_change
from poise.kernels.maths.quaternion import conjugate, multiply, quaternion_at, rotate, to_rotation_vector
from poise.kernels.maths.vector import Vector, add, cross, dot, length, put_vector, scale, subtract, vector_at

Array = np.ndarray

MIN_LOG_EXCESS = 1e-6
"""Value of ln(x / t) below which the curvature of a slow or a drift goal does not grow any more."""
MET_TURN = 1e-9
"""Angle up to which a turn counts as met, where its error has no second derivatives [rad]."""
SMALL_ANGLE = 0.1
"""Angle below which functions of an angle are computed by their series [rad]."""
ZERO = Vector(0.0, 0.0, 0.0)


class Motion(NamedTuple):
    """Workspace: motion of the frames of a goal with the velocities of the figure that move them."""

    moving: Array
    """(nv,) the velocities that move the frames, in the first entries."""
    displacement: Array
    """(nv, 3) displacement w of the goal's point relative to node b."""
    turn: Array
    """(nv, 3) turn ε of node a, relative to node b for a turn."""
    base_turn: Array
    """(nv, 3) turn ω of node b, if the goal is measured in its axes."""
    change: Array
    """(6, 6) change K of the wrench: force before torque."""


def make_motion(nv: int) -> Motion:
    """Allocate the workspace for a figure with `nv` velocities."""
    three = np.zeros((3, nv, 3))
    return Motion(np.zeros(nv, dtype=np.int64), three[0], three[1], three[2], np.zeros((6, 6)))


@kernel
def add_wrench_change(
    tree: Tree,
    goals: Goals,
    evaluation: Evaluation,
    motion: Motion,
    g: int,
    skip: int,
    multipliers: Array,
    # outputs
    out: Array,
) -> None:
    """Add to `out` (nv, nv) the part of the curvature of goal `g` that comes from the change of its wrench."""
    force, torque, size = ZERO, ZERO, 0.0
    for i in range(goals.first[g], goals.first[g + 1]):
        k = multipliers[skip + i] * goals.weight[i]
        size += abs(k)
        force = add(force, scale(vector_at(evaluation.force, i), k))
        torque = add(torque, scale(vector_at(evaluation.torque, i), k))
    if size == 0.0 or not _fill_change(goals, evaluation, g, skip, multipliers, motion.change):
        return
    count, mask, change = _find_motion(tree, goals, evaluation, g, motion), goals.mask[g], motion.change
    for a in range(count):
        j = motion.moving[a]
        w, turn, base = vector_at(motion.displacement, j), vector_at(motion.turn, j), vector_at(motion.base_turn, j)
        force_change = add(add(_times(change, 0, 0, w), _times(change, 0, 3, turn)), cross(base, force))
        torque_change = add(add(_times(change, 3, 0, w), _times(change, 3, 3, turn)), scale(cross(base, torque), 0.5))
        lever = add(cross(force, w), scale(cross(torque, turn), 0.5))
        for b in range(count):
            k = motion.moving[b]
            value = dot(force_change, vector_at(motion.displacement, k)) + dot(torque_change, vector_at(motion.turn, k))
            value += dot(lever, vector_at(motion.base_turn, k))
            out[j, k] += value if mask < 0 else goals.masks[mask, j] * goals.masks[mask, k] * value


@kernel
def _times(change: Array, row: int, column: int, v: Vector) -> Vector:
    """A block (3, 3) of `change` (6, 6) times a vector."""
    return Vector(
        change[row, column] * v.x + change[row, column + 1] * v.y + change[row, column + 2] * v.z,
        change[row + 1, column] * v.x + change[row + 1, column + 1] * v.y + change[row + 1, column + 2] * v.z,
        change[row + 2, column] * v.x + change[row + 2, column + 1] * v.y + change[row + 2, column + 2] * v.z,
    )


@kernel
def _find_motion(tree: Tree, goals: Goals, evaluation: Evaluation, g: int, motion: Motion) -> int:
    """Write the motion of the frames of goal `g`; returns the number of velocities that move them."""
    kind = goals.kind[g]
    turns_relatively = kind == TURN_GOAL
    turns_with_base = kind == POINT_GOAL or kind == TURN_GOAL or kind == SURFACE_GOAL
    count = 0
    for side in range(2):
        i = goals.node[g] if side == 0 else goals.base[g]
        p = vector_at(evaluation.point, g) if side == 0 else vector_at(evaluation.base_point, g)
        sign = 1.0 if side == 0 else -1.0
        while i > 0:
            lever = subtract(p, vector_at(evaluation.position, i))
            for k in range(tree.v_start[i], tree.v_start[i] + tree.v_count[i]):
                known = False
                if side == 1:
                    for c in range(count):
                        known = known or motion.moving[c] == k
                if not known:
                    motion.moving[count] = k
                    count += 1
                    put_vector(motion.displacement, k, ZERO)
                    put_vector(motion.turn, k, ZERO)
                    put_vector(motion.base_turn, k, ZERO)
                a = vector_at(evaluation.axes, k)
                v = cross(a, lever) if tree.dof_turns[k] == 1 else a
                put_vector(motion.displacement, k, add(vector_at(motion.displacement, k), scale(v, sign)))
                if tree.dof_turns[k] == 0:
                    continue
                if side == 0 or turns_relatively:
                    put_vector(motion.turn, k, add(vector_at(motion.turn, k), scale(a, sign)))
                if side == 1 and turns_with_base:
                    put_vector(motion.base_turn, k, a)
            i = tree.parent[i]
    return count


@kernel
def _fill_change(goals: Goals, evaluation: Evaluation, g: int, skip: int, multipliers: Array, change: Array) -> bool:
    """Write the change of the wrench of goal `g`; returns False where the wrench does not change."""
    kind, first = goals.kind[g], goals.first[g]
    for a in range(6):
        for b in range(6):
            change[a, b] = 0.0
    if kind == POINT_GOAL:
        return goals.base[g] > 0
    if kind == TURN_GOAL:
        return _turn_change(goals, evaluation, g, skip, multipliers, change)
    if kind == AIM_GOAL:
        return _aim_change(goals, evaluation, g, skip, multipliers, change)
    at = 3 if kind == SLOW_GOAL else 0
    for a in range(3):
        axis = _axis(a)
        column = scale(_single_change(goals, evaluation, g, axis), multipliers[skip + first] * goals.weight[first])
        change[at, at + a], change[at + 1, at + a], change[at + 2, at + a] = column.x, column.y, column.z
    return (kind != DRIFT_GOAL and kind != SLOW_GOAL) or evaluation.error[first] != 0.0


@kernel
def _single_change(goals: Goals, evaluation: Evaluation, g: int, v: Vector) -> Vector:
    """K v for a goal with one row: change of its force with a displacement `v`, or of its torque with a turn `v`."""
    kind = goals.kind[g]
    if kind == DISTANCE_GOAL:
        u = vector_at(evaluation.force, goals.first[g])
        distance = length(subtract(vector_at(evaluation.point, g), vector_at(evaluation.base_point, g)))
        return scale(subtract(v, scale(u, dot(u, v))), 1.0 / distance if distance > MIN_DISTANCE else 0.0)
    if kind == SURFACE_GOAL:
        _, turned, found = surface_distance(goals, evaluation, g)
        return rotate(turned, normal_change(found, rotate(conjugate(turned), v)))
    if kind == DRIFT_GOAL:
        _, d, excess = drift_excess(goals, evaluation, g)
        if excess == 0.0:
            return ZERO
        square, root = dot(d, d), math.sqrt(max(excess, MIN_LOG_EXCESS))
        along = math.sqrt(2.0) * (3.0 / root - 6.0 * root) * dot(d, v) / (square * square)
        return add(scale(d, along), scale(v, 3.0 * math.sqrt(2.0) * root / square))
    turn, excess = turn_excess(goals, evaluation, g)
    if excess == 0.0:
        return ZERO
    r = Vector(turn.x, turn.y, turn.z)
    s, root = dot(r, r), math.sqrt(max(excess, MIN_LOG_EXCESS))
    steep = turn.w * turn.w / (s * s)
    along = math.sqrt(2.0) * (0.75 / root * steep - 1.5 * root * (0.5 / s + steep)) * dot(r, v)
    return add(scale(r, along), scale(v, math.sqrt(2.0) * 0.75 * root * turn.w * turn.w / s))


@kernel
def _turn_change(goals: Goals, evaluation: Evaluation, g: int, skip: int, multipliers: Array, change: Array) -> bool:
    """Write the change of the torque of turn goal `g`; returns False where the turn is met and not relative.

    With the inverse right Jacobian J⁻¹ε = ε + ½ g × ε + k g × (g × ε), the error g changes by ġ = -J⁻¹ε, and

        K_εε(ε, ε) = m · (½ ġ × ε + k (ġ × (g × ε) + g × (ġ × ε)) + (k' / θ) (g · ġ) g × (g × ε)).
    """
    position, rotation = evaluation.position, evaluation.rotation
    _, a = frame_of(position, rotation, goals.node[g], vector_at(goals.place, g), quaternion_at(goals.turn, g))
    _, b = frame_of(
        position, rotation, goals.base[g], vector_at(goals.base_place, g), quaternion_at(goals.base_turn, g)
    )
    wanted = quaternion_at(goals.rotation, g)
    gap = rotate(b, to_rotation_vector(multiply(wanted, multiply(conjugate(a), b))))
    angle = length(gap)
    if angle <= MET_TURN:
        return goals.base[g] > 0
    m = ZERO
    for i in range(goals.first[g], goals.first[g + 1]):
        d = vector_at(goals.direction, i)
        if goals.value[g] == 1.0:
            d = rotate(wanted, d)
        m = add(m, scale(rotate(b, d), multipliers[skip + i] * goals.weight[i]))
    square = angle * angle
    if angle < SMALL_ANGLE:
        k, slope = 1.0 / 12.0 + square / 720.0, 1.0 / 360.0 + square / 7560.0
    else:
        half = 0.5 * angle
        h, h_slope = half / math.tan(half), 0.5 / math.tan(half) - 0.5 * half / math.sin(half) ** 2
        k, slope = (1.0 - h) / square, (-h_slope * angle - 2.0 * (1.0 - h)) / (square * square)
    for i in range(3):
        one = _axis(i)
        across = cross(gap, one)
        rate = scale(add(add(one, scale(across, 0.5)), scale(cross(gap, across), k)), -1.0)
        for j in range(3):
            other = _axis(j)
            beside = cross(gap, other)
            bend = add(cross(rate, beside), cross(gap, cross(rate, other)))
            total = add(scale(cross(rate, other), 0.5), scale(bend, k))
            total = add(total, scale(cross(gap, beside), slope * dot(gap, rate)))
            value = 0.5 * dot(m, total)
            change[3 + i, 3 + j] += value
            change[3 + j, 3 + i] += value
    return True


class _Aim(NamedTuple):
    """The second derivatives of the error E = f(d · u) (d × u) of an aim goal, times its multipliers."""

    d: Vector
    """The direction in which the site points."""
    u: Vector
    """The unit vector to the target."""
    nearness: float
    """1 / distance of the target, 0 for a direction [1/m]."""
    multiplier: Vector
    """m = Σ μ_i c_i over the axes c_i of the rows."""
    f: float
    """f = θ / sin θ."""
    slope: float
    """Its derivative by cos θ."""
    bend: float
    """Its second derivative by cos θ."""


@kernel
def _aim_change(goals: Goals, evaluation: Evaluation, g: int, skip: int, multipliers: Array, change: Array) -> bool:
    """Write the change of the wrench of aim goal `g`; returns False where it is not defined.

    The rows are those of E along two axes c_i across u that are fixed in the world.
    """
    first, lines = goals.first[g], aim_lines(goals, evaluation, g)
    d, u = lines.direction, lines.to_target
    sine, cosine = length(cross(d, u)), dot(d, u)
    if sine < MIN_AIM_SINE and (cosine < 0.0 or lines.distance < MIN_AIM_DISTANCE):
        return False
    m = scale(lines.across, multipliers[skip + first] * goals.weight[first])
    m = add(m, scale(cross(u, lines.across), multipliers[skip + first + 1] * goals.weight[first + 1]))
    angle = math.atan2(sine, cosine)
    if angle < SMALL_ANGLE:
        y = 1.0 - cosine
        f = 1.0 + y * (1.0 / 3.0 + y * (2.0 / 15.0 + y * 2.0 / 35.0))
        slope = -(1.0 / 3.0 + y * (4.0 / 15.0 + y * 6.0 / 35.0))
        bend = 4.0 / 15.0 + y * (12.0 / 35.0 + y * 96.0 / 315.0)
    else:
        f = angle / sine
        slope = (cosine * f - 1.0) / (sine * sine)
        bend = (f + 3.0 * cosine * slope) / (sine * sine)
    aim = _Aim(d, u, lines.nearness, m, f, slope, bend)
    for i in range(6):
        for j in range(i, 6):
            change[i, j] = _aim_bend(aim, _axis(i), _axis(i - 3), _axis(j), _axis(j - 3))
            change[j, i] = change[i, j]
    return True


@kernel
def _axis(i: int) -> Vector:
    """The unit vector along coordinate axis `i`; zero if there is no such axis."""
    return Vector(1.0 if i == 0 else 0.0, 1.0 if i == 1 else 0.0, 1.0 if i == 2 else 0.0)


@kernel
def _aim_bend(aim: _Aim, w: Vector, turn: Vector, other_w: Vector, other_turn: Vector) -> float:
    """Second derivative of -m · E by two motions of the site: displacements w and turns.

    A displacement w changes u by u̇ = -(w - (u · w) u) / distance, and a turn δ changes d by δ × d. The square of the
    error is the sum of those of E along c_i and along u as it was, of which the last grows by (u̇ · E)². With the
    multipliers μ = -e of the error itself, this is the last term -(u̇ · E) (u̇ · m); for an aim that is met it is zero.
    """
    d, u, m = aim.d, aim.u, aim.multiplier
    along, other_along = dot(u, w), dot(u, other_w)
    sight = scale(subtract(w, scale(u, along)), -aim.nearness)
    other_sight = scale(subtract(other_w, scale(u, other_along)), -aim.nearness)
    swing, other_swing = cross(turn, d), cross(other_turn, d)
    normal = cross(d, u)
    normal_rate = add(cross(swing, u), cross(d, sight))
    other_normal_rate = add(cross(other_swing, u), cross(d, other_sight))
    rate, other_rate = dot(swing, u) + dot(d, sight), dot(other_swing, u) + dot(d, other_sight)
    d_bend = scale(add(cross(turn, other_swing), cross(other_turn, swing)), 0.5)
    u_bend = scale(add(scale(other_sight, along), scale(sight, other_along)), aim.nearness)
    u_bend = subtract(u_bend, scale(u, dot(sight, other_sight)))
    normal_bend = add(cross(d_bend, u), cross(d, u_bend))
    normal_bend = add(normal_bend, add(cross(swing, other_sight), cross(other_swing, sight)))
    cosine_bend = dot(d_bend, u) + dot(d, u_bend) + dot(swing, other_sight) + dot(other_swing, sight)
    total = add(scale(normal_bend, aim.f), scale(normal, aim.slope * cosine_bend + aim.bend * rate * other_rate))
    total = add(total, scale(add(scale(other_normal_rate, rate), scale(normal_rate, other_rate)), aim.slope))
    moved = dot(sight, normal) * dot(other_sight, m) + dot(other_sight, normal) * dot(sight, m)
    return -dot(m, total) - 0.5 * aim.f * moved
