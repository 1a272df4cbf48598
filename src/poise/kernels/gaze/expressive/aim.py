"""Closed-form angles of the twisters (roll joints) at both ends of a chain, and helpers for rows of the workspace.

A twister at the root turns the whole chain to a heading; a twister at the tip sets the roll of the tip. Neither changes
the shape of the chain.
"""

import math

import numpy as np

from poise.kernels.chains.chain import TWIST_JOINT, Chain, pointing, tip_rotation, wrapped
from poise.kernels.gaze.expressive.bounded_step import tip_and_axes, turn_between
from poise.kernels.gaze.expressive.surface import equivalent_angle, heading, root_axis
from poise.kernels.gaze.expressive.workspace import CURRENT_ROW, PREVIOUS_ROW
from poise.kernels.gaze.measures import DIRECTED, FULL, Aim, Scoring, orientation_error
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.portable_trigonometry import arc_tangent, turn_about
from poise.kernels.maths.quaternion import Quaternion, conjugate, multiply
from poise.kernels.maths.vector import Vector, length, scale, vector_at

Array = np.ndarray

SAME_ANGLE = 1e-9
"""Angles that differ by less than this count as equal [rad]."""
OUT_OF_LIMITS = 100.0
"""Cost of each radian by which a roll is beyond the limits, relative to a radian by which the tip must turn."""


@kernel
def turn_root(chain: Chain, aim: Aim, work: Array, row: int) -> float:
    """Turn the twister at the root to the heading of the aim, within limits; returns how far it was clamped [rad].

    The return value is the distance between the angle that the heading needs and the nearest limit; 0 if the angle
    is within limits.
    """
    if chain.role[0] != TWIST_JOINT:
        return 0.0
    work[row, 0] = 0.0
    p = pointing(tip_and_axes(chain, work, row))
    x = equivalent_angle(chain, 0, heading(root_axis(chain), p, pointing(aim.rotation)))
    inside = min(chain.upper[0], max(chain.lower[0], x))
    work[row, 0] = inside
    return abs(x - inside)


@kernel
def turn_tip(chain: Chain, scoring: Scoring, aim: Aim, work: Array, row: int) -> float:
    """Turn the twister at the tip to the roll of the aim, within limits; returns how far it was clamped [rad].

    The twist of a rotation q about +Y is 2 atan2(q_y, q_w). If the tip may be upside down, half a turn more is
    equivalent; of the equivalent angles within limits the smallest is used.
    """
    last = chain.role.shape[0] - 1
    if aim.kind != FULL or last == 0 or chain.role[last] != TWIST_JOINT:
        return 0.0
    work[row, last] = 0.0
    tip = tip_and_axes(chain, work, row)
    best, excess = _nearest_twist(chain, scoring, last, multiply(conjugate(tip), aim.rotation))
    work[row, last] = best
    return excess


@kernel
def turn_tip_by(chain: Chain, scoring: Scoring, aim: Aim, rate: float, work: Array, row: int) -> None:
    """Turn the twister at the tip towards the roll of the aim, at most `rate` [rad] from PREVIOUS_ROW.

    Of the equivalent angles, the nearest within limits is used. Where the twister must turn all the way round, the roll
    is wrong for some frames, but the direction is not.
    """
    last = chain.role.shape[0] - 1
    if last == 0 or chain.role[last] != TWIST_JOINT:
        return
    before = work[PREVIOUS_ROW, last]
    if aim.kind != FULL:
        work[row, last] = before
        return
    work[row, last] = 0.0
    q = multiply(conjugate(tip_and_axes(chain, work, row)), aim.rotation)
    sense = 1.0 if chain.axis[last, 1] > 0.0 else -1.0
    asked = sense * 2.0 * arc_tangent(q.y, q.w)
    low, high = chain.lower[last], chain.upper[last]
    nearest, wanted = math.inf, before
    for half in range(2 if scoring.symmetric else 1):
        x = equivalent_angle(chain, last, asked + half * math.pi)
        inside = min(high, max(low, x))
        far = abs(turn_to(chain, last, before, inside)) + OUT_OF_LIMITS * abs(wrapped(x - inside))
        if far < nearest - SAME_ANGLE:
            nearest, wanted = far, inside
    work[row, last] = before + min(rate, max(-rate, turn_to(chain, last, before, wanted)))


