"""The twisters at both ends of a chain: closed forms, since neither shapes the posture."""

import math

import numpy as np

from poise.kernels.chain import TWIST, Chain, pointing, wrapped
from poise.kernels.compile import kernel
from poise.kernels.expressive_step import look_round
from poise.kernels.expressive_surface import heading, placed, root_axis
from poise.kernels.expressive_work import HERE
from poise.kernels.measures import FULL, Aim, Scoring
from poise.kernels.quaternion import conjugate, multiply

Array = np.ndarray

SAME = 1e-9
"""Angles nearer than this are the same [rad]."""


@kernel(borrows=True)
def turn_root(chain: Chain, aim: Aim, work: Array, row: int) -> float:
    """Turn the twister at the root towards the aim; returns how far beyond its limits it should have gone [rad]."""
    if chain.role[0] != TWIST:
        return 0.0
    work[row, 0] = 0.0
    p = pointing(look_round(chain, work, row))
    x = placed(chain, 0, heading(root_axis(chain), p, pointing(aim.rotation)))
    inside = min(chain.upper[0], max(chain.lower[0], x))
    work[row, 0] = inside
    return abs(x - inside)


@kernel(borrows=True)
def turn_tip(chain: Chain, scoring: Scoring, aim: Aim, work: Array, row: int) -> float:
    """Turn the twister at the tip to the roll of the aim; returns how far beyond its limits it should have gone.

    The twist of a rotation q about +Y is 2 atan2(q_y, q_w). Where the tip may be upside down, half a turn more or less
    will do as well; of those inside the limits, the smallest.
    """
    last = chain.role.shape[0] - 1
    if aim.kind != FULL or last == 0 or chain.role[last] != TWIST:
        return 0.0
    work[row, last] = 0.0
    tip = look_round(chain, work, row)
    q = multiply(conjugate(tip), aim.rotation)
    sense = 1.0 if chain.axis[last, 1] > 0.0 else -1.0
    asked = sense * 2.0 * math.atan2(q.y, q.w)
    best, beyond = 0.0, math.inf
    for half in range(2 if scoring.symmetric else 1):
        x = placed(chain, last, asked + half * math.pi)
        inside = min(chain.upper[last], max(chain.lower[last], x))
        out = abs(wrapped(x - inside))
        if out < beyond - SAME or (out < beyond + SAME and abs(inside) < abs(best) - SAME):
            best, beyond = inside, out
    work[row, last] = best
    return beyond


@kernel(borrows=True)
def mirror(chain: Chain, work: Array, row: int) -> None:
    """Negate all swings of `work[row]`: the same shape, turned by half a turn about the root's axis."""
    role = chain.role
    for k in range(role.shape[0]):
        if role[k] != TWIST:
            work[row, k] = -work[row, k]


@kernel(borrows=True)
def copy_row(work: Array, source: int, target: int) -> None:
    """work[target] = work[source]."""
    for k in range(work.shape[1]):
        work[target, k] = work[source, k]


@kernel(borrows=True)
def place_here(chain: Chain, posture: Array, mirrored: int, work: Array) -> None:
    """HERE: the posture, or its mirror image, inside the limits."""
    lower, upper, role = chain.lower, chain.upper, chain.role
    for k in range(role.shape[0]):
        x = -posture[k] if mirrored and role[k] != TWIST else posture[k]
        work[HERE, k] = min(upper[k], max(lower[k], x))
