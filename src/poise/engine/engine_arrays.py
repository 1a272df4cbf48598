"""Lays out the arrays of an engine: its limits, its levels, and what it remembers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from poise.engine.goal_arrays import Asked, goal_arrays, number_rows
from poise.figure.assembly.closure_arrays import compile_closures
from poise.figure.model.compiled import IntArray
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.kernels.body.step_limits import PER_BALL, StepLimits
from poise.kernels.engine.engine import FIRST_TASKS, MASKED, REIMPOSES, SUPPORT_EDGES, Engine, State
from poise.kernels.engine.indirect_calls import KERNELS
from poise.kernels.engine.step_singular import MOST_EXCLUDED
from poise.kernels.goals.contacts import make_contacts
from poise.kernels.goals.criteria import Criteria
from poise.kernels.goals.goal_curvature import make_node_forces
from poise.kernels.goals.goals import Goals, make_evaluation
from poise.kernels.levels.levels import Levels, make_work

if TYPE_CHECKING:
    from poise.engine.problem import StepSize


def make_engine(
    figure: Figure, asked: Sequence[Asked], criteria: Criteria, step: StepSize, dt: float | None, *, contacts: int
) -> Engine:
    """The engine for a figure and its tasks; gives every task its rows.

    Args:
        figure: The figure.
        asked: Tasks by level.
        criteria: What to do with the freedom that they leave.
        step: How far one step may go.
        dt: Duration of a step [s], to hold the speed limits; None to ignore them.
        contacts: Most contacts that are held apart at once.
    """
    masks = number_rows(asked, figure)
    tree, bounds, goals = figure.compiled.tree, figure.compiled.bounds, goal_arrays(figure, asked, masks)
    limits, closures = _step_limits(figure, step, dt), compile_closures(figure)
    skip = closures.turns.shape[0] + limits.hard.shape[0] + contacts
    p = FIRST_TASKS + len({a.level for a in asked})
    levels = _levels(figure, asked, goals, p, skip=skip, contacts=contacts)
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
        solver=make_work(figure.nv, levels.rows.shape[0], p, levels.general.shape[0]),
        node_forces=make_node_forces(tree),
        current=make_evaluation(tree, goals),
        trial=make_evaluation(tree, goals),
        state=state,
        skip=skip,
        farthest=step.error,
        level_kind=_level_kinds(asked, goals, masks, p),
        calls=np.zeros(len(KERNELS), dtype=np.int64),
        min_gain=step.min_gain,
    )


def _level_kinds(asked: Sequence[Asked], goals: Goals, masks: Sequence[FloatArray | None], p: int) -> IntArray:
    """(p + 1,) which levels are masked, re-imposed or bounded by a support: see `Engine.level_kind`."""
    levels = np.zeros(p + 1, dtype=np.int64)
    for a in asked:
        corners = goals.corner_start[a.first_goal + len(a.goals)] - goals.corner_start[a.first_goal]
        if a.keeps:
            levels[a.level] = REIMPOSES
        elif masks[a.first_goal] is not None:
            levels[a.level] = MASKED
        elif corners > 0 and levels[a.level] != MASKED:
            levels[a.level] = SUPPORT_EDGES
    return levels


def _step_limits(figure: Figure, step: StepSize, dt: float | None) -> StepLimits:
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
        clock=np.array([math.inf if dt is None else dt]),
    )


def _levels(figure: Figure, asked: Sequence[Asked], goals: Goals, p: int, *, skip: int, contacts: int) -> Levels:
    """The arrays of all levels."""
    n, m = figure.nv, skip + goals.direction.shape[0]
    start = np.full(p + 1, m, dtype=np.int64)
    start[:FIRST_TASKS] = 0
    for a in reversed(asked):
        start[a.level] = skip + a.rows.start
    balls, soft = figure.compiled.bounds.ball_start.shape[0], sum(not c.is_equality for c in figure.couplings)
    fences = goals.corner_node.shape[0]
    general = PER_BALL * balls + soft + fences + contacts + MOST_EXCLUDED
    limit_level = np.zeros(n + general, dtype=np.int64)
    for a in asked:
        for i in range(len(a.goals)):
            g = a.first_goal + i
            at = n + PER_BALL * balls + soft
            limit_level[at + goals.corner_start[g] : at + goals.corner_start[g + 1]] = a.level
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
    n, whole = figure.nv, np.int64
    return State(
        x=np.zeros(n),
        dx=np.zeros(n),
        trial=np.zeros(n),
        part=np.zeros((p + 1, n)),
        last=np.zeros((p + 1, n)),
        decided=np.zeros(p + 1),
        q=np.array(figure.neutral().q),
        scale=np.ones(p + 1),
        merit=np.zeros(p + 1),
        merit_after=np.zeros(p + 1),
        seen=np.full(p + 1, np.nan),
        record=np.zeros(p + 1),
        stiffness=np.zeros(p + 1),
        curved=np.zeros(p + 1, dtype=whole),
        needs_curvature=np.zeros(p + 1, dtype=whole),
        gap=np.zeros(loop_rows),
        couple=np.zeros((3, 3)),
        missing=np.zeros(rows),
        gain_factor=np.ones(1),
        excluded=np.zeros(1, dtype=whole),
        counts=np.zeros(4, dtype=whole),
    )
