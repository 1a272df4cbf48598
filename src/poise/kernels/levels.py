"""Strict priorities inside limits: one step of a lexicographic least-squares problem, exactly.

The unknown is a step x of n joint rates. Levels k = 0 … p - 1 have rows A_k and targets b_k; limits bound the variables
and, after them, any general rows: l ≤ C x ≤ u. Given what the levels above decided, level k solves

    minimise ½ |A_k x - b_k|² + ½ xᵀ S_k x + ½ λ_k² |x|²   over   { l ≤ C x ≤ u,  A_j x = A_j x*_j for all j < k }

and the last level, with no rows, minimises ½ |x - w|² + … for a wished step w. Curvature S_k is for levels that cannot
be met, others have none. The damping pulls the whole of x to zero, so the answer of a level does not depend on the way
to it, and what is handed down is A_k x itself: a damped level keeps every direction it has rows for, also those it
hardly used. A lower level can then cost a higher one nothing.

**One factorisation in priority order.** x = Q y with Q = H_0 H_1 … a product of Householder reflections, one per used
direction: [limits locked by level 0][rows of level 0][limits locked by level 1] …. Coordinates y_0 … y_{s-1} are
decided, the rest is free. Q is never formed. To lock a limit inside level k is to send its row through the reflections
so far; it cannot touch the levels above, whose coordinates are decided already.

**A level on a face.** Given the set of locked limits, their coordinates follow by forward substitution; the level's
rows are reduced to a lower trapezoid by reflections with row pivoting, which tells their rank; a full-rank undamped
level is met by forward substitution, any other by a small least-squares problem. Multipliers of the locks follow from
their own triangle alone. If all have the right sign and x is inside every limit, x is the optimum of the level.

**Which limits.** First the set of the last step is tried: wrong signs are dropped and crossed limits added, all at
once, a few times. If that does not settle, a textbook primal active-set method starts from the feasible point the level
was entered with. An undamped level of full rank, or whose other rows follow from these, is not even checked: it is met
exactly, so it is enough that the levels below find a point inside the limits; only if they do not, all levels are
checked in turn.

**Limits that begin later.** A limit may bind from some level on. Where it is crossed already by the least step that
does what the levels above decided, its bound moves there for this solve: nobody below makes it worse.

**Levels that give way.** First-order rows of a level that cannot be met say nothing about the directions in which it
loses at second order. A sweep stops at a watched level that leaves a good part of its target undone and tells the pull
of every row on it; the caller sums the rows' second derivatives, so weighted, into S_k and resumes. Such a level hands
down the null space of its whole Hessian, and the limits it leans on (see `level_curved`).

[Escande et al. 2014] and [Dimitrov et al. 2015] solve the problem of rows by related means.

Arrays are taken out of their tuples once per function: numba counts references at every access.
"""

import math

import numpy as np

from poise.kernels.compile import inner_kernel, kernel
from poise.kernels.householder import dot, from_coordinates
from poise.kernels.level_limits import inside, limit_value
from poise.kernels.level_problem import (
    CAPPED,
    CHECKED,
    CURVATURE,
    GAVE_WAY,
    GIVES_WAY,
    MET,
    Levels,
    LevelsWork,
    make_work,
)
from poise.kernels.level_sweep import run_levels

__all__ = [
    "CAPPED",
    "CHECKED",
    "GAVE_WAY",
    "GIVES_WAY",
    "MET",
    "Levels",
    "LevelsWork",
    "correct_levels",
    "make_work",
    "resume_levels",
    "solve_levels",
]

Array = np.ndarray

CORRECTED = 1e-6
"""Share of an error that may stay and the correction still counts as done."""


@kernel
def solve_levels(
    problem: Levels,
    work: LevelsWork,
    # outputs
    x: Array,
) -> int:
    """Solve `problem` for the step `x` (n,), warm-started by the limits locked in `work.side`; returns how.

    On entry `x` must be inside all limits; it is where undamped levels with freedom to spare stay. After GIVES_WAY the
    curvature of level `work.stopped[0]` is the caller's to write, `work.pull` at hand, and `resume_levels` goes on.
    """
    first = work.first
    for c in range(first.shape[0]):
        first[c] = x[c]
    status = run_levels(problem, work, -1, x)
    _measure(problem, work, x)
    return status


@kernel
def resume_levels(
    problem: Levels,
    work: LevelsWork,
    k: int,
    # outputs
    x: Array,
) -> int:
    """Go on from level `k`, at which the sweep stopped, with everything above it as decided; returns how."""
    y = work.y
    for c in range(y.shape[0]):
        x[c] = y[c]
    from_coordinates(work.reflectors, work.scales, work.decided[k], x)
    status = run_levels(problem, work, k, x)
    _measure(problem, work, x)
    return status


