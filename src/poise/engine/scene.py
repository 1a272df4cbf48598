"""A scene: a figure with its tasks, the forces on it, criteria and obstacles."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from poise.arguments import all_of
from poise.engine.animation import Animation, Key
from poise.errors import FigureError, TaskError
from poise.figure.model.figure import Figure, PostureLike
from poise.figure.model.pose import vector
from poise.figures import BUILT_IN
from poise.tasks.criteria import TASK_HINTS, Criterion, Natural, default_criteria
from poise.tasks.equilibrium import Equilibrium
from poise.tasks.task import Task, recruited

if TYPE_CHECKING:
    from poise.engine.result import Result


_CHECKED_ANIMATIONS: WeakKeyDictionary[Animation, Figure] = WeakKeyDictionary()
"""Figures that have been found to fit an animation: a scene is made anew for every change, its keys stay the same."""


@dataclass(frozen=True)
class Origin:
    """The source of a scene's figure."""

    figure: str
    """The name of a built-in figure or of a robot, or a file."""
    closures: str | None = None
    """The file with the loops of a URDF."""
    floating: bool = False
    """Whether a free joint was added between the world and its root."""

    def load(self) -> Figure:
        """Load the figure."""
        from poise.formats import load

        figure = load(self.figure, closures=self.closures)
        return figure.with_floating_base() if self.floating else figure

    @property
    def is_file(self) -> bool:
        """Whether the figure is in a file; a name has no ending and names no folder."""
        return self.figure not in BUILT_IN and (bool(Path(self.figure).suffix) or len(Path(self.figure).parts) > 1)

    def absolute(self) -> Origin:
        """The same source with absolute paths, which do not depend on the current folder."""
        closures = None if self.closures is None else str(Path(self.closures).resolve())
        return Origin(str(Path(self.figure).resolve()) if self.is_file else self.figure, closures, self.floating)


class Scene:
    """All arguments of `poise.solve` in one object, which can be saved to a file that people can edit."""

    def __init__(
        self,
        figure: Figure | str | Path,
        tasks: Iterable[Task] = (),
        *,
        start: PostureLike | None = None,
        forces: Iterable[Any] = (),
        criteria: Iterable[Any] | None = None,
        obstacles: Iterable[Any] = (),
        solid: bool = False,
        animation: Animation | None = None,
        description: str = "",
        origin: Origin | None = None,
    ) -> None:
        """Make a scene; raises `TaskError` or `FigureError` if the figure cannot have these tasks, forces or criteria.

        Args:
            figure: The figure to pose, or its name or file as for `poise.load`.
            tasks: The tasks, each with its priority.
            start: Start posture; the neutral posture if not given.
            forces: Forces, supports and gravity that act on the figure.
            criteria: Objective functions to minimise in the freedom that the tasks leave. By default people move as
                people do (`Natural`), and other figures have none.
            obstacles: Obstacles that the figure keeps clear of.
            solid: Whether the figure is solid: its bodies touch each other, the floor and the obstacles, but do not
                pass through them.
            animation: Keys at times, of which `poise.animate` makes a motion.
            description: A sentence that describes the scene.
            origin: The source of a `figure` that is already loaded; None if it has none.
        """
        source = origin if isinstance(figure, Figure) else Origin(str(figure))
        self.figure = figure if isinstance(figure, Figure) else Origin(str(figure)).load()
        self.origin = source.absolute() if source is not None else None
        """The source of the figure, if it is known."""
        self.tasks = all_of(tasks, Task, "task", hints=TASK_HINTS)
        self.start = start
        self.forces = tuple(forces)
        self.obstacles = tuple(obstacles)
        self.solid = solid
        self.animation = animation if animation is not None and not animation.is_empty else None
        self.description = description
        given = default_criteria(self.figure, self.tasks) if criteria is None else tuple(criteria)
        off = [each for each in given if isinstance(each, Natural) and each.weight == 0.0]
        self.criteria = tuple(each for each in given if each not in off) if off else tuple(given)
        for criterion in self.criteria:
            if not isinstance(criterion, Criterion):
                raise TaskError(f"the criteria of a scene must be criteria such as Comfort, not {criterion!r}.")
        for part in (*self.tasks, *self.forces, *self.criteria):
            check_part(self.figure, part, self.forces)
        if start is not None:
            self.figure.posture(start)
        if self.animation is not None and _CHECKED_ANIMATIONS.get(self.animation) is not self.figure:
            for key in self.animation.keys:
                check_key(self.figure, key, self.forces)
            _CHECKED_ANIMATIONS[self.animation] = self.figure

    @classmethod
    def load(cls, path: str | Path) -> Scene:
        """Read a scene from a TOML file; see docs/formats.md.

        Raises:
            FormatError: The file cannot be read; the message has file and line.
        """
        from poise.formats.scene_toml import read_scene

        return read_scene(path)

    def save(self, path: str | Path) -> None:
        """Write a TOML file that `Scene.load` reads back to an equal scene."""
        from poise.formats.scene_toml import write_scene

        write_scene(self, path)

    def solve(self, **options: Any) -> Result:
        """Find the best legal posture; options are those of `poise.solve`, and replace the scene's own values.

        A scene says by its own tasks what stands, so that nothing is added to them.
        """
        from poise.engine.solver import solve

        parts = {name: getattr(self, name) for name in ("start", "forces", "criteria", "obstacles", "solid")}
        given = {name: part for name, part in parts.items() if part is not None}
        return solve(self.figure, self.tasks, **({"stand": False} | given | options))

    def __eq__(self, other: object) -> bool:
        """Whether figures, tasks, start, forces, criteria, obstacles, animation and the rest are equal."""
        if not isinstance(other, Scene):
            return NotImplemented
        return self.figure == other.figure and self._comparable() == other._comparable()

    def __hash__(self) -> int:
        """Hash of the figure and of the numbers of tasks and obstacles."""
        return hash((self.figure, len(self.tasks), len(self.obstacles)))

    def __repr__(self) -> str:
        """Name of the figure and number of tasks."""
        return f"Scene({self.figure.name!r}, {len(self.tasks)} tasks)"

    def _comparable(self) -> tuple[Any, ...]:
        """All but the figure, in a form that can be compared; the order of forces does not matter, as they add up."""
        start = None if self.start is None else comparable(self.start, self.figure, posture=True)
        parts = (self.tasks, sorted(self.forces, key=lambda load: type(load).__name__), self.criteria, self.obstacles)
        animation = comparable(self.animation, self.figure)
        return (
            start,
            self.description,
            self.solid,
            animation,
            *(comparable(list(part), self.figure) for part in parts),
        )


