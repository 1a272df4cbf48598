"""Damped least squares with two priorities: the orientation first, the posture in what freedom is left.

The method that ERIK was compared with [Ribeiro & Paiva 2019, eq. 25; Baerlocher 2001]. With J the rates of the tip's
rotation (3, n), e what is left of the rotation, s the angles and Ψ the posture,

    Δx = J^{†λ₁} e        P = I - J† J        e₂ = Ψ - (s + Δx)        Δθ = Δx + P (S P)^{†λ₂} S e₂

where S leaves out a twister at the root and one at the tip, whose values do not shape the posture, and J^{†λ} is the
inverse damped as much as keeps a step within b, see `chain_steps`. e₂ already holds the first task's share, which
eq. 25 would take off a second time. Angles are kept within limits after each step, and the best solution is kept.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.chains.chain import Chain, clamped, pointing, segment_rotations, world_axis
from poise.kernels.chains.jacobian_steps import damped_step
from poise.kernels.gaze.erik.joint import twist_of
from poise.kernels.gaze.measures import DIRECTED, Aim, Scoring, orientation_error, posture_error, upside_down
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.quaternion import (
    Quaternion,
    about,
    conjugate,
    direct_rotation,
    multiply,
    quaternion_at,
    to_rotation_vector,
    unit,
)
from poise.kernels.maths.singular_values import singular_rows
from poise.kernels.maths.vector import Vector, length, scale

Array = np.ndarray


class TwoPriority(NamedTuple):
    """How the steps are taken and when they end."""

    iterations: int
    """Most steps."""
    threshold: float
    """Combined error that is good enough."""
    bound: float
    """b: how long a damped step may be [rad]."""
    longest: float
    """The rotation left is cut to this [rad]."""
    posture: int
    """0 to leave the second task out."""


class TwoPriorityRoom(NamedTuple):
    """Room for one solve of a chain of n joints."""

    angles: Array
    """(n,) the solution at hand [rad]."""
    best: Array
    """(n,) the best so far [rad]."""
    step: Array
    """(n,) Δx, then Δθ [rad]."""
    missing: Array
    """(max(n, 3),) e, e₂ [rad]."""
    frames: Array
    """(n, 4) of segments."""
    rows: Array
    """(max(n, 3), n) J or S P, then σ_i v_iᵀ."""
    left: Array
    """(max(n, 3), max(n, 3)) u_i in columns."""
    sigma: Array
    """(max(n, 3),) singular values."""
    free: Array
    """(n, n) P."""


@kernel
def solve_two_priority(
    chain: Chain,
    scoring: Scoring,
    options: TwoPriority,
    aim: Aim,
    posture: Array,
    start: Array,
    room: TwoPriorityRoom,
) -> int:
    """Leave the best solution in `room.best` and return the number of steps."""
    n = posture.shape[0]
    angles = room.angles
    for k in range(n):
        angles[k] = clamped(chain, k, start[k])
    goal = upright(aim.rotation) if scoring.symmetric and aim.kind != DIRECTED else aim.rotation
    least = math.inf
    for i in range(1, options.iterations + 1):
        segment_rotations(chain, angles, room.frames)
        tip = unit(quaternion_at(room.frames, n - 1))
        error = scoring.orientation * orientation_error(scoring, aim, tip)
        if options.posture:
            error += scoring.posture * posture_error(chain, scoring, angles, posture)
        if error < least:
            least = error
            for k in range(n):
                room.best[k] = angles[k]
        if error <= options.threshold:
            return i
        _first_task(chain, options, goal, tip, aim.kind, room)
        if options.posture:
            _second_task(chain, options, posture, room)
        for k in range(n):
            angles[k] = clamped(chain, k, angles[k] + room.step[k])
    return options.iterations


@kernel
def upright(target: Quaternion) -> Quaternion:
    """The target, or the same upside down, whichever a chain with a root and a tip of ±90° can twist to.

    Written as R(y, h) R(x, v) R(y, t) with |h| ≤ 90°, it is the one with |t| ≤ 90° [Ribeiro & Paiva 2019, 4.0.4].
    """
    d = pointing(target)
    heading = math.atan2(d.x, d.z)
    tilt = math.atan2(math.sqrt(d.x * d.x + d.z * d.z), d.y)
    if abs(heading) > 0.5 * math.pi:
        heading -= math.copysign(math.pi, heading)
        tilt = -tilt
    untwisted = multiply(about(Vector(0.0, 1.0, 0.0), heading), about(Vector(1.0, 0.0, 0.0), tilt))
    roll = twist_of(multiply(conjugate(untwisted), target))
    return target if abs(roll) <= 0.5 * math.pi else upside_down(target)


@kernel
def _first_task(
    chain: Chain, options: TwoPriority, goal: Quaternion, tip: Quaternion, kind: int, room: TwoPriorityRoom
) -> None:
    """Δx towards the orientation, and the freedom P it leaves."""
    n = room.angles.shape[0]
    if kind == DIRECTED:
        turn = to_rotation_vector(direct_rotation(pointing(tip), pointing(goal)))
    else:
        turn = to_rotation_vector(multiply(goal, conjugate(tip)))
    size = length(turn)
    if size > options.longest:
        turn = scale(turn, options.longest / size)
    room.missing[0], room.missing[1], room.missing[2] = turn.x, turn.y, turn.z
    for k in range(n):
        axis = world_axis(chain, room.frames, k)
        room.rows[0, k], room.rows[1, k], room.rows[2, k] = axis.x, axis.y, axis.z
        room.step[k] = 0.0
    singular_rows(3, room.rows, room.left, room.sigma)
    for i in range(n):
        for j in range(n):
            room.free[i, j] = 1.0 if i == j else 0.0
    for r in range(3):
        if room.sigma[r] > 0.0:
            weight = 1.0 / (room.sigma[r] * room.sigma[r])
            for i in range(n):
                for j in range(n):
                    room.free[i, j] -= weight * room.rows[r, i] * room.rows[r, j]
    damped_step(3, room.rows, room.left, room.sigma, room.missing, options.bound, room.step)


@kernel
def _second_task(chain: Chain, options: TwoPriority, posture: Array, room: TwoPriorityRoom) -> None:
    """Add to Δx the step towards the posture that leaves the orientation alone."""
    n = room.angles.shape[0]
    for i in range(n):
        counts = 1.0 if chain.middle[i] else 0.0
        room.missing[i] = counts * (posture[i] - room.angles[i] - room.step[i])
        for j in range(n):
            room.rows[i, j] = counts * room.free[i, j]
    first = room.frames
    for i in range(n):
        first[i, 0] = room.step[i]
        room.step[i] = 0.0
    singular_rows(n, room.rows, room.left, room.sigma)
    damped_step(n, room.rows, room.left, room.sigma, room.missing, options.bound, room.step)
    for i in range(n):
        first[i, 1] = room.step[i]
    for i in range(n):
        projected = 0.0
        for j in range(n):
            projected += room.free[i, j] * first[j, 1]
        room.step[i] = first[i, 0] + projected
