"""Strict priorities inside limits: one step of a lexicographic least-squares problem, exactly.

The unknown is a step x of n joint rates. Levels k = 1 … p have rows A_k and targets b_k; limits bound the variables
and, after them, any general rows: l ≤ C x ≤ u. Given what the levels above decided, level k solves

    minimise |A_k x - b_k|² + λ_k² |x|²   over   { l ≤ C x ≤ u,  A_j x = A_j x*_j for all j < k }

and the last level, with no rows, minimises |x - w|² + λ² |x|² for a wished step w. The damping pulls the whole of x to
zero, so the answer of a level does not depend on the way to it, and what is handed down is A_k x itself: a damped level
keeps every direction it has rows for, also those it hardly used. A lower level can then cost a higher one nothing.

**One factorisation in priority order.** x = Q y with Q = H_0 H_1 … a product of Householder reflections, one per used
direction: [limits locked by level 1][rows of level 1][limits locked by level 2] …. Coordinates y_0 … y_{s-1} are
decided, the rest is free. Q is never formed. To lock a limit inside level k is to send its row through the reflections
so far; it cannot touch the levels above, whose coordinates are decided already.

**A level on a face.** Given the set of locked limits, their coordinates follow by forward substitution; the level's
rows are reduced to a lower trapezoid by reflections with row pivoting, which tells their rank; a full-rank undamped
level is met by forward substitution, any other by a small least-squares problem. Multipliers of the locks follow from
their own triangle alone. If all have the right sign and x is inside every limit, x is the optimum of the level.

**Which limits.** First the set of the last step is tried: wrong signs are dropped and crossed limits added, all at
once, a few times. If that does not settle, a textbook primal active-set method starts from the feasible point the level
was entered with. An undamped level of full rank is not even checked: it is met exactly, so it is enough that the levels
below find a point inside the limits; only if they do not, all levels are checked in turn.

[Escande et al. 2014] and [Dimitrov et al. 2015] solve the same problem by related means.

Arrays are taken out of their tuples once per function: numba counts references at every access.
"""

import numpy as np

from poise.kernels.compile import kernel
from poise.kernels.householder import to_coordinates
from poise.kernels.level_face import (
    OUTSIDE,
    UNDAMPED,
    Levels,
    LevelsWork,
    find_multipliers,
    load_level,
    make_work,
    solve_face,
    zero_multiplier,
)

__all__ = ["CAPPED", "CHECKED", "MET", "Levels", "LevelsWork", "make_work", "solve_levels"]

Array = np.ndarray

MET, CHECKED, CAPPED = 0, 1, 2
"""How a problem was solved: upper levels unchecked, every level checked, or out of iterations but legal."""

MAX_REPAIRS = 8


@kernel
def solve_levels(
    problem: Levels,
    work: LevelsWork,
    # outputs
    x: Array,
) -> int:
    """Solve `problem` for the step `x` (n,), warm-started by the limits locked in `work.side`; returns how.

    On entry `x` must be inside all limits; it is where undamped levels with freedom to spare stay.
    """
    first = work.first
    first[:] = x
    if _sweep(problem, work, True, x) == MET:
        return MET
    x[:] = first
    return _sweep(problem, work, False, x)


@kernel
def _sweep(problem: Levels, work: LevelsWork, lazy: bool, x: Array) -> int:
    """All levels in order; `lazy` leaves undamped full-rank levels unchecked and gives up where that cannot be."""
    damping, held, entry = problem.damping, work.held, work.entry
    reflectors, scales = work.reflectors, work.scales
    levels = damping.shape[0] - 1
    decided, status = 0, MET if lazy else CHECKED
    for k in range(levels + 1):
        m = load_level(problem, work, k, decided)
        if lazy and k < levels and damping[k] <= UNDAMPED:
            held[:] = 0
            to_coordinates(reflectors, scales, decided, x, entry)
            _, rank = solve_face(problem, work, k, decided, held, x)
            if rank < m:
                return CAPPED
            decided += rank
            continue
        if not _guess(problem, work, k, decided, x):
            if lazy:
                return CAPPED
            if not _primal(problem, work, k, decided, x):
                status = CAPPED
        if k < levels:
            decided = _commit(problem, work, k, decided, x)
    return status


@kernel
def _guess(problem: Levels, work: LevelsWork, k: int, decided: int, x: Array) -> bool:
    """Try the limits of the last step, then repair them; True when the optimum of the level is found, in `x`."""
    side, trial, entry, reflectors, scales = work.side[k], work.trial, work.entry, work.reflectors, work.scales
    for _ in range(MAX_REPAIRS):
        to_coordinates(reflectors, scales, decided, x, entry)
        count, _rank = solve_face(problem, work, k, decided, side, trial)
        dropped = False
        if count > 0:
            find_multipliers(problem, work, k, decided, count)
            dropped = _drop_wrong_signs(problem, work, k, count, False)
        added = _add_crossed(problem, work, side)
        if added < 0:
            return False
        if added == 0 and not dropped:
            x[:] = trial
            return True
    return False


