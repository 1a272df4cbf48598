"""ERIK of 2017: three passes per frame, and a posture gradient kept between frames [Ribeiro & Paiva 2017, 4.1].

*Pre-pass*: computes the joint positions of the wanted posture, each segment turned by the gradient ΔP of the last
frame. *FABRIK pass*: every joint is an end-point with its own target position. From tip to root, a joint moves to the
midpoint of its own target and the position at the right distance from its child; from root to tip, each segment is
turned towards the next joint as far as its hinge allows, with the help of a twister (roll joint) before it. The result
is the *expressive solution*. *CCD pass*: turns that solution to the target, which gives the *oriented solution*.

The gradient of a segment is the world rotation that CCD has added over all frames: ΔP ← (Ω_oriented Ω_expressive⁻¹) ΔP.
The paper does not say that the rotations accumulate. With the rotation of the last frame alone, joints jump in every
fifth frame of a slow sweep.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.chains.chain import (
    SWING_JOINT,
    TWIST_JOINT,
    Chain,
    clamped,
    joint_positions,
    moved,
    segment_rotations,
    unmoved,
    wrapped,
)
from poise.kernels.gaze.erik.descent import Descent, ccd_solution, descent_aim, twist_tip
from poise.kernels.gaze.erik.joint import (
    SHORTEST_PROJECTION,
    Lalut,
    hemisphere_of,
    perpendicular,
    signed_angle,
    swing_angle,
)
from poise.kernels.gaze.measures import Aim
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.portable_trigonometry import turn_about
from poise.kernels.maths.quaternion import Quaternion, conjugate, multiply, put_quaternion, quaternion_at, rotate, unit
from poise.kernels.maths.vector import Vector, add, dot, length, normalized, put_vector, scale, subtract, vector_at

Array = np.ndarray


class Workspace2017(NamedTuple):
    """Workspace arrays of one solve of a chain of n joints, and the gradient, which the next frame uses."""

    gradient: Array
    """(n, 4) ΔP: world rotation of each segment; kept between frames."""
    frames: Array
    """(n, 4) frames of the current solution's segments."""
    expressive: Array
    """(n, 4) frames of the expressive solution's segments."""
    places: Array
    """(n+1, 3) target positions of the joints and the tip [m]."""
    moving: Array
    """(n+1, 3) current positions of the joints and the tip [m]."""
    angles: Array
    """(n,) the current solution [rad]."""
    best: Array
    """(n,) the angles with the smallest distance from the target positions so far [rad]."""


@kernel
def reset_gradient(workspace: Workspace2017) -> None:
    """Set the gradient of all segments to the identity."""
    for k in range(workspace.angles.shape[0]):
        put_quaternion(workspace.gradient, k, Quaternion(1.0, 0.0, 0.0, 0.0))


@kernel
def solve_erik_2017(
    chain: Chain,
    symmetric: int,
    lalut: Lalut,
    sweeps: int,
    stop: Descent,
    aim: Aim,
    posture: Array,
    workspace: Workspace2017,
) -> int:
    """Solve one frame; writes `workspace.angles` and `workspace.gradient`, and returns the sweeps of the FABRIK pass.

    Args:
        chain: The chain.
        symmetric: 1 if the tip may be upside down.
        lalut: The look-up table of swing angles; an empty one solves for them instead.
        sweeps: Largest number of sweeps of the FABRIK pass.
        stop: Stopping criteria of the CCD pass.
        aim: Wanted orientation or direction of the tip.
        posture: (n,) wanted angles [rad].
        workspace: Workspace arrays.
    """
    n = posture.shape[0]
    _pre_pass(chain, posture, workspace)
    for k in range(n):
        workspace.angles[k] = clamped(chain, k, posture[k])
    count = _fabrik_pass(chain, lalut, sweeps, workspace)
    segment_rotations(chain, workspace.angles, workspace.expressive)
    ccd_solution(chain, descent_aim(chain, aim, symmetric, workspace.angles), stop, 0.0, workspace.angles)
    twist_tip(chain, aim, symmetric, workspace.angles)
    segment_rotations(chain, workspace.angles, workspace.frames)
    for k in range(n):
        added = multiply(quaternion_at(workspace.frames, k), conjugate(quaternion_at(workspace.expressive, k)))
        put_quaternion(workspace.gradient, k, unit(multiply(added, quaternion_at(workspace.gradient, k))))
    return count


@kernel
def _pre_pass(chain: Chain, posture: Array, workspace: Workspace2017) -> None:
    """Write the joint positions of the wanted posture, each segment turned by its gradient, to `workspace.places`."""
    segment_rotations(chain, posture, workspace.frames)
    for k in range(posture.shape[0]):
        turned = multiply(quaternion_at(workspace.gradient, k), quaternion_at(workspace.frames, k))
        put_quaternion(workspace.frames, k, turned)
    joint_positions(chain, workspace.frames, workspace.places)


