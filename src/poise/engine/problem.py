"""Compiles a figure and what is asked of it to arrays for the kernels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from poise.engine.avoidance import Avoidance
from poise.engine.criteria_arrays import criteria_arrays
from poise.engine.custom_tasks import Given
from poise.engine.engine_arrays import make_engine
from poise.engine.external_terms import Footing, Slopes, Watcher
from poise.engine.goal_arrays import Asked
from poise.engine.limit_names import limit_names
from poise.engine.starts import Starts
from poise.engine.targets import TargetLike, posture_for, set_target, with_target
from poise.errors import TaskError
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.forces.loads import Load
from poise.kernels.body.step_limits import PER_BALL
from poise.kernels.engine.engine import FIRST_TASKS
from poise.kernels.engine.indirect_calls import connect
from poise.kernels.engine.step import bind, step_from
from poise.kernels.engine.step_singular import MOST_EXCLUDED
from poise.kernels.goals.goals import Goals, evaluate
from poise.kernels.jit.compile import straight_to
from poise.kernels.levels.problem import SIDE
from poise.tasks.avoid import Avoid
from poise.tasks.criteria import Criterion, Outside
from poise.tasks.equilibrium import Equilibrium, finds_reactions
from poise.tasks.posture import Hold
from poise.tasks.recruits import recruited
from poise.tasks.task import Goal, Task


@dataclass(frozen=True)
class StepSize:
    """How far one step may go."""

    turn: float = 0.3
    """Largest step of a turning joint [rad]."""
    slide: float = 0.3
    """Largest step of a sliding joint, or of a floating base [m]."""
    error: float = 0.3
    """Largest error that one step aims to remove [m or rad]."""
    min_gain: float = 1e-3
    """Error that a visible step must remove from some level, per radian or metre of the step."""


class Problem:
    """A figure with tasks, laid out for the kernels."""

    def __init__(
        self,
        figure: Figure,
        tasks: Iterable[Task],
        *,
        step: StepSize | None = None,
        dt: float | None = None,
        forces: Iterable[Load] = (),
        criteria: Iterable[Criterion] = (),
    ) -> None:
        """Compile `tasks`; raises `TaskError` for what `figure` cannot be asked.

        Args:
            figure: The figure.
            tasks: What is asked; inactive ones are left out.
            step: How far one step may go.
            dt: Duration of a step [s], to hold the speed limits; None to ignore them.
            forces: What acts on the figure.
            criteria: What to do with the freedom that tasks leave.
        """
        self.figure = figure
        forces, active = tuple(forces), [task for task in tasks if task.active]
        self.avoids = [task for task in active if isinstance(task, Avoid)]
        self.avoidance = Avoidance(figure, self.avoids) if self.avoids else None
        wishes = [task for task in active if not isinstance(task, Avoid)]
        self.held = _last_hold(wishes)
        self.laid = _by_level(figure, [task for task in wishes if task is not self.held], forces)
        """Every task by level, and after each level those that keep what some of its joints have reached."""
        self.asked = [a for a in self.laid if not a.keeps]
        self.priorities = sorted({a.task.priority for a in self.asked})
        self._by_task = {a.task: a for a in self.asked}
        self._keepers = {a.task: a for a in self.laid if a.keeps}
        self._retargeted: set[Task] = set()
        terms = [criterion.term(figure, forces) for criterion in criteria]
        contacts = self.avoidance.most if self.avoidance is not None else 0
        wished = criteria_arrays(figure, self.held, terms)
        self.engine = make_engine(figure, self.laid, wished, step or StepSize(), dt, contacts=contacts)
        self.given = Given.of(figure, self.laid)
        self.starts = Starts.of(self.engine, self.laid)
        self.handle = bind(self.engine)
        connect(self.handle, self.engine.calls, self.engine.state.q)
        self.step_from = straight_to(step_from, self.handle, True, self.engine.state.q)
        """The kernel of that name, for the live caller."""
        self.footings = _footings(figure, self.asked, self.engine.goals, forces)
        """Where open supports can balance the figure, by task."""
        self.watchers: list[Watcher] = list(self.footings.values())
        """What looks at every posture before a step."""
        if gradients := [term.gradient for term in terms if isinstance(term, Outside)]:
            self.watchers.append(Slopes(figure, self.engine.criteria, gradients))

    def look(self, q: FloatArray) -> None:
        """Bring what is found in Python up to date with a posture."""
        if self.watchers:
            posture = Posture(self.figure, q.copy())
            for watcher in self.watchers:
                watcher.look(posture)

    def held_gap(self, posture: Posture) -> FloatArray:
        """(nv,) what the posture lacks of the one held last, 0 for joints that are not held."""
        criteria = self.engine.criteria
        if self.held is None:
            return np.zeros(self.figure.nv)
        wanted = Posture(self.figure, criteria.postures[0].copy())
        gap: FloatArray = self.figure.difference(posture, wanted) * (criteria.posture_weight[0] > 0.0)
        return gap

    def level_errors(self, posture: Posture) -> FloatArray:
        """Size of each level's weighted error, the first level first, then of what the posture held last lacks.

        If something is avoided, how much too near to it the figure is comes before all levels; `posture` must then be
        the one looked at last.
        """
        engine = self.engine
        near = [] if self.avoidance is None else [self.avoidance.largest_excess]
        evaluate(engine.tree, engine.goals, posture._q, engine.current)
        squares = (engine.goals.weight * engine.current.error) ** 2
        held = float(np.sum(self.held_gap(posture) ** 2))
        sums = [
            float(sum(squares[a.rows].sum() for a in self.asked if a.task.priority == level))
            for level in self.priorities
        ]
        return np.array([*near, *np.sqrt([*sums, held])])

    def limit_name(self, i: int) -> str:
        """What limit `i` of a step is called: a joint, a coupling, a task whose support it bounds, or a contact.

        A direction that a level forbids (see `kernels.engine.step_singular`) is called after the tasks of that level.
        """
        names, levels = self._limit_names, self.engine.levels
        if i >= levels.lower.shape[0] - MOST_EXCLUDED:
            return ", ".join(a.task.label for a in self.asked if a.level == levels.limit_level[i] - 1)
        if i < len(names) or self.avoidance is None:
            return names[i]
        return self.avoidance.name(i - len(names))

    def fences_of(self, asked: Asked) -> range:
        """The limits that are edges of a task's support."""
        corners, limits, bounds = self.engine.goals.corner_start, self.engine.limits, self.engine.bounds
        at = self.figure.nv + PER_BALL * bounds.ball_start.shape[0] + limits.soft.shape[0]
        return range(at + corners[asked.first_goal], at + corners[asked.first_goal + len(asked.goals)])

    @cached_property
    def _limit_names(self) -> list[str]:
        owners = {i: asked for asked in self.asked for i in self.fences_of(asked)}
        return limit_names(self.figure, self.engine.limits, owners)

    def forget(self) -> None:
        """Start afresh: no memory of earlier steps."""
        state, solver = self.engine.state, self.engine.solver
        for remembered in (state.last, state.stiffness, state.needs_curvature, state.counts, solver.whole[SIDE:]):
            remembered.fill(0)
        state.seen.fill(np.nan)
        for watcher in self.watchers:
            watcher.forget()

    def retarget(self, task: Task, value: TargetLike) -> None:
        """Give a task another target, in place."""
        asked = self._by_task.get(task)
        if asked is not None:
            set_target(self.figure, self.engine.goals, asked, value)
            self._retargeted.add(task)
            if task in self._keepers:
                set_target(self.figure, self.engine.goals, self._keepers[task], value)
        elif task is self.held:
            self.engine.criteria.postures[0] = posture_for(self.figure, value, task.label)._q
        else:
            raise TaskError(f"{task.label} is not one of the active tasks.")

    def as_asked(self, asked: Asked) -> Task | None:
        """A task with the target that it was given last; None if that is its own."""
        return with_target(self.figure, self.engine.goals, asked) if asked.task in self._retargeted else None


