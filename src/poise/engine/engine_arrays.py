"""The arrays of an engine: goals of tasks and their targets, criteria, limits, levels and state."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
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
from poise.kernels.goals.goal_curvature import make_node_forces
from poise.kernels.goals.goals import AIM_GOAL, CENTER_GOAL, POINT_GOAL, TURN_GOAL, Goals, make_evaluation
from poise.kernels.levels.levels import make_solver
from poise.kernels.levels.workspace import Levels
from poise.tasks.criteria import Effort, FollowsTargets, Near, Slope, Term
from poise.tasks.posture import Hold
from poise.tasks.target import TargetLike
from poise.tasks.task import Goal, Task, finite_vector, recruited

if TYPE_CHECKING:
    from poise.engine.problem import StepSize

PLACES = frozenset((POINT_GOAL, CENTER_GOAL))
"""Kinds of goal whose target is a place."""


def make_engine(
    figure: Figure,
    task_rows: Sequence[TaskRows],
    masks: Sequence[FloatArray | None],
    criteria: Criteria,
    step: StepSize,
    *,
    dt: float | None,
    contacts: int,
    free: FloatArray | None = None,
) -> Engine:
    """Build the engine for a figure and its tasks.

    Args:
        figure: The figure.
        task_rows: Tasks by level, the first level first, with their rows numbered.
        masks: (nv,) 1 for the velocities that each goal may use, else 0; None for all that are free.
        criteria: Objective functions to minimise in the freedom that the tasks leave.
        step: Largest size and least gain of one step.
        dt: Duration of a step [s], to keep the speed limits; None to ignore them.
        contacts: Largest number of contacts in one step.
        free: (nv,) 1 for the velocities that may change, else 0; None for all.
    """
    tree, bounds, goals = figure.compiled.tree, figure.compiled.bounds, goal_arrays(figure, task_rows, masks)
    arrays = figure_arrays(figure)
    limits, closures = _step_limits(arrays, step, dt), arrays.closures
    skip = closures.turns.shape[0] + limits.hard.shape[0] + contacts
    p = level_count(task_rows)
    levels = make_levels(figure, task_rows, goals, p, skip=skip, contacts=contacts)
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
        state=make_state(figure, p, levels.rows.shape[0]),
        skip=skip,
        max_target_error=float(step.error),
        level_kind=level_kinds(task_rows, masks, p),
        calls=np.zeros(len(INDICES), dtype=np.int64),
        min_gain=float(step.min_gain),
        free=np.empty(0) if free is None else free.copy(),
    )


def level_count(task_rows: Sequence[TaskRows]) -> int:
    """Number of levels of an engine above that of the criteria."""
    return FIRST_TASK_LEVEL + len({t.level for t in task_rows if not t.task.soft})


def level_kinds(task_rows: Sequence[TaskRows], masks: Sequence[FloatArray | None], p: int) -> IntArray:
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
        largest=np.where(arrays.turns, float(step.turn), float(step.slide)),
        clock=np.array([math.inf if dt is None else float(dt)]),
    )


def make_levels(
    figure: Figure, task_rows: Sequence[TaskRows], goals: Goals, p: int, *, skip: int, contacts: int
) -> Levels:
    """The arrays of the level solver's problem: rows of all levels, and limits."""
    n, m = figure.nv, skip + goals.direction.shape[0]
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
        start=level_starts(task_rows, p, skip, m),
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


def level_starts(task_rows: Sequence[TaskRows], p: int, skip: int, rows: int) -> IntArray:
    """(p + 1,) first row of each level, of `rows` in all; the first `skip` are not those of tasks."""
    start = np.full(p + 1, rows, dtype=np.int64)
    start[:FIRST_TASK_LEVEL] = 0
    for t in reversed(task_rows):
        start[t.level] = skip + t.rows.start
    return start


def make_state(figure: Figure, p: int, rows: int) -> State:
    """The state of an engine with `p` levels and `rows` rows, before its first step."""
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
        loop_residual=np.zeros(figure_arrays(figure).closures.turns.shape[0]),
        couple=np.zeros((3, 3)),
        row_correction=np.zeros(rows),
        gain_factor=np.ones(1),
        excluded_count=np.zeros(1, dtype=whole),
        asked_levels=np.array([p, 1], dtype=whole),
        kept_levels=np.zeros(2, dtype=whole),
        may_leap=np.ones(1, dtype=whole),
        leap_pause=np.zeros(2, dtype=whole),
        fewer_levels_pause=np.zeros(2, dtype=whole),
        follows=np.zeros(1, dtype=whole),
        saddle_merit=np.zeros(p + 1),
        kept_trial=np.zeros(figure.nq + n),
        middle_q=figure.neutral()._q.copy(),
        middle_step=np.zeros(n),
        start_merit=np.zeros(p + 1),
    )


def hold_criterion(figure: Figure, held: Hold) -> Near:
    """The criterion equivalent to a `Hold` task below all other tasks."""
    weight = np.zeros(figure.nv)
    for name in held.held(figure):
        weight[figure.v_slice(name)] = held.gain
    return Near(np.array(figure.posture(held.posture)._q), weight)


