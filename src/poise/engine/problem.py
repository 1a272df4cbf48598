"""Compiles a figure with its tasks, forces and criteria to arrays for the kernels."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poise.arguments import number, positive, shown
from poise.engine.avoidance import Avoidance, HeldNodes
from poise.engine.bound_engine import BoundEngine
from poise.engine.engine_arrays import CriteriaCopy, CriteriaTerms, TaskRows, mask_of, set_place, set_target
from poise.engine.external_terms import CustomTasks, ExternalGradients, ExternalTerm, SupportOutline
from poise.engine.figure_arrays import limit_names
from poise.engine.natural.motion import NaturalMotion
from poise.engine.standing import Standing
from poise.errors import TaskError
from poise.figure.collision.soles import SupportPolygon
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray, Pose
from poise.figure.model.posture import Posture
from poise.forces.loads import Load
from poise.kernels.body.step_limits import PER_BALL
from poise.kernels.body.tree import forward
from poise.kernels.engine.engine import FIRST_TASK_LEVEL, Engine
from poise.kernels.engine.indirect_calls import evaluate_current
from poise.kernels.engine.step import forget_all
from poise.kernels.engine.step_model import MAX_EXCLUDED
from poise.kernels.engine.step_trial import SOFT_ERROR
from poise.kernels.goals.criteria import CRITERIA_SCALE
from poise.kernels.goals.goals import Goals
from poise.tasks.avoid import Avoid
from poise.tasks.criteria import Criterion, ExternalGradient, FollowsTargets, Term
from poise.tasks.custom import ComputedTask
from poise.tasks.equilibrium import Equilibrium, finds_reactions
from poise.tasks.look_at import LookAt
from poise.tasks.mass import CenterOfMass
from poise.tasks.place import Frame, Orientation, Position
from poise.tasks.posture import Hold
from poise.tasks.target import TargetLike
from poise.tasks.task import ABOVE_ALL, Goal, Task
from poise.tasks.touch import BoundTouch


@dataclass(frozen=True)
class StepSize:
    """Largest size and least gain of one step."""

    turn: float = 0.3
    """Largest step of a turning joint [rad]."""
    slide: float = 0.3
    """Largest step of a sliding joint, or of a floating base [m]."""
    error: float = 0.3
    """Largest error that one step aims to remove [m or rad]."""
    min_gain: float = 1e-3
    """Error that a visible step must remove from some level, per radian or metre of the step."""

    def __post_init__(self) -> None:
        """Check the numbers."""
        positive(self.turn, "the largest turn of a step", unit="radians")
        positive(self.slide, "the largest slide of a step", unit="metres")
        positive(self.error, "the largest error that a step removes")
        number(self.min_gain, "the least gain of a step", least=0.0)


SOFT_STIFFNESS = 450.0
"""Weight of the squared error of a soft task in the sum of the criteria [1/m² or 1/rad²]: it misses a target within
reach by the slope of the other criteria divided by this, mostly by a millimetre or two."""
WITHOUT_EDGES = 1e6
"""Distance by which the edges of a support are moved out so that nothing reaches them [m]."""


class Stage(NamedTuple):
    """The first levels of a problem."""

    errors: int
    """Number of its levels in `Problem.level_errors`."""
    asked_levels: tuple[int, int]
    """Number of its levels in the engine, and whether the criteria count: see `State.asked_levels`."""


class Problem:
    """A figure with tasks, forces and criteria, compiled for the kernels."""

    def __init__(
        self,
        figure: Figure,
        tasks: Iterable[Task],
        *,
        step: StepSize | None = None,
        dt: float | None = None,
        forces: Iterable[Load] = (),
        criteria: Iterable[Criterion] = (),
        free: FloatArray | None = None,
        like: Problem | None = None,
    ) -> None:
        """Compile `tasks`; raises `TaskError` for a task that `figure` cannot have.

        Args:
            figure: The figure.
            tasks: The tasks; inactive ones are left out.
            step: Largest size and least gain of one step.
            dt: Duration of a step [s], to keep the speed limits; None to ignore them.
            forces: Forces, supports and gravity that act on the figure.
            criteria: Objective functions to minimise in the freedom that the tasks leave.
            free: (nv,) 1 for the velocities that may change, else 0; None for all.
            like: A problem of the same figure with the same criteria, which this one takes over as they are now:
                natural motion then goes where that problem goes.
        """
        self.figure = figure
        forces, active = tuple(forces), [task for task in tasks if task.active]
        self._given = active
        self.avoids = [task for task in active if isinstance(task, Avoid)]
        self.avoidance = Avoidance(figure, self.avoids) if self.avoids else None
        others = [task for task in active if not isinstance(task, Avoid)]
        terms = [criterion.term(figure, forces) for criterion in criteria]
        follows = any(isinstance(term, FollowsTargets) for term in terms)
        soft = any(task.soft for task in others)
        self.last_hold = None if follows or soft else _last_hold(others)
        """The `Hold` task below all others, which is compiled to a criterion; None if there is none."""
        self.all_rows = _by_level(figure, [task for task in others if task is not self.last_hold], forces, free)
        """Rows of every task by level; a level with masked joints is followed by rows that re-impose it."""
        self.task_rows = [t for t in self.all_rows if not t.reimposes]
        """Rows of every task by level, without those that re-impose a level."""
        self._number_targets()
        compiled = self._compiled_criteria(terms, like)
        self._bound = BoundEngine(
            figure,
            self.all_rows,
            compiled,
            step=step or StepSize(),
            dt=dt,
            contacts=0 if self.avoidance is None else self.avoidance.max_contacts,
            free=free,
        )
        self._criteria_sizes = compiled.sizes
        self.engine: Engine = self._bound.engine
        self.handle: Engine = self._bound.handle
        self.step_from = self._bound.step_from
        self.counted = self.engine.goals.weight > 0.0
        """(rows,) whether each row has a weight, also while its task is left out."""
        custom = [t for t in self.all_rows if isinstance(t.task, ComputedTask)]
        self.custom_tasks = CustomTasks.of(figure, custom, self.avoids) if custom else None
        """The tasks that Python computes; None if there are none."""
        self._standing = self._supports()
        self.start_targets = StartTargets.of(self.engine, self.all_rows)
        self.support_outlines = _support_outlines(figure, self.task_rows, self.engine.goals, forces)
        """Regions in which supports without shares can balance the figure, by task."""
        self.external_terms = self._external_terms(terms)
        """Terms that Python computes for every posture before a step."""
        self.began_at = figure.neutral()._q
        """(nq,) coordinates from which the last step or solve began."""
        self.natural = self._natural_motion(terms) if like is None else None
        """Natural motion, if this problem has it and does not copy its criteria from another one."""
        self.structure: Hashable = None
        """What another problem must have in common with this one to take its place: see `spare_problems`."""

    def _external_terms(self, terms: Sequence[Term]) -> list[ExternalTerm]:
        """The terms that Python computes before every step: outlines of supports, and gradients."""
        found: list[ExternalTerm] = list(self.support_outlines.values())
        if gradients := [term.gradient for term in terms if isinstance(term, ExternalGradient)]:
            found.append(ExternalGradients(self.figure, self.engine.criteria, gradients))
        return found

    def _number_targets(self) -> None:
        """Find the rows by their tasks, none of which has been given another target."""
        self._by_task = {t.task: t for t in self.task_rows}
        self._reimposed = {t.task: t for t in self.all_rows if t.reimposes}
        self._targets: dict[Task, TargetLike | Task] = {}

    def _compiled_criteria(self, terms: Sequence[Term], like: Problem | None) -> CriteriaTerms | CriteriaCopy:
        """The criteria with these terms, or those of another problem, for the arrays of the engine."""
        soft = any(t.task.soft for t in self.all_rows)
        return CriteriaTerms(self.figure, self.last_hold, terms, soft) if like is None else like.copied_criteria()

    @property
    def can_be_renewed(self) -> bool:
        """Whether `renew` knows everything that this problem has."""
        return not self.needs_measuring and self._bound.can_be_renewed and self._criteria_sizes is not None

    def renew(self, tasks: Sequence[Task], criteria: Iterable[Criterion], like: Problem | None) -> bool:
        """Take other tasks of the same structure, and be as a new problem is; False where they do not fit.

        Where they do not, this problem must not be used any more.

        Args:
            tasks: The tasks, all of them active, in the order of those that they replace.
            criteria: Criteria of the same types; with `like`, those of that problem count.
            like: As for a new problem.
        """
        figure = self.figure
        terms = [criterion.term(figure) for criterion in criteria]
        task_of = dict(zip(self._given, tasks, strict=True))
        self._given = list(tasks)
        if self.last_hold is not None:
            self.last_hold = task_of[self.last_hold]  # type: ignore[assignment]
        retargeted = self._targets
        for t in self.all_rows:
            before, t.task = t.task, task_of[t.task]
            if t.task is before and t.task.priority == ABOVE_ALL and before not in retargeted:
                continue
            if set_place(self.engine.goals, t):
                continue
            goals = _soft_goals(figure, t.task) if t.task.soft else t.task.goals(figure)
            if not self._bound.set_goals(t, goals):
                return False
        self._number_targets()
        compiled = self._compiled_criteria(terms, like)
        if compiled.sizes != self._criteria_sizes:
            return False
        compiled.fill(self.engine.criteria)
        self._bound.begin_anew()
        if self._standing is not None:
            self._standing.begin_anew()
        self.began_at = figure.neutral()._q
        if self.natural is not None:
            self.natural.begin_anew(sum(term.strength for term in terms if isinstance(term, FollowsTargets)))
        return True

    def _natural_motion(self, terms: Sequence[Term]) -> NaturalMotion | None:
        strengths = [term.strength for term in terms if isinstance(term, FollowsTargets)]
        if not strengths:
            return None
        last = self.engine.criteria.postures.shape[0] - 1
        return NaturalMotion(
            self.engine,
            self.handle,
            self.figure,
            self.task_rows,
            row=last,
            strength=sum(strengths),
            compiled=lambda figure, tasks: Problem(figure, tasks, step=StepSize(error=1e3)),
            touches=self.touches,
        )

    @property
    def needs_measuring(self) -> bool:
        """Whether Python computes something before every step: distances, custom tasks or other terms."""
        return self.avoidance is not None or self.custom_tasks is not None or bool(self.external_terms)

    @property
    def touches(self) -> list[BoundTouch]:
        """The tasks that bring two surfaces into contact."""
        return [] if self.custom_tasks is None else self.custom_tasks.touches

    def _supports(self) -> Standing | None:
        """What carries the figure, if a task keeps its balance; parts that should touch need no margin."""
        if self.avoidance is not None:
            self.avoidance.let_touch((touch.body, touch.other) for touch in self.touches)
        if not any(isinstance(t.task, CenterOfMass) for t in self.task_rows):
            return None
        obstacles = [o for avoid in self.avoids for o in avoid.obstacles]
        return Standing(self.figure, self.engine.goals, self.task_rows, obstacles, self.touches)

    @cached_property
    def priorities(self) -> list[int]:
        """The priorities of its tasks, the first level first."""
        return sorted({t.task.priority for t in self.task_rows if not t.task.soft})

    @cached_property
    def held_nodes(self) -> HeldNodes:
        """Which bodies the tasks of the first level hold."""
        return HeldNodes(self.figure, self.task_rows)

    def begin(self, q: FloatArray, *, goes_on: bool = False) -> None:
        """Begin a step or a solve from the coordinates `q` (nq,), to which some tasks and criteria refer.

        Args:
            q: The coordinates, which must not be changed afterwards.
            goes_on: Whether they are those at the end of the last step.
        """
        self.began_at = q
        if self.start_targets is not None:
            self.start_targets.store(q)
        if self.custom_tasks is not None and not goes_on:
            self.custom_tasks.write_rows(q, self.engine.goals)
        if self.natural is not None:
            if not goes_on:
                self.natural.begin(q)
            self.natural.follow(self._targets, self.stages[-1].asked_levels[0])

    def copied_criteria(self) -> CriteriaCopy:
        """The criteria as they are now."""
        return CriteriaCopy(self.figure, self.engine.criteria)

    def begin_like(self, other: Problem) -> None:
        """Begin where another problem of the same figure began, whose criteria this one has taken over."""
        self.began_at = other.began_at.copy()
        if self.start_targets is not None:
            self.start_targets.store(self.began_at)

    def ask(self, stage: int) -> None:
        """Let steps solve the levels of a stage only."""
        self.engine.state.asked_levels[:] = self.stages[stage].asked_levels
        if self.natural is not None:
            self.natural.follow(self._targets, self.stages[stage].asked_levels[0])

    def first_posture(self) -> Posture:
        """The posture to start from when none is given."""
        found = None if self.natural is None else self.natural.first_posture(self._targets)
        return self.figure.neutral() if found is None else found

    def other_first_postures(self) -> Iterator[Posture]:
        """Yield other postures of people to start from when none is given, where the first one meets too little."""
        if self.natural is not None:
            yield from self.natural.other_postures(self._targets, solid=self.avoidance is not None)

    def update_external_terms(self, q: FloatArray) -> None:
        """Compute the terms that depend on the posture in Python, for the posture `q` (nq,)."""
        standing = None if self._standing is None or not self._standing.depends_on_posture else self._standing
        if self.external_terms or standing is not None:
            posture = Posture(self.figure, q.copy())
            if standing is not None:
                standing.update(posture)
            for term in self.external_terms:
                term.update(posture)

    def support_polygon(self, rows: TaskRows) -> SupportPolygon | None:
        """The support polygon of a task in the posture that has been evaluated; None for a task without one."""
        if self._standing is None or not isinstance(rows.task, CenterOfMass) or rows.task.over is None:
            return None
        return self._standing.polygon(rows, self.engine.current)

    def hold_error(self, posture: Posture) -> FloatArray:
        """(nv,) difference from a posture to that of the last `Hold` task, 0 for joints that it does not hold."""
        criteria = self.engine.criteria
        if self.last_hold is None:
            return np.zeros(self.figure.nv)
        wanted = Posture(self.figure, criteria.postures[0].copy())
        gap: FloatArray = self.figure.difference(posture, wanted) * (criteria.posture_weight[0] > 0.0)
        return gap

    def level_errors(self, posture: Posture) -> FloatArray:
        """Size of each level's weighted error, the first level first, then of the error of the last `Hold` task.

        If the figure avoids something, the largest violation of a margin comes before all levels; `posture` must then
        be the one measured last.
        """
        engine = self.engine
        violation = [] if self.avoidance is None else [self.avoidance.largest_violation]
        evaluate_current(self.handle, posture._q)
        weighted = engine.goals.weight * engine.current.error
        sums = dict.fromkeys(self.priorities, 0.0)
        for t in self.task_rows:
            if not t.task.soft:
                own = weighted[t.rows]
                sums[t.task.priority] += float(own.dot(own))
        held = 0.0 if self.last_hold is None else float(np.sum(self.hold_error(posture) ** 2))
        return np.array([*violation, *map(math.sqrt, sums.values()), math.sqrt(held)])

    def soft_error(self, posture: Posture) -> float:
        """Largest error of the soft tasks in a posture, unweighted [m or rad]."""
        evaluate_current(self.handle, posture._q)
        error = self.engine.current.error * self.counted
        return max((float(np.linalg.norm(error[t.rows])) for t in self.task_rows if t.task.soft), default=0.0)

    def soft_costs(self, posture: Posture) -> tuple[float, float]:
        """The greatest force of each soft task times its error, summed, and the energy of their springs."""
        evaluate_current(self.handle, posture._q)
        cost = energy = 0.0
        for t in self.task_rows:
            if t.task.soft:
                error, weight = self.engine.current.error[t.rows], self.engine.goals.weight[t.rows]
                size, stiffness = float(np.linalg.norm(error * (weight > 0.0))), float(np.max(weight) ** 2)
                cost += stiffness * SOFT_ERROR * size
                energy += stiffness * (0.5 * size**2 if size < SOFT_ERROR else SOFT_ERROR * (size - 0.5 * SOFT_ERROR))
        return CRITERIA_SCALE * cost, CRITERIA_SCALE * energy

    @property
    def criteria_value(self) -> float:
        """Value of the criteria where the last step began."""
        return float(self.engine.state.merit[-1])

    def unmet_places(self, q: FloatArray, stage: int, tolerance: float) -> list[Task]:
        """The tasks of a stage for places and directions that coordinates `q` (nq,) miss by more than a tolerance."""
        evaluate_current(self.handle, q)
        errors, below = self.engine.current.error * self.counted, self.stages[stage].asked_levels[0]
        return [
            t.task
            for t in self.task_rows
            if isinstance(t.task, Frame | LookAt | Orientation | Position)
            and not t.task.soft
            and t.level < below
            and math.sqrt(errors[t.rows].dot(errors[t.rows])) > tolerance
        ]

    @cached_property
    def stages(self) -> list[Stage]:
        """The problem with its first level alone, with its first two levels, and so on; the whole problem last.

        A `Hold` task below all others is the last level. Criteria count in every stage, unless such a task is one.
        """
        before = 0 if self.avoidance is None else 1
        ends = list({t.task.priority: 1 + t.level for t in self.all_rows if not t.task.soft}.values())
        has_hold = self.last_hold is not None
        above = ends if has_hold else ends[:-1]
        whole = Stage(before + len(ends) + has_hold, (self.engine.level_kind.shape[0] - 1, 1))
        return [*(Stage(before + k + 1, (end, int(not has_hold))) for k, end in enumerate(above)), whole]

    def limit_name(self, i: int) -> str:
        """Name of limit `i` of a step: a joint, a coupling, the task whose support edge it is, or a contact.

        An excluded direction (see `kernels.engine.step_model`) is named after the tasks of the level concerned.
        """
        names, levels = limit_names(self.figure), self.engine.levels
        if i >= levels.lower.shape[0] - MAX_EXCLUDED:
            return ", ".join(t.task.label for t in self.task_rows if t.level == levels.limit_level[i] - 1)
        if i < len(names):
            return names[i]
        if i >= self.first_contact_limit and self.avoidance is not None:
            return self.avoidance.name(i - self.first_contact_limit)
        return next(t.task.label for t in self.task_rows if i in self.support_edges_of(t))

    def support_edges_of(self, rows: TaskRows) -> range:
        """Indices of the limits that are edges of a task's support polygon."""
        corners, limits, bounds = self.engine.goals.corner_start, self.engine.limits, self.engine.bounds
        at = self.figure.nv + PER_BALL * bounds.ball_start.shape[0] + limits.soft.shape[0]
        return range(at + corners[rows.first_goal], at + corners[rows.first_goal + len(rows.goals)])

    @cached_property
    def first_contact_limit(self) -> int:
        """The limit of the first contact; those of joints, couplings and support edges come before it."""
        return len(limit_names(self.figure)) + len(self.engine.goals.corner_node)

    def forget(self) -> None:
        """Forget earlier steps: warm starts, extra damping and the use of curvature."""
        forget_all(self.handle)
        for term in self.external_terms:
            term.forget()

    @contextmanager
    def left_out(self, tasks: Collection[Task]) -> Iterator[None]:
        """Leave some tasks out inside the block: their rows have no weight, and their supports no edges."""
        goals = self.engine.goals
        weight, margin = goals.weight.copy(), goals.corner_margin.copy()
        for t in self.all_rows:
            if t.task in tasks:
                goals.weight[t.rows] = 0.0
                goals.corner_margin[t.first_goal : t.first_goal + len(t.goals)] = -WITHOUT_EDGES
        try:
            yield
        finally:
            goals.weight[:], goals.corner_margin[:] = weight, margin

    @contextmanager
    def memory_kept(self) -> Iterator[None]:
        """Restore at the end of the block all that steps remember, so that a step taken inside leaves no trace."""
        contacts = () if self.avoidance is None else self.avoidance.memory
        memory = (*self.engine.state, *self.engine.solver.work.active_sets(), *contacts)
        saved = [array.copy() for array in memory]
        try:
            yield
        finally:
            for array, before in zip(memory, saved, strict=True):
                array[...] = before

    def retarget(self, task: Task, value: TargetLike | Task) -> None:
        """Give a task another target, in place: a value, or the target of another task of its kind."""
        rows = self._by_task.get(task)
        if rows is not None:
            set_target(self.figure, self.engine.goals, rows, value)
            self._targets[task] = value.copy() if isinstance(value, np.ndarray) else value
            if self._standing is not None:
                self._standing.follow(range(rows.first_goal, rows.first_goal + len(rows.goals)))
            if task in self._reimposed:
                set_target(self.figure, self.engine.goals, self._reimposed[task], value)
        elif task is self.last_hold:
            asked = value if isinstance(value, Hold) else task.with_target(value)  # type: ignore[arg-type]
            self.engine.criteria.postures[0] = self.figure.posture(asked.posture)._q
        else:
            given: object = task
            words = given.label if isinstance(given, Task) else shown(given)
            raise TaskError(f"{words} is not one of the solver's active tasks, so it cannot have another target.")

    def given_target(self, task: Task) -> TargetLike | Task | None:
        """The target that a task was given last; None if it still has its own."""
        return self._targets.get(task)

    def current_task(self, task: Task) -> Task | None:
        """A task with the target that it was given last; None if it still has its own."""
        value = self._targets.get(task)
        return value if value is None or isinstance(value, Task) else task.with_target(value)


