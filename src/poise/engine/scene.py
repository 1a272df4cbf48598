"""A scene: a figure, what is asked of it, what acts on it and what stands in its way."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from poise.errors import FigureError, TaskError
from poise.figure.model.figure import Figure, PostureLike
from poise.figure.model.pose import vector
from poise.figures import BUILT_IN
from poise.tasks.criteria import Criterion
from poise.tasks.equilibrium import Equilibrium
from poise.tasks.recruits import recruited
from poise.tasks.task import Task

if TYPE_CHECKING:
    from poise.engine.result import Result


@dataclass(frozen=True)
class Origin:
    """Where a scene's figure comes from."""

    figure: str
    """A built-in name, or a file."""
    closures: str | None = None
    """The file with the loops of a URDF."""
    floating: bool = False
    """Whether a free joint was put between the world and its root."""

    def load(self) -> Figure:
        """The figure."""
        from poise.formats import load

        figure = load(self.figure, closures=self.closures)
        return figure.with_floating_base() if self.floating else figure

    def settled(self) -> Origin:
        """The same, whatever the current folder may become."""
        closures = None if self.closures is None else str(Path(self.closures).resolve())
        return Origin(
            self.figure if self.figure in BUILT_IN else str(Path(self.figure).resolve()), closures, self.floating
        )


class Scene:
    """What `poise.solve` takes, kept together, and in a file that people can edit."""

    def __init__(
        self,
        figure: Figure | str | Path,
        tasks: Iterable[Task] = (),
        *,
        start: PostureLike | None = None,
        forces: Iterable[Any] = (),
        criteria: Iterable[Any] = (),
        obstacles: Iterable[Any] = (),
        description: str = "",
        origin: Origin | None = None,
    ) -> None:
        """Check that the figure can be asked all this.

        Args:
            figure: Who is posed: a figure, or what `poise.load` takes.
            tasks: What is asked, each at its priority.
            start: Where to start from; the neutral posture if not said.
            forces: What acts on it: forces, supports and gravity.
            criteria: What to do with the freedom that tasks leave.
            obstacles: What stands in its way.
            description: A sentence for people.
            origin: Where the figure comes from; by default `figure` itself says so, or it is built in.
        """
        source = origin if isinstance(figure, Figure) else Origin(str(figure))
        self.figure = figure if isinstance(figure, Figure) else Origin(str(figure)).load()
        self.origin = source.settled() if source is not None else None
        """Where the figure comes from, if the scene knows."""
        self.tasks = tuple(tasks)
        self.start = start
        self.forces = tuple(forces)
        self.criteria = tuple(criteria)
        self.obstacles = tuple(obstacles)
        self.description = description
        for task in self.tasks:
            if not isinstance(task, Task):
                raise TaskError(f"a scene's tasks are tasks such as Position, not {task!r}.")
        for criterion in self.criteria:
            if not isinstance(criterion, Criterion):
                raise TaskError(f"a scene's criteria are criteria such as Comfort, not {criterion!r}.")
        for part in (*self.tasks, *self.forces, *self.criteria):
            check_part(self.figure, part, self.forces)
        if start is not None:
            self.figure.posture(start)

    @classmethod
    def load(cls, path: str | Path) -> Scene:
        """The scene in a TOML file; see docs/formats.md.

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
        """The best legal posture; options are those of `poise.solve`, and go before what the scene has."""
        from poise.engine.solver import solve

        parts = {name: getattr(self, name) for name in ("start", "forces", "criteria", "obstacles")}
        given = {name: part for name, part in parts.items() if part is not None and part != ()}
        return solve(self.figure, self.tasks, **(given | options))

    def __eq__(self, other: object) -> bool:
        """Equal figures, and the same asked of them."""
        if not isinstance(other, Scene):
            return NotImplemented
        return self.figure == other.figure and self._plain() == other._plain()

    def __hash__(self) -> int:
        """Hash of the figure and the counts."""
        return hash((self.figure, len(self.tasks), len(self.obstacles)))

    def __repr__(self) -> str:
        """Figure and counts."""
        return f"Scene({self.figure.name!r}, {len(self.tasks)} tasks)"

    def _plain(self) -> tuple[Any, ...]:
        """Everything but the figure; forces in whatever order, for they add up."""
        start = None if self.start is None else plain(self.start, self.figure, posture=True)
        parts = (self.tasks, sorted(self.forces, key=lambda load: type(load).__name__), self.criteria, self.obstacles)
        return (start, self.description, *(plain(list(part), self.figure) for part in parts))


def check_part(figure: Figure, part: object, forces: Iterable[Any] | None = None) -> None:
    """Raise `TaskError` or `FigureError` when a figure cannot be asked this, or has no such part.

    A task about forces is checked where they are known.
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


def plain(value: Any, figure: Figure | None = None, *, posture: bool = False) -> Any:
    """A value in tuples of numbers and words, so that two ways to say the same are equal.

    Args:
        value: A number, word, array, dataclass or sequence of such.
        figure: Whose postures are meant.
        posture: Whether the value is a posture: those not named are compared by all their numbers.
    """
    if posture and figure is not None and not isinstance(value, str):
        return figure.posture(joint_values(value, figure)).q.tobytes()
    if isinstance(value, str):
        return _word(value)
    if is_dataclass(value) and not isinstance(value, type):
        own = {field.name: getattr(value, field.name) for field in fields(value)}
        return type(value), *((name, plain(part, figure, posture=name == "posture")) for name, part in own.items())
    if isinstance(value, np.ndarray | list | tuple):
        return tuple(plain(item, figure) for item in value)
    if isinstance(value, float | np.floating):
        # Adding zero makes -0.0 and 0.0, which mean the same, the same.
        return math.nan if math.isnan(value) else float(value) + 0.0
    return value


def _word(text: str) -> Any:
    """Words for axes as their numbers."""
    try:
        return tuple(vector(text).tolist())
    except FigureError:
        return text


def joint_values(posture: Any, figure: Figure) -> dict[str, tuple[float, ...]]:
    """A posture's values by joint: those given, or all of a whole posture."""
    given: Any = posture if isinstance(posture, Mapping) else figure.posture(posture).as_dict()
    return {joint: tuple(np.ravel(np.asarray(value, dtype=np.float64)).tolist()) for joint, value in given.items()}
