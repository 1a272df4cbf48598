"""The forward phase as printed [Ribeiro & Paiva 2019, alg. 8], whose result depends on the previous iteration.

It turns the basis Q_k of a joint, left from the previous iteration, so that the previous segment has its direction in
the warped posture, then rolls it about its own +Y by an angle measured about the direction of the joint's own segment.
The two axes differ as soon as the joint is bent, so rolls from one iteration to the next, and those passed towards the
root (l. 10-25, l. 44), do not vanish. This finds a few more solutions and takes more iterations. `phases` measures the
roll about the axis about which it rolls.
"""

import numpy as np

from poise.kernels.chains.chain import SWING_JOINT, TWIST_JOINT, Chain, pointing, unmoved
from poise.kernels.gaze.erik.joint import (
    SHORTEST_PROJECTION,
    Lalut,
    parent_direction,
    perpendicular,
    signed_angle,
    step_off_limit,
    twist_of,
)
from poise.kernels.gaze.erik.phases import Frames, forward_angle, roll_to_axis
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.portable_trigonometry import turn_about
from poise.kernels.maths.quaternion import (
    Quaternion,
    conjugate,
    direct_rotation,
    multiply,
    put_quaternion,
    quaternion_at,
    rotate,
)
from poise.kernels.maths.vector import Vector, cross, dot, length, normalized, scale, vector_at

Array = np.ndarray


@kernel
def forward_as_printed(
    chain: Chain,
    lalut: Lalut,
    target: Quaternion,
    edge: float,
    angles: Array,
    # outputs
    frames: Frames,
) -> None:
    """Fill `frames.wanted` from the tip's `target`, `frames.warped`, and the current solution.

    `angles` (n,) and `frames.reached` are the current solution; `frames.reached` is overwritten with the bases Q_k.
    """
    warped, wanted, bases = frames.warped, frames.wanted, frames.reached
    last = angles.shape[0] - 1
    for k in range(last, 0, -1):
        put_quaternion(bases, k, unmoved(chain, k, quaternion_at(bases, k - 1)))
    put_quaternion(bases, 0, quaternion_at(chain.rest, 0))
    put_quaternion(wanted, last, target)
    for k in range(last, -1, -1):
        if k > 0:
            put_quaternion(bases, k, _laid(chain, k, angles[k], warped, bases))
        base = quaternion_at(bases, k)
        if chain.role[k] == SWING_JOINT:
            _roll_by_bend(chain, k, angles, warped, bases)
            if k < last:
                roll_to_axis(chain, k, base, wanted)
        goal = quaternion_at(wanted, k)
        apart = multiply(conjugate(base), goal)
        angle = forward_angle(chain, lalut, k, apart)
        if chain.role[k] == SWING_JOINT:
            bent = turn_about(vector_at(chain.axis, k), angle)
            _roll_down(k, twist_of(multiply(conjugate(bent), apart)), bases)
        if edge > 0.0:
            angle = step_off_limit(chain, k, angle, edge)
        if k == last and k > 0:
            put_quaternion(wanted, k - 1, multiply(base, conjugate(quaternion_at(chain.rest, k))))
        elif k > 0:
            back = multiply(goal, turn_about(vector_at(chain.axis, k), -angle))
            put_quaternion(wanted, k - 1, multiply(back, conjugate(quaternion_at(chain.rest, k))))


@kernel
def _pitch_axis(chain: Chain, k: int) -> Vector:
    """An axis perpendicular to segment `k`: its joint's, or for a twister that of a neighbour (7.1 PitchRA)."""
    neighbour = k
    if chain.role[k] == TWIST_JOINT:
        neighbour = min(k + 1, chain.role.shape[0] - 1) if k == 0 else k - 1
    if chain.role[neighbour] == TWIST_JOINT:
        return Vector(1.0, 0.0, 0.0)
    return vector_at(chain.axis, neighbour)


@kernel
def _laid(chain: Chain, k: int, angle: float, warped: Array, bases: Array) -> Quaternion:
    """The basis of joint `k`, turned to continue the previous segment of the warped posture, and rolled (l. 3-9)."""
    base = quaternion_at(bases, k)
    below = rotate(base, parent_direction(chain, k))
    base = multiply(direct_rotation(normalized(below), pointing(quaternion_at(warped, k - 1))), base)
    pitch = _pitch_axis(chain, k)
    along = pointing(multiply(base, turn_about(vector_at(chain.axis, k), angle)))
    current = perpendicular(rotate(base, pitch), along)
    theirs = perpendicular(rotate(unmoved(chain, k, quaternion_at(warped, k - 1)), pitch), along)
    if length(current) < SHORTEST_PROJECTION or length(theirs) < SHORTEST_PROJECTION:
        return base
    return multiply(base, turn_about(Vector(0.0, 1.0, 0.0), signed_angle(current, theirs, along)))


@kernel
def _roll_down(k: int, angle: float, bases: Array) -> None:
    """Roll the bases of all joints before `k` about their own +Y [Ribeiro & Paiva 2019, alg. 9]."""
    roll = turn_about(Vector(0.0, 1.0, 0.0), angle)
    for j in range(k):
        put_quaternion(bases, j, multiply(quaternion_at(bases, j), roll))


@kernel
def _roll_by_bend(chain: Chain, k: int, angles: Array, warped: Array, bases: Array) -> None:
    """Roll the bases before `k` by the roll that the nearest bend of the posture up to `k` defines (l. 10-25)."""
    segment = pointing(quaternion_at(warped, k))
    bend = Vector(0.0, 0.0, 0.0)
    at, found = k, k
    flipped = False
    while at >= 0 and length(bend) < SHORTEST_PROJECTION:
        found = at
        below = pointing(quaternion_at(warped, at - 1)) if at > 0 else Vector(0.0, 1.0, 0.0)
        bend = cross(below, segment)
        if at == 0 and not flipped:
            flipped = True
            if k + 1 >= angles.shape[0] or length(bend) >= SHORTEST_PROJECTION:
                break
            segment = pointing(quaternion_at(warped, k + 1))
            at = 1 if angles.shape[0] > 1 else -1
        else:
            segment = below
            at -= 1
    if length(bend) < SHORTEST_PROJECTION:
        return
    pitch = _pitch_axis(chain, found)
    lower = quaternion_at(bases, found - 1) if found > 0 else quaternion_at(chain.rest, 0)
    side, current = rotate(lower, pitch), rotate(quaternion_at(bases, k), pitch)
    if (dot(current, bend) < 0.0) != (dot(bend, side) < 0.0):
        bend = scale(bend, -1.0)
    bent = turn_about(vector_at(chain.axis, found), angles[found])
    along = pointing(multiply(quaternion_at(bases, found), bent))
    side, bend = perpendicular(side, along), perpendicular(bend, along)
    if length(side) > SHORTEST_PROJECTION and length(bend) > SHORTEST_PROJECTION:
        _roll_down(k, signed_angle(side, bend, along), bases)
