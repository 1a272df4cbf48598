"""The level solver: an exact solution of a lexicographic least-squares problem with linear limits.

The unknown is a step x of n joint rates. Levels k = 0 … p - 1 have rows A_k and targets b_k; limits bound the variables
and, after them, any general rows: l ≤ C x ≤ u. Level k solves, with x*_j the solutions of the levels above,

    minimise ½ |A_k x - b_k|² + ½ xᵀ S_k x + ½ λ_k² |x|²   over   { l ≤ C x ≤ u,  A_j x = A_j x*_j for all j < k }

and the last level, which has no rows, minimises ½ |x - w|² + … for a desired step w, the wish. Only levels that cannot
be met have a curvature S_k. The damping penalises the whole step x, so that the solution of a level does not depend on
the active sets visited on the way. The constraint passed on to the levels below is the value A_k x itself, also for a
damped level and in directions it hardly used: no lower level can change the error of a higher one.

**One factorisation in priority order.** x = Q y with Q = H_0 H_1 … a product of Householder reflections, one per used
direction: [limits locked by level 0][rows of level 0][limits locked by level 1] …. Coordinates y_0 … y_{s-1} are
decided, the rest is free. Q is never formed. Locking a limit in level k means applying the reflections so far to its
row; the levels above are not affected, because their coordinates are decided already.

**A level on a face.** For a given set of locked limits, the coordinates of these limits follow by forward substitution.
The rows of the level are reduced to a lower trapezoid by reflections with row pivoting, which reveals their rank. An
undamped level of full rank is solved by forward substitution, any other by a small least-squares problem. The
multipliers of the locked limits follow from the triangle of their own rows. If all of them have the right sign and x is
inside every limit, x is the optimum of the level.

**The active set.** The active set of the last step is tried first: all limits with multipliers of the wrong sign are
dropped and all crossed limits are added, at once, a few times. If that does not settle, a textbook primal active-set
method starts from the feasible point with which the level started. A lazy sweep does not check an undamped level with
consistent rows against the limits at all: the level is met exactly, so it is enough that the levels below find a point
inside the limits. Only if they do not, a second sweep checks every level in turn.

**Limits that begin later.** A limit may bind from some level on. Where the shortest step with the decided coordinates
crosses such a limit already, its bound is relaxed to that step's value for this solve: the levels below cannot make the
violation worse.

**Levels that give way.** The rows of a level that cannot be met describe its error to first order only. A sweep stops
at a watched level whose residual exceeds a share of its target, and reports the multiplier of every row at the optimum
of that level. The caller adds up the second derivatives of the rows, weighted by these multipliers, into S_k, and
resumes the sweep. The levels below may then move in the null space of the whole Hessian, with the limits locked that
have a nonzero multiplier (see `newton_level`).

[Escande et al. 2014] and [Dimitrov et al. 2015] solve the problem without curvature by related means.
"""

import math

import numpy as np

from poise.kernels.jit.compile import inner_kernel, kernel
from poise.kernels.levels.householder import dot, from_coordinates
from poise.kernels.levels.limits import inside, limit_value
from poise.kernels.levels.problem import (
    CHECKED,
    COLUMNS,
    CURVATURE_OWNER,
    CURVED_LEVELS,
    DAMPING,
    DECIDED,
    ESCAPE,
    GIVE_WAY_SHARE,
    GIVEN_LOWER,
    GIVEN_UPPER,
    GIVES_WAY,
    GROUP_LINES,
    KEPT_LOWER,
    KEPT_SHIFT,
    KEPT_SIDES,
    KEPT_UPPER,
    LEVEL_COUNT,
    LEVEL_RESIDUAL,
    LEVEL_START,
    LIMIT_LEVEL,
    LIMIT_MULTIPLIERS,
    LIMIT_OWNER,
    LOCKED_SIDE,
    LOWER_BOUND,
    OUT_OF_ITERATIONS,
    OWNER,
    RESIDUAL,
    SCALARS,
    SHIFT,
    START_POINT,
    TARGET,
    TRIAL_POINT,
    TRIANGLE,
    UNCHECKED,
    UPPER_BOUND,
    WATCH,
    WISH,
    WORK_ROW,
    Levels,
    X,
)
from poise.kernels.levels.workspace import LevelsWork, make_work

