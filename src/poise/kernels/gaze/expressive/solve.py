"""The posture that faces a target with the shape nearest to the wanted one, from nothing but the question.

Two ways, one answer. On a chain whose ends are free twisters all that couples the joints between them is the height of
the pointing direction (`expressive_surface`): every start is a pivot that faces the target exactly, and the best few
slide along the surface. Any other chain begins at the posture and its mirror image, faces the target by damped steps
and then settles (`expressive_descend`); when neither arrives, points of an even sequence are tried, since an
orientation that can be reached must be reached.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.chains.chain import TWIST_JOINT, Chain, pointing
from poise.kernels.gaze.expressive.aim import copy_row, mirror, place_here, turn_ends, turn_root, turn_tip
from poise.kernels.gaze.expressive.descend import FACE_STEPS, FACED, face, settle
from poise.kernels.gaze.expressive.nearest_shape import joint_cost, note_wish, shape_cost, slide
from poise.kernels.gaze.expressive.surface import look_along, pivots, root_axis, sweep
from poise.kernels.gaze.expressive.workspace import (
    BEST,
    HERE,
    PIVOT_ANGLE,
    PIVOT_COST,
    PIVOT_JOINT,
    REFERENCE,
)
from poise.kernels.gaze.measures import FULL, Aim, Scoring
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.portable_trigonometry import arc_sine, golden_ratio
from poise.kernels.maths.vector import dot

Array = np.ndarray

NEAR_ENOUGH = 0.03
"""A start that comes so near to the shape is the last one."""
HOPEFUL = 0.4
"""Share of a pivot's cost to which a slide may bring it down; one that would need more is not tried."""


class Manner(NamedTuple):
    """How to search."""

    starts: int
    """Pivots, or starts that arrived, of which the best counts."""
    steps: int
    """Steps of each towards the shape."""
    restarts: int
    """Further starts while the target is not faced."""
    blend: float
    """Share of the sign-blind posture error in the cost."""
    free_root: int
    """1 where the root is a twister that can turn the chain to any heading, 2 where it can with its mirror image."""
    free_tip: int
    """1 where the tip is a twister that can give any roll."""


@kernel
def solve(
    chain: Chain,
    scoring: Scoring,
    manner: Manner,
    aim: Aim,
    posture: Array,
    # outputs
    work: Array,
    angles: Array,
) -> int:
    """Find `angles` (n,) that face `aim` with the shape of `posture` (n,); returns the steps it took."""
    steps = 0
    lacking = 1.0
    if manner.free_root and (aim.kind != FULL or manner.free_tip):
        lacking, steps = _on_surface(chain, scoring, manner, aim, posture, work)
    if lacking > FACED:
        steps += _anywhere(chain, scoring, manner, aim, posture, work, steps > 0)
    for k in range(angles.shape[0]):
        angles[k] = work[BEST, k]
    return steps


@kernel
def _pivots(chain: Chain, scoring: Scoring, manner: Manner, posture: Array, height: float, work: Array) -> int:
    """List the joints that can meet the height alone, from the posture inside the limits; returns how many can."""
    n = posture.shape[0]
    place_here(chain, posture, 0, work)
    look_along(chain, work, HERE)
    blend = manner.blend
    unmoved = shape_cost(chain, scoring, blend, work, HERE)
    count = 0
    for k in range(1, n):
        found, x, other, y = pivots(chain, work, k, height)
        if not (found or other):
            continue
        others = unmoved - joint_cost(chain, scoring, blend, k, work[HERE, k], work)
        for second in range(2):
            if second:
                found, x = other, y
            if found:
                column, row = count % n, count // n
                work[PIVOT_COST + row, column] = others + joint_cost(chain, scoring, blend, k, x, work)
                work[PIVOT_JOINT + row, column] = k
                work[PIVOT_ANGLE + row, column] = x
                count += 1
    return count


