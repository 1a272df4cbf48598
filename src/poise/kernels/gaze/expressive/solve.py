"""Find the posture that faces a target and whose shape is nearest to a wanted posture, without a previous frame.

There are two methods. On a chain with a twister (roll joint) of sufficient range at its root, and one at its tip if the
roll matters, the joints between them are coupled by one equation only, the height of the pointing direction (see
`poise.kernels.gaze.expressive.surface`). Every start is a pivot that faces the target exactly, and the best few descend
along the self-motion manifold. Any other chain starts at the posture and at its mirror image, reaches the target by
damped steps and then minimises the shape error (see `poise.kernels.gaze.expressive.descend`). If neither start reaches
the target, further starts come from a low-discrepancy sequence, since a reachable orientation must be reached.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.chains.chain import TWIST_JOINT, Chain, pointing
from poise.kernels.gaze.expressive.aim import copy_row, mirror, start_at_posture, turn_ends, turn_root, turn_tip
from poise.kernels.gaze.expressive.descend import FACE_STEPS, FACING_TOLERANCE, face, settle
from poise.kernels.gaze.expressive.nearest_shape import descend_on_manifold, joint_cost, shape_cost, store_posture_terms
from poise.kernels.gaze.expressive.surface import height_coefficients, pivots, root_axis, sweep
from poise.kernels.gaze.expressive.workspace import (
    BEST_ROW,
    CURRENT_ROW,
    PIVOT_ANGLE_ROWS,
    PIVOT_COST_ROWS,
    PIVOT_JOINT_ROWS,
    REFERENCE_ROW,
)
from poise.kernels.gaze.measures import FULL, Aim, Scoring
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.portable_trigonometry import arc_sine, golden_ratio
from poise.kernels.maths.vector import dot

Array = np.ndarray

GOOD_SHAPE_COST = 0.03
"""No further start is tried after one with a cost below this."""
MAX_COST_REDUCTION = 0.4
"""A descent is expected to reduce the cost of its start to no less than this fraction; hopeless starts are skipped."""


class SearchSettings(NamedTuple):
    """Parameters of the search, and properties of the chain."""

    starts: int
    """Number of pivots, or of starts that reached the target, of which the best is taken."""
    steps: int
    """Largest number of steps from each start towards the shape."""
    restarts: int
    """Number of further starts while the target is not reached."""
    blend: float
    """Weight of the posture error, which ignores signs, in the cost; the shape error has the rest."""
    free_root: int
    """1 if the root is a twister that reaches every heading, 2 if it does so with the mirror image of the shape, else
    0."""
    free_tip: int
    """1 if the tip is a twister that reaches every roll."""


@kernel
def solve(
    chain: Chain,
    scoring: Scoring,
    search: SearchSettings,
    aim: Aim,
    posture: Array,
    # outputs
    work: Array,
    angles: Array,
) -> int:
    """Find `angles` (n,) that face `aim` with the shape of `posture` (n,); returns the number of steps."""
    steps = 0
    residual_angle = 1.0
    if search.free_root and (aim.kind != FULL or search.free_tip):
        residual_angle, steps = _solve_on_manifold(chain, scoring, search, aim, posture, work)
    if residual_angle > FACING_TOLERANCE:
        steps += _solve_by_descent(chain, scoring, search, aim, posture, work, steps > 0)
    for k in range(angles.shape[0]):
        angles[k] = work[BEST_ROW, k]
    return steps


@kernel
def _list_pivots(
    chain: Chain, scoring: Scoring, search: SearchSettings, posture: Array, height: float, work: Array
) -> int:
    """List the angles at which a single joint of the clamped posture reaches the height; returns their number."""
    n = posture.shape[0]
    start_at_posture(chain, posture, 0, work)
    height_coefficients(chain, work, CURRENT_ROW)
    blend = search.blend
    unmoved = shape_cost(chain, scoring, blend, work, CURRENT_ROW)
    count = 0
    for k in range(1, n):
        found, x, other, y = pivots(chain, work, k, height)
        if not (found or other):
            continue
        others = unmoved - joint_cost(chain, scoring, blend, k, work[CURRENT_ROW, k], work)
        for second in range(2):
            if second:
                found, x = other, y
            if found:
                column, row = count % n, count // n
                work[PIVOT_COST_ROWS + row, column] = others + joint_cost(chain, scoring, blend, k, x, work)
                work[PIVOT_JOINT_ROWS + row, column] = k
                work[PIVOT_ANGLE_ROWS + row, column] = x
                count += 1
    return count


@kernel
def _next_start(chain: Chain, posture: Array, height: float, which: int, count: int, most: float, work: Array) -> bool:
    """Write the next start to CURRENT_ROW: the cheapest pivot left, or after those a `sweep`.

    Sweeps begin at the posture, then at all joints straight. Returns whether there is a start; a pivot with a cost
    above `most` ends the list.
    """
    n = posture.shape[0]
    start_at_posture(chain, posture, 0, work)
    if which < count:
        least, best = math.inf, 0
        for i in range(count):
            if work[PIVOT_COST_ROWS + i // n, i % n] < least:
                least, best = work[PIVOT_COST_ROWS + i // n, i % n], i
        if least > most:
            return False
        work[PIVOT_COST_ROWS + best // n, best % n] = math.inf
        work[CURRENT_ROW, int(work[PIVOT_JOINT_ROWS + best // n, best % n])] = work[
            PIVOT_ANGLE_ROWS + best // n, best % n
        ]
        return True
    sort = which - count
    if sort >= 2:
        for k in range(n):
            work[CURRENT_ROW, k] = min(chain.upper[k], max(chain.lower[k], 0.0))
    sweep(chain, work, CURRENT_ROW, height, sort % 2)
    return sort < 4


@kernel
def _solve_on_manifold(
    chain: Chain, scoring: Scoring, search: SearchSettings, aim: Aim, posture: Array, work: Array
) -> tuple[float, int]:
    """Write the best of several descents on the manifold to BEST_ROW; returns its residual angle and the steps."""
    r = root_axis(chain)
    height = dot(r, pointing(aim.rotation))
    store_posture_terms(chain, posture, work)
    count = _list_pivots(chain, scoring, search, posture, height, work)
    least, total = math.inf, 0
    for which in range(search.starts):
        if not _next_start(chain, posture, height, which, count, least / MAX_COST_REDUCTION, work):
            break
        cost, steps = descend_on_manifold(
            chain, scoring, search.blend, posture, height, search.steps, work, CURRENT_ROW
        )
        total += steps
        if which >= count:
            cost += 10.0 * abs(dot(r, height_coefficients(chain, work, CURRENT_ROW)) - height)
        if cost < least:
            least = cost
            copy_row(work, CURRENT_ROW, BEST_ROW)
        if cost < GOOD_SHAPE_COST:
            break
    beyond, error = turn_ends(chain, scoring, aim, work, BEST_ROW)
    if beyond > FACING_TOLERANCE and search.free_root == 2:
        mirror(chain, work, BEST_ROW)
        _, error = turn_ends(chain, scoring, aim, work, BEST_ROW)
    # The error is √2 sin(d/4) for the angle d that is lacking.
    return 4.0 * arc_sine(min(1.0, error / math.sqrt(2.0))), max(1, total)


@kernel
def _solve_by_descent(
    chain: Chain, scoring: Scoring, search: SearchSettings, aim: Aim, posture: Array, work: Array, begun: bool
) -> int:
    """Write the best descent to BEST_ROW: the cheapest that reaches the target, else the nearest; returns the steps.

    If `begun`, BEST_ROW already holds a first start.
    """
    n = posture.shape[0]
    arrived, total = 0, 0
    nearest, least = math.inf, math.inf
    most = 2 if begun else search.starts + search.restarts
    for start in range(-1 if begun else 0, most):
        if arrived >= search.starts or (arrived > 0 and start >= search.starts):
            break
        if start < 0:
            copy_row(work, BEST_ROW, CURRENT_ROW)
        elif start < 2:
            start_at_posture(chain, posture, start, work)
        else:
            even_start(chain, start, work)
        if start >= 0:
            turn_root(chain, aim, work, CURRENT_ROW)
            turn_tip(chain, scoring, aim, work, CURRENT_ROW)
        for k in range(n):
            mirrored = start == 1 and chain.mirrors and chain.role[k] != TWIST_JOINT
            work[REFERENCE_ROW, k] = -posture[k] if mirrored else posture[k]
        store_posture_terms(chain, work[REFERENCE_ROW], work)
        residual_angle = face(chain, scoring, aim, work, CURRENT_ROW, FACE_STEPS)
        total += 1
        cost = shape_cost(chain, scoring, search.blend, work, CURRENT_ROW)
        if residual_angle < FACING_TOLERANCE:
            cost, steps = settle(
                chain, scoring, aim, search.blend, work[REFERENCE_ROW], search.steps, work, CURRENT_ROW
            )
            arrived += 1
            total += steps
            residual_angle = 0.0
        if residual_angle < nearest - 1e-6 or (residual_angle < nearest + 1e-6 and cost < least):
            nearest, least = residual_angle, cost
            copy_row(work, CURRENT_ROW, BEST_ROW)
    return total


@kernel
def even_start(chain: Chain, draw: int, work: Array) -> None:
    """Write point `draw` of a low-discrepancy sequence within the limits to CURRENT_ROW.

    The sequence is the additive recurrence of the generalised golden ratio [Roberts 2018].
    """
    lower, upper = chain.lower, chain.upper
    n = lower.shape[0]
    ratio, part = golden_ratio(n), 1.0
    for k in range(n):
        part /= ratio
        share = 0.5 + draw * part
        share -= math.floor(share)
        low, high = max(lower[k], -math.pi), min(upper[k], math.pi)
        work[CURRENT_ROW, k] = low + (high - low) * share
