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
"""

import math

import numpy as np

from poise.kernels.jit.compile import inner_kernel, kernel
from poise.kernels.levels.householder import dot, from_coordinates
from poise.kernels.levels.limits import inside, limit_value
from poise.kernels.levels.problem import (
    ABOVE,
    BELOW,
    CAPPED,
    CHECKED,
    COLUMNS,
    CURVATURE,
    CURVED,
    DAMPING,
    DECIDED,
    ESCAPE,
    FIRST,
    FORCE,
    GAVE_WAY,
    GIVES_WAY,
    KEPT_LOWER,
    KEPT_SHIFT,
    KEPT_SIDES,
    KEPT_UPPER,
    LEFT,
    LEVELS,
    LIMIT,
    LIMIT_LEVEL,
    LOWER,
    MET,
    OWNER,
    REST,
    ROW,
    SHIFT,
    SIDE,
    SPAN,
    START,
    STATE,
    TARGET,
    TRIAL,
    TRIANGLE,
    UPPER,
    WATCH,
    WISH,
    Levels,
    X,
)
from poise.kernels.levels.workspace import LevelsWork, make_work

__all__ = [
    "CAPPED",
    "CHECKED",
    "GAVE_WAY",
    "GIVES_WAY",
    "MET",
    "Levels",
    "LevelsWork",
    "correct_damped",
    "correct_levels",
    "make_work",
    "resume_levels",
    "solve_levels",
]

Array = np.ndarray

SLIGHT = 0.02
"""Pivot of a row, per length of the step, that says too little of the row at the step's end [1/m or 1/rad]."""
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
    return resume_levels(problem, work, -1, x)


@kernel(inline=True)
def resume_levels(
    problem: Levels,
    work: LevelsWork,
    k: int,
    # outputs
    x: Array,
) -> int:
    """Go on from level `k`, at which the sweep stopped, with everything above it as decided; returns how."""
    tables, lines, whole, rows, general = work.tables, work.lines, work.whole, problem.rows, problem.general
    _load_levels(lines, whole, problem.target, problem.start, problem.damping, problem.curved, problem.watch)
    _load_limits(lines, whole, problem.wish, problem.lower, problem.upper, problem.limit_level)
    if k < 0:
        for c in range(x.shape[0]):
            lines[FIRST, c] = x[c]
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
    """What the levels are asked."""
    levels = start.shape[0] - 1
    whole[STATE, LEVELS] = levels
    for k in range(levels + 1):
        whole[START, k], whole[CURVED, k], whole[WATCH, k] = start[k], curved[k], watch[k]
        lines[DAMPING, k] = damping[k]
    whole[START, levels + 1] = start[levels]
    for r in range(target.shape[0]):
        lines[TARGET, r] = target[r]


@inner_kernel
def _load_limits(lines: Array, whole: Array, wish: Array, lower: Array, upper: Array, limit_level: Array) -> None:
    """The wish and the limits."""
    for c in range(wish.shape[0]):
        lines[WISH, c] = wish[c]
    for i in range(lower.shape[0]):
        lines[BELOW, i], lines[ABOVE, i], whole[LIMIT_LEVEL, i] = lower[i], upper[i], limit_level[i]


