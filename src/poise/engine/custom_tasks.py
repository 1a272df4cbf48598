"""Tasks whose errors and Jacobians are computed in Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from poise.engine.goal_arrays import TaskRows
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.kernels.goals.goals import Goals
from poise.tasks.custom import ComputedTask


class CustomTasks(NamedTuple):
    """All `ComputedTask`s of a problem, and their rows."""

    figure: Figure
    tasks: tuple[tuple[ComputedTask, slice], ...]

    @classmethod
    def of(cls, figure: Figure, task_rows: Sequence[TaskRows]) -> CustomTasks:
        """Select them among all tasks."""
        return cls(figure, tuple((t.task, t.rows) for t in task_rows if isinstance(t.task, ComputedTask)))

    def write_rows(self, q: FloatArray, goals: Goals) -> None:
        """Write errors and Jacobian rows at the posture `q` (nq,); rows are minus the derivative of the error."""
        posture = Posture(self.figure, q.copy())
        goals.custom_at[:] = q
        for task, rows in self.tasks:
            goals.custom_error[rows] = task.error_at(posture)
            goals.custom_rows[rows] = -task.jacobian_at(posture)

    def got_worse(self, q: FloatArray, goals: Goals, predicted: FloatArray, moved: float) -> bool:
        """Whether a step to `q` raised the error of some task by more than terms of second order.

        Args:
            q: (nq,) posture after the step.
            goals: Goals, with the errors and rows from before the step.
            predicted: (m,) errors of all goals after the step, extrapolated linearly.
            moved: Size of the step [rad or m].
        """
        posture = Posture(self.figure, q.copy())
        for task, rows in self.tasks:
            expected = max(np.linalg.norm(goals.custom_error[rows]), np.linalg.norm(predicted[rows]))
            if np.linalg.norm(task.error_at(posture)) > expected + moved * moved + 1e-9:
                return True
        return False
