"""Allocates the arrays of an engine: limits, levels and state, and the criteria."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from poise.engine.goal_arrays import TaskRows, goal_arrays, number_rows, stacked_loads, table
from poise.figure.assembly.closure_arrays import compile_closures
from poise.figure.model.compiled import IntArray
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.kernels.body.step_limits import PER_BALL, StepLimits
from poise.kernels.engine.engine import FIRST_TASK_LEVEL, MASKED, REIMPOSES, SUPPORT_EDGES, Engine, State
from poise.kernels.engine.indirect_calls import KERNELS
from poise.kernels.engine.step_singular import MAX_EXCLUDED
from poise.kernels.goals.contacts import make_contacts
from poise.kernels.goals.criteria import Criteria, make_criteria
from poise.kernels.goals.goal_curvature import make_node_forces
from poise.kernels.goals.goals import Goals, make_evaluation
from poise.kernels.levels.levels import make_solver
from poise.kernels.levels.workspace import Levels
from poise.tasks.criteria import Effort, Near, Slope, Term
from poise.tasks.posture import Hold

if TYPE_CHECKING:
    from poise.engine.problem import StepSize


def make_engine(
    figure: Figure,
    task_rows: Sequence[TaskRows],
    criteria: Criteria,
    step: StepSize,
    dt: float | None,
    *,
    contacts: int,
) -> Engine:
    """Build the engine for a figure and its tasks; numbers the rows of every task.

    Args:
        figure: The figure.
        task_rows: Tasks by level, the first level first.
        criteria: Objective functions to minimise in the freedom that the tasks leave.
        step: Largest size and least gain of one step.
        dt: Duration of a step [s], to keep the speed limits; None to ignore them.
        contacts: Largest number of contacts in one step.
    """
    masks = number_rows(task_rows, figure)
    tree, bounds, goals = figure.compiled.tree, figure.compiled.bounds, goal_arrays(figure, task_rows, masks)
    limits, closures = _step_limits(figure, step, dt), compile_closures(figure)
    skip = closures.turns.shape[0] + limits.hard.shape[0] + contacts
    p = FIRST_TASK_LEVEL + len({t.level for t in task_rows})
    levels = _levels(figure, task_rows, goals, p, skip=skip, contacts=contacts)
    state = _state(figure, p, levels.rows.shape[0], closures.turns.shape[0])
    return Engine(
        tree=tree,
        bounds=bounds,
        limits=limits,
        goals=goals,
        contacts=make_contacts(contacts),
        closures=closures,
        criteria=criteria,
        levels=levels,
        solver=make_solver(figure.nv, levels.rows.shape[0], p, levels.general.shape[0]),
        node_forces=make_node_forces(tree),
        current=make_evaluation(tree, goals),
        trial=make_evaluation(tree, goals),
        state=state,
        skip=skip,
        max_target_error=step.error,
        level_kind=_level_kinds(task_rows, goals, masks, p),
        calls=np.zeros(len(KERNELS), dtype=np.int64),
        min_gain=step.min_gain,
    )


def _level_kinds(task_rows: Sequence[TaskRows], goals: Goals, masks: Sequence[FloatArray | None], p: int) -> IntArray:
    """(p + 1,) kind of each level: see `Engine.level_kind`."""
    levels = np.zeros(p + 1, dtype=np.int64)
    for t in task_rows:
        corners = goals.corner_start[t.first_goal + len(t.goals)] - goals.corner_start[t.first_goal]
        if t.reimposes:
            levels[t.level] = REIMPOSES
        elif masks[t.first_goal] is not None:
            levels[t.level] = MASKED
        elif corners > 0 and levels[t.level] != MASKED:
            levels[t.level] = SUPPORT_EDGES
    return levels


def _step_limits(figure: Figure, step: StepSize, dt: float | None) -> StepLimits:
    """The arrays of the limits of a step: joint limits, speeds, ball joints and couplings."""
    tree, bounds, compiled = figure.compiled.tree, figure.compiled.bounds, figure.compiled
    dof_q = np.full(figure.nv, -1, dtype=np.int64)
    q_dof = np.full(figure.nq, -1, dtype=np.int64)
    speed = np.full(figure.nv, math.inf)
    equality = np.array([coupling.is_equality for coupling in figure.couplings], dtype=bool)
    ball_dof = {}
    for joint in figure.joints:
        q, v = compiled.q_slices[joint.name], compiled.v_slices[joint.name]
        plain = joint.nv if joint.scalars else (3 if joint.kind == "free" else 0)
        for i in range(plain):
            dof_q[v.start + i], q_dof[q.start + i] = q.start + i, v.start + i
        ball_dof[q.start] = v.start
        if joint.speed is not None:
            speed[v] = joint.speed / (math.sqrt(3.0) if joint.kind == "ball" else 1.0)
    return StepLimits(
        dof_q=dof_q,
        q_dof=q_dof,
        speed=speed,
        largest=np.where(tree.dof_turns == 1, step.turn, step.slide),
        ball_dof=np.array([ball_dof[int(start)] for start in bounds.ball_start], dtype=np.int64),
        hard=np.flatnonzero(equality),
        soft=np.flatnonzero(~equality),
        clock=np.array([math.inf if dt is None else float(dt)]),
    )


def _levels(figure: Figure, task_rows: Sequence[TaskRows], goals: Goals, p: int, *, skip: int, contacts: int) -> Levels:
    """The arrays of the level solver's problem: rows of all levels, and limits."""
    n, m = figure.nv, skip + goals.direction.shape[0]
    start = np.full(p + 1, m, dtype=np.int64)
    start[:FIRST_TASK_LEVEL] = 0
    for t in reversed(task_rows):
        start[t.level] = skip + t.rows.start
    balls, soft = figure.compiled.bounds.ball_start.shape[0], sum(not c.is_equality for c in figure.couplings)
    support_edges = goals.corner_node.shape[0]
    general = PER_BALL * balls + soft + support_edges + contacts + MAX_EXCLUDED
    limit_level = np.zeros(n + general, dtype=np.int64)
    for t in task_rows:
        for i in range(len(t.goals)):
            g = t.first_goal + i
            at = n + PER_BALL * balls + soft
            limit_level[at + goals.corner_start[g] : at + goals.corner_start[g + 1]] = t.level
    return Levels(
        rows=np.zeros((m, n)),
        target=np.zeros(m),
        start=start,
        damping=np.zeros(p + 1),
        wish=np.zeros(n),
        general=np.zeros((general, n)),
        lower=np.full(n + general, -math.inf),
        upper=np.full(n + general, math.inf),
        limit_level=limit_level,
        curved=np.zeros(p + 1, dtype=np.int64),
        curvature=np.zeros((p + 1, n, n)),
        watch=np.zeros(p + 1, dtype=np.int64),
    )