@inner_kernel
def _measure(lines: Array, whole: Array, rows: Array) -> None:
    """What every level leaves undone."""
    levels, n = whole[STATE, LEVELS], rows.shape[1]
    for k in range(levels):
        total = 0.0
        for r in range(whole[START, k], whole[START, k + 1]):
            rest = lines[TARGET, r] - dot(rows, r, lines, X, 0, n)
            total += rest * rest
        lines[LEFT, k] = math.sqrt(total)
    total = 0.0
    for c in range(n):
        rest = lines[WISH, c] - lines[X, c]
        total += rest * rest
    lines[LEFT, levels] = math.sqrt(total)


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
    tables, lines, whole, rows, general = work.tables, work.lines, work.whole, problem.rows, problem.general
    n = x.shape[0]
    _substitute_errors(tables, lines, whole, count, error, SLIGHT * _length(x))
    for c in range(n):
        lines[TRIAL, c] = x[c] + lines[ROW, c]
        dx[c] = lines[ROW, c]
    if not inside(lines, whole, general, TRIAL):
        correct_damped(problem, work, count, error, x, 0.0, dx)
        for c in range(n):
            lines[ROW, c] = dx[c]
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
    """The best correction `dx` inside the limits for the first `count` levels, the last of them with a damping.

    See `correct_levels` for the arguments. No sweep can be resumed after it.
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
    """The correction by forward substitution, in ROW; limits that the level below holds stay where they are.

    Below the first level, rows with a pivot below `slight` are left out: they change more within the step.
    """
    used, first, m, n = whole[DECIDED, count], whole[START, 0], whole[START, count], tables.shape[1]
    while used < whole[DECIDED, count + 1] and CURVATURE < whole[OWNER, used] <= LIMIT:
        used += 1
    for r in range(first, m):
        lines[REST, r] = error[r]
    for c in range(n):
        lines[ROW, c] = 0.0
    for c in range(used):
        own = whole[OWNER, c]
        if own == CURVATURE:
            continue
        if own < 0:
            total = 0.0
            for d in range(c):
                total -= tables[TRIANGLE, c, d] * lines[ROW, d]
            value = total / tables[TRIANGLE, c, c]
        else:
            pivot = tables[COLUMNS, c, own]
            value = 0.0 if abs(pivot) < slight and c >= whole[DECIDED, 1] else lines[REST, own] / pivot
        lines[ROW, c] = value
        for r in range(first, m):
            lines[REST, r] -= tables[COLUMNS, c, r] * value
    from_coordinates(tables, lines, used, ROW)


@inner_kernel
def _aim_at(lines: Array, whole: Array, general: Array, count: int, error: Array, x: Array) -> None:
    """Make the correction a problem of its own, with the limits seen from `x`, and keep what it must not change."""
    span, n = whole[STATE, SPAN], general.shape[1]
    for c in range(n):
        lines[TRIAL, c] = x[c]
        lines[FIRST, c], lines[WISH, c] = 0.0, 0.0
    for i in range(n + general.shape[0]):
        least, most = lines[LOWER, i], lines[UPPER, i]
        value = limit_value(lines, general, i, TRIAL) if least > -np.inf or most < np.inf else 0.0
        lines[BELOW, i], lines[ABOVE, i] = min(least - value, 0.0), max(most - value, 0.0)
        lines[KEPT_LOWER, i], lines[KEPT_UPPER, i], whole[LIMIT_LEVEL, i] = least, most, 0
        for k in range(span):
            lines[FORCE + span + k, i], whole[SIDE + KEPT_SIDES * span + k, i] = lines[FORCE + k, i], whole[SIDE + k, i]
    for k in range(span):
        lines[KEPT_SHIFT, k] = lines[SHIFT, k]
        lines[DAMPING, k], whole[CURVED, k], whole[WATCH, k] = 0.0, 0, 0
    lines[KEPT_SHIFT, span] = lines[ESCAPE, n]
    for r in range(whole[START, 0], whole[START, count]):
        lines[TARGET, r] = error[r]
    whole[START, count + 1] = whole[START, count]
    whole[STATE, LEVELS] = count


@inner_kernel
def _restore(lines: Array, whole: Array, general: Array) -> None:
    """What a correction must not change."""
    span, n = whole[STATE, SPAN], general.shape[1]
    for i in range(n + general.shape[0]):
        lines[LOWER, i], lines[UPPER, i] = lines[KEPT_LOWER, i], lines[KEPT_UPPER, i]
        for k in range(span):
            lines[FORCE + k, i], whole[SIDE + k, i] = lines[FORCE + span + k, i], whole[SIDE + KEPT_SIDES * span + k, i]
    for k in range(span):
        lines[SHIFT, k] = lines[KEPT_SHIFT, k]
    lines[ESCAPE, n] = lines[KEPT_SHIFT, span]


@inner_kernel
def _is_corrected(lines: Array, whole: Array, rows: Array, count: int, error: Array) -> bool:
    """Whether the rows got what they missed by the step in ROW.

    Rows of the first level that depend on others are not asked: those of loops follow when the others are met, but only
    to first order do they say so.
    """
    below = whole[START, 1]
    asked, left = 0.0, 0.0
    for c in range(whole[DECIDED, 1]):
        r = whole[OWNER, c]
        if r >= 0:
            asked, left = _compare(lines, rows, r, error, asked, left)
    for r in range(below, whole[START, count]):
        asked, left = _compare(lines, rows, r, error, asked, left)
    return left <= CORRECTED * asked + 1e-12


@inner_kernel
def _compare(lines: Array, rows: Array, r: int, error: Array, asked: float, left: float) -> tuple[float, float]:
    """The largest of what was asked of rows, and of what they still miss, row `r` included unless it is empty."""
    if _is_empty(rows, r):
        return asked, left
    rest = error[r] - dot(rows, r, lines, ROW, 0, rows.shape[1])
    return max(asked, abs(error[r])), max(left, abs(rest))


@inner_kernel
def _is_empty(rows: Array, r: int) -> bool:
    """Whether no joint changes row `r`."""
    for c in range(rows.shape[1]):
        if rows[r, c] != 0.0:
            return False
    return True
