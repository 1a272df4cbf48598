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
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numba
import numpy as np

from poise.kernels.jit.compile import indirect_kernel, inner_kernel, kernel
from poise.kernels.levels.active_set import inside, limit_value
from poise.kernels.levels.equality_solve import dot, from_coordinates
from poise.kernels.levels.sweep import run_levels
from poise.kernels.levels.workspace import CURVATURE_OWNER, LIMIT_OWNER, Levels, LevelsWork, make_work

Array = np.ndarray

WEAK_PIVOT = 0.02
"""Pivot of a row, per length of the step, below which the row's change within the step exceeds it [1/m or 1/rad]."""
REACHED = 1e-9
"""Distance up to which a step has reached a limit [rad or m]."""
CORRECTED_SHARE = 1e-6
"""Share of the errors that may remain after a successful correction."""


class LevelsSolver(NamedTuple):
    """The workspace of the level solver, and its compiled sweep."""

    work: LevelsWork
    run: Callable[[LevelsWork, Array, Array, Array, int], int]
    """`sweep.run_levels`, called through a pointer, so that its machine code is not copied into every caller."""


def make_solver(n: int, rows: int, levels: int, general: int = 0) -> LevelsSolver:
    """A solver for `n` variables, `rows` rows in all `levels` together, and `general` general limits."""
    return LevelsSolver(make_work(n, rows, levels, general), _indirect_run())


@cache
def _indirect_run() -> Callable[[LevelsWork, Array, Array, Array, int], int]:
    table, cube = numba.float64[:, ::1], numba.float64[:, :, ::1]
    return indirect_kernel(run_levels, numba.int64(LevelsWork._numba_type_, table, table, cube, numba.int64))


@kernel
def solve_levels(
    problem: Levels,
    solver: LevelsSolver,
    # outputs
    x: Array,
) -> int:
    """Solve `problem` for the step `x` (n,), warm-started by the active sets of `solver.work`; returns how it ended.

    On entry `x` must be inside all limits; undamped levels leave the directions that none of their rows uses at the
    values of this point. After GIVES_WAY the caller writes the curvature of level `stopped_level`, weighting second
    derivatives by the `row_multipliers`, and calls `resume_levels`.
    """
    return resume_levels(problem, solver, -1, x)


@kernel(inline=True)
def resume_levels(
    problem: Levels,
    solver: LevelsSolver,
    k: int,
    # outputs
    x: Array,
) -> int:
    """Resume the sweep at level `k`, at which it stopped, with the levels above unchanged; returns how it ended."""
    work, rows, general = solver.work, problem.rows, problem.general
    _load_levels(work, problem.target, problem.start, problem.damping, problem.curved, problem.watch)
    _load_limits(work, problem.wish, problem.lower, problem.upper, problem.limit_level)
    if k < 0:
        for c in range(x.shape[0]):
            work.start_point[c] = x[c]
    status = solver.run(work, rows, general, problem.curvature, k)
    work.is_corrected = 0
    for r in range(problem.target.shape[0]):
        work.target[r] = problem.target[r]
    _measure(work, rows)
    for c in range(x.shape[0]):
        x[c] = work.x[c]
    return status


@inner_kernel
def _load_levels(work: LevelsWork, target: Array, start: Array, damping: Array, curved: Array, watch: Array) -> None:
    """Load the targets, damping and kinds of all levels into the workspace."""
    levels = start.shape[0] - 1
    work.level_count = levels
    for k in range(levels + 1):
        work.level_start[k], work.curved[k], work.watch[k] = start[k], curved[k], watch[k]
        work.damping[k] = damping[k]
    work.level_start[levels + 1] = start[levels]
    for r in range(target.shape[0]):
        work.target[r] = target[r]


@inner_kernel
def _load_limits(work: LevelsWork, wish: Array, lower: Array, upper: Array, limit_level: Array) -> None:
    """Load the wish and the limits into the workspace."""
    for c in range(wish.shape[0]):
        work.wish[c] = wish[c]
    for i in range(lower.shape[0]):
        work.given_lower[i], work.given_upper[i], work.limit_level[i] = lower[i], upper[i], limit_level[i]


