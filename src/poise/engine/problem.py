"""Compiles a figure and what is asked of it to arrays for the kernels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from poise.engine.avoidance import Avoidance
from poise.engine.criteria_arrays import criteria_arrays
from poise.engine.given import Given
from poise.engine.goal_arrays import Asked, goal_arrays, number_rows
from poise.engine.limit_names import limit_names
from poise.engine.outside import Footing, Slopes, Watcher
from poise.engine.targets import TargetLike, posture_for, set_target
from poise.errors import TaskError
from poise.figure.closing import compile_closures
from poise.figure.compiled import IntArray
from poise.figure.figure import Figure
from poise.figure.pose import FloatArray
from poise.figure.posture import Posture
from poise.forces.loads import Load
from poise.kernels.contacts import make_contacts
from poise.kernels.engine import CHOOSY, FENCED, FIRST_TASKS, Engine, State
from poise.kernels.far_call import addresses
from poise.kernels.goals import Goals, make_stance, take_stance
from poise.kernels.level_problem import SIDE
from poise.kernels.levels import Levels, make_work
from poise.kernels.pulls import make_pulls
from poise.kernels.step import bind
from poise.kernels.step_limits import PER_BALL, StepLimits
from poise.tasks.avoid import Avoid
from poise.tasks.criteria import Criterion, Outside
from poise.tasks.custom import Custom
from poise.tasks.equilibrium import Equilibrium, finds_reactions
from poise.tasks.posture import Hold
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
    worth: float = 1e-3
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
        step = step or StepSize()
        asked = [task for task in tasks if task.active]
        self.avoids = [task for task in asked if isinstance(task, Avoid)]
        self.avoidance = Avoidance(figure, self.avoids) if self.avoids else None
        contacts = self.avoidance.most if self.avoidance is not None else 0
        asked = [task for task in asked if not isinstance(task, Avoid)]
        self.held = _last_hold(asked)
        asked = [task for task in asked if task is not self.held]
        self.priorities = sorted({task.priority for task in asked})
        forces = tuple(forces)
        self.asked = [
            Asked(task, FIRST_TASKS + self.priorities.index(task.priority), goals_under(figure, task, forces))
            for task in asked
        ]
        terms = [criterion.term(figure, forces) for criterion in criteria]
        self.asked.sort(key=lambda a: a.level)
        masks = number_rows(self.asked, figure)
        tree, bounds = figure.compiled.tree, figure.compiled.bounds
        goals = goal_arrays(figure, self.asked, masks)
        self.given = Given.of(figure, self.asked)
        hard = [i for i, coupling in enumerate(figure.couplings) if coupling.is_equality]
        soft = [i for i, coupling in enumerate(figure.couplings) if not coupling.is_equality]
        limits = _step_limits(figure, step, dt, hard, soft)
        closures = compile_closures(figure)
        skip = closures.turns.shape[0] + len(hard) + contacts
        levels = _levels(figure, self.asked, goals, count=len(self.priorities), skip=skip, contacts=contacts)
        n, p = figure.nv, len(self.priorities) + FIRST_TASKS
        here, there, state = (
            make_stance(tree, goals),
            make_stance(tree, goals),
            _state(figure, p, levels.rows.shape[0], closures.turns.shape[0]),
        )
        solver = make_work(n, levels.rows.shape[0], p, levels.general.shape[0])
        self.engine = Engine(
            tree=tree,
            bounds=bounds,
            limits=limits,
            goals=goals,
            contacts=make_contacts(contacts),
            closures=closures,
            criteria=criteria_arrays(figure, self.held, terms),
            levels=levels,
            solver=solver,
            pulls=make_pulls(tree),
            here=here,
            there=there,
            state=state,
            skip=skip,
            farthest=step.error,
            choosy=_choosy(self.asked, goals, masks, p),
            calls=addresses(
                (bounds, state.q, state.q),
                (tree, goals, state.q, here),
            ),
            worth=step.worth,
        )
        self.handle = bind(self.engine)
        self._by_task = {a.task: a for a in self.asked}
        self.footings = _footings(figure, self.asked, goals, forces)
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
        take_stance(engine.tree, engine.goals, posture._q, engine.here)
        squares = (engine.goals.weight * engine.here.error) ** 2
        held = float(np.sum(self.held_gap(posture) ** 2))
        levels = range(FIRST_TASKS, FIRST_TASKS + len(self.priorities))
        sums = [float(sum(squares[a.rows].sum() for a in self.asked if a.level == k)) for k in levels]
        return np.array([*near, *np.sqrt([*sums, held])])

    def limit_name(self, i: int) -> str:
        """What limit `i` of a step is called: a joint, a coupling, a task whose support it bounds, or a contact."""
        names = self._limit_names
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
        for remembered in (state.last, state.stiffness, state.counts, solver.whole[SIDE:]):
            remembered.fill(0)
        state.seen.fill(np.nan)
        for watcher in self.watchers:
            watcher.forget()

    def retarget(self, task: Task, value: TargetLike) -> None:
        """Give a task another target, in place."""
        asked = self._by_task.get(task)
        if isinstance(task, Custom):
            raise TaskError(f"{task.label} has no target; let its function read one that you change.")
        if asked is not None:
            set_target(self.figure, self.engine.goals, asked, value)
        elif task is self.held:
            self.engine.criteria.postures[0] = posture_for(self.figure, value, task.label)._q
        else:
            raise TaskError(f"{task.label} is not one of the active tasks.")


def _choosy(asked: Sequence[Asked], goals: Goals, masks: Sequence[FloatArray | None], p: int) -> IntArray:
    """(p + 1,) which levels have goals whose rows do not say all: see `Engine.choosy`."""
    levels = np.zeros(p + 1, dtype=np.int64)
    for a in asked:
        corners = goals.corner_start[a.first_goal + len(a.goals)] - goals.corner_start[a.first_goal]
        if masks[a.first_goal] is not None:
            levels[a.level] = CHOOSY
        elif corners > 0 and levels[a.level] != CHOOSY:
            levels[a.level] = FENCED
    return levels


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


def _step_limits(
    figure: Figure, step: StepSize, dt: float | None, hard: Sequence[int], soft: Sequence[int]
) -> StepLimits:
    tree, bounds, compiled = figure.compiled.tree, figure.compiled.bounds, figure.compiled
    dof_q = np.full(figure.nv, -1, dtype=np.int64)
    q_dof = np.full(figure.nq, -1, dtype=np.int64)
    speed = np.full(figure.nv, math.inf)
    ball_dof = {}
    for joint in figure.joints:
        q, v = compiled.q_slices[joint.name], compiled.v_slices[joint.name]
        plain = joint.nv if joint.scalars else (3 if joint.kind == "free" else 0)
        for i in range(plain):
            dof_q[v.start + i], q_dof[q.start + i] = q.start + i, v.start + i
        ball_dof[q.start] = v.start
        if joint.speed is not None:
            speed[v] = joint.speed / (math.sqrt(3.0) if joint.kind == "ball" else 1.0)
    return StepLimits(
        dof_q=dof_q,
        q_dof=q_dof,
        speed=speed,
        largest=np.where(tree.dof_turns == 1, step.turn, step.slide),
        ball_dof=np.array([ball_dof[int(start)] for start in bounds.ball_start], dtype=np.int64),
        hard=np.array(hard, dtype=np.int64),
        soft=np.array(soft, dtype=np.int64),
        clock=np.array([math.inf if dt is None else dt]),
    )


def _levels(figure: Figure, asked: Sequence[Asked], goals: Goals, *, count: int, skip: int, contacts: int) -> Levels:
    """The arrays of all levels."""
    n, p = figure.nv, count + FIRST_TASKS
    m = skip + goals.direction.shape[0]
    start = np.full(p + 1, m, dtype=np.int64)
    start[:FIRST_TASKS] = 0
    for a in reversed(asked):
        start[a.level] = skip + a.rows.start
    balls, soft = figure.compiled.bounds.ball_start.shape[0], sum(not c.is_equality for c in figure.couplings)
    fences = goals.corner_node.shape[0]
    general = PER_BALL * balls + soft + fences + contacts
    limit_level = np.zeros(n + general, dtype=np.int64)
    for a in asked:
        for i in range(len(a.goals)):
            g = a.first_goal + i
            at = n + PER_BALL * balls + soft
            limit_level[at + goals.corner_start[g] : at + goals.corner_start[g + 1]] = a.level
    return Levels(
        rows=np.zeros((m, n)),
        target=np.zeros(m),
        start=start,
        damping=np.zeros(p + 1),
        wish=np.zeros(n),
        general=np.zeros((general, n)),
        lower=np.full(n + general, -math.inf),
        upper=np.full(n + general, math.inf),
        limit_level=limit_level,
        curved=np.zeros(p + 1, dtype=np.int64),
        curvature=np.zeros((p + 1, n, n)),
        watch=np.zeros(p + 1, dtype=np.int64),
    )


def _state(figure: Figure, p: int, rows: int, loop_rows: int) -> State:
    n, whole = figure.nv, np.int64
    return State(
        x=np.zeros(n),
        dx=np.zeros(n),
        trial=np.zeros(n),
        part=np.zeros((p + 1, n)),
        last=np.zeros((p + 1, n)),
        decided=np.zeros(p + 1),
        q=np.array(figure.neutral().q),
        scale=np.ones(p + 1),
        merit=np.zeros(p + 1),
        merit_after=np.zeros(p + 1),
        seen=np.full(p + 1, np.nan),
        record=np.zeros(p + 1),
        stiffness=np.zeros(p + 1),
        curved=np.zeros(p + 1, dtype=whole),
        bent=np.zeros(p + 1, dtype=whole),
        gap=np.zeros(loop_rows),
        couple=np.zeros((3, 3)),
        missing=np.zeros(rows),
        demand=np.ones(1),
        counts=np.zeros(4, dtype=whole),
    )