@dataclass(frozen=True)
class CriteriaTerms:
    """All criteria of a problem; that of the `Hold` task below all other tasks, if any, comes first."""

    figure: Figure
    held: Hold | None
    """The `Hold` task."""
    terms: Sequence[Term]
    soft: bool = False
    """Whether there are soft tasks, which are added to the criteria."""

    @cached_property
    def near(self) -> list[Near]:
        """The criteria that are near a posture; those that follow the targets come last and have no weight yet."""
        found = [hold_criterion(self.figure, self.held)] if self.held is not None else []
        found += [term for term in self.terms if isinstance(term, Near)]
        nothing = Near(figure_arrays(self.figure).neutral, np.zeros(self.figure.nv))
        return found + [nothing for term in self.terms if isinstance(term, FollowsTargets)]

    @property
    def summed(self) -> bool:
        """Whether criteria are added up; if not, there is at most the one of the `Hold` task."""
        return bool(self.terms) or self.soft

    @property
    def sizes(self) -> tuple[bool, int] | None:
        """The sizes of the arrays that `fill` fills; None if there are others."""
        loaded = any(isinstance(term, Effort) for term in self.terms)
        return None if loaded else (self.summed, len(self.near))

    def arrays(self) -> Criteria:
        """The arrays of all criteria."""
        figure, empty = self.figure, figure_arrays(self.figure).no_criteria
        if not self.summed:
            # The workspace of sums is not used.
            weight = np.empty((1, figure.nv)) if self.near else empty.posture_weight
            found = empty._replace(postures=empty.postures.copy(), posture_weight=weight, gap=np.zeros(figure.nv))
            self.fill(found)
            return found
        found = _summed_criteria(figure, len(self.near), [term for term in self.terms if isinstance(term, Effort)])
        found.origin[:] = figure_arrays(figure).neutral
        found.slope.fill(0.0)
        found.slope_hessian.fill(0.0)
        self.fill(found)
        return found

    def fill(self, arrays: Criteria) -> None:
        """Write the criteria to arrays that had criteria of the same types, but for those that depend on loads."""
        for i, near in enumerate(self.near):
            arrays.postures[i], arrays.posture_weight[i] = near.posture, near.weight
        if slopes := [term.gradient for term in self.terms if isinstance(term, Slope)]:
            arrays.slope.fill(0.0)
            for gradient in slopes:
                np.add(arrays.slope, gradient, out=arrays.slope)


class CriteriaCopy:
    """The criteria of another problem of the same figure, as they are now, for a problem with soft tasks."""

    def __init__(self, figure: Figure, criteria: Criteria) -> None:
        """Take the arrays of the other problem; both share them if they depend on loads."""
        self._figure, self._criteria = figure, criteria
        loaded = criteria.load_start.shape[0] > 1
        self.sizes = None if loaded else (True, criteria.postures.shape[0])
        """As in `CriteriaTerms`."""

    def arrays(self) -> Criteria:
        """The arrays of all criteria."""
        if self.sizes is None:
            return self._criteria
        found = _summed_criteria(self._figure, self.sizes[1], [])
        self.fill(found)
        return found

    def fill(self, arrays: Criteria) -> None:
        """Write the criteria to arrays of their sizes."""
        for name in ("postures", "posture_weight", "origin", "slope", "slope_hessian"):
            getattr(arrays, name)[...] = getattr(self._criteria, name)