@kernel
def turn_ends(chain: Chain, scoring: Scoring, aim: Aim, work: Array, row: int) -> tuple[float, float]:
    """Do `turn_root` and `turn_tip` with one forward kinematics, for a chain with a twister at the root.

    Returns how far the root was clamped [rad], and the remaining orientation error.
    """
    last = chain.role.shape[0] - 1
    twists = aim.kind == FULL and chain.role[last] == TWIST_JOINT
    work[row, 0] = 0.0
    if twists:
        work[row, last] = 0.0
    tip = tip_rotation(chain, work[row])
    r = root_axis(chain)
    x = equivalent_angle(chain, 0, heading(r, pointing(tip), pointing(aim.rotation)))
    work[row, 0] = min(chain.upper[0], max(chain.lower[0], x))
    tip = multiply(turn_about(r, work[row, 0]), tip)
    if twists:
        work[row, last] = _nearest_twist(chain, scoring, last, multiply(conjugate(tip), aim.rotation))[0]
        tip = multiply(tip, turn_about(vector_at(chain.axis, last), work[row, last]))
    return abs(x - work[row, 0]), orientation_error(scoring, aim, tip)


@kernel
def _nearest_twist(chain: Chain, scoring: Scoring, last: int, q: Quaternion) -> tuple[float, float]:
    """The tip joint's angle for the twist of `q`, clamped to its limits, and how far it was clamped [rad].

    If the tip may be upside down, half a turn more is tried too; of equally good angles the smallest is used.
    """
    axis_sign = 1.0 if chain.axis[last, 1] > 0.0 else -1.0
    twist = axis_sign * 2.0 * arc_tangent(q.y, q.w)
    best, excess = 0.0, math.inf
    for half in range(2 if scoring.symmetric else 1):
        x = equivalent_angle(chain, last, twist + half * math.pi)
        inside = min(chain.upper[last], max(chain.lower[last], x))
        out = abs(wrapped(x - inside))
        if out < excess - SAME_ANGLE or (out < excess + SAME_ANGLE and abs(inside) < abs(best) - SAME_ANGLE):
            best, excess = inside, out
    return best, excess


@kernel
def nearer_aim(aim: Aim, p: Vector, slack: float) -> Aim:
    """The aim turned by at most `slack` [rad] towards the direction p, if it is a direction."""
    if slack <= 0.0 or aim.kind != DIRECTED:
        return aim
    e = turn_between(pointing(aim.rotation), p)
    off = length(e)
    if off < SAME_ANGLE:
        return aim
    return Aim(multiply(turn_about(scale(e, 1.0 / off), min(off, slack)), aim.rotation), aim.kind)


@kernel
def turn_to(chain: Chain, k: int, angle: float, wanted: float) -> float:
    """Turn of joint `k` from `angle` to `wanted` [rad]; the shorter one for a joint without limits."""
    if math.isinf(chain.lower[k]) and math.isinf(chain.upper[k]):
        return wrapped(wanted - angle)
    return wanted - angle


@kernel
def mirror(chain: Chain, work: Array, row: int) -> None:
    """Negate all swings of `work[row]`: the same shape, turned by half a turn about the root axis."""
    role = chain.role
    for k in range(role.shape[0]):
        if role[k] != TWIST_JOINT:
            work[row, k] = -work[row, k]


@kernel
def copy_row(work: Array, source: int, target: int) -> None:
    """Copy row `source` of the workspace to row `target`."""
    for k in range(work.shape[1]):
        work[target, k] = work[source, k]


@kernel
def swap_rows(work: Array, one: int, other: int) -> None:
    """Exchange two rows of the workspace."""
    for k in range(work.shape[1]):
        work[one, k], work[other, k] = work[other, k], work[one, k]


@kernel
def start_at_posture(chain: Chain, posture: Array, mirrored: int, work: Array) -> None:
    """Set CURRENT_ROW to the posture, or to its mirror image if `mirrored`, clamped to the limits."""
    lower, upper, role = chain.lower, chain.upper, chain.role
    for k in range(role.shape[0]):
        x = -posture[k] if mirrored and role[k] != TWIST_JOINT else posture[k]
        work[CURRENT_ROW, k] = min(upper[k], max(lower[k], x))
