"""The model of a step, and its best step: see `step` for the method."""

import math

import numpy as np

from poise.kernels.body.couplings import coupling_value
from poise.kernels.body.step_limits import PER_BALL, coupling_row, fill_ball_limits, fill_box, fill_couplings
from poise.kernels.engine.engine import FIRST_TASKS, MECHANISM, MET, PARTING, REIMPOSES, Engine, State
from poise.kernels.engine.step_singular import open_directions
from poise.kernels.goals.contacts import fill_contacts, fill_partings
from poise.kernels.goals.criteria import add_bend, fill_wish
from poise.kernels.goals.goal_curvature import fill_curvature
from poise.kernels.goals.jacobian_rows import fill_fences, fill_rows
from poise.kernels.jit.compile import kernel
from poise.kernels.levels.householder import from_coordinates
from poise.kernels.levels.levels import GIVES_WAY, resume_levels
from poise.kernels.levels.problem import DECIDED, ROW, STAYS, STOPS, STOPS_IF_LEFT, Y
from poise.kernels.loops.closure import closure_residual, closure_rows
from poise.kernels.loops.closure_curvature import add_closure_curvature

Array = np.ndarray

EASY = 0.01
"""Error up to which a level is not damped [m or rad]."""
TRUST = 2e-5
"""Least damping of bent criteria, whose curvature may vanish."""


@kernel
def prepare(engine: Engine, q: Array) -> None:
    """Rows, targets, damping and limits of the model at `q`."""
    levels, goals, here, state, limits, bounds = (
        engine.levels, engine.goals, engine.current, engine.state, engine.limits, engine.bounds
    )  # fmt: skip
    tree, contacts, skip = engine.tree, engine.contacts, engine.skip
    rows, target, start, lower, upper = levels.rows, levels.target, levels.start, levels.lower, levels.upper
    n, p = rows.shape[1], start.shape[0] - 1
    fill_rows(tree, goals, here, skip, rows)
    start[FIRST_TASKS] = skip
    start[PARTING] = fill_partings(tree, here, contacts, skip, engine.farthest, rows, target)
    start[MECHANISM] = start[PARTING] - limits.hard.shape[0] - state.gap.shape[0]
    _fill_loops(engine)
    for i in range(limits.hard.shape[0]):
        coupling, row = limits.hard[i], start[PARTING] - limits.hard.shape[0] + i
        coupling_row(limits, bounds, coupling, q, row, rows)
        target[row] = bounds.coupling_lower[coupling] - coupling_value(bounds, coupling, q)
    fill_box(limits, bounds, q, lower, upper)
    fill_ball_limits(limits, bounds, q, n, levels.general, lower, upper)
    at = PER_BALL * limits.ball_dof.shape[0]
    fill_couplings(limits, bounds, q, at, n, levels.general, lower, upper)
    at += limits.soft.shape[0]
    if goals.corner_node.shape[0] > 0:
        fill_fences(engine.tree, engine.goals, engine.current, at, n, levels.general, lower, upper)
    at += goals.corner_node.shape[0]
    fill_contacts(tree, here, contacts, at, n, levels.general, lower, upper)
    open_directions(engine)
    for k in range(FIRST_TASKS, p):
        _aim_level(engine, k)
    for k in range(p + 1):
        levels.curved[k] = 0
        state.curved[k] = 0
    fill_wish(tree, engine.criteria, q, levels.wish)


@kernel
def _fill_loops(engine: Engine) -> None:
    """Rows and targets of the loops, the first of all."""
    here, closures, gap, levels = engine.current, engine.closures, engine.state.gap, engine.levels
    if gap.shape[0] == 0:
        return
    first, target = levels.start[MECHANISM], levels.target
    closure_rows(engine.tree, closures, here.position, here.rotation, here.axes, first, levels.rows)
    closure_residual(closures, here.position, here.rotation, gap)
    for i in range(gap.shape[0]):
        target[first + i] = -gap[i]


@kernel
def _aim_level(engine: Engine, k: int) -> None:
    """Targets and damping of task level `k`: errors scaled down together to what a linear model may be asked."""
    start, target, weight, error, damping = (
        engine.levels.start, engine.levels.target, engine.goals.weight, engine.current.error, engine.levels.damping
    )  # fmt: skip
    skip, state, gain = engine.skip, engine.state, engine.goals.gain
    worst = 0.0
    for i in range(start[k] - skip, start[k + 1] - skip):
        worst = max(worst, abs(error[i]))
    share = min(1.0, engine.farthest / worst) if worst > 0.0 else 1.0
    state.scale[k] = share
    for i in range(start[k], start[k + 1]):
        target[i] = share * gain[i - skip] * weight[i - skip] * error[i - skip]
    damping[k] = 0.0 if engine.level_kind[k] == REIMPOSES else math.sqrt(max(0.0, share * worst - EASY))