@inner_kernel
def _measure(problem: Levels, work: LevelsWork, x: Array) -> None:
    """What every level leaves undone."""
    rows, target, start, wish, left = problem.rows, problem.target, problem.start, problem.wish, work.left
    levels, n = start.shape[0] - 1, x.shape[0]
    for k in range(levels):
        total = 0.0
        for r in range(start[k], start[k + 1]):
            rest = target[r] - dot(rows, r, x)
            total += rest * rest
        left[k] = math.sqrt(total)
    total = 0.0
    for c in range(n):
        total += (wish[c] - x[c]) * (wish[c] - x[c])
    left[levels] = math.sqrt(total)


@kernel
def correct_levels(
    problem: Levels,
    work: LevelsWork,
    count: int,
    error: Array,
    x: Array,
    # outputs
    dx: Array,
) -> bool:
    """The least step `dx` with A_j dx = error for the rows of the first `count` levels, limits they hold unmoved.

    Forward substitution with the factor of the last sweep; where that leaves the limits, the small problem is solved
    with limits, after which no sweep can be resumed. False when the errors cannot be removed inside the limits; `dx` is
    then the best that can be done.

    Args:
        problem: as solved last.
        work: as the last sweep left it.
        count: how many levels to correct; not curved ones.
        error: their rows' missing values, in the order of the rows.
        x: (n,) the step taken, inside the limits.
        dx: (n,) what to add to it.
    """
    _substitute_errors(problem, work, count, error, dx)
    trial = work.trial
    for c in range(x.shape[0]):
        trial[c] = x[c] + dx[c]
    if not inside(problem, work, trial):
        _correct_inside(problem, work, count, error, x, dx)
    return _is_corrected(problem, count, error, dx)


@inner_kernel
def _substitute_errors(problem: Levels, work: LevelsWork, count: int, error: Array, dx: Array) -> None:
    """dx by forward substitution."""
    columns, triangle, owner, rest = work.columns, work.triangle, work.owner, work.rest
    used, m, n = work.decided[count], problem.start[count], dx.shape[0]
    for r in range(m):
        rest[r] = error[r]
    for c in range(n):
        dx[c] = 0.0
    for c in range(used):
        own = owner[c]
        if own == CURVATURE:
            continue
        if own < 0:
            total = 0.0
            for d in range(c):
                total -= triangle[c, d] * dx[d]
            dx[c] = total / triangle[c, c]
        else:
            dx[c] = rest[own] / columns[c, own]
        value = dx[c]
        for r in range(m):
            rest[r] -= columns[c, r] * value
    from_coordinates(work.reflectors, work.scales, used, dx)


@inner_kernel
def _correct_inside(problem: Levels, work: LevelsWork, count: int, error: Array, x: Array, dx: Array) -> None:
    """The same as a problem of its own, with the limits seen from `x`."""
    lower, upper, box, side, force = work.lower, work.upper, work.box, work.side, work.force
    kept_side, kept_force, first = work.kept_side, work.kept_force, work.first
    for i in range(lower.shape[0]):
        value = 0.0
        if lower[i] > -np.inf or upper[i] < np.inf:
            value = limit_value(problem.general, i, x)
        box[2, i], box[3, i] = lower[i], upper[i]
        box[0, i], box[1, i] = min(lower[i] - value, 0.0), max(upper[i] - value, 0.0)
        for k in range(side.shape[0]):
            kept_side[k, i], kept_force[k, i] = side[k, i], force[k, i]
    for c in range(dx.shape[0]):
        dx[c], first[c] = 0.0, 0.0
    part = Levels(
        problem.rows,
        error,
        problem.start[: count + 1],
        work.zeros[: count + 1],
        work.zeros[: x.shape[0]],
        problem.general,
        box[0],
        box[1],
        work.nothing,
        work.nothing,
        problem.curvature,
        work.nothing,
    )
    run_levels(part, work, -1, dx)
    for i in range(lower.shape[0]):
        lower[i], upper[i] = box[2, i], box[3, i]
        for k in range(side.shape[0]):
            side[k, i], force[k, i] = kept_side[k, i], kept_force[k, i]


@inner_kernel
def _is_corrected(problem: Levels, count: int, error: Array, dx: Array) -> bool:
    """Whether the rows got what they missed."""
    rows, m = problem.rows, problem.start[count]
    asked, left = 0.0, 0.0
    for r in range(m):
        rest = error[r] - dot(rows, r, dx)
        asked, left = max(asked, abs(error[r])), max(left, abs(rest))
    return left <= CORRECTED * asked + 1e-12