def _summed_criteria(figure: Figure, near: int, efforts: Sequence[Effort]) -> Criteria:
    """Arrays of a sum of criteria, of which some are near a posture, and some depend on loads; only those are set."""
    tables, nv = [effort.acting.wrenches for effort in efforts], figure.nv
    return make_criteria(
        figure.compiled.tree,
        True,
        np.empty((near, figure.nq)),
        np.empty((near, nv)),
        origin=np.empty(figure.nq),
        slope=np.empty(nv),
        slope_hessian=np.empty((nv, nv)),
        loads=stacked_loads(tables),
        load_start=starts([len(loads.node) for loads in tables]),
        gravity=table([np.array(effort.acting.gravity) for effort in efforts], 3),
        weakness=table([effort.weakness for effort in efforts], nv),
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


def mask_of(figure: Figure, task: Task, free: FloatArray | None = None) -> FloatArray | None:
    """(nv,) 1 for the velocities that a task may use, else 0; None if it may use all that are free."""
    mask = recruited(figure, task)
    return None if mask is not None and free is not None and bool(np.all(mask >= free)) else mask


def number_rows(
    task_rows: Sequence[TaskRows], figure: Figure, free: FloatArray | None = None
) -> list[FloatArray | None]:
    """Number the goals and rows of every task; returns the recruitment mask of each goal, None for all joints."""
    row = goal = 0
    masks: list[FloatArray | None] = []
    for t in task_rows:
        count = sum(g.rows for g in t.goals)
        t.first_goal, t.rows = goal, slice(row, row + count)
        row, goal = row + count, goal + len(t.goals)
        masks += [None if t.reimposes else mask_of(figure, t.task, free)] * len(t.goals)
    return masks


def goal_arrays(figure: Figure, task_rows: Sequence[TaskRows], masks: Sequence[FloatArray | None]) -> Goals:
    """The arrays of all goals, in the order of their tasks."""
    goals = [goal for t in task_rows for goal in t.goals]
    g, m, nq = len(goals), sum(goal.rows for goal in goals), figure.nq
    corners, loads = [goal.corners for goal in goals], [goal.loads for goal in goals]
    arrays = Goals(
        kind=np.empty(g, dtype=np.int64),
        first=np.empty(g + 1, dtype=np.int64),
        node=np.empty(g, dtype=np.int64),
        place=np.empty((g, 3)),
        turn=np.empty((g, 4)),
        base=np.empty(g, dtype=np.int64),
        base_place=np.empty((g, 3)),
        base_turn=np.empty((g, 4)),
        position=np.empty((g, 3)),
        rotation=np.empty((g, 4)),
        value=np.empty(g),
        posture=np.empty(g, dtype=np.int64),
        postures=np.empty((sum(goal.posture is not None for goal in goals), nq)),
        mask=whole([_mask_index(masks, i) for i in range(g)]),
        masks=table([mask for mask in masks if mask is not None], figure.nv),
        direction=np.empty((m, 3)),
        weight=np.empty(m),
        gain=np.empty(m),
        dof=np.empty(m, dtype=np.int64),
        corner_start=starts([len(c) for c in corners]),
        corner_node=whole([seat.node for c in corners for seat in c]),
        corner_place=table([seat.pose.position for c in corners for seat in c], 3),
        corner_margin=np.empty(g),
        custom_at=np.empty(nq),
        custom_error=np.empty(m),
        custom_rows=np.empty((m, figure.nv)),
        up=np.empty((g, 3)),
        loads=stacked_loads([each for each in loads if each is not None]),
        load_start=starts([0 if each is None else len(each.node) for each in loads]),
        gravity=np.empty((g, 3)),
    )
    fill_goals(figure, task_rows, arrays)
    return arrays


def fill_goals(figure: Figure, task_rows: Sequence[TaskRows], arrays: Goals) -> None:
    """Write all goals to arrays of their sizes, but for their masks, the corners of supports, and loads."""
    postures = row = 0
    for t in task_rows:
        for i, goal in enumerate(t.goals, start=t.first_goal):
            arrays.posture[i], arrays.first[i] = postures, row
            postures, row = postures + (goal.posture is not None), row + goal.rows
        write_goals(figure, t, arrays)
    arrays.first[-1] = row
    arrays.custom_at[:] = figure_arrays(figure).neutral
    arrays.custom_error.fill(0.0)
    arrays.custom_rows.fill(0.0)


def write_goals(figure: Figure, rows: TaskRows, arrays: Goals) -> None:
    """Write the goals of one task to the arrays of all goals: see `fill_goals`."""
    up, row = figure_arrays(figure).up, rows.rows.start
    for i, goal in enumerate(rows.goals, start=rows.first_goal):
        seat, base, end = goal.seat, goal.base, row + goal.rows
        arrays.kind[i], arrays.node[i], arrays.base[i] = goal.kind, seat.node, base.node
        arrays.place[i], arrays.turn[i] = seat.pose.position, seat.pose.rotation
        arrays.base_place[i], arrays.base_turn[i] = base.pose.position, base.pose.rotation
        arrays.position[i], arrays.rotation[i], arrays.value[i] = goal.position, goal.rotation, goal.value
        arrays.up[i] = up if goal.up is None else goal.up
        arrays.gravity[i], arrays.corner_margin[i] = goal.gravity, goal.margin
        if goal.posture is not None:
            arrays.postures[arrays.posture[i]] = goal.posture
        arrays.direction[row:end] = goal.directions
        np.sqrt(goal.weights, out=arrays.weight[row:end])
        arrays.dof[row:end] = goal.dofs or 0
        row = end
    arrays.gain[rows.rows] = rows.task.gain


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


def set_place(goals: Goals, rows: TaskRows) -> bool:
    """Write the place that a task wants to its goal, of which nothing else has changed; returns whether it has one."""
    task = rows.task
    target = task.target_fields[0] if task.takes_arrays and len(rows.goals) == 1 else None
    if target is None or rows.goals[0].kind not in PLACES:
        return False
    goals.position[rows.first_goal] = finite_vector(getattr(task, target), target)
    return True


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
    goal, shape = rows.goals[0], value.shape
    if shape == (3,) and (goal.kind in PLACES or (goal.kind == AIM_GOAL and goal.value == 0.0)):
        x, y, z = value.tolist()
        if math.isfinite(x + y + z):
            goals.position[rows.first_goal] = value
            return True
    elif shape == (4,) and goal.kind == TURN_GOAL and 0.5 < (size := math.hypot(*value.tolist())) < 2.0:
        goals.rotation[rows.first_goal] = value / size
        return True
    return False
