"""The limits of a level: which ones bind, are crossed, or are locked at its optimum; see `levels` for the method.

A warm start is repaired a few times, then a primal active-set method takes over. Lagrange multipliers, of the limits
that a level locks and of all rows at the optimum of a level that gave way, tell which limits to unlock.
"""

import numpy as np

from poise.kernels.jit.compile import inner_kernel
from poise.kernels.levels.equality_solve import dot, solve_rows, solve_wish, to_coordinates
from poise.kernels.levels.newton_level import descends, prepare_curved, solve_curved
from poise.kernels.levels.workspace import CURVATURE_OWNER, LIMIT_OWNER, LevelsWork

Array = np.ndarray

LIMIT_TOLERANCE = 1e-11
"""Distance beyond a limit up to which a point counts as inside."""
MAX_REPAIRS = 8
"""Times that a warm-started active set is repaired before the primal active-set method takes over."""

ROWS_LEVEL, WISH_LEVEL, LEAST_STEP, NEWTON_LEVEL = 0, 1, 2, 3
"""Kinds of level: with rows, the wish, the shortest step that has the decided coordinates, with curvature."""


@inner_kernel
def enter(work: LevelsWork, decided: int) -> None:
    """Write the coordinates of `x`, the point with which a level starts, to `y` from `decided` on."""
    n = work.n
    for c in range(n):
        work.row[c] = work.x[c]
    to_coordinates(work, 0, decided, work.row)
    for c in range(decided, n):
        work.y[c] = work.row[c]


@inner_kernel
def multipliers(work: LevelsWork, k: int, kind: int, decided: int) -> float:
    """Compute the multipliers of the limits locked on the face just solved; returns the size that counts as zero."""
    if kind == ROWS_LEVEL:
        return rows_multipliers(work, k, decided)
    if kind == NEWTON_LEVEL:
        return curved_multipliers(work, k, decided)
    return wish_multipliers(work, decided, kind == WISH_LEVEL)


@inner_kernel
def optimum(work: LevelsWork, general: Array, curvature: Array, k: int, kind: int) -> bool:
    """Find the optimum of level `k` inside the limits and write it to `x`; returns whether it was found.

    The active set of the last step is tried first: limits with multipliers of the wrong sign are dropped and crossed
    limits are added. If that does not settle within MAX_REPAIRS rounds, and the sweep is not lazy, a primal active-set
    method starts from the feasible point `x`. Where the optimum is not found, `x` stays inside the limits unless the
    sweep is lazy. A curved level that settled with a shifted Hessian is tried again without the shift, because the
    limits that were locked on the way may make its Hessian positive definite. Where `downhill_only` is set,
    an optimum of a curved level that lies beyond a hill is not taken.
    """
    n, limits, decided = work.n, general.shape[1] + general.shape[0], work.decided[k]
    side = work.least_side[k] if kind == LEAST_STEP else work.side[k]
    remembered = side
    if kind == NEWTON_LEVEL:
        remembered = work.newton_side[k]
    elif kind != LEAST_STEP and work.watch[k] > 0:
        remembered = work.rows_side[k]
    for i in range(limits):
        side[i] = remembered[i]
    if kind == NEWTON_LEVEL:
        work.shift[k] = 0.0
        prepare_curved(work, curvature, k, decided)
    primal, settled, step, needed = False, False, 0, 0.0
    while not settled and step < 10 * n + 50:
        step += 1
        if primal:
            enter(work, decided)
        if kind == ROWS_LEVEL:
            solve_rows(work, general, k, decided, side)
        elif kind == NEWTON_LEVEL:
            solve_curved(work, general, k, decided, side)
        else:
            solve_wish(work, general, decided, side, kind == WISH_LEVEL)
        zero = multipliers(work, k, kind, decided) if work.lock_count > 0 else 0.0
        if primal:
            blocking, share, at = first_crossed(work, general, side)
            for i in range(n):
                work.x[i] += share * (work.trial_point[i] - work.x[i])
            if blocking >= 0:
                side[blocking] = at
            else:
                settled = not drop_wrong_signs(work, side, zero, True)
            continue
        dropped = drop_wrong_signs(work, side, zero, False)
        added = add_crossed(work, general, side)
        if added == 0 and not dropped and _is_beyond_hill(work, k, kind, decided):
            added = -1
        if added == 0 and not dropped:
            for c in range(n):
                work.x[c] = work.trial_point[c]
            settled = needed > 0.0 or kind != NEWTON_LEVEL or work.shift[k] == 0.0 or work.lock_count == 0
            if settled:
                continue
            needed, step = work.shift[k], 0
            work.shift[k] = 0.0
            for i in range(limits):
                work.handed_down[i] = side[i]
        elif added < 0 or step == MAX_REPAIRS:
            step = 0
            if needed > 0.0 and work.shift[k] < needed:
                work.shift[k] = needed
                for i in range(limits):
                    side[i] = work.handed_down[i]
            elif work.lazy == 1:
                return False
            else:
                primal = True
                for i in range(limits):
                    side[i] = 0
    for i in range(limits):
        remembered[i] = side[i]
    return settled