def _by_level(figure: Figure, tasks: Sequence[Task], forces: Iterable[Load], free: FloatArray | None) -> list[TaskRows]:
    """Rows of the tasks, the first level first; a level with masked joints is followed by rows that re-impose it."""
    found: list[TaskRows] = []
    level = FIRST_TASK_LEVEL
    strict = [task for task in tasks if not task.soft]
    for priority in sorted({task.priority for task in strict}):
        own = [TaskRows(t, level, _goals_under(figure, t, forces)) for t in strict if t.priority == priority]
        masked = any(mask_of(figure, t.task, free) is not None for t in own)
        again = [TaskRows(t.task, level + 1, t.goals, reimposes=True) for t in own if masked and _can_be_reimposed(t)]
        found += [*own, *again]
        level += 2 if again else 1
    return found + [TaskRows(t, level, _soft_goals(figure, t)) for t in tasks if t.soft]


def _soft_goals(figure: Figure, task: Task) -> list[Goal]:
    """The goals of a soft task, with weights such that a spring of 1 m has the stiffness SOFT_STIFFNESS."""
    goals = task.goals(figure)
    if isinstance(task, Equilibrium | ComputedTask) or any(goal.corners for goal in goals):
        raise TaskError(f"{task.label} cannot be soft: only tasks for places, directions and joints can.")
    return [replace(goal, weights=SOFT_STIFFNESS * goal.weights) for goal in goals]


