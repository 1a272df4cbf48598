"""The twisters at both ends of a chain: closed forms, since neither shapes the posture."""

import math

import numpy as np

from poise.kernels.chains.chain import TWIST_JOINT, Chain, pointing, tip_rotation, wrapped
from poise.kernels.gaze.expressive.bounded_step import look_round
from poise.kernels.gaze.expressive.surface import heading, placed, root_axis
from poise.kernels.gaze.expressive.workspace import HERE
from poise.kernels.gaze.measures import FULL, Aim, Scoring, orientation_error
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.portable_trigonometry import arc_tangent, turn_about
from poise.kernels.maths.quaternion import Quaternion, conjugate, multiply
from poise.kernels.maths.vector import vector_at

Array = np.ndarray

SAME = 1e-9
"""Angles nearer than this are the same [rad]."""


@kernel
def turn_root(chain: Chain, aim: Aim, work: Array, row: int) -> float:
    """Turn the twister at the root towards the aim; returns how far beyond its limits it should have gone [rad]."""
    if chain.role[0] != TWIST_JOINT:
        return 0.0
    work[row, 0] = 0.0
    p = pointing(look_round(chain, work, row))
    x = placed(chain, 0, heading(root_axis(chain), p, pointing(aim.rotation)))
    inside = min(chain.upper[0], max(chain.lower[0], x))
    work[row, 0] = inside
    return abs(x - inside)


@kernel
def turn_tip(chain: Chain, scoring: Scoring, aim: Aim, work: Array, row: int) -> float:
    """Turn the twister at the tip to the roll of the aim; returns how far beyond its limits it should have gone.

    The twist of a rotation q about +Y is 2 atan2(q_y, q_w). Where the tip may be upside down, half a turn more or less
    will do as well; of those inside the limits, the smallest.
    """
    last = chain.role.shape[0] - 1
    if aim.kind != FULL or last == 0 or chain.role[last] != TWIST_JOINT:
        return 0.0
    work[row, last] = 0.0
    tip = look_round(chain, work, row)
    best, beyond = _nearest_twist(chain, scoring, last, multiply(conjugate(tip), aim.rotation))
    work[row, last] = best
    return beyond


@kernel
def turn_ends(chain: Chain, scoring: Scoring, aim: Aim, work: Array, row: int) -> tuple[float, float]:
    """`turn_root` and `turn_tip` in one look at the chain, whose ends are twisters.

    Returns how far beyond its limits the root should have gone [rad], and the orientation error that is left.
    """
    last = chain.role.shape[0] - 1
    twists = aim.kind == FULL and chain.role[last] == TWIST_JOINT
    work[row, 0] = 0.0
    if twists:
        work[row, last] = 0.0
    tip = tip_rotation(chain, work[row])
    r = root_axis(chain)
    x = placed(chain, 0, heading(r, pointing(tip), pointing(aim.rotation)))
    work[row, 0] = min(chain.upper[0], max(chain.lower[0], x))
    tip = multiply(turn_about(r, work[row, 0]), tip)
    if twists:
        work[row, last] = _nearest_twist(chain, scoring, last, multiply(conjugate(tip), aim.rotation))[0]
        tip = multiply(tip, turn_about(vector_at(chain.axis, last), work[row, last]))
    return abs(x - work[row, 0]), orientation_error(scoring, aim, tip)


@kernel
def _nearest_twist(chain: Chain, scoring: Scoring, last: int, q: Quaternion) -> tuple[float, float]:
    """The twist of q inside the limits of the tip, the smallest of several, and how far it is from the one asked."""
    sense = 1.0 if chain.axis[last, 1] > 0.0 else -1.0
    asked = sense * 2.0 * arc_tangent(q.y, q.w)
    best, beyond = 0.0, math.inf
    for half in range(2 if scoring.symmetric else 1):
        x = placed(chain, last, asked + half * math.pi)
        inside = min(chain.upper[last], max(chain.lower[last], x))
        out = abs(wrapped(x - inside))
        if out < beyond - SAME or (out < beyond + SAME and abs(inside) < abs(best) - SAME):
            best, beyond = inside, out
    return best, beyond


@kernel
def mirror(chain: Chain, work: Array, row: int) -> None:
    """Negate all swings of `work[row]`: the same shape, turned by half a turn about the root's axis."""
    role = chain.role
    for k in range(role.shape[0]):
        if role[k] != TWIST_JOINT:
            work[row, k] = -work[row, k]


@kernel
def copy_row(work: Array, source: int, target: int) -> None:
    """work[target] = work[source]."""
    for k in range(work.shape[1]):
        work[target, k] = work[source, k]


@kernel
def swap_rows(work: Array, one: int, other: int) -> None:
    """Each in the place of the other."""
    for k in range(work.shape[1]):
        work[one, k], work[other, k] = work[other, k], work[one, k]


@kernel
def place_here(chain: Chain, posture: Array, mirrored: int, work: Array) -> None:
    """HERE: the posture, or its mirror image, inside the limits."""
    lower, upper, role = chain.lower, chain.upper, chain.role
    for k in range(role.shape[0]):
        x = -posture[k] if mirrored and role[k] != TWIST_JOINT else posture[k]
        work[HERE, k] = min(upper[k], max(lower[k], x))
