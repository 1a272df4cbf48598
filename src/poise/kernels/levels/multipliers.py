"""Lagrange multipliers: of the limits that a level locks, and of all rows at the optimum of a level that gave way."""

import numpy as np

from poise.kernels.jit.compile import inner_kernel
from poise.kernels.levels.workspace import CURVATURE_OWNER, LevelsWork

Array = np.ndarray


@inner_kernel
def rows_multipliers(work: LevelsWork, k: int, decided: int) -> float:
    """Compute the multipliers of the locked limits of a level with rows; returns the size that counts as zero."""
    first, count = work.level_start[k], work.lock_count
    m = work.level_start[k + 1] - first
    square = work.damping[k] * work.damping[k]
    for t in range(count):
        total = -square * work.z[decided + t]
        for r in range(m):
            total += work.level_rows[decided + t, r] * work.residual[r]
        work.lock_multipliers[t] = total
    _through_locks(work, count, decided)
    force, row = 0.0, 1.0
    for r in range(m):
        force = max(force, abs(work.target[first + r]))
    for c in range(work.n):
        for r in range(m):
            row = max(row, abs(work.level_rows[c, r]))
    return _zero_below(force * row)


@inner_kernel
def wish_multipliers(work: LevelsWork, decided: int, wishes: bool) -> float:
    """Compute the locked limits' multipliers of the wish or the shortest step; returns the size that counts as zero."""
    damping, count = work.damping[work.level_count], work.lock_count
    square = 1.0 + damping * damping if wishes else 1.0
    force = 0.0
    for c in range(work.n):
        force = max(force, abs(work.wished[c]))
    for t in range(count):
        work.lock_multipliers[t] = work.wished[decided + t] - square * work.z[decided + t]
    _through_locks(work, count, decided)
    return _zero_below(force)


@inner_kernel
def curved_multipliers(work: LevelsWork, k: int, decided: int) -> float:
    """Compute the multipliers of the locked limits of a curved level; returns the size that counts as zero."""
    n, added, count = work.n, work.damping[k] * work.damping[k] + work.shift[k], work.lock_count
    force = 0.0
    for c in range(decided, n):
        force = max(force, abs(work.gradient[c]), abs(work.face_hessian[c, c] * work.z[c]))
    for t in range(count):
        c = decided + t
        total = work.downhill[c] - added * work.z[c]
        for d in range(decided, n):
            total -= work.face_hessian[c, d] * work.z[d]
        work.lock_multipliers[t] = total
    _through_locks(work, count, decided)
    return _zero_below(force)


@inner_kernel
def _zero_below(force: float) -> float:
    """Size below which a multiplier counts as zero, for a level whose largest gradient entry is `force`."""
    return 1e-10 * max(1e-6, force)


@inner_kernel
def _through_locks(work: LevelsWork, count: int, decided: int) -> None:
    """Solve L_Wᵀ μ = g for the multipliers μ; g, the negative gradient in the locks' coordinates, is overwritten."""
    for t in range(count - 1, -1, -1):
        value = work.lock_multipliers[t] / work.triangle[decided + t, decided + t]
        work.lock_multipliers[t] = value
        for e in range(t):
            work.lock_multipliers[e] -= work.triangle[decided + t, decided + e] * value


@inner_kernel
def find_row_multipliers(work: LevelsWork, k: int) -> None:
    """Compute the multipliers of all rows at the optimum of level `k`, just solved, into `row_multipliers`.

    With r = b - A_k x, the multipliers μ of the rows above and ν of the limits locked solve, in the coordinates that
    are decided or locked,

        A_kᵀ r = Σ_j A_jᵀ μ_j + Cᵀ ν.

    The multipliers of the rows of level k itself are -r. Dependent rows and rows of curved levels have none.
    """
    first, decided, levels = work.level_start[k], work.decided[k], work.level_count
    m, s = work.level_start[k + 1] - first, decided + work.lock_count
    for r in range(work.level_start[levels]):
        work.row_multipliers[r] = 0.0
    for r in range(m):
        work.row_multipliers[first + r] = -work.residual[r]
    for c in range(s):
        total = work.wished[c] - work.z[c] if k == levels else 0.0
        for r in range(m):
            total += work.level_rows[c, r] * work.residual[r]
        work.row[c] = total
    _through_decided(work, decided, s)


@inner_kernel
def _through_decided(work: LevelsWork, decided: int, used: int) -> None:
    """Find the multipliers of the rows and limits that own the coordinates below `used`, into `row_multipliers`.

    They balance the generalised force in `row`. Coordinates from `decided` on belong to locked limits.
    """
    for c in range(used - 1, -1, -1):
        own = -1 if c >= decided else work.owner[c]
        if own == CURVATURE_OWNER:
            continue
        if own < 0:
            value = work.row[c] / work.triangle[c, c]
            for d in range(c):
                work.row[d] -= work.triangle[c, d] * value
        else:
            value = work.row[c] / work.columns[c, own]
            for d in range(c):
                work.row[d] -= work.columns[d, own] * value
            work.row_multipliers[own] = value


@inner_kernel
def balance_row_multipliers(work: LevelsWork, k: int) -> None:
    """Find the multipliers of the rows above level `k` that balance given multipliers of its own rows.

    With `row_multipliers` = ρ on the rows of level k, it solves Σ_j A_jᵀ μ_j + Cᵀ ν = -A_kᵀ ρ for the rows above it
    and the limits they lock, as `find_row_multipliers` does, and adds the μ_j to `row_multipliers`.
    """
    first, end, decided = work.level_start[k], work.level_start[k + 1], work.decided[k]
    for c in range(decided):
        work.row[c] = 0.0
        for r in range(first, end):
            work.row[c] -= work.columns[c, r] * work.row_multipliers[r]
    _through_decided(work, decided, decided)