@inner_kernel
def _is_beyond_hill(work: LevelsWork, k: int, kind: int, decided: int) -> bool:
    """Whether level `k` would have to go uphill to its optimum on these active limits, which is not allowed."""
    return work.downhill_only == 1 and kind == NEWTON_LEVEL and work.lock_count > 0 and not descends(work, k, decided)


@inner_kernel
def open_limits(work: LevelsWork, general: Array) -> None:
    """Set the bounds of the first level, infinite for limits that begin later, and list the bounded general limits."""
    n, levels, count = general.shape[1], work.level_count, 0
    for k in range(levels + 1):
        work.starting_limits[k] = 0
    for i in range(n + general.shape[0]):
        work.lower[i], work.upper[i] = work.given_lower[i], work.given_upper[i]
        level = work.limit_level[i]
        if level > 0 or i >= n:
            some = work.given_lower[i] > -np.inf or work.given_upper[i] < np.inf
            if level > 0:
                if some and level <= levels:
                    work.starting_limits[level] += 1
                work.lower[i], work.upper[i] = -np.inf, np.inf
            if some and i >= n:
                work.bounded_general[count] = i
                count += 1
    work.bounded_count = count


@inner_kernel
def start_limits(work: LevelsWork, general: Array, k: int) -> None:
    """Set the bounds of the limits that begin at level `k`, relaxed to their values at `x` where `x` crosses them."""
    for i in range(general.shape[1] + general.shape[0]):
        if work.limit_level[i] == k and (work.given_lower[i] > -np.inf or work.given_upper[i] < np.inf):
            value = limit_value(general, i, work.x)
            work.lower[i], work.upper[i] = min(work.given_lower[i], value), max(work.given_upper[i], value)


@inner_kernel
def limit_value(general: Array, i: int, point: Array) -> float:
    """Value C_i x of limit `i` at `point`."""
    n = general.shape[1]
    if i < n:
        return point[i]
    return dot(general[i - n], point, 0, n)


@inner_kernel
def first_crossed(work: LevelsWork, general: Array, side: Array) -> tuple[int, float, int]:
    """The limit crossed first on the way to `trial_point` (-1 for none), the share of the way, and the side crossed."""
    n = general.shape[1]
    blocking, share, at = -1, 1.0, 0
    for j in range(n + work.bounded_count):
        i = j if j < n else work.bounded_general[j - n]
        if side[i] != 0:
            continue
        here, there = limit_value(general, i, work.x), limit_value(general, i, work.trial_point)
        step = there - here
        if step > 0.0 and there > work.upper[i] + LIMIT_TOLERANCE:
            room = max(0.0, work.upper[i] - here) / step
            if room < share:
                blocking, share, at = i, room, 1
        elif step < 0.0 and there < work.lower[i] - LIMIT_TOLERANCE:
            room = max(0.0, here - work.lower[i]) / -step
            if room < share:
                blocking, share, at = i, room, -1
    return blocking, share, at


