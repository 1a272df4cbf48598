"""The arrays of an engine: goals of tasks and their targets, criteria, limits, levels and state."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from poise.engine.figure_arrays import NO_LOADS, FigureArrays, figure_arrays
from poise.errors import TaskError
from poise.figure.model.compiled import IntArray
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray, Pose
from poise.kernels.body.step_limits import StepLimits
from poise.kernels.engine.engine import FIRST_TASK_LEVEL, MASKED, REIMPOSES, SUPPORT_EDGES, Engine, State
from poise.kernels.engine.indirect_calls import INDICES
from poise.kernels.engine.step_model import MAX_EXCLUDED
from poise.kernels.forces.statics import Wrenches
from poise.kernels.goals.contacts import make_contacts
from poise.kernels.goals.criteria import Criteria, make_criteria
from poise.kernels.goals.goal_derivatives import make_node_forces
from poise.kernels.goals.goals import AIM_GOAL, CENTER_GOAL, POINT_GOAL, TURN_GOAL, Goals, make_evaluation
from poise.kernels.levels.levels import make_solver
from poise.kernels.levels.workspace import Levels
from poise.tasks.criteria import Effort, FollowsTargets, Near, Slope, Term
from poise.tasks.posture import Hold
from poise.tasks.target import TargetLike
from poise.tasks.task import Goal, Task, recruited

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
    arrays = figure_arrays(figure)
    limits, closures = _step_limits(arrays, step, dt), arrays.closures
    skip = closures.turns.shape[0] + limits.hard.shape[0] + contacts
    p = FIRST_TASK_LEVEL + len({t.level for t in task_rows if not t.task.soft})
    levels = _levels(figure, task_rows, goals, p, skip=skip, contacts=contacts)
    state = _state(figure, p, levels.rows.shape[0], closures.turns.shape[0])
    return Engine(
        tree=tree,
        bounds=bounds,
        limits=limits,
        goals=goals,
        contacts=make_contacts(contacts) if contacts else arrays.empty_contacts,
        closures=closures,
        criteria=criteria,
        levels=levels,
        solver=make_solver(figure.nv, levels.rows.shape[0], p, levels.general.shape[0]),
        node_forces=make_node_forces(tree, len(goals.corner_node)),
        current=make_evaluation(tree, goals),
        trial=make_evaluation(tree, goals),
        state=state,
        skip=skip,
        max_target_error=step.error,
        level_kind=_level_kinds(task_rows, masks, p),
        calls=np.zeros(len(INDICES), dtype=np.int64),
        min_gain=step.min_gain,
    )


def _level_kinds(task_rows: Sequence[TaskRows], masks: Sequence[FloatArray | None], p: int) -> IntArray:
    """(p + 1,) kind of each level: see `Engine.level_kind`."""
    levels = np.zeros(p + 1, dtype=np.int64)
    for t in (t for t in task_rows if not t.task.soft):
        if t.reimposes:
            levels[t.level] = REIMPOSES
        elif masks[t.first_goal] is not None:
            levels[t.level] = MASKED
        elif levels[t.level] != MASKED and any(goal.corners for goal in t.goals):
            levels[t.level] = SUPPORT_EDGES
    return levels


def _step_limits(arrays: FigureArrays, step: StepSize, dt: float | None) -> StepLimits:
    """The limits of a step of this size and duration."""
    return arrays.limits._replace(
        largest=np.where(arrays.turns, step.turn, step.slide),
        clock=np.array([math.inf if dt is None else float(dt)]),
    )


def _levels(figure: Figure, task_rows: Sequence[TaskRows], goals: Goals, p: int, *, skip: int, contacts: int) -> Levels:
    """The arrays of the level solver's problem: rows of all levels, and limits."""
    n, m = figure.nv, skip + goals.direction.shape[0]
    start = np.full(p + 1, m, dtype=np.int64)
    start[:FIRST_TASK_LEVEL] = 0
    for t in reversed(task_rows):
        start[t.level] = skip + t.rows.start
    before_edges = n + figure_arrays(figure).general_limits
    general = before_edges - n + goals.corner_node.shape[0] + contacts + MAX_EXCLUDED
    limit_level = np.zeros(n + general, dtype=np.int64)
    edge = before_edges
    for t in task_rows:
        for goal in t.goals:
            limit_level[edge : edge + len(goal.corners)] = t.level
            edge += len(goal.corners)
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
        trial_q=figure.neutral()._q.copy(),
        target_share=np.ones(p + 1),
        merit=np.zeros(p + 1),
        merit_after=np.zeros(p + 1),
        last_merit=np.full(p + 1, np.nan),
        best_merit=np.zeros(p + 1),
        rest_merit=np.zeros(p + 1),
        rest_q=np.zeros(figure.nq),
        extra_damping=np.zeros(p + 1),
        needs_curvature=np.zeros(p + 1, dtype=whole),
        loop_residual=np.zeros(loop_rows),
        couple=np.zeros((3, 3)),
        row_correction=np.zeros(rows),
        gain_factor=np.ones(1),
        excluded_count=np.zeros(1, dtype=whole),
        asked_levels=np.array([p, 1], dtype=whole),
        kept_levels=np.zeros(2, dtype=whole),
        may_leap=np.ones(1, dtype=whole),
        leap_pause=np.zeros(2, dtype=whole),
        saddle_merit=np.zeros(p + 1),
        kept_trial=np.zeros(figure.nq + n),
    )


