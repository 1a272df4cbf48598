"""Stores the start posture of a solve as the target of the tasks that want it, such as `StayStill`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from poise.engine.goal_arrays import TaskRows
from poise.figure.model.pose import FloatArray
from poise.kernels.body.tree import forward
from poise.kernels.engine.engine import Engine


class StartTargets:
    """The goals of all tasks that want the start posture; their targets are the node frames there."""

    def __init__(self, engine: Engine, goals: Sequence[int]) -> None:
        """Refer to the goals with these indices."""
        self._engine = engine
        self._goals = np.array(goals, dtype=np.int64)
        self._nodes = engine.goals.node[self._goals]

    @classmethod
    def of(cls, engine: Engine, task_rows: Sequence[TaskRows]) -> StartTargets | None:
        """Select the goals of tasks that want the start posture; None if there are none."""
        steady = [t for t in task_rows if t.task.wants_start]
        goals = [g for t in steady for g in range(t.first_goal, t.first_goal + len(t.goals))]
        return cls(engine, goals) if goals else None

    def store(self, q: FloatArray) -> None:
        """Set the targets to the node frames at `q` (nq,), from which a solve starts."""
        current, goals = self._engine.current, self._engine.goals
        forward(self._engine.tree, q, current.position, current.rotation)
        goals.position[self._goals] = current.position[self._nodes]
        goals.rotation[self._goals] = current.rotation[self._nodes]
