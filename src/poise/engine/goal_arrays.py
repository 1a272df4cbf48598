"""Lays the goals of tasks out as arrays."""

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
class Asked:
    """A task and where its rows are."""

    task: Task
    level: int
    """Index of its level among the kernels' levels."""
    goals: list[Goal]
    first_goal: int = 0
    rows: slice = field(default_factory=lambda: slice(0, 0))
    """Its rows among those of all goals."""
    keeps: bool = False
    """Whether these are rows that only keep, with all joints, what a task that may move some of them has reached."""


def number_rows(asked: Sequence[Asked], figure: Figure) -> list[FloatArray | None]:
    """Give every task its rows and goals; returns the recruitment mask of each goal."""
    row = goal = 0
    masks: list[FloatArray | None] = []
    for a in asked:
        count = sum(g.rows for g in a.goals)
        a.first_goal, a.rows = goal, slice(row, row + count)
        row, goal = row + count, goal + len(a.goals)
        masks += [None if a.keeps else recruited(figure, a.task)] * len(a.goals)
    return masks


def goal_arrays(figure: Figure, asked: Sequence[Asked], masks: Sequence[FloatArray | None]) -> Goals:
    """The arrays of all goals, those of the first task first."""
    goals = [goal for a in asked for goal in a.goals]
    gains = [a.task.gain for a in asked for goal in a.goals for _ in range(goal.rows)]
    rows = [goal.rows for goal in goals]
    m = sum(rows)
    postures = [goal.posture for goal in goals if goal.posture is not None]
    corners = [goal.corners for goal in goals]
    distinct = [mask for mask in masks if mask is not None]
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
        mask=np.array([_place_of(masks, i) for i in range(len(goals))], dtype=whole),
        masks=table(distinct, figure.nv),
        direction=table([d for goal in goals for d in goal.directions], 3),
        weight=np.sqrt(np.array([w for goal in goals for w in goal.weights], dtype=np.float64)),
        gain=np.array(gains, dtype=np.float64),
        dof=np.array([d for goal in goals for d in (goal.dofs or [0] * goal.rows)], dtype=whole),
        corner_start=np.cumsum([0, *(len(c) for c in corners)], dtype=whole),
        corner_node=np.array([seat.node for c in corners for seat in c], dtype=whole),
        corner_place=table([seat.pose.position for c in corners for seat in c], 3),
        corner_margin=np.array([goal.margin for goal in goals], dtype=np.float64),
        given_at=np.array(figure.neutral().q),
        given_error=np.zeros(m),
        given_rows=np.zeros((m, figure.nv)),
        up=table([figure.up_vector if goal.up is None else goal.up for goal in goals], 3),
        loads=stacked_loads([goal.loads for goal in goals if goal.loads is not None]),
        load_start=np.cumsum([0, *(0 if goal.loads is None else len(goal.loads.node) for goal in goals)], dtype=whole),
        gravity=table([goal.gravity for goal in goals], 3),
    )


def stacked_loads(tables: Sequence[Wrenches]) -> Wrenches:
    """The rows of all tables, one table after another."""
    empty = Wrenches(
        np.zeros(0, dtype=np.int64),
        np.zeros((0, 3)),
        np.zeros((0, 3)),
        np.zeros((0, 3)),
        np.zeros(0, dtype=np.int64),
        np.zeros((0, 2)),
    )
    return Wrenches(*(np.concatenate(columns) for columns in zip(empty, *tables, strict=True)))


def _place_of(masks: Sequence[FloatArray | None], i: int) -> int:
    """Which of the distinct masks goal `i` has."""
    if masks[i] is None:
        return -1
    return sum(mask is not None for mask in masks[:i])


def table(rows: Sequence[FloatArray], width: int) -> FloatArray:
    """Rows of `width` numbers, also when there are none."""
    return np.array(rows, dtype=np.float64).reshape(len(rows), width)
