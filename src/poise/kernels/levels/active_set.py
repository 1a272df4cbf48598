"""The active set of a level: warm start, repair, then a primal active-set method; see `levels` for the method."""

import numpy as np

from poise.kernels.jit.compile import inner_kernel
from poise.kernels.levels.equality_solve import solve_rows, solve_wish
from poise.kernels.levels.householder import to_coordinates
from poise.kernels.levels.limits import add_crossed, drop_wrong_signs, first_crossed
from poise.kernels.levels.multipliers import curved_multipliers, rows_multipliers, wish_multipliers
from poise.kernels.levels.newton_level import prepare_curved, solve_curved
from poise.kernels.levels.problem import (
    DECIDED,
    GROUP_LINES,
    HANDED_DOWN,
    LAZY,
    LEAST_SIDES,
    LOCK_COUNT,
    LOCKED_SIDE,
    NEWTON_SIDES,
    ROWS_SIDES,
    SCALARS,
    SHIFT,
    TRIAL_POINT,
    WATCH,
    WORK_ROW,
    X,
    Y,
)

Array = np.ndarray

MAX_REPAIRS = 8
"""Times that a warm-started active set is repaired before the primal active-set method takes over."""

ROWS_LEVEL, WISH_LEVEL, LEAST_STEP, NEWTON_LEVEL = 0, 1, 2, 3
"""Kinds of level: with rows, the wish, the shortest step that has the decided coordinates, with curvature."""


@inner_kernel
def enter(tables: Array, lines: Array, decided: int) -> None:
    """Write the coordinates of X, the point with which a level starts, to Y from `decided` on."""
    n = tables.shape[1]
    for c in range(n):
        lines[WORK_ROW, c] = lines[X, c]
    to_coordinates(tables, lines, 0, decided, WORK_ROW)
    for c in range(decided, n):
        lines[Y, c] = lines[WORK_ROW, c]


@inner_kernel
def multipliers(tables: Array, lines: Array, whole: Array, k: int, kind: int, decided: int) -> float:
    """Compute the multipliers of the limits locked on the face just solved; returns the size that counts as zero."""
    if kind == ROWS_LEVEL:
        return rows_multipliers(tables, lines, whole, k, decided)
    if kind == NEWTON_LEVEL:
        return curved_multipliers(tables, lines, whole, k, decided)
    return wish_multipliers(tables, lines, whole, decided, kind == WISH_LEVEL)


@inner_kernel
def optimum(tables: Array, lines: Array, whole: Array, general: Array, curvature: Array, k: int, kind: int) -> bool:
    """Find the optimum of level `k` inside the limits and write it to X; returns whether it was found.

    The active set of the last step is tried first: limits with multipliers of the wrong sign are dropped and crossed
    limits are added. If that does not settle within MAX_REPAIRS rounds, and the sweep is not lazy, a primal active-set
    method starts from the feasible point X. Where the optimum is not found, X stays inside the limits unless the sweep
    is lazy. A curved level that settled with a shifted Hessian is tried again without the shift, because the limits
    that were locked on the way may make its Hessian positive definite.
    """
    n, limits, decided = tables.shape[1], general.shape[1] + general.shape[0], whole[DECIDED, k]
    side = LOCKED_SIDE + k + (LEAST_SIDES * whole[SCALARS, GROUP_LINES] if kind == LEAST_STEP else 0)
    remembered = _remembered(whole, k, kind)
    for i in range(limits if remembered > 0 else 0):
        whole[side, i] = whole[remembered, i]
    if kind == NEWTON_LEVEL:
        lines[SHIFT, k] = 0.0
        prepare_curved(tables, lines, whole, curvature, k, decided)
    primal, settled, step, needed = False, False, 0, 0.0
    while not settled and step < 10 * n + 50:
        step += 1
        if primal:
            enter(tables, lines, decided)
        if kind == ROWS_LEVEL:
            solve_rows(tables, lines, whole, general, k, decided, side)
        elif kind == NEWTON_LEVEL:
            solve_curved(tables, lines, whole, general, k, decided, side)
        else:
            solve_wish(tables, lines, whole, general, decided, side, kind == WISH_LEVEL)
        zero = multipliers(tables, lines, whole, k, kind, decided) if whole[SCALARS, LOCK_COUNT] > 0 else 0.0
        if primal:
            blocking, share, at = first_crossed(lines, whole, general, side)
            for i in range(n):
                lines[X, i] += share * (lines[TRIAL_POINT, i] - lines[X, i])
            if blocking >= 0:
                whole[side, blocking] = at
            else:
                settled = not drop_wrong_signs(lines, whole, side, zero, True)
            continue
        dropped = drop_wrong_signs(lines, whole, side, zero, False)
        added = add_crossed(lines, whole, general, side)
        if added == 0 and not dropped:
            for c in range(n):
                lines[X, c] = lines[TRIAL_POINT, c]
            settled = needed > 0.0 or kind != NEWTON_LEVEL or lines[SHIFT, k] == 0.0 or whole[SCALARS, LOCK_COUNT] == 0
            if settled:
                continue
            needed, step = lines[SHIFT, k], 0
            lines[SHIFT, k] = 0.0
            for i in range(limits):
                whole[HANDED_DOWN, i] = whole[side, i]
        elif added < 0 or step == MAX_REPAIRS:
            step = 0
            if needed > 0.0 and lines[SHIFT, k] < needed:
                lines[SHIFT, k] = needed
                for i in range(limits):
                    whole[side, i] = whole[HANDED_DOWN, i]
            elif whole[SCALARS, LAZY] == 1:
                return False
            else:
                primal = True
                for i in range(limits):
                    whole[side, i] = 0
    for i in range(limits if remembered > 0 else 0):
        whole[remembered, i] = whole[side, i]
    return settled


@inner_kernel
def _remembered(whole: Array, k: int, kind: int) -> int:
    """The line with the last active set of level `k` as a level of this `kind`; 0 for a level that is not watched."""
    if kind == NEWTON_LEVEL:
        return LOCKED_SIDE + NEWTON_SIDES * whole[SCALARS, GROUP_LINES] + k
    return (
        LOCKED_SIDE + ROWS_SIDES * whole[SCALARS, GROUP_LINES] + k if kind != LEAST_STEP and whole[WATCH, k] > 0 else 0
    )