def _can_be_reimposed(rows: TaskRows) -> bool:
    """Whether the rows of a task may be used twice: not those of a support polygon, which come with limits."""
    return not isinstance(rows.task, Equilibrium) and not any(goal.corners for goal in rows.goals)


def _last_hold(tasks: Sequence[Task]) -> Hold | None:
    """The `Hold` task below all others, if it is alone there: it is cheaper as a criterion than as a level."""
    last = [task for task in tasks if task.priority == max(task.priority for task in tasks)]
    if len(last) == 1 and isinstance(last[0], Hold) and np.ndim(last[0].weight) == 0:
        return last[0]
    return None


def _goals_under(figure: Figure, task: Task, forces: Iterable[Load]) -> list[Goal]:
    """The goals of a task while forces act on the figure."""
    return task.goals(figure, forces) if isinstance(task, Equilibrium) else task.goals(figure)


def _rows_above(rows: TaskRows, all_rows: Sequence[TaskRows]) -> NDArray[np.int64]:
    """(k,) rows of all tasks of higher levels than a task."""
    above = [np.arange(t.rows.start, t.rows.stop) for t in all_rows if t.level < rows.level and not t.task.soft]
    return np.concatenate([np.empty(0, dtype=np.int64), *above])


def _support_outlines(
    figure: Figure, task_rows: Sequence[TaskRows], goals: Goals, forces: Iterable[Load]
) -> dict[Task, SupportOutline]:
    """The outline of the region of balance, for each `Equilibrium` task on supports without shares."""
    acting = {t.task: t.task.acting(figure, forces) for t in task_rows if isinstance(t.task, Equilibrium)}
    return {
        t.task: SupportOutline(goals, t.first_goal, acting[t.task], _rows_above(t, task_rows))
        for t in task_rows
        if t.task in acting and finds_reactions(acting[t.task])
    }