__all__ = [
    "CHECKED",
    "GIVES_WAY",
    "GIVE_WAY_SHARE",
    "OUT_OF_ITERATIONS",
    "UNCHECKED",
    "Levels",
    "LevelsWork",
    "correct_damped",
    "correct_levels",
    "make_work",
    "resume_levels",
    "solve_levels",
]

Array = np.ndarray

WEAK_PIVOT = 0.02
"""Pivot of a row, per length of the step, below which the row's change within the step exceeds it [1/m or 1/rad]."""
CORRECTED_SHARE = 1e-6
"""Share of the errors that may remain after a successful correction."""


@kernel
def solve_levels(
    problem: Levels,
    work: LevelsWork,
    # outputs
    x: Array,
) -> int:
    """Solve `problem` for the step `x` (n,), warm-started by the active sets in `work.side`; returns how it ended.

    On entry `x` must be inside all limits; undamped levels leave the directions that none of their rows uses at the
    values of this point. After GIVES_WAY the caller writes the curvature of level `work.stopped[0]`, weighting second
    derivatives by `work.row_multipliers`, and calls `resume_levels`.
    """
    return resume_levels(problem, work, -1, x)


@kernel(inline=True)
def resume_levels(
    problem: Levels,
    work: LevelsWork,
    k: int,
    # outputs
    x: Array,
) -> int:
    """Resume the sweep at level `k`, at which it stopped, with the levels above unchanged; returns how it ended."""
    tables, lines, whole, rows, general = work.tables, work.lines, work.whole, problem.rows, problem.general
    _load_levels(lines, whole, problem.target, problem.start, problem.damping, problem.curved, problem.watch)
    _load_limits(lines, whole, problem.wish, problem.lower, problem.upper, problem.limit_level)
    if k < 0:
        for c in range(x.shape[0]):
            lines[START_POINT, c] = x[c]
    status = work.run(tables, lines, whole, rows, general, problem.curvature, k)
    for r in range(problem.target.shape[0]):
        lines[TARGET, r] = problem.target[r]
    _measure(lines, whole, rows)
    for c in range(x.shape[0]):
        x[c] = lines[X, c]
    return status


@inner_kernel
def _load_levels(
    lines: Array, whole: Array, target: Array, start: Array, damping: Array, curved: Array, watch: Array
) -> None:
    """Load the targets, damping and kinds of all levels into the workspace."""
    levels = start.shape[0] - 1
    whole[SCALARS, LEVEL_COUNT] = levels
    for k in range(levels + 1):
        whole[LEVEL_START, k], whole[CURVED_LEVELS, k], whole[WATCH, k] = start[k], curved[k], watch[k]
        lines[DAMPING, k] = damping[k]
    whole[LEVEL_START, levels + 1] = start[levels]
    for r in range(target.shape[0]):
        lines[TARGET, r] = target[r]


@inner_kernel
def _load_limits(lines: Array, whole: Array, wish: Array, lower: Array, upper: Array, limit_level: Array) -> None:
    """Load the wish and the limits into the workspace."""
    for c in range(wish.shape[0]):
        lines[WISH, c] = wish[c]
    for i in range(lower.shape[0]):
        lines[GIVEN_LOWER, i], lines[GIVEN_UPPER, i], whole[LIMIT_LEVEL, i] = lower[i], upper[i], limit_level[i]


@inner_kernel
def _measure(lines: Array, whole: Array, rows: Array) -> None:
    """Compute the length of every level's residual at X, into LEVEL_RESIDUAL."""
    levels, n = whole[SCALARS, LEVEL_COUNT], rows.shape[1]
    for k in range(levels):
        total = 0.0
        for r in range(whole[LEVEL_START, k], whole[LEVEL_START, k + 1]):
            rest = lines[TARGET, r] - dot(rows, r, lines, X, 0, n)
            total += rest * rest
        lines[LEVEL_RESIDUAL, k] = math.sqrt(total)
    total = 0.0
    for c in range(n):
        rest = lines[WISH, c] - lines[X, c]
        total += rest * rest
    lines[LEVEL_RESIDUAL, levels] = math.sqrt(total)


