"""An engine that is ready to step, and can be given other goals of the same sizes and begin anew."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from poise.engine.engine_arrays import (
    CriteriaCopy,
    CriteriaTerms,
    TaskRows,
    make_engine,
    make_levels,
    make_state,
    number_rows,
    write_goals,
)
from poise.engine.figure_arrays import figure_arrays
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.kernels.engine.engine import Engine
from poise.kernels.engine.step import bound, forget_all
from poise.kernels.goals.goals import make_evaluation
from poise.tasks.task import Goal

if TYPE_CHECKING:
    from poise.engine.problem import StepSize

FILLED_FIRST = {"curvature", "position", "rotation", "axes", "centers", "error", "mass_centers", "tensors", "hull"}
"""Arrays that are always filled before they are read."""


class BoundEngine:
    """An engine for a figure and its tasks, with the handle on it that kernels take."""

    def __init__(
        self,
        figure: Figure,
        task_rows: Sequence[TaskRows],
        criteria: CriteriaTerms | CriteriaCopy,
        *,
        step: StepSize,
        dt: float | None,
        contacts: int,
        free: FloatArray | None = None,
    ) -> None:
        """Make it; numbers the rows of every task.

        Args:
            figure: The figure.
            task_rows: Tasks by level, the first level first.
            criteria: Objective functions to minimise in the freedom that the tasks leave.
            step: Largest size and least gain of one step.
            dt: Duration of a step [s], to keep the speed limits; None to ignore them.
            contacts: Largest number of contacts in one step.
            free: (nv,) 1 for the velocities that may change, else 0; None for all.
        """
        masks = number_rows(task_rows, figure, free)
        self._figure, self._task_rows, self._contacts = figure, task_rows, contacts
        self.engine: Engine = make_engine(
            figure, task_rows, masks, criteria.arrays(), step, dt=dt, contacts=contacts, free=free
        )
        self.handle, self.step_from = bound(self.engine, figure_arrays(figure).types)
        """The handle on it, and the kernel `step_from`."""

    @property
    def can_be_renewed(self) -> bool:
        """Whether `set_goals` and `begin_anew` make it equal to a new one: without contacts and loads."""
        return self._contacts == 0 and self.engine.goals.loads.node.shape[0] == 0

    def set_goals(self, rows: TaskRows, goals: list[Goal]) -> bool:
        """Write other goals of a task, if they have the sizes of those before; returns whether they have."""
        before, rows.goals = rows.goals, goals
        if [_sizes(goal) for goal in goals] != [_sizes(goal) for goal in before]:
            return False
        write_goals(self._figure, rows, self.engine.goals)
        return True

    def begin_anew(self) -> None:
        """Let it begin as before its first step; goals and criteria stay as they are."""
        for array, value in self._before_steps:
            np.copyto(array, value)
        forget_all(self.handle)

    @cached_property
    def _before_steps(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Arrays that steps change and that a later step may read, each with its values before the first step."""
        engine, figure = self.engine, self._figure
        p, m = engine.levels.start.shape[0] - 1, engine.levels.rows.shape[0]
        levels = make_levels(figure, self._task_rows, engine.goals, p, skip=engine.skip, contacts=self._contacts)
        evaluation = make_evaluation(figure.compiled.tree, engine.goals)
        parts = (
            (engine.state, make_state(figure, p, m)),
            (engine.levels, levels),
            (engine.current, evaluation),
            (engine.trial, evaluation),
        )
        return [
            (getattr(part, name), value)
            for part, first in parts
            for name, value in first._asdict().items()
            if value.size and name not in FILLED_FIRST
        ]


def _sizes(goal: Goal) -> tuple[int, int, bool, bool]:
    """Everything on which the sizes of an engine's arrays depend."""
    return goal.rows, len(goal.corners), goal.posture is None, goal.loads is None