def hold_criterion(figure: Figure, held: Hold) -> Near:
    """The criterion equivalent to a `Hold` task below all other tasks."""
    weight = np.zeros(figure.nv)
    for name in held.held(figure):
        weight[figure.v_slice(name)] = held.gain
    return Near(np.array(figure.posture(held.posture)._q), weight)


def _posture_criterion(figure: Figure, near: Near | None) -> Criteria:
    """The arrays of one criterion alone, to be near a posture, or of none; the workspace of sums is not used."""
    empty = figure_arrays(figure).no_criteria
    if near is None:
        return empty._replace(postures=empty.postures.copy(), gap=np.zeros(figure.nv))
    return empty._replace(postures=near.posture[None], posture_weight=near.weight[None], gap=np.zeros(figure.nv))


def criteria_arrays(figure: Figure, held: Hold | None, terms: Sequence[Term], *, soft: bool = False) -> Criteria:
    """The arrays of all criteria; that of the `Hold` task below all other tasks, if any, comes first.

    Args:
        figure: The figure.
        held: The `Hold` task.
        terms: The terms of the criteria.
        soft: Whether there are soft tasks, which are added to the criteria.
    """
    near = [hold_criterion(figure, held)] if held is not None else []
    if not terms and not soft:
        return _posture_criterion(figure, near[0] if near else None)
    near += [term for term in terms if isinstance(term, Near)]
    here = figure.neutral()._q
    near += [Near(here, np.zeros(figure.nv)) for term in terms if isinstance(term, FollowsTargets)]
    slope = np.zeros(figure.nv)
    for term in terms:
        if isinstance(term, Slope):
            slope += term.gradient
    efforts = [term for term in terms if isinstance(term, Effort)]
    tables = [effort.acting.wrenches for effort in efforts]
    return make_criteria(
        figure.compiled.tree,
        True,
        table([term.posture for term in near], figure.nq),
        table([term.weight for term in near], figure.nv),
        origin=figure.neutral()._q.copy(),
        slope=slope,
        slope_hessian=np.zeros((figure.nv, figure.nv)),
        loads=stacked_loads(tables),
        load_start=starts([len(loads.node) for loads in tables]),
        gravity=table([np.array(effort.acting.gravity) for effort in efforts], 3),
        weakness=table([effort.weakness for effort in efforts], figure.nv),
    )


@dataclass
class TaskRows:
    """A task with its goals, its level, and its rows among those of all tasks."""

    task: Task
    level: int
    """Index of its level among the kernels' levels; that of the criteria for soft tasks, which come last."""
    goals: list[Goal]
    first_goal: int = 0
    """Index of its first goal among those of all tasks."""
    rows: slice = field(default_factory=lambda: slice(0, 0))
    """Its rows among those of all goals."""
    reimposes: bool = False
    """Whether these are a second set of rows, with all joints, that preserves the values which a task with masked
    joints gave its rows in the level above."""


def number_rows(task_rows: Sequence[TaskRows], figure: Figure) -> list[FloatArray | None]:
    """Number the goals and rows of every task; returns the recruitment mask of each goal, None for all joints."""
    row = goal = 0
    masks: list[FloatArray | None] = []
    for t in task_rows:
        count = sum(g.rows for g in t.goals)
        t.first_goal, t.rows = goal, slice(row, row + count)
        row, goal = row + count, goal + len(t.goals)
        masks += [None if t.reimposes else recruited(figure, t.task)] * len(t.goals)
    return masks