@kernel
def _fabrik_pass(chain: Chain, lalut: Lalut, sweeps: int, workspace: Workspace2017) -> int:
    """Run FABRIK sweeps until the joints get no nearer to their targets; returns the number of sweeps."""
    n = workspace.angles.shape[0]
    least = math.inf
    for i in range(1, sweeps + 1):
        segment_rotations(chain, workspace.angles, workspace.frames)
        joint_positions(chain, workspace.frames, workspace.moving)
        _reach_down(chain, workspace)
        _reach_up(chain, lalut, workspace)
        joint_positions(chain, workspace.frames, workspace.moving)
        apart = 0.0
        for k in range(n + 1):
            apart += length(subtract(vector_at(workspace.moving, k), vector_at(workspace.places, k)))
        if apart >= least * (1.0 - 1e-3):
            for k in range(n):
                workspace.angles[k] = workspace.best[k]
            return i
        least = apart
        for k in range(n):
            workspace.best[k] = workspace.angles[k]
    return sweeps


@kernel
def _reach_down(chain: Chain, workspace: Workspace2017) -> None:
    """FABRIK from tip to root: each joint moves to the midpoint of its target and the position its child gives it."""
    n = workspace.angles.shape[0]
    put_vector(workspace.moving, n, vector_at(workspace.places, n))
    for k in range(n - 1, 0, -1):
        child = vector_at(workspace.moving, k + 1)
        away = normalized(subtract(vector_at(workspace.moving, k), child))
        asked = add(child, scale(away, length(vector_at(chain.offset, k + 1))))
        put_vector(workspace.moving, k, scale(add(asked, vector_at(workspace.places, k)), 0.5))


@kernel
def _reach_up(chain: Chain, lalut: Lalut, workspace: Workspace2017) -> None:
    """FABRIK from root to tip: turn each segment towards the next joint as far as its hinge allows."""
    n = workspace.angles.shape[0]
    place = vector_at(chain.offset, 0)
    for k in range(n):
        below = quaternion_at(workspace.frames, max(k - 1, 0))
        if chain.role[k] == SWING_JOINT:
            wanted = subtract(vector_at(workspace.moving, k + 1), place)
            if length(wanted) > 1e-12:
                below = _point(chain, lalut, k, normalized(wanted), below, workspace)
        frame = moved(chain, k, below, workspace.angles[k])
        put_quaternion(workspace.frames, k, frame)
        place = add(place, rotate(frame, vector_at(chain.offset, k + 1)))


@kernel
def _point(
    chain: Chain, lalut: Lalut, k: int, wanted: Vector, below: Quaternion, workspace: Workspace2017
) -> Quaternion:
    """Turn swing `k`, and a twister before it, so that the segment points along `wanted`; returns the frame before `k`.

    After a twister, the swing sets the latitude and the twister the heading of the segment; of the two hemispheres of
    the swing, the one that keeps the twister within limits and turns it least is used. Without a twister, the swing
    turns the segment as near to `wanted` as its plane allows.
    """
    base = unmoved(chain, k, below)
    axis = rotate(base, vector_at(chain.axis, k))
    if k == 0 or chain.role[k - 1] != TWIST_JOINT:
        current, goal = perpendicular(rotate(base, Vector(0.0, 1.0, 0.0)), axis), perpendicular(wanted, axis)
        if length(current) > SHORTEST_PROJECTION and length(goal) > SHORTEST_PROJECTION:
            workspace.angles[k] = clamped(chain, k, signed_angle(current, goal, axis))
        return below
    direction = rotate(conjugate(base), wanted)
    side = hemisphere_of(chain, k, direction)
    best, turned = -math.inf, workspace.angles[k - 1]
    swing = workspace.angles[k]
    for _ in range(2):
        angle = swing_angle(chain, lalut, k, direction, side)
        pointed = rotate(multiply(base, turn_about(vector_at(chain.axis, k), angle)), Vector(0.0, 1.0, 0.0))
        twist = _heading_twist(chain, k - 1, below, pointed, wanted, workspace.angles[k - 1])
        spun = turn_about(rotate(below, vector_at(chain.axis, k - 1)), twist - workspace.angles[k - 1])
        score = dot(rotate(spun, pointed), wanted) - 1e-3 * abs(twist - workspace.angles[k - 1])
        if score > best:
            best, swing, turned = score, angle, twist
        side = -side
    step = turn_about(vector_at(chain.axis, k - 1), turned - workspace.angles[k - 1])
    workspace.angles[k], workspace.angles[k - 1] = swing, turned
    below = multiply(below, step)
    put_quaternion(workspace.frames, k - 1, below)
    return below


@kernel
def _heading_twist(chain: Chain, k: int, frame: Quaternion, pointed: Vector, wanted: Vector, angle: float) -> float:
    """Angle of twister `k` that turns the direction `pointed` to the heading of `wanted` about its axis [rad]."""
    axis = rotate(frame, vector_at(chain.axis, k))
    current, goal = perpendicular(pointed, axis), perpendicular(wanted, axis)
    if length(current) < SHORTEST_PROJECTION or length(goal) < SHORTEST_PROJECTION:
        return angle
    twist = wrapped(angle + signed_angle(current, goal, axis))
    return clamped(chain, k, twist)
