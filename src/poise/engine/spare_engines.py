"""Engines that are no longer used, kept for later problems of the same figure.

To allocate the hundred arrays of an engine and to make a handle on them takes longer than some steps. So the only user
of a problem may give its engine back, and a problem whose arrays have the same sizes takes it over: its goals and
criteria are written to the arrays, and state, levels and evaluations are those before a first step. What is left in
other workspaces does not matter: steps that have been told to forget earlier ones (`forget_all`) do not depend on it.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from poise.engine.engine_arrays import (
    CriteriaCopy,
    CriteriaTerms,
    TaskRows,
    fill_goals,
    level_count,
    level_kinds,
    level_starts,
    make_engine,
    make_levels,
    make_state,
    number_rows,
)
from poise.engine.figure_arrays import figure_arrays
from poise.figure.model.compiled import Compiled
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.kernels.engine.engine import Engine, State
from poise.kernels.engine.step import StepFrom, bound, forget_all
from poise.kernels.goals.goals import Evaluation, make_evaluation
from poise.kernels.levels.workspace import Levels

if TYPE_CHECKING:
    from poise.engine.problem import StepSize

MOST_SPARE = 2
"""Number of engines of the same sizes that are kept: a solve uses two, and threads may solve at the same time."""
MOST_SIZES = 8
"""Number of different sizes of engines that are kept for one figure: an engine of the human has 0.4 MB."""
_spare: WeakKeyDictionary[Compiled, dict[Hashable, list[BoundEngine]]] = WeakKeyDictionary()


class BeforeSteps(NamedTuple):
    """Arrays of an engine before its first step; the rows of levels begin where those of another one began."""

    state: State
    levels: Levels
    evaluation: Evaluation


class BoundEngine(NamedTuple):
    """An engine that is ready to step."""

    engine: Engine
    handle: Engine
    """The handle on it that kernels take."""
    step_from: StepFrom
    """The kernel `step_from`."""
    sizes: Hashable
    """Everything on which the sizes of its arrays depend; None if it cannot be used again."""
    first: BeforeSteps | None = None
    """What it is like before the first step, if it is a spare one."""


def bound_engine(
    figure: Figure,
    task_rows: Sequence[TaskRows],
    criteria: CriteriaTerms | CriteriaCopy,
    *,
    step: StepSize,
    dt: float | None,
    contacts: int,
    free: FloatArray | None = None,
) -> BoundEngine:
    """An engine for a figure and its tasks, spare or new; numbers the rows of every task.

    Args:
        figure: The figure.
        task_rows: Tasks by level, the first level first.
        criteria: Objective functions to minimise in the freedom that the tasks leave.
        step: Largest size and least gain of one step.
        dt: Duration of a step [s], to keep the speed limits; None to ignore them.
        contacts: Largest number of contacts in one step.
        free: (nv,) 1 for the velocities that may change, else 0; None for all.
    """
    masks = number_rows(task_rows, figure, free)
    sizes = None
    if contacts == 0 and free is None and criteria.sizes is not None:
        sizes = _sizes(task_rows, masks, (criteria.sizes, step, dt))
    found = _take_spare(figure, sizes)
    if found is None:
        engine = make_engine(figure, task_rows, masks, criteria.arrays(), step, dt=dt, contacts=contacts, free=free)
        return BoundEngine(engine, *bound(engine, figure_arrays(figure).types), sizes)
    criteria.fill(found.engine.criteria)
    _renew(figure, task_rows, masks, found)
    return found


def give_back(figure: Figure, used: BoundEngine) -> None:
    """Keep an engine that nobody uses any more."""
    if used.sizes is None:
        return
    kept = _spare.setdefault(figure.compiled, {})
    same = kept.setdefault(used.sizes, [])
    if len(same) < MOST_SPARE:
        same.append(used if used.first is not None else used._replace(first=_before_steps(figure, used.engine)))
    if len(kept) > MOST_SIZES:
        oldest, *_ = list(kept)
        kept.pop(oldest, None)


def _before_steps(figure: Figure, engine: Engine) -> BeforeSteps:
    """The arrays of an engine with neither supports nor contacts, before its first step."""
    p, goals = engine.levels.start.shape[0] - 1, engine.goals
    return BeforeSteps(
        make_state(figure, p, engine.levels.rows.shape[0]),
        make_levels(figure, [], goals, p, skip=engine.skip, contacts=0),
        make_evaluation(figure.compiled.tree, goals),
    )


def _sizes(task_rows: Sequence[TaskRows], masks: Sequence[FloatArray | None], others: Hashable) -> Hashable:
    """Everything on which the sizes of an engine's arrays depend; None with masks, supports or loads."""
    goals = [goal for t in task_rows for goal in t.goals]
    if any(mask is not None for mask in masks) or any(goal.corners or goal.loads is not None for goal in goals):
        return None
    postures = sum(goal.posture is not None for goal in goals)
    return level_count(task_rows), len(goals), sum(goal.rows for goal in goals), postures, others


def _take_spare(figure: Figure, sizes: Hashable) -> BoundEngine | None:
    """A spare engine with arrays of these sizes; None if there is none."""
    spare = None if sizes is None else _spare.get(figure.compiled, {}).get(sizes)
    try:
        return spare.pop() if spare else None
    except IndexError:  # Another thread was faster.
        return None


def _renew(
    figure: Figure, task_rows: Sequence[TaskRows], masks: Sequence[FloatArray | None], found: BoundEngine
) -> None:
    """Write the goals of tasks to a spare engine, and let it begin anew."""
    engine, first, p = found.engine, found.first, level_count(task_rows)
    assert first is not None
    fill_goals(figure, task_rows, engine.goals)
    for parts, fresh in (
        (engine.state, first.state),
        (engine.levels, first.levels),
        (engine.current, first.evaluation),
        (engine.trial, first.evaluation),
    ):
        for array, value in zip(parts, fresh, strict=True):
            array[...] = value
    engine.levels.start[:] = level_starts(task_rows, p, engine.skip, engine.levels.rows.shape[0])
    engine.level_kind[:] = level_kinds(task_rows, masks, p)
    forget_all(found.handle)