def goal_arrays(figure: Figure, task_rows: Sequence[TaskRows], masks: Sequence[FloatArray | None]) -> Goals:
    """The arrays of all goals, in the order of their tasks."""
    goals = [goal for t in task_rows for goal in t.goals]
    rows = [goal.rows for goal in goals]
    g, m = len(goals), sum(rows)
    corners = [goal.corners for goal in goals]
    loads = [goal.loads for goal in goals]
    up = figure_arrays(figure).up
    kind, node, base, mask = whole(
        [
            [goal.kind for goal in goals],
            [goal.seat.node for goal in goals],
            [goal.base.node for goal in goals],
            [_mask_index(masks, i) for i in range(g)],
        ]
    )
    arrays = Goals(
        kind=kind,
        first=starts(rows),
        node=node,
        place=np.empty((g, 3)),
        turn=np.empty((g, 4)),
        base=base,
        base_place=np.empty((g, 3)),
        base_turn=np.empty((g, 4)),
        position=np.empty((g, 3)),
        rotation=np.empty((g, 4)),
        value=np.array([goal.value for goal in goals], dtype=np.float64),
        posture=starts([goal.posture is not None for goal in goals])[:-1],
        postures=table([goal.posture for goal in goals if goal.posture is not None], figure.nq),
        mask=mask,
        masks=table([mask for mask in masks if mask is not None], figure.nv),
        direction=np.empty((m, 3)),
        weight=np.empty(m),
        gain=np.empty(m),
        dof=whole([d for goal in goals for d in (goal.dofs or [0] * goal.rows)]),
        corner_start=starts([len(c) for c in corners]),
        corner_node=whole([seat.node for c in corners for seat in c]),
        corner_place=table([seat.pose.position for c in corners for seat in c], 3),
        corner_margin=np.array([goal.margin for goal in goals], dtype=np.float64),
        custom_at=figure.neutral()._q.copy(),
        custom_error=np.zeros(m),
        custom_rows=np.zeros((m, figure.nv)),
        up=np.empty((g, 3)),
        loads=stacked_loads([each for each in loads if each is not None]),
        load_start=starts([0 if each is None else len(each.node) for each in loads]),
        gravity=np.empty((g, 3)),
    )
    row = 0
    for i, goal in enumerate(goals):
        arrays.place[i], arrays.turn[i] = goal.seat.pose.position, goal.seat.pose.rotation
        arrays.base_place[i], arrays.base_turn[i] = goal.base.pose.position, goal.base.pose.rotation
        arrays.position[i], arrays.rotation[i] = goal.position, goal.rotation
        arrays.up[i] = up if goal.up is None else goal.up
        arrays.gravity[i] = goal.gravity
        end = row + rows[i]
        arrays.direction[row:end], arrays.weight[row:end] = goal.directions, goal.weights
        row = end
    for t in task_rows:
        arrays.gain[t.rows] = t.task.gain
    np.sqrt(arrays.weight, out=arrays.weight)
    return arrays


def stacked_loads(tables: Sequence[Wrenches]) -> Wrenches:
    """Concatenate tables of wrenches."""
    if not tables:
        return NO_LOADS
    return Wrenches(*(np.concatenate(columns) for columns in zip(*tables, strict=True)))


def _mask_index(masks: Sequence[FloatArray | None], i: int) -> int:
    """Index of the mask of goal `i` among the masks that are not None; -1 for a goal without."""
    if masks[i] is None:
        return -1
    return sum(mask is not None for mask in masks[:i])


def whole(values: Sequence[int] | Sequence[Sequence[int]]) -> IntArray:
    """An array of whole numbers."""
    return np.array(values, dtype=np.int64)


def starts(counts: Sequence[int]) -> IntArray:
    """Start of each range and the end of the last, for consecutive ranges of these sizes."""
    return whole([0, *accumulate(counts)])


def table(rows: Sequence[FloatArray], width: int) -> FloatArray:
    """An array (rows, width), also when there are no rows."""
    return np.array(rows, dtype=np.float64).reshape(len(rows), width) if rows else np.empty((0, width))


def set_target(figure: Figure, goals: Goals, rows: TaskRows, value: TargetLike | Task) -> None:
    """Set the target of a task to a value, or to the target of another task of its kind."""
    if not isinstance(value, Task):
        if _set_quickly(goals, rows, value):
            return
        value = rows.task.with_target(value)
    if type(value) is not type(rows.task):
        raise TaskError(f"{rows.task.label} cannot have the target of {value.label}, a task of another kind.")
    for g, goal in enumerate(value.goals(figure), start=rows.first_goal):
        goals.position[g], goals.rotation[g], goals.value[g] = goal.position, goal.rotation, goal.value
        if goal.posture is not None:
            goals.postures[goals.posture[g]] = goal.posture


def _set_quickly(goals: Goals, rows: TaskRows, value: TargetLike) -> bool:
    """Set a valid position, rotation or pose without further checks, for live targets; returns whether it was one."""
    if not rows.task.takes_arrays:
        return False
    if type(value) is Pose and len(rows.goals) == 2:
        goals.position[rows.first_goal] = value.position
        goals.rotation[rows.first_goal + 1] = value.rotation
        return True
    if isinstance(value, tuple | list) and all(type(number) in (float, int) for number in value):
        value = np.array(value, dtype=np.float64)
    if type(value) is not np.ndarray or len(rows.goals) != 1 or value.dtype.char != "d":
        return False
    goal = rows.goals[0]
    is_place = goal.kind in (POINT_GOAL, CENTER_GOAL) or (goal.kind == AIM_GOAL and goal.value == 0.0)
    if is_place and value.shape == (3,) and math.isfinite(sum(value.tolist())):
        goals.position[rows.first_goal] = value
        return True
    if goal.kind == TURN_GOAL and value.shape == (4,) and 0.5 < (size := math.hypot(*value.tolist())) < 2.0:
        goals.rotation[rows.first_goal] = value / size
        return True
    return False
