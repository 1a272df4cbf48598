"""One damped least-squares step inside limits, by its dual.

The step v of n rates minimises

    |J v - e|² + λ |v|²   over   l ≤ v ≤ u   and   b ≤ C v ≤ t.

With multipliers y of the goal's rows J and z of the hard rows C, the optimum is v = clip(Jᵀ y + Cᵀ z, l, u), where
λ y = e - J v, and each hard row has z = 0 inside its bounds, z ≤ 0 at its upper and z ≥ 0 at its lower one. A joint at
its limit is thus one whose unlimited rate lies beyond it, and the unknowns are as few as the rows, however many the
joints: with the joints F that move freely and the hard rows at a bound, A = [J C]_F [J C]_Fᵀ + diag(λ, 0) is 3 to 6
rows and those few. Which joints are at a limit is guessed, and the guess that the answer suggests is tried next: a
semismooth Newton method, or primal–dual active set [Hintermüller et al. 2002], that has mostly settled after one to
three rounds. It cannot cycle: with w = Jᵀ y + Cᵀ z and b the bounds of the rows held, it descends on the convex dual

    φ(y, z) = λ |y|² / 2 - e · y - b · z + Σ (w_i clip(w_i) - clip(w_i)² / 2),

and a round that would overshoot goes only as far as φ falls. Hard rows are then dropped by the sign of z and added
where they are crossed. That may go on forever, so callers must check them.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.jit.compile import kernel

Array = np.ndarray

GOAL_ROWS = 6
"""The first rows of every problem are the goal's: three of position, three of rotation."""
MAX_ROUNDS = 40
SEARCH_STEPS = 16
"""Halvings that find where φ stops falling when a round would overshoot."""
CROSSED = 1e-12
"""How far beyond its bound a hard row counts as crossed."""
DEPENDENT = 1e-13
"""Pivot, against its diagonal, below which a hard row follows from others."""


class Step(NamedTuple):
    """A problem, its answer, and what is kept from one step to the next."""

    rows: Array
    """(6 + c, n) the goal's rows, then hard ones."""
    low: Array
    """(6 + c,) the goal's targets, then lower bounds of the hard rows."""
    high: Array
    """(6 + c,) upper bounds of the hard rows."""
    lower: Array
    """(n,) least rates."""
    upper: Array
    """(n,) greatest rates."""
    at: Array
    """(n,) -1 at the lower limit, 1 at the upper, 0 free; the guess for the next step."""
    side: Array
    """(6 + c,) the same of hard rows."""
    used: Array
    """(6 + c,) rows of the system."""
    matrix: Array
    """(6 + c, 6 + c) its matrix, then its Cholesky factor."""
    y: Array
    """(6 + c,) its right-hand side, then the multipliers."""
    v: Array
    """(n,) the step."""
    unclipped: Array
    """(n,) w of the last round."""
    last: Array
    """(6 + c,) multipliers of the last round."""


@kernel
def solve_step(
    rows: Array, low: Array, high: Array, lower: Array, upper: Array, at: Array, side: Array, used: Array,
    matrix: Array, y: Array, v: Array, unclipped: Array, last_y: Array,
    first: int, last: int, total: int, damping: float,
) -> bool:  # fmt: skip
    """Solve for `v` with goal rows `first` … `last` and hard rows 6 … `total`; False when it did not settle.

    The arrays are the fields of a `Step`, one by one.
    """
    for r in range(GOAL_ROWS, total):
        if low[r] == high[r]:
            side[r] = 1
    fresh = True
    for _ in range(MAX_ROUNDS):
        count = _guess(rows, low, high, lower, upper, at, side, used, matrix, y, v, first, last, total, damping)
        share = 1.0
        if not fresh:
            share = _share(low, high, lower, upper, side, used, y, v, unclipped, last_y, last - first, count, damping)
        fresh = False
        if _go(lower, upper, at, y, v, unclipped, last_y, count, share):
            continue
        if total > GOAL_ROWS and _check_rows(rows, low, high, side, used, count, last - first, total, y, v):
            fresh = True
            continue
        return True
    return False


