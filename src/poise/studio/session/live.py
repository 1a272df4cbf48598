"""The solver of a scene while its figure is dragged."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from poise.engine.scene import Scene
from poise.engine.solver import Solver
from poise.figure.model.posture import Posture
from poise.studio.session.outcome import Outcome, outcome_of
from poise.studio.session.pull import Pull
from poise.tasks.task import Task

SHOWN_AS_MET_ERROR = 1e-3
"""Error below which the page shows a task as met; smaller errors cannot be seen [m or rad]."""
RESTING_STEP = 1e-6
"""Largest change of a joint in one step at which the figure counts as resting [m or rad]."""


class Live:
    """Steps a posture towards the tasks of a scene and of pulls, and evaluates the tasks."""

    def __init__(self, scene: Scene, pulls: Sequence[Pull] = ()) -> None:
        """Compile the tasks of the scene and of the pulls."""
        self.scene = scene
        self.pull_tasks = {pull.owner: pull.task for pull in pulls}
        self.tasks: list[Task] = list(scene.tasks)
        tasks = [*self.tasks, *self.pull_tasks.values()]
        self._solver = Solver(
            scene.figure, tasks, obstacles=scene.obstacles, forces=scene.forces, criteria=scene.criteria
        )

    def aim(self, pulls: Sequence[Pull]) -> None:
        """Set the targets of pulls."""
        for pull in pulls:
            self._solver.target(self.pull_tasks[pull.owner], pull.at)

    def retarget(self, number: int, task: Task) -> None:
        """Give task `number` of the scene the target of `task`, which may differ from it only in the target."""
        if task.active:
            self._solver.target(self.tasks[number], task)

    def step(self, posture: Posture) -> tuple[Posture, bool]:
        """The posture after one solver step, and whether the figure rests."""
        after = self._solver.step(posture)
        moved = np.abs(posture.figure.difference(posture, after)).max(initial=0.0)
        return after, bool(moved < RESTING_STEP)

    def judged(self, posture: Posture, scene: Scene) -> Outcome:
        """Evaluate the tasks in a posture; `scene` has the present targets."""
        result = self._solver.judge(posture, tolerance=SHOWN_AS_MET_ERROR)
        now = dict(zip(self.tasks, scene.tasks, strict=True))
        found = outcome_of(result.verdicts)
        verdicts = {now.get(task, task): verdict for task, verdict in found.verdicts.items()}
        return Outcome(found.light, found.sentence, verdicts)