@inner_kernel
def inside(work: LevelsWork, general: Array, point: Array) -> bool:
    """Whether `point` is inside every limit that binds the current level."""
    n, crossed = general.shape[1], 0
    for i in range(n):
        value = point[i]
        crossed += (value > work.upper[i] + LIMIT_TOLERANCE) | (value < work.lower[i] - LIMIT_TOLERANCE)
    for j in range(work.bounded_count):
        i = work.bounded_general[j]
        value = dot(general[i - n], point, 0, n)
        crossed += (value > work.upper[i] + LIMIT_TOLERANCE) | (value < work.lower[i] - LIMIT_TOLERANCE)
    return crossed == 0


@inner_kernel
def add_crossed(work: LevelsWork, general: Array, side: Array) -> int:
    """Lock every limit that `trial_point` crosses; returns how many, or -1 when a dependent lock is off its bound."""
    n, added = general.shape[1], 0
    for i in range(n):
        change = _look(work, i, work.trial_point[i], side)
        if change < 0:
            return -1
        added += change
    for j in range(work.bounded_count):
        i = work.bounded_general[j]
        change = _look(work, i, dot(general[i - n], work.trial_point, 0, n), side)
        if change < 0:
            return -1
        added += change
    return added


@inner_kernel
def _look(work: LevelsWork, i: int, value: float, side: Array) -> int:
    """Lock limit `i` if `value` is beyond it; returns 1 if so, -1 for a dependent lock off its bound, else 0."""
    at, least, most = side[i], work.lower[i], work.upper[i]
    if at != 0:
        off = abs(value - (most if at > 0 else least))
        return -1 if work.dependent_locks[i] == 1 and off > 1e-9 else 0
    beyond = 1 if value > most + LIMIT_TOLERANCE else -1 if value < least - LIMIT_TOLERANCE else 0
    if beyond != 0:
        side[i] = beyond
    return abs(beyond)


@inner_kernel
def drop_wrong_signs(work: LevelsWork, side: Array, zero: float, only_worst: bool) -> bool:
    """Unlock limits whose multiplier has the wrong sign, all or only the worst; returns whether there were any."""
    worst, worst_pull = -1, zero
    dropped = False
    for t in range(work.lock_count):
        i = work.locks[t]
        pull = -side[i] * work.lock_multipliers[t]
        if pull <= zero or work.lower[i] == work.upper[i]:
            continue
        dropped = True
        if not only_worst:
            side[i] = 0
        elif pull > worst_pull:
            worst, worst_pull = i, pull
    if worst >= 0:
        side[worst] = 0
    return dropped


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
    for i in range(work.limit_forces.shape[0]):
        work.limit_forces[i] = 0.0
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
    """Find the multipliers of the rows and limits that own the coordinates below `used`.

    They balance the generalised force in `row`, and are written to `row_multipliers` and `limit_forces`. Coordinates
    from `decided` on belong to locked limits.
    """
    for c in range(used - 1, -1, -1):
        own = LIMIT_OWNER - work.locks[c - decided] if c >= decided else work.owner[c]
        if own == CURVATURE_OWNER:
            continue
        if own < 0:
            value = work.row[c] / work.triangle[c, c]
            work.limit_forces[LIMIT_OWNER - own] = value
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
    for i in range(work.limit_forces.shape[0]):
        work.limit_forces[i] = 0.0
    for c in range(decided):
        work.row[c] = 0.0
        for r in range(first, end):
            work.row[c] -= work.columns[c, r] * work.row_multipliers[r]
    _through_decided(work, decided, decided)