class StartTargets:
    """The goals of all tasks that want the start posture; their targets are the frames there."""

    def __init__(self, engine: Engine, goals: Sequence[int]) -> None:
        """Refer to the goals with these indices."""
        self._engine = engine
        self._goals = np.array(goals, dtype=np.int64)
        self._nodes = engine.goals.node[self._goals]
        self._beside = [g for g in goals if engine.goals.place[g].any()]

    @classmethod
    def of(cls, engine: Engine, task_rows: Sequence[TaskRows]) -> StartTargets | None:
        """Select the goals of tasks that want the start posture; None if there are none."""
        steady = [t for t in task_rows if t.task.wants_start]
        goals = [g for t in steady for g in range(t.first_goal, t.first_goal + len(t.goals))]
        return cls(engine, goals) if goals else None

    def store(self, q: FloatArray) -> None:
        """Set the targets to the frames at `q` (nq,), from which a solve starts."""
        current, goals = self._engine.current, self._engine.goals
        forward(self._engine.tree, q, current.position, current.rotation)
        goals.position[self._goals] = current.position[self._nodes]
        goals.rotation[self._goals] = current.rotation[self._nodes]
        for g in self._beside:
            goals.position[g] = Pose(goals.position[g], goals.rotation[g]).apply(goals.place[g])
