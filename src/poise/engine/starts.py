"""Tells the tasks that tie a figure to where it was, where it was."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from poise.engine.goal_arrays import Asked
from poise.figure.model.pose import FloatArray
from poise.kernels.body.tree import forward
from poise.kernels.engine.engine import Engine
from poise.tasks.steady import Slow, Still


class Starts:
    """The goals of `Still` and `Slow` tasks."""

    def __init__(self, engine: Engine, goals: Sequence[int]) -> None:
        """Take the numbers of these goals."""
        self._engine = engine
        self._goals = np.array(goals, dtype=np.int64)
        self._nodes = engine.goals.node[self._goals]

    @classmethod
    def of(cls, engine: Engine, asked: Sequence[Asked]) -> Starts | None:
        """Those of all tasks; None if there are none."""
        found = [range(a.first_goal, a.first_goal + len(a.goals)) for a in asked if isinstance(a.task, Still | Slow)]
        goals = [g for part in found for g in part]
        return cls(engine, goals) if goals else None

    def begin(self, q: FloatArray) -> None:
        """A solve starts from `q` (nq,)."""
        here, goals = self._engine.current, self._engine.goals
        forward(self._engine.tree, q, here.position, here.rotation)
        goals.position[self._goals] = here.position[self._nodes]
        goals.rotation[self._goals] = here.rotation[self._nodes]
