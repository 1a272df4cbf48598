"""Inequalities between several coordinates while a mechanism is assembled: couplings and ball joint limits.

Each inequality bounds a value, lower ≤ f(q) ≤ upper: the linear form of a coupling, the distance of a swing from its
region (negative inside), or the distance of a twist from its least or greatest value. An *active* inequality is one
more row beside the closures of the loops,

    c = f(q) - bound        ∂c/∂v_k = ∂f/∂v_k

which closing the loops brings to zero too. Equalities are always active, inequalities only while the mechanism is at
their bound. The row of an inactive inequality is zero, which the factorisation treats as a redundant row.
"""

from typing import NamedTuple

import numpy as np

from poise.kernels.body.limits import Bounds, ball_split, coupling_value, nearest_turn, twist_interval, twist_slopes
from poise.kernels.body.step_limits import StepLimits, coupling_row, tangent_line
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.quaternion import quaternion_at, rotate, swing_twist_rates
from poise.kernels.maths.vector import add, scale

Array = np.ndarray

SWING, LEAST_TWIST, GREATEST_TWIST = range(3)
"""Parts of a ball joint's limits."""
AT_LOWER, INACTIVE, AT_UPPER = -1, 0, 1
"""States of an inequality: active at its lower bound, inactive, active at its upper bound."""


class Inequalities(NamedTuple):
    """All inequalities of a figure, and which of them are active."""

    limits: StepLimits
    """Index maps between velocities and coordinates."""
    bounds: Bounds
    """Limits and couplings of the figure."""
    coupling: Array
    """(g,) index of the coupling, or -1 for a ball joint limit."""
    ball: Array
    """(g,) index of the ball joint, or -1 for a coupling."""
    part: Array
    """(g,) SWING, LEAST_TWIST or GREATEST_TWIST, for a ball joint limit."""
    row: Array
    """(g,) index of its row among the closure rows."""
    lower: Array
    """(g,) least value."""
    upper: Array
    """(g,) greatest value."""
    side: Array
    """(g,) the bound at which it is active, AT_LOWER or AT_UPPER, or INACTIVE."""
    new: Array
    """(g,) 1 for those that the trial step made active."""


@kernel
def inequality_value(inequalities: Inequalities, i: int, q: Array) -> float:
    """Value f(q) of inequality `i` [rad, or the unit of the coupling]."""
    bounds = inequalities.bounds
    if inequalities.coupling[i] >= 0:
        return coupling_value(bounds, inequalities.coupling[i], q)
    b = inequalities.ball[i]
    split = ball_split(bounds, b, q)
    if inequalities.part[i] == SWING:
        _, _, room = tangent_line(bounds, b, split)
        return -room
    low, high = twist_interval(bounds, b, split.x, split.y)
    twist = nearest_turn(split.twist, 0.5 * (low + high))
    return twist - low if inequalities.part[i] == LEAST_TWIST else twist - high


@kernel
def _inequality_row(inequalities: Inequalities, i: int, q: Array, rows: Array) -> None:
    """Write the derivative of the value of inequality `i` into its row."""
    limits, bounds, row = inequalities.limits, inequalities.bounds, inequalities.row[i]
    if inequalities.coupling[i] >= 0:
        coupling_row(limits, bounds, inequalities.coupling[i], q, row, rows)
        return
    b = inequalities.ball[i]
    split = ball_split(bounds, b, q)
    rates = swing_twist_rates(split)
    if inequalities.part[i] == SWING:
        nx, ny, _ = tangent_line(bounds, b, split)
        rate = add(scale(rates[0], nx), scale(rates[1], ny))
    else:
        slope_x, slope_y = twist_slopes(bounds, b, inequalities.part[i] != LEAST_TWIST, split.x, split.y)
        rate = add(rates[2], add(scale(rates[0], -slope_x), scale(rates[1], -slope_y)))
    turned, k = rotate(quaternion_at(bounds.limb, b), rate), limits.ball_dof[b]
    rows[row, k], rows[row, k + 1], rows[row, k + 2] = turned.x, turned.y, turned.z


@kernel
def fill_inequality_rows(inequalities: Inequalities, q: Array, rows: Array) -> None:
    """Fill the rows of all active inequalities; the rows of the others must be zero already."""
    for i in range(inequalities.side.shape[0]):
        if inequalities.side[i] != INACTIVE:
            _inequality_row(inequalities, i, q, rows)


@kernel
def inequality_residual(inequalities: Inequalities, q: Array, residuals: Array) -> float:
    """Fill the residuals of all active inequalities; returns the largest."""
    worst = 0.0
    for i in range(inequalities.side.shape[0]):
        if inequalities.side[i] != INACTIVE:
            bound = inequalities.lower[i] if inequalities.side[i] == AT_LOWER else inequalities.upper[i]
            residuals[inequalities.row[i]] = inequality_value(inequalities, i, q) - bound
            worst = max(worst, abs(residuals[inequalities.row[i]]))
    return worst


@kernel
def activate_violated(inequalities: Inequalities, q: Array) -> None:
    """Activate the inequalities that `q` violates and deactivate all others; equalities stay active."""
    for i in range(inequalities.side.shape[0]):
        if inequalities.lower[i] < inequalities.upper[i]:
            value = inequality_value(inequalities, i, q)
            inequalities.side[i] = (
                AT_UPPER if value > inequalities.upper[i] else AT_LOWER if value < inequalities.lower[i] else INACTIVE
            )


@kernel
def activate_equalities(inequalities: Inequalities) -> None:
    """Activate the equalities and deactivate all others."""
    for i in range(inequalities.side.shape[0]):
        inequalities.side[i] = AT_UPPER if inequalities.lower[i] == inequalities.upper[i] else INACTIVE
        inequalities.new[i] = 0


@kernel
def most_violated(inequalities: Inequalities, q: Array, slack: float) -> tuple[int, float]:
    """The inactive inequality that `q` violates most, or -1 if none by more than `slack`; and the violation."""
    worst, found = slack, -1
    for i in range(inequalities.side.shape[0]):
        if inequalities.side[i] == INACTIVE:
            value = inequality_value(inequalities, i, q)
            excess = max(value - inequalities.upper[i], inequalities.lower[i] - value)
            if excess > worst:
                worst, found = excess, i
    return found, worst


@kernel
def activate(inequalities: Inequalities, i: int, q: Array) -> None:
    """Activate inequality `i` at the bound that `q` violates, and mark it as new."""
    inequalities.side[i] = AT_UPPER if inequality_value(inequalities, i, q) > inequalities.upper[i] else AT_LOWER
    inequalities.new[i] = 1