@kernel(inline=True)
def correct_levels(
    problem: Levels,
    work: LevelsWork,
    count: int,
    error: Array,
    x: Array,
    # outputs
    dx: Array,
) -> bool:
    """Find the shortest step `dx` with A_j dx = error for the rows of the first `count` levels; False if there is none.

    Limits that these levels lock keep their values. The factor of the last sweep gives `dx` by forward substitution;
    where that crosses other limits, the correction is solved as a problem with limits, after which no sweep can be
    resumed. If the errors cannot be removed inside the limits, `dx` is the best possible correction.

    Args:
        problem: The problem that was solved last.
        work: The workspace as the last sweep left it.
        count: How many levels to correct, none of them curved.
        error: (m,) by how much each row must change.
        x: (n,) the step taken, inside the limits.
        dx: (n,) the correction to add to the step.
    """
    tables, lines, whole, rows, general = work.tables, work.lines, work.whole, problem.rows, problem.general
    n = x.shape[0]
    _substitute_errors(tables, lines, whole, count, error, WEAK_PIVOT * _length(x))
    for c in range(n):
        lines[TRIAL_POINT, c] = x[c] + lines[WORK_ROW, c]
        dx[c] = lines[WORK_ROW, c]
    if not inside(lines, whole, general, TRIAL_POINT):
        correct_damped(problem, work, count, error, x, 0.0, dx)
        for c in range(n):
            lines[WORK_ROW, c] = dx[c]
    return _is_corrected(lines, whole, rows, count, error)


@kernel
def correct_damped(
    problem: Levels,
    work: LevelsWork,
    count: int,
    error: Array,
    x: Array,
    damping: float,
    # outputs
    dx: Array,
) -> None:
    """Find the best correction `dx` inside the limits for the first `count` levels, the last of them damped.

    See `correct_levels` for the arguments. No sweep can be resumed afterwards.
    """
    tables, lines, whole, general = work.tables, work.lines, work.whole, problem.general
    _aim_at(lines, whole, general, count, error, x)
    lines[DAMPING, count - 1] = damping
    work.run(tables, lines, whole, problem.rows, general, problem.curvature, -1)
    _restore(lines, whole, general)
    _load_levels(lines, whole, problem.target, problem.start, problem.damping, problem.curved, problem.watch)
    for c in range(x.shape[0]):
        dx[c] = lines[X, c]


@inner_kernel
def _length(x: Array) -> float:
    """Length of a step."""
    total = 0.0
    for c in range(x.shape[0]):
        total += x[c] * x[c]
    return math.sqrt(total)


@inner_kernel
def _substitute_errors(tables: Array, lines: Array, whole: Array, count: int, error: Array, slight: float) -> None:
    """Find a correction by forward substitution, in WORK_ROW; limits locked by these levels and the next do not move.

    Below the first level, rows with a pivot below `slight` are left out, because they change more within the step.
    """
    used, first, m, n = whole[DECIDED, count], whole[LEVEL_START, 0], whole[LEVEL_START, count], tables.shape[1]
    while used < whole[DECIDED, count + 1] and CURVATURE_OWNER < whole[OWNER, used] <= LIMIT_OWNER:
        used += 1
    for r in range(first, m):
        lines[RESIDUAL, r] = error[r]
    for c in range(n):
        lines[WORK_ROW, c] = 0.0
    for c in range(used):
        own = whole[OWNER, c]
        if own == CURVATURE_OWNER:
            continue
        if own < 0:
            total = 0.0
            for d in range(c):
                total -= tables[TRIANGLE, c, d] * lines[WORK_ROW, d]
            value = total / tables[TRIANGLE, c, c]
        else:
            pivot = tables[COLUMNS, c, own]
            value = 0.0 if abs(pivot) < slight and c >= whole[DECIDED, 1] else lines[RESIDUAL, own] / pivot
        lines[WORK_ROW, c] = value
        for r in range(first, m):
            lines[RESIDUAL, r] -= tables[COLUMNS, c, r] * value
    from_coordinates(tables, lines, used, WORK_ROW)