@inner_kernel
def _measure(work: LevelsWork, rows: Array) -> None:
    """Compute the length of every level's residual at `x`, into `level_residual`."""
    levels, n = work.level_count, rows.shape[1]
    for k in range(levels):
        total = 0.0
        for r in range(work.level_start[k], work.level_start[k + 1]):
            rest = work.target[r] - dot(rows[r], work.x, 0, n)
            total += rest * rest
        work.level_residual[k] = math.sqrt(total)
    total = 0.0
    for c in range(n):
        rest = work.wish[c] - work.x[c]
        total += rest * rest
    work.level_residual[levels] = math.sqrt(total)


@kernel(inline=True)
def correct_levels(
    problem: Levels,
    solver: LevelsSolver,
    count: int,
    error: Array,
    x: Array,
    # outputs
    dx: Array,
) -> bool:
    """Find the shortest step `dx` with A_j dx = error for the rows of the first `count` levels; False if there is none.

    Locked limits change by `limit_errors` of the workspace. The factor of the last sweep gives `dx` by forward
    substitution; where that crosses other limits, the correction is solved as a problem with limits, without
    `limit_errors`, after which no sweep can be resumed. The factor is then that of the limits that this correction has
    locked. Where it leaves errors in a later step, shorter perhaps, which has not reached one of these limits, the
    problem with limits is solved again. If the errors cannot be removed inside the limits, `dx` is the best possible
    correction.

    Args:
        problem: The problem that was solved last.
        solver: The solver as the last sweep left it.
        count: How many levels to correct, none of them curved.
        error: (m,) by how much each row must change.
        x: (n,) the step taken, inside the limits.
        dx: (n,) the correction to add to the step.
    """
    work, rows, general = solver.work, problem.rows, problem.general
    n = x.shape[0]
    _substitute_errors(work, count, error, WEAK_PIVOT * _length(x))
    for c in range(n):
        work.trial_point[c] = x[c] + work.row[c]
        dx[c] = work.row[c]
    stuck = _locks_too_much(work, general, x) and not _is_corrected(work, rows, count, error)
    if stuck or not inside(work, general, work.trial_point):
        correct_damped(problem, solver, count, error, x, 0.0, dx)
        for c in range(n):
            work.row[c] = dx[c]
    return _is_corrected(work, rows, count, error)


@inner_kernel
def _locks_too_much(work: LevelsWork, general: Array, x: Array) -> bool:
    """Whether a correction has replaced the factor, and has locked a limit that the step `x` has not reached."""
    if work.is_corrected == 1:
        for c in range(work.decided[work.level_count]):
            i = LIMIT_OWNER - work.owner[c]
            if work.owner[c] < 0 and work.owner[c] != CURVATURE_OWNER:
                value = limit_value(general, i, x)
                if abs(value - work.lower[i]) > REACHED and abs(value - work.upper[i]) > REACHED:
                    return True
    return False


