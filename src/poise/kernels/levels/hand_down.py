"""What a level hands down to those below it: see `levels` for the method."""

import numpy as np

from poise.kernels.jit.compile import inner_kernel
from poise.kernels.levels.active_set import NEWTON, ROWS, multipliers
from poise.kernels.levels.equality_solve import factor_face, reduce_rows, substitute, subtract
from poise.kernels.levels.householder import block_of, reflect_columns, to_coordinates
from poise.kernels.levels.newton_level import factor_curved, minds_all
from poise.kernels.levels.problem import (
    BLOCK,
    COLUMNS,
    CONSISTENT,
    COUNT,
    CURVATURE,
    DAMPING,
    DECIDED,
    HELD,
    LEVEL,
    LEVELS,
    LIMIT,
    LOCKS,
    MULTIPLIERS,
    ORDER,
    OWNER,
    RANK,
    RANKED,
    REST,
    ROW,
    SIDE,
    START,
    STATE,
    TARGET,
    UNDAMPED,
    X,
    Y,
    Z,
)

Array = np.ndarray

STRONG = 1e4
"""A multiplier this many times as large as zero: every optimum of the level touches the limit."""


@inner_kernel
def meet(tables: Array, lines: Array, whole: Array, k: int) -> bool:
    """Meet the undamped level `k` whatever the limits say; False when its rows contradict each other."""
    n, first, s = tables.shape[1], whole[START, k], whole[DECIDED, k]
    m = whole[START, k + 1] - first
    rank = reduce_rows(tables, lines, whole, COLUMNS, first, m, s, _end_of_rows(whole), RANK)
    moving = 0
    for c in range(s, n):
        moving += lines[Y, c] != 0.0
    if moving > 0:
        to_coordinates(tables, lines, s, s + rank, Y)
    for r in range(first, first + m):
        lines[REST, r] = lines[TARGET, r]
    subtract(tables, lines, COLUMNS, Y, first, m, 0, s)
    substitute(tables, lines, whole, COLUMNS, Y, first, m, s, rank)
    for i in range(rank):
        whole[OWNER, s + i] = whole[ORDER, i]
    whole[DECIDED, k + 1] = s + rank
    missing = 0.0
    for i in range(rank, m):
        missing = max(missing, abs(lines[REST, whole[ORDER, i]]))
    return missing <= CONSISTENT


@inner_kernel
def commit(tables: Array, lines: Array, whole: Array, general: Array, k: int, kind: int, settled: bool) -> None:
    """Hand down what level `k` decided: its rows' values and, undamped or curved, limits every optimum of it touches.

    Limits that only a damped level leans on, or that an undamped one merely touches, stay open to the levels below.
    """
    n, s, first = tables.shape[1], whole[DECIDED, k], whole[START, k]
    count, rank = whole[STATE, COUNT], whole[STATE, RANKED]
    strong = _hold_strong(tables, lines, whole, general, k, kind, settled)
    if strong and kind == NEWTON and minds_all(tables, lines, k, s + count):
        for c in range(s, n):
            lines[Y, c], whole[OWNER, c] = lines[Z, c], CURVATURE
        for t in range(count):
            whole[OWNER, s + t] = LIMIT - whole[LOCKS, t]
        whole[DECIDED, k + 1] = n
        return
    if strong and kind == ROWS:
        for c in range(s, n):
            lines[Y, c] = lines[Z, c]
    else:
        for c in range(n):
            lines[Z, c] = lines[Y, c]
        if kind == NEWTON:
            count, rank = factor_curved(tables, lines, whole, general, k, s, HELD)
        else:
            count, rank = factor_face(tables, lines, whole, general, k, s, HELD)
        for c in range(n):
            lines[ROW, c] = lines[X, c]
        to_coordinates(tables, lines, 0, s + count + rank, ROW)
        for c in range(s, n):
            lines[Y, c] = lines[ROW, c]
    for t in range(count):
        whole[OWNER, s + t] = LIMIT - whole[LOCKS, t]
    for i in range(rank):
        whole[OWNER, s + count + i] = CURVATURE if kind == NEWTON else first + whole[ORDER, i]
    whole[DECIDED, k + 1] = s + count + rank
    _pass_on(tables, lines, whole, k, kind, s, s + count + rank)


@inner_kernel
def _hold_strong(tables: Array, lines: Array, whole: Array, general: Array, k: int, kind: int, settled: bool) -> bool:
    """Choose the limits to hand down; True when they are all that the level locks."""
    locked, strong = 0, 0
    for i in range(general.shape[1] + general.shape[0]):
        whole[HELD, i] = 0
        locked += whole[SIDE + k, i] != 0
    if settled and whole[STATE, COUNT] > 0 and (kind == NEWTON or lines[DAMPING, k] <= UNDAMPED):
        zero = STRONG * multipliers(tables, lines, whole, k, kind, whole[DECIDED, k])
        for t in range(whole[STATE, COUNT]):
            if abs(lines[MULTIPLIERS, t]) > zero:
                whole[HELD, whole[LOCKS, t]] = whole[SIDE + k, whole[LOCKS, t]]
                strong += 1
    return settled and strong == locked


@inner_kernel
def _pass_on(tables: Array, lines: Array, whole: Array, k: int, kind: int, s: int, used: int) -> None:
    """Send the rows below through the reflections `s` ≤ j < `used`, and keep those of level `k` reduced."""
    first, m = whole[START, k], whole[START, k + 1] - whole[START, k]
    border, end = block_of(first + m), _end_of_rows(whole)
    if border < end:
        for j in range(s, used):
            reflect_columns(tables, lines, j, COLUMNS, border, end)
    for c in range(tables.shape[1]):
        for r in range(m):
            tables[COLUMNS, c, first + r] = 0.0 if kind == NEWTON else tables[LEVEL, c, r]


@inner_kernel
def _end_of_rows(whole: Array) -> int:
    """Where the last block of rows ends."""
    return block_of(whole[START, whole[STATE, LEVELS]] + BLOCK - 1)
