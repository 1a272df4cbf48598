"""Workspace of the level solver: see `problem` for its parts."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from poise.kernels.jit.compile import indirect_kernel
from poise.kernels.levels.problem import (
    ESCAPE,
    FACTOR,
    GROUP_LINES,
    LEVEL_RESIDUAL,
    LIMIT_MULTIPLIERS,
    LOCKED_SIDE,
    ROW_BLOCK,
    ROW_MULTIPLIERS,
    SCALARS,
    SHIFT,
    SIDE_GROUPS,
    STOPPED_LEVEL,
)
from poise.kernels.levels.sweep import run_levels

Array = np.ndarray

RUN_SIGNATURE = (
    "int64(float64[:,:,::1], float64[:,::1], int64[:,::1], float64[:,::1], float64[:,::1], float64[:,:,::1], int64)"
)
"""Numba signature of `run_levels`."""


@cache
def indirect_run() -> Callable[[Array, Array, Array, Array, Array, Array, int], int]:
    """`run_levels`, called through a pointer, so that its machine code is not copied into every caller."""
    return indirect_kernel(run_levels, RUN_SIGNATURE)


class LevelsWork(NamedTuple):
    """Workspace of a solve: three arrays, and views of the parts that callers read."""

    tables: Array
    """(10, n, …) matrices of floats: see REFLECTORS."""
    lines: Array
    """Vectors of floats: see SCALES."""
    whole: Array
    """Vectors of integers: see OWNER."""
    side: Array
    """(p + 1, n + c) active set of each level: -1 at the lower bound, 1 at the upper, 0 free; kept between steps."""
    limit_multipliers: Array
    """(p + 1, n + c) multipliers of the limits locked by each level in the last sweep, else 0."""
    stopped: Array
    """(1,) the level at which the last sweep stopped, or -1."""
    row_multipliers: Array
    """(m,) factors of the rows' second derivatives in the curvature of the level that gave way."""
    left: Array
    """(p + 1,) residual |b - A x| of every level, and |w - x|, after a sweep."""
    shift: Array
    """(p + 1,) multiple of the unit matrix that was added to the Hessian of each curved level."""
    escape: Array
    """(n,) direction of negative curvature of the first curved level that has one."""
    escape_curvature: Array
    """(1,) the curvature along it, negative; 0 when there is none."""
    run: Callable[[Array, Array, Array, Array, Array, Array, int], int]
    """`sweep.run_levels`, called through a pointer."""


def make_work(n: int, rows: int, levels: int, general: int = 0) -> LevelsWork:
    """Allocate the workspace for `n` variables, `rows` rows in all `levels` together, and `general` general limits."""
    limits, span = n + general, levels + 1
    wide = _padded(max(n, rows + max(min(rows, n), ROW_BLOCK)))
    # Always longer than the limits: a view of whole lines would be contiguous, another type, and recompile the engine.
    long = max(wide, limits + 1, n + 1, levels + 2)
    tables = np.zeros((FACTOR + 1, n, wide))
    lines = np.zeros((LIMIT_MULTIPLIERS + 2 * span, long))
    whole = np.zeros((LOCKED_SIDE + SIDE_GROUPS * span, long), dtype=np.int64)
    whole[SCALARS, GROUP_LINES] = span
    return LevelsWork(
        tables=tables,
        lines=lines,
        whole=whole,
        side=whole[LOCKED_SIDE : LOCKED_SIDE + span, :limits],
        limit_multipliers=lines[LIMIT_MULTIPLIERS : LIMIT_MULTIPLIERS + span, :limits],
        stopped=whole[SCALARS, STOPPED_LEVEL : STOPPED_LEVEL + 1],
        row_multipliers=lines[ROW_MULTIPLIERS, :rows],
        left=lines[LEVEL_RESIDUAL, :span],
        shift=lines[SHIFT, :span],
        escape=lines[ESCAPE, :n],
        escape_curvature=lines[ESCAPE, n : n + 1],
        run=indirect_run(),
    )


def _padded(count: int) -> int:
    """The next odd multiple of ROW_BLOCK, so that lines of a table do not compete for the same cache lines."""
    return (-(-count // ROW_BLOCK) | 1) * ROW_BLOCK
