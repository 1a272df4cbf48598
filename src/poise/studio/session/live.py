"""The solver of a scene while people pull at its figure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from poise.engine.scene import Scene
from poise.engine.solver import Solver
from poise.figure.model.posture import Posture
from poise.studio.session.outcome import Outcome, outcome_of
from poise.studio.session.pull import Pull
from poise.studio.session.targets import wanted_value
from poise.tasks.task import Task

CLOSE = 1e-3
"""Error below which a task counts as met on the page [m or rad]: less cannot be seen."""
REST = 1e-6
"""A figure whose freedoms all move less than this in a step rests [m or rad]."""


class Live:
    """Steps a posture towards what a scene and some pulls ask, and says how the tasks fare.

    Two solvers know the same tasks: judging a posture would disturb what the moving one remembers.
    """

    def __init__(self, scene: Scene, pulls: Sequence[Pull] = ()) -> None:
        """Compile the tasks."""
        self.scene = scene
        self.pulled = {pull.owner: pull.task for pull in pulls}
        self.tasks: list[Task] = list(scene.tasks)
        self._mover = self._solver()
        self._judge: Solver | None = None

    def _solver(self) -> Solver:
        scene = self.scene
        asked = [*self.tasks, *self.pulled.values()]
        return Solver(scene.figure, asked, obstacles=scene.obstacles, forces=scene.forces, criteria=scene.criteria)

    def aim(self, pulls: Sequence[Pull]) -> None:
        """Move the targets of pulls."""
        for pull in pulls:
            self._target(self.pulled[pull.owner], pull.at)

    def retarget(self, number: int, task: Task) -> None:
        """Let a task of the scene want what `task`, which differs in its target only, wants."""
        if task.active:
            self._target(self.tasks[number], wanted_value(task))

    def _target(self, task: Task, value: object) -> None:
        for solver in (self._mover, self._judge):
            if solver is not None:
                solver.target(task, value)  # type: ignore[arg-type]

    def step(self, posture: Posture) -> tuple[Posture, bool]:
        """The posture one step on, and whether it rests there."""
        after = self._mover.step(posture)
        moved = np.abs(posture.figure.difference(posture, after)).max(initial=0.0)
        return after, bool(moved < REST)

    def judged(self, posture: Posture, scene: Scene, pulls: Sequence[Pull]) -> Outcome:
        """How the tasks fare in a posture; `scene` has the targets as they are now."""
        if self._judge is None:
            self._judge = self._solver()
            self.aim(pulls)
            for number, task in enumerate(scene.tasks):
                if task is not self.tasks[number]:
                    self.retarget(number, task)
        result = self._judge.settle(posture, max_steps=0, tolerance=CLOSE)
        now = dict(zip(self.tasks, scene.tasks, strict=True))
        found = outcome_of(result.verdicts)
        verdicts = {now.get(task, task): verdict for task, verdict in found.verdicts.items()}
        return Outcome(found.light, found.sentence, verdicts)
