"""Compiles the goals of tasks to arrays for the kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.kernels.forces.statics import Wrenches
from poise.kernels.goals.goals import Goals
from poise.tasks.recruits import recruited
from poise.tasks.task import Goal, Task


@dataclass
class TaskRows:
    """A task with its goals, its level, and its rows among those of all tasks."""

    task: Task
    level: int
    """Index of its level among the kernels' levels."""
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
    gains = [t.task.gain for t in task_rows for goal in t.goals for _ in range(goal.rows)]
    rows = [goal.rows for goal in goals]
    m = sum(rows)
    postures = [goal.posture for goal in goals if goal.posture is not None]
    corners = [goal.corners for goal in goals]
    masked = [mask for mask in masks if mask is not None]
    whole = np.int64
    return Goals(
        kind=np.array([goal.kind for goal in goals], dtype=whole),
        first=np.cumsum([0, *rows], dtype=whole),
        node=np.array([goal.seat.node for goal in goals], dtype=whole),
        place=table([goal.seat.pose.position for goal in goals], 3),
        turn=table([goal.seat.pose.rotation for goal in goals], 4),
        base=np.array([goal.base.node for goal in goals], dtype=whole),
        base_place=table([goal.base.pose.position for goal in goals], 3),
        base_turn=table([goal.base.pose.rotation for goal in goals], 4),
        position=table([goal.position for goal in goals], 3),
        rotation=table([goal.rotation for goal in goals], 4),
        value=np.array([goal.value for goal in goals], dtype=np.float64),
        posture=np.cumsum([0, *(goal.posture is not None for goal in goals)], dtype=whole)[:-1].copy(),
        postures=table(postures, figure.nq),
        mask=np.array([_mask_index(masks, i) for i in range(len(goals))], dtype=whole),
        masks=table(masked, figure.nv),
        direction=table([d for goal in goals for d in goal.directions], 3),
        weight=np.sqrt(np.array([w for goal in goals for w in goal.weights], dtype=np.float64)),
        gain=np.array(gains, dtype=np.float64),
        dof=np.array([d for goal in goals for d in (goal.dofs or [0] * goal.rows)], dtype=whole),
        corner_start=np.cumsum([0, *(len(c) for c in corners)], dtype=whole),
        corner_node=np.array([seat.node for c in corners for seat in c], dtype=whole),
        corner_place=table([seat.pose.position for c in corners for seat in c], 3),
        corner_margin=np.array([goal.margin for goal in goals], dtype=np.float64),
        custom_at=np.array(figure.neutral().q),
        custom_error=np.zeros(m),
        custom_rows=np.zeros((m, figure.nv)),
        up=table([figure.up_vector if goal.up is None else goal.up for goal in goals], 3),
        loads=stacked_loads([goal.loads for goal in goals if goal.loads is not None]),
        load_start=np.cumsum([0, *(0 if goal.loads is None else len(goal.loads.node) for goal in goals)], dtype=whole),
        gravity=table([goal.gravity for goal in goals], 3),
    )


def stacked_loads(tables: Sequence[Wrenches]) -> Wrenches:
    """Concatenate tables of wrenches."""
    empty = Wrenches(
        np.zeros(0, dtype=np.int64),
        np.zeros((0, 3)),
        np.zeros((0, 3)),
        np.zeros((0, 3)),
        np.zeros(0, dtype=np.int64),
        np.zeros((0, 2)),
    )
    return Wrenches(*(np.concatenate(columns) for columns in zip(empty, *tables, strict=True)))


def _mask_index(masks: Sequence[FloatArray | None], i: int) -> int:
    """Index of the mask of goal `i` among the masks that are not None; -1 for a goal without."""
    if masks[i] is None:
        return -1
    return sum(mask is not None for mask in masks[:i])


def table(rows: Sequence[FloatArray], width: int) -> FloatArray:
    """An array (rows, width), also when there are no rows."""
    return np.array(rows, dtype=np.float64).reshape(len(rows), width)