@kernel
def _primal(problem: Levels, work: LevelsWork, k: int, decided: int, x: Array) -> bool:
    """Primal active-set method from the feasible point `x`; False when its cap was hit, `x` being legal anyway."""
    side, trial, entry, reflectors, scales = work.side[k], work.trial, work.entry, work.reflectors, work.scales
    n = x.shape[0]
    side[:] = 0
    for _ in range(10 * n + 50):
        to_coordinates(reflectors, scales, decided, x, entry)
        count, _rank = solve_face(problem, work, k, decided, side, trial)
        blocking, share, at = _first_crossed(problem, side, x, trial)
        for i in range(n):
            x[i] += share * (trial[i] - x[i])
        if blocking >= 0:
            side[blocking] = at
            continue
        find_multipliers(problem, work, k, decided, count)
        if not _drop_wrong_signs(problem, work, k, count, True):
            return True
    return False


@kernel
def _first_crossed(problem: Levels, side: Array, x: Array, goal: Array) -> tuple[int, float, int]:
    """The limit met first on the way from `x` to `goal`, the share of the way to it, and its side."""
    general, lower, upper = problem.general, problem.lower, problem.upper
    blocking, share, at = -1, 1.0, 0
    for i in range(side.shape[0]):
        if side[i] != 0:
            continue
        here, there = _limit_value(general, i, x), _limit_value(general, i, goal)
        step = there - here
        if step > 0.0 and there > upper[i] + OUTSIDE:
            room = max(0.0, upper[i] - here) / step
            if room < share:
                blocking, share, at = i, room, 1
        elif step < 0.0 and there < lower[i] - OUTSIDE:
            room = max(0.0, here - lower[i]) / -step
            if room < share:
                blocking, share, at = i, room, -1
    return blocking, share, at


@kernel
def _limit_value(general: Array, i: int, x: Array) -> float:
    """C_i x."""
    n = x.shape[0]
    if i < n:
        return x[i]
    total = 0.0
    for c in range(n):
        total += general[i - n, c] * x[c]
    return total


@kernel
def _drop_wrong_signs(problem: Levels, work: LevelsWork, k: int, count: int, only_worst: bool) -> bool:
    """Unlock limits that the level would rather leave; True when there were any."""
    side, locks, multipliers, lower, upper = work.side[k], work.locks, work.multipliers, problem.lower, problem.upper
    zero = zero_multiplier(problem, k)
    worst, worst_pull = -1, zero
    dropped = False
    for t in range(count):
        i = locks[t]
        pull = -side[i] * multipliers[t]
        if pull <= zero or lower[i] == upper[i]:
            continue
        dropped = True
        if not only_worst:
            side[i] = 0
        elif pull > worst_pull:
            worst, worst_pull = i, pull
    if worst >= 0:
        side[worst] = 0
    return dropped


@kernel
def _add_crossed(problem: Levels, work: LevelsWork, side: Array) -> int:
    """Lock every limit that the trial point crosses; returns how many, or -1 when a dependent lock is off its limit."""
    general, lower, upper, trial, dependent = (
        problem.general, problem.lower, problem.upper, work.trial, work.dependent
    )  # fmt: skip
    added = 0
    for i in range(side.shape[0]):
        value = _limit_value(general, i, trial)
        if side[i] != 0:
            bound = upper[i] if side[i] > 0 else lower[i]
            if dependent[i] == 1 and abs(value - bound) > 1e-9:
                return -1
        elif value > upper[i] + OUTSIDE:
            side[i] = 1
            added += 1
        elif value < lower[i] - OUTSIDE:
            side[i] = -1
            added += 1
    return added


@kernel
def _commit(problem: Levels, work: LevelsWork, k: int, decided: int, x: Array) -> int:
    """Hand down what level `k` decided: its rows' values and, undamped, the limits that every optimum of it touches.

    Limits that only a damped level leans on, or that an undamped one merely touches, stay open to the levels below.
    """
    held, side, locks, multipliers = work.held, work.side[k], work.locks, work.multipliers
    entry, y, trial, reflectors, scales = work.entry, work.y, work.trial, work.reflectors, work.scales
    held[:] = 0
    if problem.damping[k] <= UNDAMPED:
        to_coordinates(reflectors, scales, decided, x, entry)
        count, _rank = solve_face(problem, work, k, decided, side, trial)
        find_multipliers(problem, work, k, decided, count)
        strong = 1e4 * zero_multiplier(problem, k)
        for t in range(count):
            if abs(multipliers[t]) > strong:
                held[locks[t]] = side[locks[t]]
    to_coordinates(reflectors, scales, decided, x, entry)
    count, rank = solve_face(problem, work, k, decided, held, trial)
    for c in range(decided, decided + count + rank):
        y[c] = entry[c]
    return decided + count + rank