@kernel
def solve_model(engine: Engine, q: Array) -> None:
    """Best step of the model; a level that gives way is solved again with its curvature."""
    levels, solver, state = engine.levels, engine.solver, engine.state
    x, target, weight, error, start, skip = (
        state.x, levels.target, engine.goals.weight, engine.current.error, levels.start, engine.skip
    )  # fmt: skip
    p = start.shape[0] - 1
    summed = engine.criteria.summed[0] == 1
    for k in range(p + 1):
        watched = (k < p and state.merit[k] > MET) or (k == p and (summed or state.needs_curvature[p] == 1))
        levels.watch[k] = 0
        if engine.level_kind[k] == REIMPOSES:
            levels.watch[k] = STAYS
        elif k >= FIRST_TASKS and watched:
            levels.watch[k] = STOPS if k < p and state.needs_curvature[k] == 1 else STOPS_IF_LEFT
        if k >= FIRST_TASKS and levels.curved[k] == 1:
            levels.damping[k] = _bent_damping(state, k)
    if not summed:
        levels.damping[p] = math.sqrt(state.stiffness[p])
    for i in range(x.shape[0]):
        x[i] = 0.0
    status = resume_levels(levels, solver, -1, x)
    while status == GIVES_WAY:
        k = solver.stopped[0]
        if k < p:
            share = 1.0 / state.scale[k]
            for i in range(solver.pull.shape[0]):
                solver.pull[i] *= share
            for i in range(start[k], start[k + 1]):
                target[i] = weight[i - skip] * error[i - skip]
        fill_curvature(
            engine.tree, engine.goals, engine.current, engine.node_forces, skip, solver.pull, levels.curvature[k]
        )
        if state.gap.shape[0] > 0:
            _bend_loops(engine, k)
        if k == p:
            add_bend(engine.tree, engine.criteria, q, levels.curvature[k])
        levels.curved[k] = 1
        state.curved[k] = 1
        levels.damping[k] = _bent_damping(state, k)
        status = resume_levels(levels, solver, k, x)
    if summed and levels.curved[p] == 0:
        _bend_granted_wish(engine, q, p)
        resume_levels(levels, solver, p, x)
    _divide(engine)


@kernel
def _bend_loops(engine: Engine, k: int) -> None:
    """Add the curvature of the loops that level `k` leans on."""
    here, state, pull = engine.current, engine.state, engine.solver.pull
    position, rotation, axes = here.position, here.rotation, here.axes
    first, curvature = engine.levels.start[MECHANISM], engine.levels.curvature[k]
    add_closure_curvature(engine.tree, engine.closures, position, rotation, axes, pull, first, state.couple, curvature)


@kernel
def _bend_granted_wish(engine: Engine, q: Array, p: int) -> None:
    """Curvature of criteria that no task stands in the way of."""
    levels, bend = engine.levels, engine.levels.curvature[p]
    for i in range(bend.shape[0]):
        for j in range(bend.shape[0]):
            bend[i, j] = 0.0
    add_bend(engine.tree, engine.criteria, q, bend)
    levels.curved[p] = 1
    engine.state.curved[p] = 1
    levels.damping[p] = _bent_damping(engine.state, p)


@kernel
def _bent_damping(state: State, k: int) -> float:
    """Damping of level `k` with its curvature."""
    least = TRUST if k == state.stiffness.shape[0] - 1 else 0.0
    return math.sqrt(state.stiffness[k] + least)


@kernel
def _divide(engine: Engine) -> None:
    """Which part of the step each level that gave way added to those above it, and which the criteria."""
    part, curved, solver, x = engine.state.part, engine.levels.curved, engine.solver, engine.state.x
    tables, lines, whole, decided = solver.tables, solver.lines, solver.whole, engine.state.decided
    p, n = part.shape[0] - 1, part.shape[1]
    total, c = 0.0, 0
    for k in range(p + 1):
        while c < whole[DECIDED, k + 1]:
            total += lines[Y, c] * lines[Y, c]
            c += 1
        decided[k] = total
    decided[p] = 0.0
    for i in range(n):
        decided[p] += x[i] * x[i]
    for k in range(FIRST_TASKS, p + 1):
        begin, end = whole[DECIDED, k], whole[DECIDED, k + 1]
        if begin == n or (curved[k] == 0 and k < p):
            for c in range(n):
                part[k, c] = 0.0
            continue
        rest = k == p or end == n
        first, last = (0, begin) if rest else (begin, end)
        for c in range(n):
            lines[ROW, c] = lines[Y, c] if first <= c < last else 0.0
        from_coordinates(tables, lines, last, ROW)
        for c in range(n):
            part[k, c] = x[c] - lines[ROW, c] if rest else lines[ROW, c]
