"""Stores the start posture of a solve as the target of the regulariser tasks `Still` and `Slow`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from poise.engine.goal_arrays import TaskRows
from poise.figure.model.pose import FloatArray
from poise.kernels.body.tree import forward
from poise.kernels.engine.engine import Engine
from poise.tasks.steady import Slow, Still


class StartTargets:
    """The goals of all `Still` and `Slow` tasks, whose targets are the node frames at the start of a solve."""

    def __init__(self, engine: Engine, goals: Sequence[int]) -> None:
        """Refer to the goals with these indices."""
        self._engine = engine
        self._goals = np.array(goals, dtype=np.int64)
        self._nodes = engine.goals.node[self._goals]

    @classmethod
    def of(cls, engine: Engine, task_rows: Sequence[TaskRows]) -> StartTargets | None:
        """Select the goals of `Still` and `Slow` tasks; None if there are none."""
        steady = [t for t in task_rows if isinstance(t.task, Still | Slow)]
        goals = [g for t in steady for g in range(t.first_goal, t.first_goal + len(t.goals))]
        return cls(engine, goals) if goals else None

    def store(self, q: FloatArray) -> None:
        """Set the targets to the node frames at `q` (nq,), from which a solve starts."""
        current, goals = self._engine.current, self._engine.goals
        forward(self._engine.tree, q, current.position, current.rotation)
        goals.position[self._goals] = current.position[self._nodes]
        goals.rotation[self._goals] = current.rotation[self._nodes]
