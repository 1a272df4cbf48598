"""The constraints that a solved level imposes on the levels below it: see `levels` for the method."""

import numpy as np

from poise.kernels.jit.compile import inner_kernel
from poise.kernels.levels.active_set import NEWTON_LEVEL, ROWS_LEVEL, multipliers
from poise.kernels.levels.equality_solve import factor_face, reduce_rows, substitute, subtract
from poise.kernels.levels.householder import block_of, reflect_columns, to_coordinates
from poise.kernels.levels.newton_level import factor_curved, minds_all
from poise.kernels.levels.problem import (
    COLUMNS,
    CONSISTENCY_TOLERANCE,
    CURVATURE_OWNER,
    DAMPING,
    DECIDED,
    FACE_RANK,
    HANDED_DOWN,
    LEVEL_COUNT,
    LEVEL_ROWS,
    LEVEL_START,
    LIMIT_OWNER,
    LOCK_COUNT,
    LOCK_MULTIPLIERS,
    LOCKED_SIDE,
    LOCKS,
    MIN_DAMPING,
    ORDER,
    OWNER,
    RESIDUAL,
    ROW_BLOCK,
    ROW_RANK_TOLERANCE,
    SCALARS,
    TARGET,
    WORK_ROW,
    X,
    Y,
    Z,
)

Array = np.ndarray

STRONG_MULTIPLIER = 1e4
"""Multiplier, in multiples of the size that counts as zero, above which every optimum of the level is at the limit."""


@inner_kernel
def meet(tables: Array, lines: Array, whole: Array, k: int) -> bool:
    """Solve the undamped level `k` exactly, ignoring the limits; returns False when its rows contradict each other."""
    n, first, s = tables.shape[1], whole[LEVEL_START, k], whole[DECIDED, k]
    m = whole[LEVEL_START, k + 1] - first
    rank = reduce_rows(tables, lines, whole, COLUMNS, first, m, s, _end_of_rows(whole), ROW_RANK_TOLERANCE)
    moving = 0
    for c in range(s, n):
        moving += lines[Y, c] != 0.0
    if moving > 0:
        to_coordinates(tables, lines, s, s + rank, Y)
    for r in range(first, first + m):
        lines[RESIDUAL, r] = lines[TARGET, r]
    subtract(tables, lines, COLUMNS, Y, first, m, 0, s)
    substitute(tables, lines, whole, COLUMNS, Y, first, m, s, rank)
    for i in range(rank):
        whole[OWNER, s + i] = whole[ORDER, i]
    whole[DECIDED, k + 1] = s + rank
    missing = 0.0
    for i in range(rank, m):
        missing = max(missing, abs(lines[RESIDUAL, whole[ORDER, i]]))
    return missing <= CONSISTENCY_TOLERANCE


@inner_kernel
def commit(tables: Array, lines: Array, whole: Array, general: Array, k: int, kind: int, settled: bool) -> None:
    """Fix, for the levels below, the values of the rows of level `k` and the limits that all its optima share.

    Limits are fixed only by undamped and curved levels, and only where their multiplier is clearly not zero: the levels
    below may still leave the other limits of the active set.
    """
    n, s, first = tables.shape[1], whole[DECIDED, k], whole[LEVEL_START, k]
    count, rank = whole[SCALARS, LOCK_COUNT], whole[SCALARS, FACE_RANK]
    strong = _hold_strong(tables, lines, whole, general, k, kind, settled)
    if strong and kind == NEWTON_LEVEL and minds_all(tables, lines, k, s + count):
        for c in range(s, n):
            lines[Y, c], whole[OWNER, c] = lines[Z, c], CURVATURE_OWNER
        for t in range(count):
            whole[OWNER, s + t] = LIMIT_OWNER - whole[LOCKS, t]
        whole[DECIDED, k + 1] = n
        return
    if strong and kind == ROWS_LEVEL:
        for c in range(s, n):
            lines[Y, c] = lines[Z, c]
    else:
        for c in range(n):
            lines[Z, c] = lines[Y, c]
        if kind == NEWTON_LEVEL:
            count, rank = factor_curved(tables, lines, whole, general, k, s, HANDED_DOWN)
        else:
            count, rank = factor_face(tables, lines, whole, general, k, s, HANDED_DOWN)
        for c in range(n):
            lines[WORK_ROW, c] = lines[X, c]
        to_coordinates(tables, lines, 0, s + count + rank, WORK_ROW)
        for c in range(s, n):
            lines[Y, c] = lines[WORK_ROW, c]
    for t in range(count):
        whole[OWNER, s + t] = LIMIT_OWNER - whole[LOCKS, t]
    for i in range(rank):
        whole[OWNER, s + count + i] = CURVATURE_OWNER if kind == NEWTON_LEVEL else first + whole[ORDER, i]
    whole[DECIDED, k + 1] = s + count + rank
    _pass_on(tables, lines, whole, k, kind, s, s + count + rank)


@inner_kernel
def _hold_strong(tables: Array, lines: Array, whole: Array, general: Array, k: int, kind: int, settled: bool) -> bool:
    """Choose the limits to fix for the levels below, in HANDED_DOWN; returns whether they are the whole active set."""
    locked, strong = 0, 0
    for i in range(general.shape[1] + general.shape[0]):
        whole[HANDED_DOWN, i] = 0
        locked += whole[LOCKED_SIDE + k, i] != 0
    if settled and whole[SCALARS, LOCK_COUNT] > 0 and (kind == NEWTON_LEVEL or lines[DAMPING, k] <= MIN_DAMPING):
        zero = STRONG_MULTIPLIER * multipliers(tables, lines, whole, k, kind, whole[DECIDED, k])
        for t in range(whole[SCALARS, LOCK_COUNT]):
            if abs(lines[LOCK_MULTIPLIERS, t]) > zero:
                whole[HANDED_DOWN, whole[LOCKS, t]] = whole[LOCKED_SIDE + k, whole[LOCKS, t]]
                strong += 1
    return settled and strong == locked


@inner_kernel
def _pass_on(tables: Array, lines: Array, whole: Array, k: int, kind: int, s: int, used: int) -> None:
    """Apply the reflections `s` ≤ j < `used` to the rows of the levels below, and store level `k` in reduced form."""
    first, m = whole[LEVEL_START, k], whole[LEVEL_START, k + 1] - whole[LEVEL_START, k]
    border, end = block_of(first + m), _end_of_rows(whole)
    if border < end:
        for j in range(s, used):
            reflect_columns(tables, lines, j, COLUMNS, border, end)
    for c in range(tables.shape[1]):
        for r in range(m):
            tables[COLUMNS, c, first + r] = 0.0 if kind == NEWTON_LEVEL else tables[LEVEL_ROWS, c, r]


@inner_kernel
def _end_of_rows(whole: Array) -> int:
    """End of the last block of rows of all levels."""
    return block_of(whole[LEVEL_START, whole[SCALARS, LEVEL_COUNT]] + ROW_BLOCK - 1)
