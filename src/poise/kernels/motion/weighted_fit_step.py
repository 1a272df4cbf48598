"""One step of the weighted fit inside the limits, by an active set of penalties (see `weighted_fit`).

Minimises the quadratic of `weighted_fit` subject to l ≤ C x ≤ u. Each active limit adds the penalty
PENALTY_WEIGHT · (C_i x - bound)². Solve, add the limits that the step violates to the active set, remove those that it
satisfies strictly, and repeat until the set no longer changes.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.engine.engine import Engine
from poise.kernels.jit.compile import kernel
from poise.kernels.motion.separation import Separation, no_separation

Array = np.ndarray

PENALTY_WEIGHT = 1e6
"""Penalty weight of loop closures and active limits, compared with goals of weight 1."""
CROSSING_TOLERANCE = 1e-12
"""Violation of a limit that does not make it active [rad or m]."""
MAX_ACTIVE_SET_CHANGES, MAX_RELEASES = 6, 2
"""Largest number of changes of the active set in one step, and of those that may remove limits, so that none cycles."""


class Fit(NamedTuple):
    """Weights and workspace of a fit."""

    slack: Array
    """(goals,) position error above which the loss of a goal is linear instead of quadratic [m]; inf for never."""
    near: Array
    """(nv,) ν, weight of the neutral posture."""
    still: Array
    """(nv,) η, weight of the posture of the frame before."""
    most_change: Array
    """(nv,) greatest change of each coordinate from the frame before [rad or m]; inf without a limit."""
    hessian: Array
    """(nv, nv) Hessian of the quadratic, lower triangle."""
    factor: Array
    """(nv, nv) factor L of the Hessian with damping and penalties, Lᵀ L."""
    right_side: Array
    """(nv,) right-hand side, the negative gradient."""
    step: Array
    """(nv,) x."""
    gap: Array
    """(nv,) workspace for differences of postures."""
    columns: Array
    """(nv,) workspace for the columns of a goal that are not zero."""
    active: Array
    """(nv + g,) -1 or 1 for a limit that is active at its lower or upper bound, 0 for an inactive one."""
    best: Array
    """(nq,) the best posture so far."""
    damping: Array
    """(1,) λ at the end of one posture, with which the next one starts."""
    strict: float
    """Factor on the weights of all goals."""
    apart: Separation
    """Parts of the figure to keep apart."""


def make_fit(
    goals: int,
    near: Array,
    still: Array,
    limits: int,
    nq: int,
    strict: float = 1.0,
    apart: Separation | None = None,
) -> Fit:
    """Workspace for a fit with this number of goals, limits and coordinates, and regularisers ν and η (nv,)."""
    n = near.shape[0]
    return Fit(
        slack=np.full(goals, math.inf),
        near=near,
        still=still,
        most_change=np.full(n, math.inf),
        hessian=np.zeros((n, n)),
        factor=np.zeros((n, n)),
        right_side=np.zeros(n),
        step=np.zeros(n),
        gap=np.zeros(n),
        columns=np.zeros(n, dtype=np.int64),
        active=np.zeros(limits, dtype=np.int64),
        best=np.zeros(nq),
        damping=np.zeros(1),
        strict=strict,
        apart=no_separation(n) if apart is None else apart,
    )


@kernel
def add_rows(
    rows: Array, first: int, last: int, weight: float, target: Array, columns: Array,
    # outputs
    hessian: Array, right_side: Array,
) -> None:  # fmt: skip
    """Add weight · |J x - b|² to the quadratic, where J and b are the rows from `first` up to but not including `last`.

    A goal depends only on the joints between its body and the base: columns of zeros are skipped. `columns` (nv,) is a
    workspace.
    """
    count = 0
    for a in range(rows.shape[1]):
        for i in range(first, last):
            if rows[i, a] != 0.0:
                columns[count] = a
                count += 1
                break
    i = first
    if last - first == 3:
        # Three rows in one pass, since most goals are points or rotations: each entry is read and written once.
        for k in range(count):
            a = columns[k]
            x, y, z = weight * rows[i, a], weight * rows[i + 1, a], weight * rows[i + 2, a]
            right_side[a] += x * target[i] + y * target[i + 1] + z * target[i + 2]
            for m in range(k + 1):
                b = columns[m]
                hessian[a, b] += x * rows[i, b] + y * rows[i + 1, b] + z * rows[i + 2, b]
        return
    for i in range(first, last):
        for k in range(count):
            a = columns[k]
            value = weight * rows[i, a]
            if value == 0.0:
                continue
            right_side[a] += value * target[i]
            for m in range(k + 1):
                b = columns[m]
                hessian[a, b] += value * rows[i, b]


@kernel(counts_references=True)
def constrained_step(engine: Engine, fit: Fit, damping: float) -> None:
    """Set `fit.step` to the minimum of the quadratic inside the limits; starts from the last active set."""
    for k in range(MAX_ACTIVE_SET_CHANGES):
        _solve_with_penalties(engine, fit, damping)
        if _update_active_set(engine, fit, k < MAX_RELEASES) == 0:
            return


@kernel(counts_references=True)
def _solve_with_penalties(engine: Engine, fit: Fit, damping: float) -> None:
    """Set `fit.step` to the minimum of the quadratic with penalties for the active limits."""
    hessian, factor, right_side, step, active = fit.hessian, fit.factor, fit.right_side, fit.step, fit.active
    lower, upper, general = engine.levels.lower, engine.levels.upper, engine.levels.general
    n = step.shape[0]
    for a in range(n):
        step[a] = right_side[a]
        for b in range(a + 1):
            factor[a, b] = hessian[a, b]
        factor[a, a] += damping
        bound = lower[a] if active[a] < 0 else upper[a]
        if active[a] != 0 and math.isfinite(bound):
            factor[a, a] += PENALTY_WEIGHT
            step[a] += PENALTY_WEIGHT * bound
    for g in range(general.shape[0]):
        side = active[n + g]
        bound = lower[n + g] if side < 0 else upper[n + g]
        if side == 0 or not math.isfinite(bound):
            continue
        for a in range(n):
            value = PENALTY_WEIGHT * general[g, a]
            if value != 0.0:
                step[a] += value * bound
                for b in range(a + 1):
                    factor[a, b] += value * general[g, b]
    factorise(factor)
    substitute(factor, step)


@kernel
def factorise(factor: Array) -> None:
    """Replace the lower triangle of A by its factor L, A = Lᵀ L.

    Joints farther from the base come later in A, so that the elimination begins at the tips of the limbs. It then fills
    in no zeros: two joints of different limbs have a zero in A, and in L too [Featherstone 2005].
    """
    n = factor.shape[0]
    for k in range(n - 1, -1, -1):
        pivot = math.sqrt(max(factor[k, k], 1e-12))
        factor[k, k] = pivot
        inverse = 1.0 / pivot
        for j in range(k):
            factor[k, j] *= inverse
        for i in range(k):
            value = factor[k, i]
            if value != 0.0:
                for j in range(i + 1):
                    factor[i, j] -= value * factor[k, j]


@kernel
def substitute(factor: Array, x: Array) -> None:
    """Solve Lᵀ L x = b in place: L is the lower triangle of `factor`, b is in `x`."""
    n = x.shape[0]
    for k in range(n - 1, -1, -1):
        x[k] /= factor[k, k]
        along = x[k]
        for i in range(k):
            x[i] -= along * factor[k, i]
    for k in range(n):
        total = x[k]
        for j in range(k):
            total -= factor[k, j] * x[j]
        x[k] = total / factor[k, k]


@kernel(counts_references=True)
def _update_active_set(engine: Engine, fit: Fit, may_release: bool) -> int:
    """Activate the limits that the step violates and, if `may_release`, deactivate the others; returns the changes."""
    step, active = fit.step, fit.active
    lower, upper, general = engine.levels.lower, engine.levels.upper, engine.levels.general
    n = step.shape[0]
    changed = 0
    for i in range(n + general.shape[0]):
        if i < n:
            value = step[i]
        else:
            if lower[i] == -math.inf and upper[i] == math.inf:
                active[i] = 0
                continue
            value = 0.0
            for a in range(n):
                value += general[i - n, a] * step[a]
        side = -1 if value < lower[i] - CROSSING_TOLERANCE else (1 if value > upper[i] + CROSSING_TOLERANCE else 0)
        if side != active[i] and (side != 0 or may_release):
            active[i] = side
            changed += 1
    return changed
