"""A figure of a client: its posture, its tasks, and the solver that moves it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from poise.engine.natural.motion import is_person
from poise.engine.problem import StepSize
from poise.engine.result import Result
from poise.engine.solver import Solver
from poise.errors import TaskError
from poise.figure.model.figure import Figure
from poise.figure.model.names import look_up
from poise.figure.model.pose import Pose
from poise.figure.model.posture import Posture
from poise.formats.scene_toml.read import read_part
from poise.formats.text.naming import Names
from poise.formats.text.toml_tables import Source, Table
from poise.service.answers import Skeleton, numbers
from poise.tasks.criteria import Natural
from poise.tasks.task import Task

SECTIONS = {
    "tasks": "task",
    "criteria": "criterion",
    "obstacles": "obstacle",
    "forces": "force",
    "supports": "support",
}
"""Keys of a message about tasks, and the section of a scene file that each is like."""
POSE_KEYS = {"rotations", "locations"}
"""Keys of a posture in the form of a `pose`, which a table of values by joint does not have."""
SOLVE_AT_REST = 1e-7
"""Motion of a step below which a figure rests [rad or m]."""
MIN_GAIN = 1e-6
"""Least gain of a step, as in `poise.solve`."""


class Posed:
    """A figure with its posture, tasks and solver."""

    def __init__(self, figure: Figure) -> None:
        """Begin in the neutral posture, without tasks."""
        self.figure, self.skeleton = figure, Skeleton(figure)
        self.is_person = is_person(figure)
        """Whether it moves naturally unless a client wants something else."""
        self.posture = figure.neutral()
        self.tasks: dict[str, Task] = {}
        self._solver: Solver | None = None
        self._aims: dict[str, Any] = {}
        """The last target of each task."""

    def take_tasks(self, message: Table) -> list[str]:
        """Replace tasks, criteria and obstacles by those of a message; returns the names of the tasks."""
        parts = {
            section: [read_part(table, section, self.figure) for table in message.tables(key, section)]
            for key, section in SECTIONS.items()
        }
        solid = message.flag("solid", default=False)
        natural = message.flag("natural", default=self.is_person and "criteria" not in message)
        message.finish()
        if natural and not any(isinstance(each, Natural) for each in parts["criterion"]):
            parts["criterion"].append(Natural())
        names = Names()
        tasks = {names.take(task.label): task for task in parts["task"]}
        solver = Solver(
            self.figure,
            tasks.values(),
            step=StepSize(min_gain=MIN_GAIN),
            criteria=parts["criterion"],
            obstacles=parts["obstacle"],
            forces=[*parts["force"], *parts["support"]],
            solid=solid,
        )
        self.tasks, self._solver, self._aims = tasks, solver, {}
        return list(tasks)

    def aim(self, targets: Mapping[str, Any]) -> None:
        """Give tasks other targets, by name; either all are taken or none."""
        checked = [(name, self._task(name), self._target(name, value)) for name, value in targets.items()]
        for name, task, value in checked:
            # A target that is the same again would let the solver begin anew, and a figure under way might never rest.
            if isinstance(value, Posture) or not _is_same(self._aims.get(name), value):
                self.solver.target(task, value)
            self._aims[name] = value

    def _task(self, name: str) -> Task:
        return look_up(self.tasks, name, "task", f"figure {self.figure.name!r}")

    def _target(self, name: str, value: Any) -> Any:
        """A target: 3 numbers, 4 (a rotation), 7 (a place and a rotation), 1, or a posture."""
        if isinstance(value, Mapping) and value.keys() & POSE_KEYS:
            value = self.skeleton.posture(Source.table_of(value, f"the target of task {name!r}"), self.figure.neutral())
        if isinstance(value, str | Mapping | Posture):
            given = self.figure.posture(value)
            self._task(name).with_target(given)
            return given
        found = np.asarray(value if isinstance(value, list | np.ndarray | float | int) else None, dtype=object)
        checked = numbers(value, found.shape, f"the target of task {name!r}")
        target: Any = float(checked) if checked.ndim == 0 else checked
        if checked.shape == (7,):
            target = Pose(checked[:3], checked[3:])
        self._task(name).with_target(target)
        return target

    @property
    def solver(self) -> Solver:
        """The solver of the tasks."""
        if self._solver is None:
            raise TaskError(f"figure {self.figure.name!r} has no tasks yet: send them with do = 'tasks'.")
        return self._solver

    def step(self, most: int) -> int:
        """Take steps until the figure rests, at most so many; returns how many."""
        for count in range(most):
            found = self.solver.step(self.posture)
            moved = np.abs(self.figure.difference(self.posture, found)).max(initial=0.0)
            self.posture = found
            if moved < SOLVE_AT_REST:
                return count + 1
        return most

    def settle(self, tolerance: float) -> Result:
        """Take steps until the figure rests; returns the result with its verdicts."""
        result = self.solver.settle(self.posture, tolerance=tolerance)
        self.posture = result.posture
        return result


def _is_same(before: Any, now: Any) -> bool:
    """Whether a target is the same as before."""
    if isinstance(before, Pose) and isinstance(now, Pose):
        return np.array_equal(before.position, now.position) and np.array_equal(before.rotation, now.rotation)
    return before is not None and type(before) is type(now) and np.array_equal(before, now)


def verdicts(result: Result) -> Sequence[dict[str, Any]]:
    """What became of each task."""
    return [{"task": each.task.label, "met": each.met, "error": each.error} for each in result.verdicts]