def _by_level(figure: Figure, tasks: Sequence[Task], forces: Iterable[Load]) -> list[Asked]:
    """Tasks and their goals, those of the first level first, each level followed by what keeps it."""
    laid: list[Asked] = []
    level = FIRST_TASKS
    for priority in sorted({task.priority for task in tasks}):
        beside = [Asked(t, level, goals_under(figure, t, forces)) for t in tasks if t.priority == priority]
        masked = any(recruited(figure, a.task) is not None for a in beside)
        keepers = [Asked(a.task, level + 1, a.goals, keeps=True) for a in beside if masked and _has_one_place(a)]
        laid += [*beside, *keepers]
        level += 2 if keepers else 1
    return laid


def _has_one_place(asked: Asked) -> bool:
    """Whether the rows of a task may be laid out twice: not those that follow supports."""
    return not isinstance(asked.task, Equilibrium) and not any(goal.corners for goal in asked.goals)


def _last_hold(tasks: Sequence[Task]) -> Hold | None:
    """The task that holds a posture below all others, which costs less as a criterion than as a level of its own."""
    last = [task for task in tasks if task.priority == max(task.priority for task in tasks)]
    if len(last) == 1 and isinstance(last[0], Hold) and np.ndim(last[0].weight) == 0:
        return last[0]
    return None


def goals_under(figure: Figure, task: Task, forces: Iterable[Load]) -> list[Goal]:
    """The rows that a task asks for while forces act on the figure."""
    return task.goals(figure, forces) if isinstance(task, Equilibrium) else task.goals(figure)


def _footings(figure: Figure, asked: Sequence[Asked], goals: Goals, forces: Iterable[Load]) -> dict[Task, Footing]:
    """Where open supports can balance the figure, for each task that asks."""
    acting = {a.task: a.task.acting(figure, forces) for a in asked if isinstance(a.task, Equilibrium)}
    return {
        a.task: Footing(goals, a.first_goal, acting[a.task])
        for a in asked
        if a.task in acting and finds_reactions(acting[a.task])
    }
