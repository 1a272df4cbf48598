"""One damped least-squares step inside limits, solved by its dual.

The step v (n,) minimises

    |J v - e|² + λ |v|²   over   l ≤ v ≤ u   and   b ≤ C v ≤ t.

With multipliers y of the goal's rows J and z of the constraint rows C, the optimum is v = clip(Jᵀ y + Cᵀ z, l, u),
where λ y = e - J v, and each constraint row has z = 0 inside its bounds, z ≤ 0 at its upper and z ≥ 0 at its lower
bound. A joint is at its limit if its rate before clipping lies beyond it. The unknowns are the multipliers, whose
number does not depend on the number of joints: with F the set of joints inside their limits and the active constraint
rows, the system matrix A = [J C]_F [J C]_Fᵀ + diag(λ, 0) has 3 to 6 rows and one per active constraint.

The method guesses the set of joints at limits, solves, and takes the next guess from the solution: a semismooth Newton
method, or primal–dual active set method [Hintermüller et al. 2002], which mostly converges in one to three iterations.
A line search keeps it from cycling: with w = Jᵀ y + Cᵀ z and b the active bounds, each iteration decreases the convex
dual

    φ(y, z) = λ |y|² / 2 - e · y - b · z + Σ (w_i clip(w_i) - clip(w_i)² / 2).

After convergence, constraint rows with a multiplier of the wrong sign leave the active set and violated ones enter it.
This outer loop may cycle, so callers must check the constraint rows.
"""

import math

from poise.kernels.jit.compile import kernel
from poise.kernels.reach.workspace import GOAL_ROWS, Work

MAX_STEP_ITERATIONS = 40
"""Largest number of iterations of the active-set method."""
LINE_SEARCH_BISECTIONS = 16
"""Bisection steps of the line search on φ."""
CONSTRAINT_TOLERANCE = 1e-12
"""Violation of a constraint row that makes it active."""
DEPENDENT_PIVOT = 1e-13
"""A constraint row is linearly dependent if its pivot is below this share of its diagonal entry."""


@kernel
def solve_step(work: Work, first: int, last: int, total: int, damping: float) -> bool:
    """Solve for `v` with goal rows `first` to `last` - 1 and constraint rows 6 to `total` - 1.

    Returns False when the iteration did not converge.
    """
    low, high, side = work.low, work.high, work.side
    for r in range(GOAL_ROWS, total):
        if low[r] == high[r]:
            side[r] = 1
    fresh = True
    for _ in range(MAX_STEP_ITERATIONS):
        count = _solve_active_set(work, first, last, total, damping)
        share = 1.0 if fresh else _step_length(work, last - first, count, damping)
        fresh = False
        if _advance(work, count, share):
            continue
        if total > GOAL_ROWS and _update_constraints(work, count, last - first, total):
            fresh = True
            continue
        return True
    return False


@kernel
def _step_length(work: Work, soft: int, count: int, damping: float) -> float:
    """Step length from the last multipliers to `y`, whose rates are `v`: 1, or just beyond the minimum of φ."""
    low, high, lower, upper, side, used = work.low, work.high, work.lower, work.upper, work.side, work.used
    y, v, unclipped, last_y = work.y, work.v, work.unclipped, work.last_y
    constant, slope = 0.0, 0.0
    for a in range(count):
        d = y[a] - last_y[a]
        r = used[a]
        constant -= d * (high[r] if side[r] > 0 else low[r])
        if a < soft:
            constant += damping * d * last_y[a]
            slope += damping * d * d
    near, far, t = 0.0, 1.0, 1.0
    for _ in range(LINE_SEARCH_BISECTIONS):
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
    # Just beyond the minimum, so that the joint whose clipping causes it changes its state.
    return far


@kernel
def _advance(work: Work, count: int, share: float) -> bool:
    """Move by the step length `share` towards `y` and `v`, then clip; True when the iteration must continue."""
    lower, upper, at, y, v = work.lower, work.upper, work.at, work.y, work.v
    unclipped, last_y = work.unclipped, work.last_y
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
def _solve_active_set(work: Work, first: int, last: int, total: int, damping: float) -> int:
    """Multipliers `y` and rates before clipping `v` for the current active set; returns the rows of the system."""
    rows, low, high, lower, upper = work.rows, work.low, work.high, work.lower, work.upper
    at, side, used, matrix, y, v = work.at, work.side, work.used, work.matrix, work.y, work.v
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
    # A x = y by A = L Lᵀ. The diagonal of L is stored as reciprocals, zero for a linearly dependent row.
    for a in range(count):
        diagonal = matrix[a, a]
        smallest = DEPENDENT_PIVOT * diagonal
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
def _update_constraints(work: Work, count: int, soft: int, total: int) -> bool:
    """Deactivate constraint rows with multipliers of the wrong sign, activate violated ones; True on any change."""
    rows, low, high, side, used, y, v = work.rows, work.low, work.high, work.side, work.used, work.y, work.v
    changed = False
    for r in range(GOAL_ROWS, total):
        if side[r] != 0:
            continue
        value = 0.0
        for i in range(v.shape[0]):
            value += rows[r, i] * v[i]
        if value > high[r] + CONSTRAINT_TOLERANCE:
            side[r] = 1
            changed = True
        elif value < low[r] - CONSTRAINT_TOLERANCE:
            side[r] = -1
            changed = True
    for a in range(soft, count):
        r = used[a]
        if low[r] < high[r] and side[r] * y[a] > 0.0:
            side[r] = 0
            changed = True
    return changed
