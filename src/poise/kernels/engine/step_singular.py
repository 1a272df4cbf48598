"""Singular levels: exclusion of directions that change the error of a level only to second order.

Where the rows of a level are linearly dependent, alone or together with the limits that are reached, some combination
of the rows a_i of the level and of those above vanishes, up to multiples of the limits' rows: Σ_i ν_i a_i = 0. A step x
then does not change the combination ν of the errors to first order, and no correction can remove its change of second
order,

    ½ xᵀ S x,    S = Σ_i ν_i ∇²φ_i.

A robot with five joints in each leg and both feet held flat is an example: turning its pelvis about the vertical moves
neither foot to first order, and lifts one of them off the ground to second order, whichever way it turns.

Shortening such a step does not help, because its gain shrinks as fast as its cost. The model is solved again instead,
with (S x) · y = 0 as a further limit on the step y of the levels below, which excludes the direction that failed.
"""

import math

import numpy as np

from poise.kernels.engine.engine import FIRST_TASK_LEVEL, MECHANISM_LEVEL, MET_ERROR, Engine
from poise.kernels.engine.step_trial import count_undamped_levels, find_row_corrections
from poise.kernels.goals.goal_curvature import fill_curvature
from poise.kernels.jit.compile import kernel
from poise.kernels.levels.levels import WEAK_PIVOT, correct_damped
from poise.kernels.levels.multipliers import balance_row_multipliers
from poise.kernels.loops.closure_curvature import add_closure_curvature

Array = np.ndarray

MAX_EXCLUDED = 4
"""Number of directions that one step can exclude."""
UNCORRECTABLE_SHARE = 0.1
"""Share of an error that the best correction leaves, above which the error is due to curvature."""
FLAT_ROW_CHANGE = 1e-9
"""Change of error xᵀ S x along a step, per squared length of the step, that counts as zero [1/rad or 1/m]."""


@kernel
def clear_excluded_directions(engine: Engine) -> None:
    """Remove all exclusions, before a new step."""
    lower, upper, excluded_count = engine.levels.lower, engine.levels.upper, engine.state.excluded_count
    first = lower.shape[0] - MAX_EXCLUDED
    for i in range(first, lower.shape[0]):
        lower[i], upper[i] = -math.inf, math.inf
    excluded_count[0] = 0


@kernel
def exclude_direction(engine: Engine, k: int, share: float) -> bool:
    """Exclude the direction in which `share` of the step gave level `k` an error that no correction removes.

    Returns False when level `k` was not met before the step, when its rows do not describe its error completely (edges
    of a support, masked joints), when a correction removes most of the error, or when MAX_EXCLUDED directions are
    excluded already. The model must be solved again afterwards: its factors are overwritten.
    """
    state, levels, solver, undamped = engine.state, engine.levels, engine.solver, count_undamped_levels(engine)
    count, n, x, multipliers = state.excluded_count[0], state.step.shape[0], state.step, solver.work.row_multipliers
    was_met = FIRST_TASK_LEVEL <= k < undamped and state.merit[k] <= MET_ERROR and engine.level_kind[k] == 0
    if not was_met or count == MAX_EXCLUDED or not _find_uncorrectable_residual(engine, k, share):
        return False
    balance_row_multipliers(solver.work, k)
    curvature = levels.curvature[k]
    fill_curvature(engine.tree, engine.goals, engine.current, engine.node_forces, engine.skip, multipliers, curvature)
    if state.loop_residual.shape[0] > 0:
        current, first, couple = engine.current, levels.start[MECHANISM_LEVEL], state.couple
        position, rotation, axes = current.position, current.rotation, current.axes
        add_closure_curvature(
            engine.tree, engine.closures, position, rotation, axes, multipliers, first, couple, curvature
        )
    at = levels.general.shape[0] - MAX_EXCLUDED + count
    row, size, along, length = levels.general[at], 0.0, 0.0, 0.0
    for i in range(n):
        row[i] = 0.0
        for j in range(n):
            row[i] += curvature[i, j] * x[j]
        size += row[i] * row[i]
        along += row[i] * x[i]
        length += x[i] * x[i]
    if abs(along) <= FLAT_ROW_CHANGE * length:
        return False
    for i in range(n):
        row[i] /= math.sqrt(size)
    levels.lower[n + at], levels.upper[n + at], levels.limit_level[n + at] = 0.0, 0.0, k + 1
    state.excluded_count[0] += 1
    return True


@kernel
def _find_uncorrectable_residual(engine: Engine, k: int, share: float) -> bool:
    """Find the part of the error of level `k` that no short correction removes, as multipliers ν of length 1.

    The correction is damped, so that it ignores combinations of rows that change within the step by as much as their
    size, and corrects the others. Returns False when the correction removes most of the error.
    """
    state, levels, solver = engine.state, engine.levels, engine.solver
    rows, wanted, dx, start = levels.rows, state.row_correction, state.correction, levels.start
    multipliers = solver.work.row_multipliers
    find_row_corrections(engine, state.trial_q, k + 1, share, 0.0)
    lost, length, left = 0.0, 0.0, 0.0
    for r in range(start[k], start[k + 1]):
        lost += wanted[r] * wanted[r]
    for i in range(dx.shape[0]):
        length += state.trial_step[i] * state.trial_step[i]
    if lost == 0.0 or length == 0.0:
        return False
    correct_damped(levels, solver, k + 1, wanted, state.trial_step, WEAK_PIVOT * math.sqrt(length), dx)
    for r in range(multipliers.shape[0]):
        multipliers[r] = 0.0
    for r in range(start[k], start[k + 1]):
        multipliers[r] = wanted[r]
        for i in range(dx.shape[0]):
            multipliers[r] -= rows[r, i] * dx[i]
        left += multipliers[r] * multipliers[r]
    if left <= UNCORRECTABLE_SHARE * UNCORRECTABLE_SHARE * lost:
        return False
    for r in range(start[k], start[k + 1]):
        multipliers[r] /= math.sqrt(left)
    return True
