"""Which limits a level stands on: guess, repair, and if need be walk; see `levels` for the method."""

import numpy as np

from poise.kernels.jit.compile import inner_kernel
from poise.kernels.levels.equality_solve import solve_rows, solve_wish
from poise.kernels.levels.householder import to_coordinates
from poise.kernels.levels.limits import add_crossed, drop_wrong_signs, first_crossed
from poise.kernels.levels.multipliers import curved_multipliers, rows_multipliers, wish_multipliers
from poise.kernels.levels.newton_level import prepare_curved, solve_curved
from poise.kernels.levels.problem import (
    COUNT,
    DECIDED,
    HELD,
    LAZY,
    LEAST_SIDES,
    NEWTON_SIDES,
    ROW,
    ROWS_SIDES,
    SHIFT,
    SIDE,
    SPAN,
    STATE,
    TRIAL,
    WATCH,
    X,
    Y,
)

Array = np.ndarray

MAX_REPAIRS = 8

ROWS, WISHES, LEAST, NEWTON = 0, 1, 2, 3
"""Kinds of level: with rows, the wish, the least step that does what is decided, with curvature."""


@inner_kernel
def enter(tables: Array, lines: Array, decided: int) -> None:
    """Coordinates of the point X that a level is entered with."""
    n = tables.shape[1]
    for c in range(n):
        lines[ROW, c] = lines[X, c]
    to_coordinates(tables, lines, 0, decided, ROW)
    for c in range(decided, n):
        lines[Y, c] = lines[ROW, c]


@inner_kernel
def multipliers(tables: Array, lines: Array, whole: Array, k: int, kind: int, decided: int) -> float:
    """Multipliers of the locks of the face just solved; returns the size below which they are zero."""
    if kind == ROWS:
        return rows_multipliers(tables, lines, whole, k, decided)
    if kind == NEWTON:
        return curved_multipliers(tables, lines, whole, k, decided)
    return wish_multipliers(tables, lines, whole, decided, kind == WISHES)


@inner_kernel
def optimum(tables: Array, lines: Array, whole: Array, general: Array, curvature: Array, k: int, kind: int) -> bool:
    """Optimum of level `k` in X; False when it was not found, X being legal anyway unless the sweep is lazy.

    First the limits of the last step are tried and repaired. If that does not settle, and the sweep is not lazy, a
    primal active-set method starts from the feasible point X. A curved level that settles with a shift is tried again
    without: limits found on the way may hold what needed it.
    """
    n, limits, decided = tables.shape[1], general.shape[1] + general.shape[0], whole[DECIDED, k]
    side = SIDE + k + (LEAST_SIDES * whole[STATE, SPAN] if kind == LEAST else 0)
    remembered = _remembered(whole, k, kind)
    for i in range(limits if remembered > 0 else 0):
        whole[side, i] = whole[remembered, i]
    if kind == NEWTON:
        lines[SHIFT, k] = 0.0
        prepare_curved(tables, lines, whole, curvature, k, decided)
    primal, settled, step, needed = False, False, 0, 0.0
    while not settled and step < 10 * n + 50:
        step += 1
        if primal:
            enter(tables, lines, decided)
        if kind == ROWS:
            solve_rows(tables, lines, whole, general, k, decided, side)
        elif kind == NEWTON:
            solve_curved(tables, lines, whole, general, k, decided, side)
        else:
            solve_wish(tables, lines, whole, general, decided, side, kind == WISHES)
        zero = multipliers(tables, lines, whole, k, kind, decided) if whole[STATE, COUNT] > 0 else 0.0
        if primal:
            blocking, share, at = first_crossed(lines, whole, general, side)
            for i in range(n):
                lines[X, i] += share * (lines[TRIAL, i] - lines[X, i])
            if blocking >= 0:
                whole[side, blocking] = at
            else:
                settled = not drop_wrong_signs(lines, whole, side, zero, True)
            continue
        dropped = drop_wrong_signs(lines, whole, side, zero, False)
        added = add_crossed(lines, whole, general, side)
        if added == 0 and not dropped:
            for c in range(n):
                lines[X, c] = lines[TRIAL, c]
            settled = needed > 0.0 or kind != NEWTON or lines[SHIFT, k] == 0.0 or whole[STATE, COUNT] == 0
            if settled:
                continue
            needed, step = lines[SHIFT, k], 0
            lines[SHIFT, k] = 0.0
            for i in range(limits):
                whole[HELD, i] = whole[side, i]
        elif added < 0 or step == MAX_REPAIRS:
            step = 0
            if needed > 0.0 and lines[SHIFT, k] < needed:
                lines[SHIFT, k] = needed
                for i in range(limits):
                    whole[side, i] = whole[HELD, i]
            elif whole[STATE, LAZY] == 1:
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
    """The line that keeps what level `k` locked when it was last solved as it is now; 0 for a level not watched."""
    if kind == NEWTON:
        return SIDE + NEWTON_SIDES * whole[STATE, SPAN] + k
    return SIDE + ROWS_SIDES * whole[STATE, SPAN] + k if kind != LEAST and whole[WATCH, k] > 0 else 0