def check_part(figure: Figure, part: object, forces: Iterable[Any] | None = None) -> None:
    """Raise `TaskError` or `FigureError` if a figure cannot have this task, criterion or force.

    An `Equilibrium` task is checked only if its forces are known.
    """
    if isinstance(part, Equilibrium):
        if forces is not None or part.forces is not None:
            part.goals(figure, forces or ())
    elif isinstance(part, Criterion):
        part.term(figure, forces or ())
    elif isinstance(part, Task):
        part.goals(figure)
    if isinstance(part, Task):
        recruited(figure, part)
    elif isinstance(site := getattr(part, "site", None), str):
        figure.frame_row(site)


def check_key(figure: Figure, key: Key, forces: Iterable[Any] | None = None) -> None:
    """Raise `TaskError` or `FigureError` if a figure cannot have the posture or the tasks of a key."""
    if key.posture is not None:
        figure.posture(key.posture)
    for task in key.tasks:
        check_part(figure, task, forces)


def comparable(value: Any, figure: Figure | None = None, *, posture: bool = False) -> Any:
    """Convert a value to tuples of numbers and strings, so that two spellings of the same value are equal.

    Args:
        value: A number, string, array, dataclass or sequence of such.
        figure: The figure that postures belong to.
        posture: Whether the value is a posture: one without a name is compared by all its coordinates.
    """
    if posture and figure is not None and value is not None and not isinstance(value, str):
        return figure.posture(joint_values(value, figure)).q.tobytes()
    if isinstance(value, str):
        return _axis_or_text(value)
    if is_dataclass(value) and not isinstance(value, type):
        own = {field.name: getattr(value, field.name) for field in fields(value)}
        return type(value), *((name, comparable(part, figure, posture=name == "posture")) for name, part in own.items())
    if isinstance(value, np.ndarray | list | tuple):
        return tuple(comparable(item, figure) for item in value)
    if isinstance(value, float | np.floating):
        # Adding zero turns -0.0 into 0.0, which means the same.
        return math.nan if math.isnan(value) else float(value) + 0.0
    return value


def _axis_or_text(text: str) -> Any:
    """The vector of an axis given as a word such as "-x"; any other text as it is."""
    try:
        return tuple(vector(text).tolist())
    except FigureError:
        return text


def joint_values(posture: Any, figure: Figure) -> dict[str, tuple[float, ...]]:
    """Values by joint: those given in a mapping, or all joints of a whole posture."""
    given: Any = posture if isinstance(posture, Mapping) else figure.posture(posture).as_dict()
    return {joint: tuple(np.ravel(np.asarray(value, dtype=np.float64)).tolist()) for joint, value in given.items()}
