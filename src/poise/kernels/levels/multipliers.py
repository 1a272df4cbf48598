"""What holds a level back: multipliers of the limits it locks, and the pull of every row on one that gave way."""

import numpy as np

from poise.kernels.jit.compile import inner_kernel
from poise.kernels.levels.problem import (
    COLUMNS,
    COUNT,
    CURVATURE,
    DAMPING,
    DECIDED,
    DOWNHILL,
    GRADIENT,
    LEVEL,
    LEVELS,
    MULTIPLIERS,
    OWNER,
    PULL,
    REST,
    ROW,
    SHIFT,
    START,
    STATE,
    TARGET,
    TRIANGLE,
    TURNED,
    WISHED,
    Z,
)

Array = np.ndarray


@inner_kernel
def rows_multipliers(tables: Array, lines: Array, whole: Array, k: int, decided: int) -> float:
    """Multipliers of the locks of a level with rows; returns the size below which they are zero."""
    first, count = whole[START, k], whole[STATE, COUNT]
    m = whole[START, k + 1] - first
    square = lines[DAMPING, k] * lines[DAMPING, k]
    for t in range(count):
        total = -square * lines[Z, decided + t]
        for r in range(m):
            total += tables[LEVEL, decided + t, r] * lines[REST, r]
        lines[MULTIPLIERS, t] = total
    _through_locks(tables, lines, count, decided)
    force, row = 0.0, 1.0
    for r in range(m):
        force = max(force, abs(lines[TARGET, first + r]))
    for c in range(tables.shape[1]):
        for r in range(m):
            row = max(row, abs(tables[LEVEL, c, r]))
    return _zero_below(force * row)


@inner_kernel
def wish_multipliers(tables: Array, lines: Array, whole: Array, decided: int, wishes: bool) -> float:
    """Multipliers of the locks of the wish or of the least step; returns the size below which they are zero."""
    damping, count = lines[DAMPING, whole[STATE, LEVELS]], whole[STATE, COUNT]
    square = 1.0 + damping * damping if wishes else 1.0
    force = 0.0
    for c in range(tables.shape[1]):
        force = max(force, abs(lines[WISHED, c]))
    for t in range(count):
        lines[MULTIPLIERS, t] = lines[WISHED, decided + t] - square * lines[Z, decided + t]
    _through_locks(tables, lines, count, decided)
    return _zero_below(force)


@inner_kernel
def curved_multipliers(tables: Array, lines: Array, whole: Array, k: int, decided: int) -> float:
    """Multipliers of the locks of a curved level; returns the size below which they are zero."""
    n, added, count = tables.shape[1], lines[DAMPING, k] * lines[DAMPING, k] + lines[SHIFT, k], whole[STATE, COUNT]
    force = 0.0
    for c in range(decided, n):
        force = max(force, abs(lines[GRADIENT, c]), abs(tables[TURNED, c, c] * lines[Z, c]))
    for t in range(count):
        c = decided + t
        total = lines[DOWNHILL, c] - added * lines[Z, c]
        for d in range(decided, n):
            total -= tables[TURNED, c, d] * lines[Z, d]
        lines[MULTIPLIERS, t] = total
    _through_locks(tables, lines, count, decided)
    return _zero_below(force)


@inner_kernel
def _zero_below(force: float) -> float:
    """Size below which the multiplier of a level that pulls with `force` is zero."""
    return 1e-10 * max(1e-6, force)


@inner_kernel
def _through_locks(tables: Array, lines: Array, count: int, decided: int) -> None:
    """Solve L_Wᵀ μ = g, with g, the downhill direction in the locks' coordinates, in MULTIPLIERS."""
    for t in range(count - 1, -1, -1):
        value = lines[MULTIPLIERS, t] / tables[TRIANGLE, decided + t, decided + t]
        lines[MULTIPLIERS, t] = value
        for e in range(t):
            lines[MULTIPLIERS, e] -= tables[TRIANGLE, decided + t, decided + e] * value


@inner_kernel
def find_pull(tables: Array, lines: Array, whole: Array, k: int) -> None:
    """Multipliers of all rows at the optimum of level `k`, whose face is still at hand, into PULL.

    With r = b - A_k x, the multipliers μ of the rows above and ν of the limits locked solve, in the coordinates that
    are decided or locked,

        A_kᵀ r = Σ_j A_jᵀ μ_j + Cᵀ ν.

    The rows of level k itself pull by -r. Rows that depend on others, and rows of curved levels, do not pull.
    """
    first, decided, levels = whole[START, k], whole[DECIDED, k], whole[STATE, LEVELS]
    m, s = whole[START, k + 1] - first, decided + whole[STATE, COUNT]
    for r in range(whole[START, levels]):
        lines[PULL, r] = 0.0
    for r in range(m):
        lines[PULL, first + r] = -lines[REST, r]
    for c in range(s):
        total = lines[WISHED, c] - lines[Z, c] if k == levels else 0.0
        for r in range(m):
            total += tables[LEVEL, c, r] * lines[REST, r]
        lines[ROW, c] = total
    _through_decided(tables, lines, whole, decided, s)


@inner_kernel
def _through_decided(tables: Array, lines: Array, whole: Array, decided: int, used: int) -> None:
    """Multipliers of the rows and limits that own the coordinates below `used`, for the force in ROW, into PULL.

    Coordinates from `decided` on belong to limits that are locked.
    """
    for c in range(used - 1, -1, -1):
        own = -1 if c >= decided else whole[OWNER, c]
        if own == CURVATURE:
            continue
        if own < 0:
            value = lines[ROW, c] / tables[TRIANGLE, c, c]
            for d in range(c):
                lines[ROW, d] -= tables[TRIANGLE, c, d] * value
        else:
            value = lines[ROW, c] / tables[COLUMNS, c, own]
            for d in range(c):
                lines[ROW, d] -= tables[COLUMNS, d, own] * value
            lines[PULL, own] = value


@inner_kernel
def balance_pull(tables: Array, lines: Array, whole: Array, k: int) -> None:
    """Complete a pull on the rows of level `k`, in PULL, by that of the rows above which takes it up.

    Solves Σ_j A_jᵀ μ_j + Cᵀ ν = -A_kᵀ pull for the rows above level `k` and the limits they hold, as `find_pull` does.
    """
    first, end, decided = whole[START, k], whole[START, k + 1], whole[DECIDED, k]
    for c in range(decided):
        lines[ROW, c] = 0.0
        for r in range(first, end):
            lines[ROW, c] -= tables[COLUMNS, c, r] * lines[PULL, r]
    _through_decided(tables, lines, whole, decided, decided)