@inner_kernel
def _aim_at(lines: Array, whole: Array, general: Array, count: int, error: Array, x: Array) -> None:
    """Set up the correction as a problem with limits relative to `x`, and save the state of the last sweep."""
    span, n = whole[SCALARS, GROUP_LINES], general.shape[1]
    for c in range(n):
        lines[TRIAL_POINT, c] = x[c]
        lines[START_POINT, c], lines[WISH, c] = 0.0, 0.0
    for i in range(n + general.shape[0]):
        least, most = lines[LOWER_BOUND, i], lines[UPPER_BOUND, i]
        value = limit_value(lines, general, i, TRIAL_POINT) if least > -np.inf or most < np.inf else 0.0
        lines[GIVEN_LOWER, i], lines[GIVEN_UPPER, i] = min(least - value, 0.0), max(most - value, 0.0)
        lines[KEPT_LOWER, i], lines[KEPT_UPPER, i], whole[LIMIT_LEVEL, i] = least, most, 0
        for k in range(span):
            lines[LIMIT_MULTIPLIERS + span + k, i], whole[LOCKED_SIDE + KEPT_SIDES * span + k, i] = (
                lines[LIMIT_MULTIPLIERS + k, i],
                whole[LOCKED_SIDE + k, i],
            )
    for k in range(span):
        lines[KEPT_SHIFT, k] = lines[SHIFT, k]
        lines[DAMPING, k], whole[CURVED_LEVELS, k], whole[WATCH, k] = 0.0, 0, 0
    lines[KEPT_SHIFT, span] = lines[ESCAPE, n]
    for r in range(whole[LEVEL_START, 0], whole[LEVEL_START, count]):
        lines[TARGET, r] = error[r]
    whole[LEVEL_START, count + 1] = whole[LEVEL_START, count]
    whole[SCALARS, LEVEL_COUNT] = count


@inner_kernel
def _restore(lines: Array, whole: Array, general: Array) -> None:
    """Restore the state that `_aim_at` saved."""
    span, n = whole[SCALARS, GROUP_LINES], general.shape[1]
    for i in range(n + general.shape[0]):
        lines[LOWER_BOUND, i], lines[UPPER_BOUND, i] = lines[KEPT_LOWER, i], lines[KEPT_UPPER, i]
        for k in range(span):
            lines[LIMIT_MULTIPLIERS + k, i], whole[LOCKED_SIDE + k, i] = (
                lines[LIMIT_MULTIPLIERS + span + k, i],
                whole[LOCKED_SIDE + KEPT_SIDES * span + k, i],
            )
    for k in range(span):
        lines[SHIFT, k] = lines[KEPT_SHIFT, k]
    lines[ESCAPE, n] = lines[KEPT_SHIFT, span]


@inner_kernel
def _is_corrected(lines: Array, whole: Array, rows: Array, count: int, error: Array) -> bool:
    """Whether the correction in WORK_ROW removes the errors of the rows.

    Dependent rows of the first level are not checked: the rows of a loop can be redundant, and agree with each other
    only to first order.
    """
    below = whole[LEVEL_START, 1]
    asked, left = 0.0, 0.0
    for c in range(whole[DECIDED, 1]):
        r = whole[OWNER, c]
        if r >= 0:
            asked, left = _compare(lines, rows, r, error, asked, left)
    for r in range(below, whole[LEVEL_START, count]):
        asked, left = _compare(lines, rows, r, error, asked, left)
    return left <= CORRECTED_SHARE * asked + 1e-12


@inner_kernel
def _compare(lines: Array, rows: Array, r: int, error: Array, asked: float, left: float) -> tuple[float, float]:
    """Update the largest wanted change `asked` and the largest remaining error `left` by row `r`, unless it is zero."""
    if _is_empty(rows, r):
        return asked, left
    rest = error[r] - dot(rows, r, lines, WORK_ROW, 0, rows.shape[1])
    return max(asked, abs(error[r])), max(left, abs(rest))


@inner_kernel
def _is_empty(rows: Array, r: int) -> bool:
    """Whether row `r` is zero: no joint changes it."""
    for c in range(rows.shape[1]):
        if rows[r, c] != 0.0:
            return False
    return True
