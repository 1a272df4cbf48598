"""Workspace of the level solver: see `level_problem` for its parts."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from poise.kernels.jit.compile import indirect_kernel
from poise.kernels.levels.problem import (
    BLOCK,
    ESCAPE,
    FACTOR,
    FORCE,
    LEFT,
    PULL,
    SHIFT,
    SIDE,
    SIDES,
    SPAN,
    STATE,
    STOPPED,
)
from poise.kernels.levels.sweep import run_levels

Array = np.ndarray

RUN = "int64(float64[:,:,::1], float64[:,::1], int64[:,::1], float64[:,::1], float64[:,::1], float64[:,:,::1], int64)"
"""What `run_levels` takes and returns."""


@cache
def indirect_run() -> Callable[[Array, Array, Array, Array, Array, Array, int], int]:
    """`run_levels` for callers that do not want its machine code in theirs."""
    return indirect_kernel(run_levels, RUN)


class LevelsWork(NamedTuple):
    """Everything a solve writes to besides its answer: three arrays, and windows on what others read."""

    tables: Array
    """(10, n, …) see REFLECTORS."""
    lines: Array
    """see SCALES."""
    whole: Array
    """see OWNER."""
    side: Array
    """(p + 1, n + c) what each level locks: -1 at the lower limit, 1 at the upper, 0 not; kept between steps."""
    force: Array
    """(p + 1, n + c) multipliers of the locks of each level solved in the last sweep, else 0."""
    stopped: Array
    """(1,) the level that gave way, or -1."""
    pull: Array
    """(m,) factors of the rows' second derivatives in the curvature of the level that gave way."""
    left: Array
    """(p + 1,) |b - A x| of every level, and |w - x|, after a sweep."""
    shift: Array
    """(p + 1,) what had to be added to the Hessian of each curved level."""
    escape: Array
    """(n,) direction of negative curvature of the first curved level that has one."""
    escape_curvature: Array
    """(1,) the curvature along it, negative; 0 when there is none."""
    run: Callable[[Array, Array, Array, Array, Array, Array, int], int]
    """`level_sweep.run_levels`, called through a pointer."""


def make_work(n: int, rows: int, levels: int, general: int = 0) -> LevelsWork:
    """Workspace for problems of this size; `rows` is how many all levels have together."""
    limits, span = n + general, levels + 1
    wide = _padded(max(n, rows + max(min(rows, n), BLOCK)))
    long = max(wide, limits, n + 1, levels + 2)
    tables = np.zeros((FACTOR + 1, n, wide))
    lines = np.zeros((FORCE + 2 * span, long))
    whole = np.zeros((SIDE + SIDES * span, long), dtype=np.int64)
    whole[STATE, SPAN] = span
    return LevelsWork(
        tables=tables,
        lines=lines,
        whole=whole,
        side=whole[SIDE : SIDE + span, :limits],
        force=lines[FORCE : FORCE + span, :limits],
        stopped=whole[STATE, STOPPED : STOPPED + 1],
        pull=lines[PULL, :rows],
        left=lines[LEFT, :span],
        shift=lines[SHIFT, :span],
        escape=lines[ESCAPE, :n],
        escape_curvature=lines[ESCAPE, n : n + 1],
        run=indirect_run(),
    )


def _padded(count: int) -> int:
    """The next odd multiple of a block: lines of a table must not all fall into the same corner of a cache."""
    return (-(-count // BLOCK) | 1) * BLOCK