@kernel
def _share(
    low: Array, high: Array, lower: Array, upper: Array, side: Array, used: Array, y: Array, v: Array,
    unclipped: Array, last_y: Array, soft: int, count: int, damping: float,
) -> float:  # fmt: skip
    """How far to go from the last round's multipliers to `y`, whose rates are `v`: all the way, or while φ falls."""
    constant, slope = 0.0, 0.0
    for a in range(count):
        d = y[a] - last_y[a]
        r = used[a]
        constant -= d * (high[r] if side[r] > 0 else low[r])
        if a < soft:
            constant += damping * d * last_y[a]
            slope += damping * d * d
    near, far, t = 0.0, 1.0, 1.0
    for _ in range(SEARCH_STEPS):
        rate = constant + t * slope
        for i in range(v.shape[0]):
            d = v[i] - unclipped[i]
            rate += d * min(max(unclipped[i] + t * d, lower[i]), upper[i])
        if rate <= 0.0:
            near = t
            if t == 1.0:
                return 1.0
        else:
            far = t
        t = 0.5 * (near + far)
    # Just beyond the minimum, where the joints that bend φ there have changed sides.
    return far


@kernel
def _go(
    lower: Array, upper: Array, at: Array, y: Array, v: Array, unclipped: Array, last_y: Array, count: int, share: float
) -> bool:  # fmt: skip
    """Take a share of the way to `y` and its rates `v`, then clip; True when it must go on."""
    going = share < 1.0
    if going:
        for a in range(count):
            y[a] = last_y[a] + share * (y[a] - last_y[a])
        for i in range(v.shape[0]):
            v[i] = unclipped[i] + share * (v[i] - unclipped[i])
    for a in range(count):
        last_y[a] = y[a]
    for i in range(v.shape[0]):
        unclipped[i] = v[i]
        now = 0
        if v[i] <= lower[i]:
            now = -1
            v[i] = lower[i]
        elif v[i] >= upper[i]:
            now = 1
            v[i] = upper[i]
        if now != at[i]:
            at[i] = now
            going = True
    return going


@kernel
def _guess(
    rows: Array, low: Array, high: Array, lower: Array, upper: Array, at: Array, side: Array,
    used: Array, matrix: Array, y: Array, v: Array, first: int, last: int, total: int, damping: float,
) -> int:  # fmt: skip
    """Multipliers `y` and unclipped rates `v` with the joints and rows now held at their bounds; how many rows.

    One long function: numba counts references at every call that hands arrays on.
    """
    n = lower.shape[0]
    count = last - first
    for a in range(count):
        used[a] = first + a
    for r in range(GOAL_ROWS, total):
        if side[r] != 0:
            used[count] = r
            count += 1
    for a in range(count):
        y[a] = high[used[a]] if side[used[a]] > 0 else low[used[a]]
        for b in range(a):
            matrix[a, b] = 0.0
        matrix[a, a] = damping if a < last - first else 0.0
    for i in range(n):
        if at[i] == 0:
            for a in range(count):
                value = rows[used[a], i]
                for b in range(a + 1):
                    matrix[a, b] += value * rows[used[b], i]
        else:
            value = upper[i] if at[i] > 0 else lower[i]
            for a in range(count):
                y[a] -= value * rows[used[a], i]
    # A x = y by A = L Lᵀ. The diagonal of L is kept as reciprocals, zero for a row that depends on earlier ones.
    for a in range(count):
        diagonal = matrix[a, a]
        smallest = DEPENDENT * diagonal
        value_a = y[a]
        for b in range(a):
            value = matrix[a, b]
            for c in range(b):
                value -= matrix[a, c] * matrix[b, c]
            value *= matrix[b, b]
            matrix[a, b] = value
            value_a -= value * y[b]
            diagonal -= value * value
        inverse = 1.0 / math.sqrt(diagonal) if diagonal > smallest else 0.0
        matrix[a, a] = inverse
        y[a] = value_a * inverse
    for i in range(n):
        v[i] = 0.0
    for a in range(count - 1, -1, -1):
        value = y[a] * matrix[a, a]
        y[a] = value
        for b in range(a):
            y[b] -= matrix[a, b] * value
        r = used[a]
        for i in range(n):
            v[i] += value * rows[r, i]
    return count


@kernel
def _check_rows(
    rows: Array, low: Array, high: Array, side: Array, used: Array,
    count: int, soft: int, total: int, y: Array, v: Array,
) -> bool:  # fmt: skip
    """Drop hard rows that pull, add those that are crossed; True when there were any."""
    changed = False
    for r in range(GOAL_ROWS, total):
        if side[r] != 0:
            continue
        value = 0.0
        for i in range(v.shape[0]):
            value += rows[r, i] * v[i]
        if value > high[r] + CROSSED:
            side[r] = 1
            changed = True
        elif value < low[r] - CROSSED:
            side[r] = -1
            changed = True
    for a in range(soft, count):
        r = used[a]
        if low[r] < high[r] and side[r] * y[a] > 0.0:
            side[r] = 0
            changed = True
    return changed
