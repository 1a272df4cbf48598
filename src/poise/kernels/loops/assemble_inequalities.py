"""Limits of several numbers at once while a mechanism is assembled: couplings, and the regions of ball joints.

Each is a value v(q) between two bounds: the linear form of a coupling, how far a swing is outside its region, how far a
twist is beyond its least or greatest. A fence that is *kept* is one more row beside those of the loops,

    c = v(q) - bound        ∂c/∂v_k = the derivative of v

which closing brings to zero as it does theirs. Equalities are kept always, others while a mechanism leans on them; the
rows of those that are not kept are zero, and rows that say nothing are redundant ones.
"""

from typing import NamedTuple

import numpy as np

from poise.kernels.body.couplings import coupling_value
from poise.kernels.body.limits import Bounds, ball_split, nearest_turn, twist_interval
from poise.kernels.body.step_limits import StepLimits, coupling_row, tangent_line
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.quaternion import quaternion_at, rotate
from poise.kernels.maths.swing_twist import swing_twist_rates
from poise.kernels.maths.vector import add, scale

Array = np.ndarray

SWING, LEAST_TWIST, GREATEST_TWIST = range(3)
AT_LOWER, OPEN, AT_UPPER = -1, 0, 1


class Fences(NamedTuple):
    """All fences of a figure, and which are kept."""

    limits: StepLimits
    bounds: Bounds
    coupling: Array
    """(g,) the coupling that each is, or -1."""
    ball: Array
    """(g,) the ball joint that each bounds, or -1."""
    part: Array
    """(g,) what of a ball joint: SWING, LEAST_TWIST or GREATEST_TWIST."""
    row: Array
    """(g,) its row among those of the loops."""
    lower: Array
    """(g,) least value."""
    upper: Array
    """(g,) greatest value."""
    side: Array
    """(g,) which bound it is kept at: AT_LOWER, AT_UPPER, or OPEN."""
    new: Array
    """(g,) 1 for fences that a step on trial met."""


@kernel
def fence_value(fences: Fences, i: int, q: Array) -> float:
    """Value of fence `i` [rad, or what a coupling measures]."""
    bounds = fences.bounds
    if fences.coupling[i] >= 0:
        return coupling_value(bounds, fences.coupling[i], q)
    b = fences.ball[i]
    split = ball_split(bounds, b, q)
    if fences.part[i] == SWING:
        _, _, room = tangent_line(bounds, b, split)
        return -room
    low, high = twist_interval(bounds, b, split.x, split.y)
    twist = nearest_turn(split.twist, 0.5 * (low + high))
    return twist - low if fences.part[i] == LEAST_TWIST else twist - high


@kernel
def _fence_row(fences: Fences, i: int, q: Array, rows: Array) -> None:
    """Derivative of the value of fence `i`, into its row."""
    limits, bounds, row = fences.limits, fences.bounds, fences.row[i]
    if fences.coupling[i] >= 0:
        coupling_row(limits, bounds, fences.coupling[i], q, row, rows)
        return
    b = fences.ball[i]
    split = ball_split(bounds, b, q)
    rates = swing_twist_rates(split)
    if fences.part[i] == SWING:
        nx, ny, _ = tangent_line(bounds, b, split)
        rate = add(scale(rates[0], nx), scale(rates[1], ny))
    else:
        c, j = bounds.twist, 0 if fences.part[i] == LEAST_TWIST else 6
        along = c[b, j + 1] + 2.0 * c[b, j + 3] * split.x + c[b, j + 4] * split.y
        across = c[b, j + 2] + c[b, j + 4] * split.x + 2.0 * c[b, j + 5] * split.y
        rate = add(rates[2], add(scale(rates[0], -along), scale(rates[1], -across)))
    turned, k = rotate(quaternion_at(bounds.limb, b), rate), limits.ball_dof[b]
    rows[row, k], rows[row, k + 1], rows[row, k + 2] = turned.x, turned.y, turned.z


@kernel
def fill_fences(fences: Fences, q: Array, rows: Array) -> None:
    """Rows of all fences that are kept; those of others are zero already."""
    for i in range(fences.side.shape[0]):
        if fences.side[i] != OPEN:
            _fence_row(fences, i, q, rows)


@kernel
def fence_residual(fences: Fences, q: Array, lacking: Array) -> float:
    """What the rows of fences that are kept lack; returns the largest."""
    worst = 0.0
    for i in range(fences.side.shape[0]):
        if fences.side[i] != OPEN:
            bound = fences.lower[i] if fences.side[i] == AT_LOWER else fences.upper[i]
            lacking[fences.row[i]] = fence_value(fences, i, q) - bound
            worst = max(worst, abs(lacking[fences.row[i]]))
    return worst


@kernel
def lean(fences: Fences, q: Array) -> None:
    """Keep the fences that `q` is beyond, and no others but equalities."""
    for i in range(fences.side.shape[0]):
        if fences.lower[i] < fences.upper[i]:
            value = fence_value(fences, i, q)
            fences.side[i] = AT_UPPER if value > fences.upper[i] else AT_LOWER if value < fences.lower[i] else OPEN


@kernel
def let_go(fences: Fences) -> None:
    """Keep equalities only."""
    for i in range(fences.side.shape[0]):
        fences.side[i] = AT_UPPER if fences.lower[i] == fences.upper[i] else OPEN
        fences.new[i] = 0


@kernel
def farthest_beyond(fences: Fences, q: Array, slack: float) -> tuple[int, float]:
    """The open fence that `q` is beyond by most, if by more than `slack`, or -1; and by how much."""
    worst, found = slack, -1
    for i in range(fences.side.shape[0]):
        if fences.side[i] == OPEN:
            value = fence_value(fences, i, q)
            excess = max(value - fences.upper[i], fences.lower[i] - value)
            if excess > worst:
                worst, found = excess, i
    return found, worst


@kernel
def keep(fences: Fences, i: int, q: Array) -> None:
    """Keep fence `i` at the bound that `q` is beyond."""
    fences.side[i] = AT_UPPER if fence_value(fences, i, q) > fences.upper[i] else AT_LOWER
    fences.new[i] = 1
