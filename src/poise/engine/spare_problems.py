"""Problems that are no longer used, kept for later problems of the same figure with tasks of the same kinds.

To compile tasks takes longer than some steps: the hundred arrays of an engine, the handle on them, the supports, the
joints that move first. Most of that depends on the figure and on the *structure* of the tasks, which is all but their
targets and names. So the only user of a problem may give it back, and a later problem of the same structure takes it
over: the targets of its tasks are written to the arrays, and state, levels and evaluations are those before a first
step. What is left in other workspaces does not matter: steps that have been told to forget earlier ones (`forget_all`)
do not depend on it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from poise.engine.problem import Problem, StepSize
from poise.figure.model.compiled import Compiled
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.forces.loads import Load
from poise.tasks.avoid import Avoid
from poise.tasks.criteria import Criterion
from poise.tasks.custom import ComputedTask
from poise.tasks.equilibrium import Equilibrium
from poise.tasks.posture import Hold
from poise.tasks.task import Task

MOST_SPARE = 2
"""Number of problems of the same structure that are kept: threads may solve at the same time."""
MOST_STRUCTURES = 24
"""Number of structures whose problems are kept for one figure: a problem of the human has 0.4 MB."""
_spare: WeakKeyDictionary[Compiled, dict[Hashable, list[Problem]]] = WeakKeyDictionary()


def problem_of(
    figure: Figure,
    tasks: Iterable[Task],
    *,
    step: StepSize | None,
    dt: float | None,
    forces: Sequence[Load],
    criteria: Sequence[Criterion],
    free: FloatArray | None,
    like: Problem | None = None,
) -> Problem:
    """A problem, spare or new; see `Problem` for the arguments."""
    active = [task for task in tasks if task.active]
    structure = None if forces or free is not None else _structure(active, criteria, (step, dt, like is None))
    spare = None if structure is None else _take(figure, structure)
    if spare is not None and spare.renew(active, criteria, like):
        return spare
    made = Problem(figure, active, step=step, dt=dt, forces=forces, criteria=criteria, free=free, like=like)
    made.structure = structure
    return made


def give_back(problem: Problem) -> None:
    """Keep a problem that nobody uses any more."""
    if problem.structure is None or not problem.can_be_renewed:
        return
    kept = _spare.setdefault(problem.figure.compiled, {})
    same = kept.pop(problem.structure, [])
    if len(same) < MOST_SPARE:
        same.append(problem)
    kept[problem.structure] = same  # The one used last comes last.
    if len(kept) > MOST_STRUCTURES:
        kept.pop(next(iter(kept)), None)


def _take(figure: Figure, structure: Hashable) -> Problem | None:
    """A spare problem of this structure; None if there is none."""
    spare = _spare.get(figure.compiled, {}).get(structure)
    try:
        return spare.pop() if spare else None
    except IndexError:  # Another thread was faster.
        return None


def _structure(tasks: Sequence[Task], criteria: Sequence[Criterion], others: Hashable) -> Hashable:
    """All but the targets and names of tasks, and the values of criteria; None if it cannot be compared."""
    if any(not type(task).__module__.startswith("poise.") for task in tasks):
        return None  # The goals of a user's kind may depend on more than its fields.
    if any(isinstance(task, Avoid | ComputedTask | Equilibrium) for task in tasks) or len(set(tasks)) < len(tasks):
        return None
    try:
        return tuple(map(_structure_of, tasks)), tuple(map(type, criteria)), others
    except TypeError:
        return None


def _structure_of(task: Task) -> Hashable:
    """The type of a task, which of its target fields are given, and its other fields but for its name."""
    kind: Any = type(task)
    fields = vars(task)
    own = tuple(map(fields.__getitem__, _own_fields(kind, tuple(fields))))
    try:
        hash(own)
    except TypeError:
        own = tuple(map(_comparable, own))
        hash(own)
    return kind, tuple([fields[name] is None for name in _targets(kind)]), own


def _targets(kind: type[Task]) -> tuple[str, ...]:
    """The fields that say what a task wants."""
    return ("posture",) if issubclass(kind, Hold) else kind.target_fields


@cache
def _own_fields(kind: Any, fields: tuple[str, ...]) -> tuple[str, ...]:
    """The fields of a task but for its name and those that say what it wants."""
    return tuple(name for name in fields if name != "name" and name not in _targets(kind))


def _comparable(value: Any) -> Any:
    """A value that is equal for equal values; sequences and arrays as tuples."""
    if isinstance(value, np.ndarray):
        return value.shape, value.tobytes()
    if isinstance(value, list | tuple):
        return tuple(map(_comparable, value))
    return value