@kernel
def _start(chain: Chain, posture: Array, height: float, which: int, count: int, most: float, work: Array) -> bool:
    """HERE: the next cheapest pivot, or after those a sweep from the posture or from all joints straight.

    Returns whether there is one; a pivot that costs more than `most` is none.
    """
    n = posture.shape[0]
    place_here(chain, posture, 0, work)
    if which < count:
        least, best = math.inf, 0
        for i in range(count):
            if work[PIVOT_COST + i // n, i % n] < least:
                least, best = work[PIVOT_COST + i // n, i % n], i
        if least > most:
            return False
        work[PIVOT_COST + best // n, best % n] = math.inf
        work[HERE, int(work[PIVOT_JOINT + best // n, best % n])] = work[PIVOT_ANGLE + best // n, best % n]
        return True
    sort = which - count
    if sort >= 2:
        for k in range(n):
            work[HERE, k] = min(chain.upper[k], max(chain.lower[k], 0.0))
    sweep(chain, work, HERE, height, sort % 2)
    return sort < 4


@kernel
def _on_surface(
    chain: Chain, scoring: Scoring, manner: Manner, aim: Aim, posture: Array, work: Array
) -> tuple[float, int]:
    """BEST: the cheapest of a few slides; returns the angle it lacks and the steps."""
    r = root_axis(chain)
    height = dot(r, pointing(aim.rotation))
    note_wish(chain, posture, work)
    count = _pivots(chain, scoring, manner, posture, height, work)
    least, total = math.inf, 0
    for which in range(manner.starts):
        if not _start(chain, posture, height, which, count, least / HOPEFUL, work):
            break
        cost, steps = slide(chain, scoring, manner.blend, posture, height, manner.steps, work, HERE)
        total += steps
        if which >= count:
            cost += 10.0 * abs(dot(r, look_along(chain, work, HERE)) - height)
        if cost < least:
            least = cost
            copy_row(work, HERE, BEST)
        if cost < NEAR_ENOUGH:
            break
    beyond, error = turn_ends(chain, scoring, aim, work, BEST)
    if beyond > FACED and manner.free_root == 2:
        mirror(chain, work, BEST)
        _, error = turn_ends(chain, scoring, aim, work, BEST)
    # The error is √2 sin(d/4) for the angle d that is lacking.
    return 4.0 * arc_sine(min(1.0, error / math.sqrt(2.0))), max(1, total)


@kernel
def _anywhere(
    chain: Chain, scoring: Scoring, manner: Manner, aim: Aim, posture: Array, work: Array, begun: bool
) -> int:
    """BEST: the cheapest of a few descents that arrived, or the one that lacks least; returns the steps.

    When `begun`, BEST already holds a start worth trying.
    """
    n = posture.shape[0]
    arrived, total = 0, 0
    nearest, least = math.inf, math.inf
    most = 2 if begun else manner.starts + manner.restarts
    for start in range(-1 if begun else 0, most):
        if arrived >= manner.starts or (arrived > 0 and start >= manner.starts):
            break
        if start < 0:
            copy_row(work, BEST, HERE)
        elif start < 2:
            place_here(chain, posture, start, work)
        else:
            scatter(chain, start, work)
        if start >= 0:
            turn_root(chain, aim, work, HERE)
            turn_tip(chain, scoring, aim, work, HERE)
        for k in range(n):
            mirrored = start == 1 and chain.mirrors and chain.role[k] != TWIST_JOINT
            work[REFERENCE, k] = -posture[k] if mirrored else posture[k]
        note_wish(chain, work[REFERENCE], work)
        lacking = face(chain, scoring, aim, work, HERE, FACE_STEPS)
        total += 1
        cost = shape_cost(chain, scoring, manner.blend, work, HERE)
        if lacking < FACED:
            cost, steps = settle(chain, scoring, aim, manner.blend, work[REFERENCE], manner.steps, work, HERE)
            arrived += 1
            total += steps
            lacking = 0.0
        if lacking < nearest - 1e-6 or (lacking < nearest + 1e-6 and cost < least):
            nearest, least = lacking, cost
            copy_row(work, HERE, BEST)
    return total


@kernel
def scatter(chain: Chain, draw: int, work: Array) -> None:
    """HERE: point `draw` of the additive recurrence of the generalised golden ratio [Roberts 2018] in the limits."""
    lower, upper = chain.lower, chain.upper
    n = lower.shape[0]
    ratio, part = golden_ratio(n), 1.0
    for k in range(n):
        part /= ratio
        share = 0.5 + draw * part
        share -= math.floor(share)
        low, high = max(lower[k], -math.pi), min(upper[k], math.pi)
        work[HERE, k] = low + (high - low) * share
