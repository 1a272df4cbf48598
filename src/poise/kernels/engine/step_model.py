"""The model of a step, and the step that solves it: see `step` for the method.

**Singular levels.** Some directions change the error of a level only to second order, and are excluded from the model.
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

from poise.kernels.body.limits import coupling_value
from poise.kernels.body.step_limits import (
    PER_BALL,
    add_ball_curvature,
    add_coupling_curvature,
    coupling_row,
    fill_ball_limits,
    fill_box,
    fill_couplings,
)
from poise.kernels.engine.engine import (
    FIRST_TASK_LEVEL,
    MECHANISM_LEVEL,
    MET_ERROR,
    REIMPOSES,
    SEPARATION_LEVEL,
    Engine,
    State,
)
from poise.kernels.engine.indirect_calls import BUILD_MODEL, SOLVE_MODEL, called_by_address
from poise.kernels.engine.step_trial import count_undamped_levels, find_row_corrections, first_edge_limit, soft_share
from poise.kernels.goals.contacts import fill_contacts, fill_separations
from poise.kernels.goals.criteria import add_criteria_curvature, fill_wish
from poise.kernels.goals.goal_curvature import fill_curvature
from poise.kernels.goals.goal_derivatives import fill_rows, fill_support_edges
from poise.kernels.jit.compile import kernel
from poise.kernels.levels.active_set import balance_row_multipliers
from poise.kernels.levels.equality_solve import from_coordinates
from poise.kernels.levels.levels import WEAK_PIVOT, correct_damped, resume_levels
from poise.kernels.levels.workspace import GIVES_WAY, STAYS, STOPS, STOPS_IF_LEFT
from poise.kernels.loops.closure import closure_residual, closure_rows
from poise.kernels.loops.closure_curvature import add_closure_curvature

Array = np.ndarray

UNDAMPED_ERROR = 0.01
"""Largest error of a level up to which the level is not damped [m or rad]."""
MIN_CRITERIA_DAMPING = 2e-5
"""Least squared damping of criteria with curvature, because the curvature may vanish."""


@called_by_address(BUILD_MODEL)
@kernel
def build_model(engine: Engine, q: Array) -> None:
    """Fill in the rows, targets, damping and limits of the model at `q`."""
    levels, goals, current, state, limits, bounds = (
        engine.levels, engine.goals, engine.current, engine.state, engine.limits, engine.bounds
    )  # fmt: skip
    tree, contacts, skip = engine.tree, engine.contacts, engine.skip
    rows, target, start, lower, upper = levels.rows, levels.target, levels.start, levels.lower, levels.upper
    n, p = rows.shape[1], start.shape[0] - 1
    fill_rows(tree, goals, current, skip, rows)
    start[FIRST_TASK_LEVEL] = skip
    start[SEPARATION_LEVEL] = fill_separations(tree, current, contacts, skip, engine.max_target_error, rows, target)
    start[MECHANISM_LEVEL] = start[SEPARATION_LEVEL] - limits.hard.shape[0] - state.loop_residual.shape[0]
    _fill_loops(engine)
    for i in range(limits.hard.shape[0]):
        coupling, row = limits.hard[i], start[SEPARATION_LEVEL] - limits.hard.shape[0] + i
        coupling_row(limits, bounds, coupling, q, row, rows)
        target[row] = bounds.coupling_lower[coupling] - coupling_value(bounds, coupling, q)
    fill_box(limits, bounds, q, lower, upper)
    fill_ball_limits(limits, bounds, q, n, levels.general, lower, upper)
    fill_couplings(limits, bounds, q, PER_BALL * limits.ball_dof.shape[0], n, levels.general, lower, upper)
    at = first_edge_limit(engine)
    if goals.corner_node.shape[0] > 0:
        fill_support_edges(engine.tree, engine.goals, engine.current, at, n, levels.general, lower, upper)
    at += goals.corner_node.shape[0]
    fill_contacts(tree, current, contacts, at, n, levels.general, lower, upper)
    clear_excluded_directions(engine)
    for k in range(FIRST_TASK_LEVEL, p):
        _set_level_targets(engine, k)
    for k in range(p + 1):
        levels.curved[k] = 0
    fill_wish(tree, engine.criteria, q, levels.wish)
    for r in range(start[p], rows.shape[0]):
        share = soft_share(goals, current.error, r - skip)
        pull = share * goals.weight[r - skip] * current.error[r - skip]
        for i in range(n):
            levels.wish[i] += pull * rows[r, i]
    _hold_rows(engine)
    state.kept_levels[0], state.kept_levels[1] = p, 1
    if state.asked_levels[0] < p:
        _leave_out_levels(engine, state.asked_levels[0])
    if state.asked_levels[1] == 0:
        _leave_out_criteria(engine)


@kernel
def _hold_rows(engine: Engine) -> None:
    """Clear the columns of velocities that are not free, so that no row, limit or wish moves them."""
    free, levels = engine.free, engine.levels
    for i in range(free.shape[0]):
        if free[i] == 0.0:
            levels.wish[i] = 0.0
            for r in range(levels.rows.shape[0]):
                levels.rows[r, i] = 0.0
            for r in range(levels.general.shape[0]):
                levels.general[r, i] = 0.0


@kernel
def _hold_curvature(engine: Engine, k: int) -> None:
    """Clear the rows and columns of velocities that are not free in the curvature of level `k`."""
    free, curvature = engine.free, engine.levels.curvature[k]
    for i in range(free.shape[0]):
        if free[i] == 0.0:
            for j in range(free.shape[0]):
                curvature[i, j], curvature[j, i] = 0.0, 0.0


@kernel
def _fill_loops(engine: Engine) -> None:
    """Fill in the rows and targets of the loop closures, which come before all other rows."""
    current, closures, residual, levels = engine.current, engine.closures, engine.state.loop_residual, engine.levels
    if residual.shape[0] == 0:
        return
    first, target = levels.start[MECHANISM_LEVEL], levels.target
    closure_rows(engine.tree, closures, current.position, current.rotation, current.axes, first, levels.rows)
    closure_residual(closures, current.position, current.rotation, residual)
    for i in range(residual.shape[0]):
        target[first + i] = -residual[i]


@kernel
def _set_level_targets(engine: Engine, k: int) -> None:
    """Set the targets and damping of task level `k`; errors above `max_target_error` scale all targets down."""
    start, target, weight, error, damping = (
        engine.levels.start, engine.levels.target, engine.goals.weight, engine.current.error, engine.levels.damping
    )  # fmt: skip
    skip, state, gain = engine.skip, engine.state, engine.goals.gain
    worst = 0.0
    for i in range(start[k] - skip, start[k + 1] - skip):
        if weight[i] > 0.0:
            worst = max(worst, abs(error[i]))
    share = min(1.0, engine.max_target_error / worst) if worst > 0.0 else 1.0
    state.target_share[k] = share
    for i in range(start[k], start[k + 1]):
        target[i] = share * gain[i - skip] * weight[i - skip] * error[i - skip]
    damping[k] = 0.0 if engine.level_kind[k] == REIMPOSES else math.sqrt(max(0.0, share * worst - UNDAMPED_ERROR))


@kernel
def leave_out_below(engine: Engine, count: int) -> None:
    """Leave all levels from `count` on, and the criteria, out of the model: the rest of the step is the least one."""
    _leave_out_levels(engine, count)
    _leave_out_criteria(engine)


@kernel
def _leave_out_levels(engine: Engine, count: int) -> None:
    """Leave all levels from `count` on out of the model, by rows that are zero."""
    levels, start = engine.levels, engine.levels.start
    engine.state.kept_levels[0] = count
    for k in range(count, start.shape[0] - 1):
        levels.damping[k] = 0.0
    for r in range(start[count], start[start.shape[0] - 1]):
        levels.target[r] = 0.0
        for i in range(levels.rows.shape[1]):
            levels.rows[r, i] = 0.0


@kernel
def _leave_out_criteria(engine: Engine) -> None:
    """Leave the criteria out of the model."""
    engine.state.kept_levels[1], engine.levels.damping[engine.state.merit.shape[0] - 1] = 0, 0.0
    for i in range(engine.levels.wish.shape[0]):
        engine.levels.wish[i] = 0.0


@called_by_address(SOLVE_MODEL)
@kernel
def solve_model(engine: Engine, q: Array) -> None:
    """Solve the model for `state.step`; each level that gives way is solved again with its curvature."""
    levels, solver, state = engine.levels, engine.solver, engine.state
    x, target, weight, error, start, skip = (
        state.step, levels.target, engine.goals.weight, engine.current.error, levels.start, engine.skip
    )  # fmt: skip
    p, kept = start.shape[0] - 1, state.kept_levels[0]
    summed = engine.criteria.summed[0] == 1 and state.kept_levels[1] == 1
    for k in range(p + 1):
        watched = state.merit[k] > MET_ERROR if k < p else summed or state.needs_curvature[p] == 1
        levels.watch[k] = 0
        if engine.level_kind[k] == REIMPOSES and k < kept:
            levels.watch[k] = STAYS
        elif k >= FIRST_TASK_LEVEL and watched and (k < kept or (k == p and state.kept_levels[1] == 1)):
            levels.watch[k] = STOPS if k < p and state.needs_curvature[k] == 1 else STOPS_IF_LEFT
        if k >= FIRST_TASK_LEVEL and levels.curved[k] == 1:
            levels.damping[k] = _curved_damping(state, k)
    if not summed and state.kept_levels[1] == 1:
        levels.damping[p] = math.sqrt(state.extra_damping[p])
    for i in range(x.shape[0]):
        x[i] = 0.0
    status = resume_levels(levels, solver, -1, x)
    while status == GIVES_WAY:
        k, multipliers = solver.work.stopped_level, solver.work.row_multipliers
        if k < p:
            share = 1.0 / state.target_share[k]
            for i in range(multipliers.shape[0]):
                multipliers[i] *= share
            for i in range(solver.work.limit_forces.shape[0]):
                solver.work.limit_forces[i] *= share
            for i in range(start[p], multipliers.shape[0]):
                multipliers[i] = 0.0
            for i in range(start[k], start[k + 1]):
                target[i] = weight[i - skip] * error[i - skip]
        if k == p:
            _load_soft_tasks(engine)
        _fill_task_curvature(engine, k)
        if k == p:
            add_criteria_curvature(engine.tree, engine.criteria, q, levels.curvature[k])
            _add_soft_squares(engine)
            _hold_curvature(engine, k)
        levels.curved[k] = 1
        levels.damping[k] = _curved_damping(state, k)
        status = resume_levels(levels, solver, k, x)
    if summed and levels.curved[p] == 0:
        _fill_criteria_curvature(engine, q, p)
        resume_levels(levels, solver, p, x)
    _split_step(engine)


@kernel
def _fill_task_curvature(engine: Engine, k: int) -> None:
    """Set the curvature of level `k` to that of goals, locked limits and loops, weighted by their multipliers."""
    current, couple, multipliers = engine.current, engine.state.couple, engine.solver.work.row_multipliers
    curvature = engine.levels.curvature[k]
    _load_limit_forces(engine, 1.0)
    fill_curvature(
        engine.tree, engine.goals, current, engine.contacts, engine.node_forces, engine.skip, multipliers, curvature
    )
    forces, n = engine.solver.work.limit_forces, curvature.shape[0]
    add_ball_curvature(engine.limits, engine.bounds, current.at, forces, n, curvature)
    _add_coupling_curvature(engine, multipliers, curvature)
    if engine.state.loop_residual.shape[0] > 0:
        position, rotation, axes = current.position, current.rotation, current.axes
        first = engine.levels.start[MECHANISM_LEVEL]
        add_closure_curvature(
            engine.tree, engine.closures, position, rotation, axes, multipliers, first, couple, curvature
        )
    _hold_curvature(engine, k)


@kernel
def _add_coupling_curvature(engine: Engine, multipliers: Array, curvature: Array) -> None:
    """Add the curvature of all couplings, with the multipliers of their rows and limits."""
    limits, bounds, q = engine.limits, engine.bounds, engine.current.at
    if bounds.pieces.shape[0] == 0:
        return
    first = engine.levels.start[SEPARATION_LEVEL] - limits.hard.shape[0]
    for i in range(limits.hard.shape[0]):
        add_coupling_curvature(limits, bounds, limits.hard[i], q, multipliers[first + i], curvature)
    at = curvature.shape[0] + PER_BALL * limits.ball_dof.shape[0]
    for i in range(limits.soft.shape[0]):
        force = engine.solver.work.limit_forces[at + i]
        add_coupling_curvature(limits, bounds, limits.soft[i], q, force, curvature)


@kernel
def _load_limit_forces(engine: Engine, share: float) -> None:
    """Set the forces of support edges and contacts to `share` times the multipliers of their limits."""
    contacts, forces, edge_force = engine.contacts, engine.solver.work.limit_forces, engine.node_forces.edge_force
    at = engine.levels.rows.shape[1] + first_edge_limit(engine)
    for c in range(edge_force.shape[0]):
        edge_force[c] = share * forces[at + c]
    for c in range(contacts.used[0]):
        contacts.force[c] = share * forces[at + edge_force.shape[0] + c]


@kernel
def _fill_criteria_curvature(engine: Engine, q: Array, p: int) -> None:
    """Set the curvature of the criteria, without that of any task: the tasks do not restrict their step."""
    levels, curvature = engine.levels, engine.levels.curvature[p]
    multipliers = engine.solver.work.row_multipliers
    for i in range(curvature.shape[0]):
        for j in range(curvature.shape[0]):
            curvature[i, j] = 0.0
    if levels.start[p] < levels.rows.shape[0]:
        for r in range(multipliers.shape[0]):
            multipliers[r] = 0.0
        _load_soft_tasks(engine)
        _load_limit_forces(engine, 0.0)
        fill_curvature(
            engine.tree,
            engine.goals,
            engine.current,
            engine.contacts,
            engine.node_forces,
            engine.skip,
            multipliers,
            curvature,
        )
    add_criteria_curvature(engine.tree, engine.criteria, q, curvature)
    _add_soft_squares(engine)
    _hold_curvature(engine, p)
    levels.curved[p] = 1
    levels.damping[p] = _curved_damping(engine.state, p)


@kernel
def _load_soft_tasks(engine: Engine) -> None:
    """Set the multipliers of the rows of soft tasks, which come after those of all levels, to minus their errors."""
    levels, skip, multipliers = engine.levels, engine.skip, engine.solver.work.row_multipliers
    for r in range(levels.start[levels.start.shape[0] - 1], levels.rows.shape[0]):
        share = soft_share(engine.goals, engine.current.error, r - skip)
        multipliers[r] = -share * engine.goals.weight[r - skip] * engine.current.error[r - skip]


@kernel
def _add_soft_squares(engine: Engine) -> None:
    """Add Σ s J Jᵀ over the rows J of soft tasks, with the share s of a spring, to the curvature of the criteria."""
    levels, p = engine.levels, engine.levels.start.shape[0] - 1
    rows, curvature = levels.rows, levels.curvature[p]
    for r in range(levels.start[p], rows.shape[0]):
        share = soft_share(engine.goals, engine.current.error, r - engine.skip)
        for i in range(rows.shape[1]):
            if rows[r, i] != 0.0:
                for j in range(rows.shape[1]):
                    curvature[i, j] += share * rows[r, i] * rows[r, j]


@kernel
def _curved_damping(state: State, k: int) -> float:
    """Damping of level `k` when it is solved with curvature."""
    least = MIN_CRITERIA_DAMPING if k == state.extra_damping.shape[0] - 1 else 0.0
    return math.sqrt(state.extra_damping[k] + least)


@kernel
def _split_step(engine: Engine) -> None:
    """Split the step into the parts that each level with curvature, and the criteria, added to the levels above.

    Writes these parts to `state.level_step`, and the squared length decided down to each level to
    `state.decided_square`.
    """
    level_step, curved, work, x = engine.state.level_step, engine.levels.curved, engine.solver.work, engine.state.step
    decided_square = engine.state.decided_square
    p, n = level_step.shape[0] - 1, level_step.shape[1]
    total, c = 0.0, 0
    for k in range(p + 1):
        while c < work.decided[k + 1]:
            total += work.y[c] * work.y[c]
            c += 1
        decided_square[k] = total
    decided_square[p] = 0.0
    for i in range(n):
        decided_square[p] += x[i] * x[i]
    for k in range(FIRST_TASK_LEVEL, p + 1):
        begin, end = work.decided[k], work.decided[k + 1]
        if begin == n or (curved[k] == 0 and k < p):
            for c in range(n):
                level_step[k, c] = 0.0
            continue
        is_last = k == p or end == n
        first, last = (0, begin) if is_last else (begin, end)
        for c in range(n):
            work.row[c] = work.y[c] if first <= c < last else 0.0
        from_coordinates(work, last, work.row)
        for c in range(n):
            level_step[k, c] = x[c] - work.row[c] if is_last else work.row[c]


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
    count, n, x = state.excluded_count[0], state.step.shape[0], state.step
    was_met = FIRST_TASK_LEVEL <= k < undamped and state.merit[k] <= MET_ERROR and engine.level_kind[k] == 0
    if not was_met or count == MAX_EXCLUDED or not _find_uncorrectable_residual(engine, k, share):
        return False
    balance_row_multipliers(solver.work, k)
    _fill_task_curvature(engine, k)
    curvature = levels.curvature[k]
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
