"""Lagrange multipliers: of the limits that a level locks, and of all rows at the optimum of a level that gave way."""

import numpy as np

from poise.kernels.jit.compile import inner_kernel
from poise.kernels.levels.problem import (
    COLUMNS,
    CURVATURE_OWNER,
    DAMPING,
    DECIDED,
    DOWNHILL,
    FACE_HESSIAN,
    GRADIENT,
    LEVEL_COUNT,
    LEVEL_ROWS,
    LEVEL_START,
    LOCK_COUNT,
    LOCK_MULTIPLIERS,
    OWNER,
    RESIDUAL,
    ROW_MULTIPLIERS,
    SCALARS,
    SHIFT,
    TARGET,
    TRIANGLE,
    WISHED,
    WORK_ROW,
    Z,
)

Array = np.ndarray


@inner_kernel
def rows_multipliers(tables: Array, lines: Array, whole: Array, k: int, decided: int) -> float:
    """Compute the multipliers of the locked limits of a level with rows; returns the size that counts as zero."""
    first, count = whole[LEVEL_START, k], whole[SCALARS, LOCK_COUNT]
    m = whole[LEVEL_START, k + 1] - first
    square = lines[DAMPING, k] * lines[DAMPING, k]
    for t in range(count):
        total = -square * lines[Z, decided + t]
        for r in range(m):
            total += tables[LEVEL_ROWS, decided + t, r] * lines[RESIDUAL, r]
        lines[LOCK_MULTIPLIERS, t] = total
    _through_locks(tables, lines, count, decided)
    force, row = 0.0, 1.0
    for r in range(m):
        force = max(force, abs(lines[TARGET, first + r]))
    for c in range(tables.shape[1]):
        for r in range(m):
            row = max(row, abs(tables[LEVEL_ROWS, c, r]))
    return _zero_below(force * row)


@inner_kernel
def wish_multipliers(tables: Array, lines: Array, whole: Array, decided: int, wishes: bool) -> float:
    """Compute the locked limits' multipliers of the wish or the shortest step; returns the size that counts as zero."""
    damping, count = lines[DAMPING, whole[SCALARS, LEVEL_COUNT]], whole[SCALARS, LOCK_COUNT]
    square = 1.0 + damping * damping if wishes else 1.0
    force = 0.0
    for c in range(tables.shape[1]):
        force = max(force, abs(lines[WISHED, c]))
    for t in range(count):
        lines[LOCK_MULTIPLIERS, t] = lines[WISHED, decided + t] - square * lines[Z, decided + t]
    _through_locks(tables, lines, count, decided)
    return _zero_below(force)


@inner_kernel
def curved_multipliers(tables: Array, lines: Array, whole: Array, k: int, decided: int) -> float:
    """Compute the multipliers of the locked limits of a curved level; returns the size that counts as zero."""
    n, added, count = (
        tables.shape[1],
        lines[DAMPING, k] * lines[DAMPING, k] + lines[SHIFT, k],
        whole[SCALARS, LOCK_COUNT],
    )
    force = 0.0
    for c in range(decided, n):
        force = max(force, abs(lines[GRADIENT, c]), abs(tables[FACE_HESSIAN, c, c] * lines[Z, c]))
    for t in range(count):
        c = decided + t
        total = lines[DOWNHILL, c] - added * lines[Z, c]
        for d in range(decided, n):
            total -= tables[FACE_HESSIAN, c, d] * lines[Z, d]
        lines[LOCK_MULTIPLIERS, t] = total
    _through_locks(tables, lines, count, decided)
    return _zero_below(force)


@inner_kernel
def _zero_below(force: float) -> float:
    """Size below which a multiplier counts as zero, for a level whose largest gradient entry is `force`."""
    return 1e-10 * max(1e-6, force)


@inner_kernel
def _through_locks(tables: Array, lines: Array, count: int, decided: int) -> None:
    """Solve L_Wᵀ μ = g for the multipliers μ; g, the negative gradient in the locks' coordinates, is overwritten."""
    for t in range(count - 1, -1, -1):
        value = lines[LOCK_MULTIPLIERS, t] / tables[TRIANGLE, decided + t, decided + t]
        lines[LOCK_MULTIPLIERS, t] = value
        for e in range(t):
            lines[LOCK_MULTIPLIERS, e] -= tables[TRIANGLE, decided + t, decided + e] * value


@inner_kernel
def find_row_multipliers(tables: Array, lines: Array, whole: Array, k: int) -> None:
    """Compute the multipliers of all rows at the optimum of level `k`, just solved, into ROW_MULTIPLIERS.

    With r = b - A_k x, the multipliers μ of the rows above and ν of the limits locked solve, in the coordinates that
    are decided or locked,

        A_kᵀ r = Σ_j A_jᵀ μ_j + Cᵀ ν.

    The multipliers of the rows of level k itself are -r. Dependent rows and rows of curved levels have none.
    """
    first, decided, levels = whole[LEVEL_START, k], whole[DECIDED, k], whole[SCALARS, LEVEL_COUNT]
    m, s = whole[LEVEL_START, k + 1] - first, decided + whole[SCALARS, LOCK_COUNT]
    for r in range(whole[LEVEL_START, levels]):
        lines[ROW_MULTIPLIERS, r] = 0.0
    for r in range(m):
        lines[ROW_MULTIPLIERS, first + r] = -lines[RESIDUAL, r]
    for c in range(s):
        total = lines[WISHED, c] - lines[Z, c] if k == levels else 0.0
        for r in range(m):
            total += tables[LEVEL_ROWS, c, r] * lines[RESIDUAL, r]
        lines[WORK_ROW, c] = total
    _through_decided(tables, lines, whole, decided, s)


@inner_kernel
def _through_decided(tables: Array, lines: Array, whole: Array, decided: int, used: int) -> None:
    """Find the multipliers of the rows and limits that own the coordinates below `used`, into ROW_MULTIPLIERS.

    They balance the generalised force in WORK_ROW. Coordinates from `decided` on belong to locked limits.
    """
    for c in range(used - 1, -1, -1):
        own = -1 if c >= decided else whole[OWNER, c]
        if own == CURVATURE_OWNER:
            continue
        if own < 0:
            value = lines[WORK_ROW, c] / tables[TRIANGLE, c, c]
            for d in range(c):
                lines[WORK_ROW, d] -= tables[TRIANGLE, c, d] * value
        else:
            value = lines[WORK_ROW, c] / tables[COLUMNS, c, own]
            for d in range(c):
                lines[WORK_ROW, d] -= tables[COLUMNS, d, own] * value
            lines[ROW_MULTIPLIERS, own] = value


@inner_kernel
def balance_row_multipliers(tables: Array, lines: Array, whole: Array, k: int) -> None:
    """Find the multipliers of the rows above level `k` that balance given multipliers of its own rows.

    With ROW_MULTIPLIERS = ρ on the rows of level k, it solves Σ_j A_jᵀ μ_j + Cᵀ ν = -A_kᵀ ρ for the rows above level k
    and the limits they lock, as `find_row_multipliers` does, and adds the μ_j to ROW_MULTIPLIERS.
    """
    first, end, decided = whole[LEVEL_START, k], whole[LEVEL_START, k + 1], whole[DECIDED, k]
    for c in range(decided):
        lines[WORK_ROW, c] = 0.0
        for r in range(first, end):
            lines[WORK_ROW, c] -= tables[COLUMNS, c, r] * lines[ROW_MULTIPLIERS, r]
    _through_decided(tables, lines, whole, decided, decided)