def _state(figure: Figure, p: int, rows: int, loop_rows: int) -> State:
    """The state of an engine with `p` levels, before its first step."""
    n, whole = figure.nv, np.int64
    return State(
        step=np.zeros(n),
        correction=np.zeros(n),
        trial_step=np.zeros(n),
        level_step=np.zeros((p + 1, n)),
        last_level_step=np.zeros((p + 1, n)),
        decided_square=np.zeros(p + 1),
        trial_q=np.array(figure.neutral().q),
        target_share=np.ones(p + 1),
        merit=np.zeros(p + 1),
        merit_after=np.zeros(p + 1),
        last_merit=np.full(p + 1, np.nan),
        best_merit=np.zeros(p + 1),
        rest_merit=np.zeros(p + 1),
        extra_damping=np.zeros(p + 1),
        needs_curvature=np.zeros(p + 1, dtype=whole),
        loop_residual=np.zeros(loop_rows),
        couple=np.zeros((3, 3)),
        row_correction=np.zeros(rows),
        gain_factor=np.ones(1),
        excluded_count=np.zeros(1, dtype=whole),
        asked_levels=np.array([p, 1], dtype=whole),
        kept_levels=np.zeros(2, dtype=whole),
        kept_trial=np.zeros(figure.nq + n),
    )


def hold_criterion(figure: Figure, held: Hold) -> Near:
    """The criterion equivalent to a `Hold` task below all other tasks."""
    weight = np.zeros(figure.nv)
    for name in held.held(figure):
        weight[figure.v_slice(name)] = held.gain
    return Near(np.array(figure.posture(held.posture)._q), weight)


def criteria_arrays(figure: Figure, held: Hold | None, terms: Sequence[Term]) -> Criteria:
    """The arrays of all criteria; that of the `Hold` task below all other tasks, if any, comes first."""
    near = [hold_criterion(figure, held)] if held is not None else []
    near += [term for term in terms if isinstance(term, Near)]
    if not terms and not near:
        near = [Near(np.array(figure.neutral().q), np.zeros(figure.nv))]
    slope = np.zeros(figure.nv)
    for term in terms:
        if isinstance(term, Slope):
            slope += term.gradient
    efforts = [term for term in terms if isinstance(term, Effort)]
    tables = [effort.acting.wrenches for effort in efforts]
    return make_criteria(
        figure.compiled.tree,
        bool(terms),
        table([term.posture for term in near], figure.nq),
        table([term.weight for term in near], figure.nv),
        origin=np.array(figure.neutral().q),
        slope=slope,
        slope_hessian=np.zeros((figure.nv, figure.nv)),
        loads=stacked_loads(tables),
        load_start=np.cumsum([0, *(len(loads.node) for loads in tables)], dtype=np.int64),
        gravity=table([np.array(effort.acting.gravity) for effort in efforts], 3),
        weakness=table([effort.weakness for effort in efforts], figure.nv),
    )
