"""Tasks that only Python can measure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from poise.engine.goal_arrays import Asked
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.kernels.goals.goals import Goals
from poise.tasks.custom import Custom


class Given(NamedTuple):
    """All `Custom` tasks of a problem, and where their rows are."""

    figure: Figure
    tasks: tuple[tuple[Custom, slice], ...]

    @classmethod
    def of(cls, figure: Figure, asked: Sequence[Asked]) -> Given:
        """The custom ones of some tasks."""
        return cls(figure, tuple((a.task, a.rows) for a in asked if isinstance(a.task, Custom)))

    def hand_over(self, q: FloatArray, goals: Goals) -> None:
        """Write errors and rows at the posture `q` (nq,); rows are how the joints take the error away."""
        posture = Posture(self.figure, q.copy())
        goals.given_at[:] = q
        for task, rows in self.tasks:
            goals.given_error[rows] = task.error_at(posture)
            goals.given_rows[rows] = -task.jacobian_at(posture)

    def got_worse(self, q: FloatArray, goals: Goals, predicted: FloatArray, moved: float) -> bool:
        """Whether a step to `q` cost some task more than the order that its rows leave out.

        Args:
            q: (nq,) where the step led.
            goals: With errors and rows from before the step.
            predicted: (m,) errors of all goals after the step, as the rows say.
            moved: Size of the step [rad or m].
        """
        posture = Posture(self.figure, q.copy())
        for task, rows in self.tasks:
            hoped = max(np.linalg.norm(goals.given_error[rows]), np.linalg.norm(predicted[rows]))
            if np.linalg.norm(task.error_at(posture)) > hoped + moved * moved + 1e-9:
                return True
        return False