@kernel
def correct_damped(
    problem: Levels,
    solver: LevelsSolver,
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
    work, general = solver.work, problem.general
    _aim_at(work, general, count, error, x)
    work.damping[count - 1] = damping
    solver.run(work, problem.rows, general, problem.curvature, -1)
    _restore(work, general)
    work.is_corrected = 1
    for k in range(count + 1, work.decided.shape[0]):
        work.decided[k] = work.decided[count]
    _load_levels(work, problem.target, problem.start, problem.damping, problem.curved, problem.watch)
    for c in range(x.shape[0]):
        dx[c] = work.x[c]


@inner_kernel
def _length(x: Array) -> float:
    """Length of a step."""
    total = 0.0
    for c in range(x.shape[0]):
        total += x[c] * x[c]
    return math.sqrt(total)


@inner_kernel
def _substitute_errors(work: LevelsWork, count: int, error: Array, slight: float) -> None:
    """Find a correction by forward substitution, in `row`: of the rows of these levels, and of all locked limits.

    Below the first level, rows with a pivot below `slight` are left out, because they change more within the step.
    """
    used, first, m, n = work.decided[count], work.level_start[0], work.level_start[count], work.n
    end = work.decided[work.level_count]
    for r in range(first, m):
        work.residual[r] = error[r]
    for c in range(n):
        work.row[c] = 0.0
    for c in range(end):
        own = work.owner[c]
        if own == CURVATURE_OWNER or (own >= 0 and c >= used):
            continue
        if own < 0:
            total = work.limit_errors[LIMIT_OWNER - own]
            for d in range(c):
                total -= work.triangle[c, d] * work.row[d]
            value = total / work.triangle[c, c]
        else:
            pivot = work.columns[c, own]
            value = 0.0 if abs(pivot) < slight and c >= work.decided[1] else work.residual[own] / pivot
        work.row[c] = value
        for r in range(first, m):
            work.residual[r] -= work.columns[c, r] * value
    from_coordinates(work, end, work.row)


@inner_kernel
def _aim_at(work: LevelsWork, general: Array, count: int, error: Array, x: Array) -> None:
    """Set up the correction as a problem with limits relative to `x`, and save the state of the last sweep."""
    span, n = work.side.shape[0], general.shape[1]
    for c in range(n):
        work.trial_point[c] = x[c]
        work.start_point[c], work.wish[c] = 0.0, 0.0
    for i in range(n + general.shape[0]):
        least, most = work.lower[i], work.upper[i]
        value = limit_value(general, i, work.trial_point) if least > -np.inf or most < np.inf else 0.0
        work.given_lower[i], work.given_upper[i] = min(least - value, 0.0), max(most - value, 0.0)
        work.kept_lower[i], work.kept_upper[i], work.limit_level[i] = least, most, 0
        for k in range(span):
            work.kept_multipliers[k, i], work.kept_side[k, i] = work.limit_multipliers[k, i], work.side[k, i]
    for k in range(span):
        work.kept_shift[k] = work.shift[k]
        work.damping[k], work.curved[k], work.watch[k] = 0.0, 0, 0
    work.kept_escape_curvature, work.kept_escape_level = work.escape_curvature, work.escape_level
    for i in range(n + general.shape[0]):
        work.side[count, i] = 0  # The limits that the level at this place had locked say nothing about the correction.
    for r in range(work.level_start[0], work.level_start[count]):
        work.target[r] = error[r]
    work.level_start[count + 1] = work.level_start[count]
    work.level_count = count


@inner_kernel
def _restore(work: LevelsWork, general: Array) -> None:
    """Restore the state that `_aim_at` saved."""
    span, n = work.side.shape[0], general.shape[1]
    for i in range(n + general.shape[0]):
        work.lower[i], work.upper[i] = work.kept_lower[i], work.kept_upper[i]
        for k in range(span):
            work.limit_multipliers[k, i], work.side[k, i] = work.kept_multipliers[k, i], work.kept_side[k, i]
    for k in range(span):
        work.shift[k] = work.kept_shift[k]
    work.escape_curvature, work.escape_level = work.kept_escape_curvature, work.kept_escape_level


@inner_kernel
def _is_corrected(work: LevelsWork, rows: Array, count: int, error: Array) -> bool:
    """Whether the correction in `row` removes the errors of the rows.

    Dependent rows of the first level are not checked: the rows of a loop can be redundant, and agree with each other
    only to first order.
    """
    below = work.level_start[1]
    asked, left = 0.0, 0.0
    for c in range(work.decided[1]):
        r = work.owner[c]
        if r >= 0:
            asked, left = _compare(work, rows, r, error, asked, left)
    for r in range(below, work.level_start[count]):
        asked, left = _compare(work, rows, r, error, asked, left)
    return left <= CORRECTED_SHARE * asked + 1e-12


@inner_kernel
def _compare(work: LevelsWork, rows: Array, r: int, error: Array, asked: float, left: float) -> tuple[float, float]:
    """Update the largest wanted change `asked` and the largest remaining error `left` by row `r`, unless it is zero."""
    if _is_empty(rows, r):
        return asked, left
    rest = error[r] - dot(rows[r], work.row, 0, rows.shape[1])
    return max(asked, abs(error[r])), max(left, abs(rest))


@inner_kernel
def _is_empty(rows: Array, r: int) -> bool:
    """Whether row `r` is zero: no joint changes it."""
    for c in range(rows.shape[1]):
        if rows[r, c] != 0.0:
            return False
    return True
