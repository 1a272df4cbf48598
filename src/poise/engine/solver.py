"""The solver for tasks by priority: once for a posture, or step by step while targets move."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, NoReturn, SupportsIndex

import numpy as np

from poise.arguments import all_of, kind_of, number, positive, whole
from poise.arguments import seed as seed_of
from poise.engine.descent import EQUAL_ERROR, Descent, Options, Rest, is_better
from poise.engine.natural.stance import stance
from poise.engine.problem import StepSize
from poise.engine.recruitment import Part, last_holds, own_coordinates, parts_of, tasks_below
from poise.engine.result import LEAST_TOLERANCE, Result, Stop, judge, with_reasons_of
from poise.engine.spare_problems import give_back
from poise.errors import FigureError, TaskError
from poise.figure.model.figure import Figure, PostureLike, checked_figure
from poise.figure.model.pose import FloatArray, Pose
from poise.figure.model.posture import Posture
from poise.figure.model.shapes import Shape
from poise.forces.loads import Force, Gravity, Load, Support
from poise.kernels.body.clamp import clamp
from poise.kernels.engine.step import LEGAL, LOOPS_OPEN, NOT_FINITE, make_legal, take_step
from poise.tasks.avoid import SELF, Avoid, solid_task
from poise.tasks.criteria import TASK_HINTS, Criterion
from poise.tasks.obstacles import Obstacle, Plane
from poise.tasks.target import TargetLike
from poise.tasks.task import Task, recruited

_NO_PREVIOUS_POSTURE = np.empty(0)
_OBSTACLE_HINTS = (
    (str, "Give avoid_self=True to keep a figure clear of itself."),
    (Shape, "Give it a place: Obstacle(shape, Pose(position))."),
)
"""What to do with other things that are given as obstacles, by their type."""
SOLVE_MIN_GAIN = 1e-9
"""Least gain of a step in `solve`, smaller than that of live motion, where slow drift would show (see `StepSize`)."""
LEAST_START_GAIN = 0.01
"""Least decrease of the error of a level for which people are posed from another start [m or rad]."""
MAX_CLOSING_ROUNDS = 5
"""Largest number of rounds in which a start posture is clamped to the limits and its loops are closed again."""


class Solver:
    """Moves a figure towards the targets of its tasks, one step at a time.

    The active limits of one step warm-start the next. Targets change with `target`, obstacles with `move`; other
    changes need another solver.
    """

    def __init__(
        self,
        figure: Figure,
        tasks: Iterable[Task],
        *,
        dt: float | None = None,
        step: StepSize | None = None,
        obstacles: Iterable[Obstacle | Plane] = (),
        avoid_self: bool = False,
        solid: bool = False,
        forces: Iterable[Load] = (),
        criteria: Iterable[Criterion] | None = None,
    ) -> None:
        """Compile the tasks.

        Args:
            figure: The figure to pose.
            tasks: The tasks, each with its priority.
            dt: Duration of one step [s]; with it, joints keep their speed limits.
            step: Largest size and least gain of one step.
            obstacles: Obstacles to keep clear of: the same as `Avoid(obstacles)` among the tasks.
            avoid_self: Whether bodies keep clear of each other: the same as `Avoid("self")`.
            solid: Whether the figure is solid: its bodies touch each other, the floor and the obstacles, but do not
                pass through them; the same as `Avoid([*obstacles, floor, "self"], margin=0)`.
            forces: Forces, supports and gravity, for tasks and criteria that do not have their own.
            criteria: Objective functions to minimise in the freedom that the tasks leave; their sum counts. By default
                people move as people do (`Natural`), and other figures have none.
        """
        self.figure = checked_figure(figure, "a solver")
        given = all_of(tasks, Task, "task", hints=TASK_HINTS)
        hazards = all_of(obstacles, (Obstacle, Plane), "obstacle", hints=_OBSTACLE_HINTS)
        self.tasks = (*given, *_avoiding(figure, hazards, avoid_self, solid))
        duration = None if dt is None else positive(dt, "the duration dt of a step", unit="seconds")
        loads = _checked_loads(figure, forces)
        in_tasks = [(Task, "Tasks are given in the list of tasks.")]
        chosen = None if criteria is None else all_of(criteria, Criterion, "criterion", hints=in_tasks)
        self._options = Options(kind_of(step, StepSize, "the step of a solver"), duration, loads, chosen)
        self._descents = [Descent(figure, part, self._options) for part in parts_of(figure, self.tasks, in_order=True)]
        self._problem = self._descents[-1].problem
        self._last: Posture | None = None
        self._way: list[FloatArray] = []
        """(nq,) coordinates of each descent at the end of the last step: see `recruitment`."""

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        """Refuse to be copied or pickled: the arrays that its kernels share are addresses in this process."""
        raise TaskError(
            "a solver cannot be copied or pickled, since its arrays belong to this process: copy or pickle its figure "
            "and its tasks, and make another solver of them."
        )

    def step(self, posture: PostureLike) -> Posture:
        """Take one step from a posture; returns the posture after it."""
        goes_on, last_way = bool(self._way) and posture is self._last, self._way
        self._last, self._way = None, []
        for k, descent in enumerate(self._descents):
            q = last_way[k] if goes_on else self._copy(posture)
            if descent.part.free is not None:
                q = np.where(own_coordinates(self.figure, descent.part.free), q, self._way[-1])
            self._way.append(self._step(descent, q, goes_on=goes_on, known=goes_on and k == 0))
        self._last = Posture(self.figure, self._way[-1])
        return self._last

    def begin(self, posture: PostureLike) -> Posture:
        """Begin at a posture, as the first step from it does; returns a legal one, from which the next step goes on."""
        q = self._legal_start(posture)
        for descent in self._descents:
            descent.problem.begin(q.copy())
        found = Posture(self.figure, q)
        self.go_on_from(found)
        return found

    def go_on_from(self, posture: Posture) -> None:
        """Continue from a posture that another solver has reached from this solver's last posture."""
        self._last, self._way = posture, [posture._q.copy() for _ in self._descents]

    @property
    def criteria_values(self) -> tuple[float, float]:
        """Values of the criteria, with the energy of soft tasks, before and after the last step."""
        state = self._problem.engine.state
        return float(state.merit[-1]), float(state.last_merit[-1])

    def soft_error(self, posture: Posture) -> float:
        """Largest error of the soft tasks in a posture, unweighted [m or rad]."""
        return self._problem.soft_error(posture)

    def soft_costs(self, posture: Posture) -> tuple[float, float]:
        """The greatest force of each soft task times its error, summed, and the energy of their springs."""
        return self._problem.soft_costs(posture)

    def _step(self, descent: Descent, q: FloatArray, *, goes_on: bool, known: bool) -> FloatArray:
        """(nq,) the coordinates after one step from `q` (nq,).

        Args:
            descent: The descent that takes the step.
            q: The coordinates before it.
            goes_on: Whether they come from those at the end of its last step.
            known: Whether they are known to be legal.
        """
        problem = descent.problem
        if descent.trust_region is not None:
            q = q.copy() if known else self._legal(q.copy())
            problem.begin(q.copy(), goes_on=goes_on)
            descent.trust_region.step(q)
            return q
        problem.begin(q, goes_on=goes_on)
        after = q.copy()
        if problem.step_from(problem.handle, known, after) != LEGAL:
            after = self._legal(q.copy())
            take_step(problem.handle, after)
        return after

    def settle(self, posture: PostureLike, *, max_steps: int = 200, tolerance: float = 1e-6) -> Result:
        """Take steps until the figure rests; the result does not depend on earlier steps of the solver."""
        return self._settle(posture, *_checked_stopping(max_steps, tolerance))

    def _settle(self, posture: PostureLike, max_steps: int, tolerance: float, *, branches: bool = False) -> Result:
        """Do what `settle` says; limbs may change to other `branches` where tasks are not met."""
        start, below = self._legal_start(posture), tasks_below(self.figure, self.tasks)
        parts = parts_of(self.figure, self.tasks, in_order=False) if below else []
        descents = self._descents_of(parts) if len(parts) > len(self._descents) else self._descents
        branches = branches and len(descents) == 1 and self._may_change_branches
        rests = self._rests(descents, start.copy(), max_steps, tolerance, branches=branches)
        stop = Stop(sum(rest.steps for rest in rests), max(rest.moved for rest in rests) <= tolerance)
        found = self._judge_each(descents, [Posture(self.figure, rest.q) for rest in rests], stop, tolerance)
        holds = last_holds(self.tasks)
        if not below or all(verdict.met for verdict in found.verdicts if verdict.task not in holds):
            return found
        return self._in_order(found, start, max_steps, tolerance)

    @property
    def _may_change_branches(self) -> bool:
        """Whether limbs may change to other branches: with nothing in their way, and unless they go as people's do.

        Tasks that may move only some joints must not decide about the others, so that with them none are tried.
        """
        return self._problem.natural is None and self._problem.avoidance is None and len(self._descents) == 1

    def _rests(
        self,
        descents: Sequence[Descent],
        start: FloatArray,
        max_steps: int,
        tolerance: float,
        *,
        branches: bool = False,
    ) -> list[Rest]:
        """Run the descents one after another, each from the result of the one before; the first from `start` (nq,)."""
        rests: list[Rest] = []
        for descent in descents:
            begin = rests[-1].q.copy() if rests else start
            rests.append(descent.rest(begin, max_steps, tolerance, branches=branches))
        return rests

    def _descents_of(self, parts: Iterable[Part]) -> list[Descent]:
        """Descents with the present targets, and the present places of obstacles."""
        descents = [Descent(self.figure, part, self._options) for part in parts]
        for descent in descents:
            descent.follow(self._descents[-1])
        return descents

    def _judge_each(
        self, descents: Sequence[Descent], postures: Sequence[Posture], stop: Stop, tolerance: float
    ) -> Result:
        """The result at the posture of the last descent, with reasons from the first that has a task."""
        found: Result | None = None
        for descent, posture in zip(reversed(descents), reversed(postures), strict=True):
            if found is None or any(
                not verdict.met and verdict.task in descent.part.tasks for verdict in found.verdicts
            ):
                here = judge(descent.problem, posture, stop, tolerance, descent.moves(tolerance))
                found = here if found is None else with_reasons_of(found, here)
        assert found is not None
        return found

    def _in_order(self, found: Result, start: FloatArray, max_steps: int, tolerance: float) -> Result:
        """The result if tasks are solved in the order of their priorities, where it is better than `found`.

        There, tasks of low priority come before those that may not move all joints, and can have moved joints that
        carry the site of such a task.
        """
        first = min(task.priority for task in tasks_below(self.figure, self.tasks))
        above = [task for task in self.tasks if task.rank < first]
        parts = parts_of(self.figure, above, in_order=True)
        descents = self._descents_of([*parts, Part(self.tasks, None)])
        rests = self._rests(descents, start, max_steps, tolerance)
        count, last = descents[-2].problem.stages[-1].errors, descents[-1]
        before, after = (Posture(self.figure, rest.q) for rest in rests[-2:])
        errors, earlier, now = (last.problem.level_errors(posture) for posture in (found.posture, before, after))
        strict = count if set(last_holds(self.tasks)) >= set(tasks_below(self.figure, self.tasks)) else len(errors) - 1
        slack = max(tolerance, LEAST_TOLERANCE)
        if is_better(earlier[:count], now[:count], slack, slack):
            # The masked rows of a level do not contain everything by which lower tasks can raise its error.
            after, now = before, earlier
        gains = is_better(earlier[:count], errors[:count], slack, slack)
        loses = is_better(errors[:count], earlier[:count], slack, slack)
        if loses or not (gains or is_better(now[:strict], errors[:strict], slack, slack)):
            return found
        stop = Stop(found.steps + sum(rest.steps for rest in rests), max(rest.moved for rest in rests) <= tolerance)
        return judge(last.problem, after, stop, tolerance, last.moves(tolerance))

    def judge(self, posture: PostureLike, *, tolerance: float = 1e-6, at_rest: bool | None = None) -> Result:
        """Which tasks a posture meets, and why it does not meet the others; later steps are not affected.

        Args:
            posture: The posture.
            tolerance: Error up to which a task is met [rad or m].
            at_rest: Whether steps from there no longer move the figure; if not given, a step is tried.
        """
        q = self._legal_start(posture)
        for descent in self._descents:
            if descent.trust_region is not None:
                descent.trust_region.measure(q)
        tolerance = _checked_stopping(0, tolerance)[1]
        # Terms computed in Python change their state at every step, so no trial step is taken with them.
        learns = any(descent.problem.external_terms for descent in self._descents)
        here = Posture(self.figure, q)
        return self._judge_each(
            self._descents, [here] * len(self._descents), Stop(at_rest=True if learns else at_rest), tolerance
        )

    def target(self, task: Task, value: TargetLike | Task) -> None:
        """Give a task another target: a position, rotation, direction, pose, posture or number, or that of a task."""
        last = self._descents[-1]
        for descent in self._descents:
            if descent is last or task in descent.part.tasks:
                descent.problem.retarget(task, value)

    def move(self, obstacle: Obstacle | Plane, where: Pose | Obstacle | Plane) -> None:
        """Move an obstacle to another pose, or to that of another obstacle with the same shape.

        A plane is transformed by a pose, or takes the place of another plane.
        """
        if self._problem.avoidance is None:
            raise TaskError("there is no obstacle to move: give some as obstacles=[…].")
        for descent in self._descents:
            descent.move(obstacle, where)

    def _first_posture(self) -> Posture:
        """The posture to start from when none is given."""
        return self._descents[0].problem.first_posture()

    @property
    def _recruited(self) -> list[str] | None:
        """Names of the joints that some task may move; None for all."""
        given = [task for task in self.tasks if task.active and not isinstance(task, Avoid)]
        masks = [recruited(self.figure, task) for task in given]
        known = [mask for mask in masks if mask is not None]
        if not known or len(known) < len(masks):
            return None
        used = np.max(known, axis=0)
        return [name for name in self.figure.moving_joints if used[self.figure.v_slice(name)].any()]

    def _copy(self, posture: PostureLike) -> FloatArray:
        """(nq,) a copy of a posture's coordinates."""
        if isinstance(posture, Posture) and posture._figure is self.figure:
            return posture._q.copy()
        return self.figure.posture(posture)._q.copy()

    def _legal_start(self, posture: PostureLike) -> FloatArray:
        """(nq,) a legal copy of a posture's coordinates; the neutral ones if no legal posture is found near it."""
        return self._legal(self._copy(posture))

    def _legal(self, q: FloatArray) -> FloatArray:
        """(nq,) legal coordinates near `q` (nq,), which is changed; the neutral ones if there are none."""
        status = make_legal(self._problem.handle, q)
        if status == NOT_FINITE:
            raise FigureError(f"the posture to start from has a value that is not a finite number: {q.tolist()}.")
        if status == LOOPS_OPEN:
            return self._closed(q)
        return q if status == LEGAL else self._neutral.copy()

    def _closed(self, q: FloatArray) -> FloatArray:
        """(nq,) the posture with its loops closed, or the neutral one if they cannot be closed from there."""
        found: FloatArray = q
        for _ in range(MAX_CLOSING_ROUNDS):
            assembly = self.figure.assemble({}, near=Posture(self.figure, found))
            found = assembly.posture._q.copy()
            if make_legal(self._problem.handle, found) == LEGAL:
                return found
        found = self._neutral.copy()
        if make_legal(self._problem.handle, found) == LEGAL:
            return found
        if assembly.status == "open":
            raise FigureError(assembly.report())
        raise FigureError(
            f"no posture of {self.figure.name} with closed loops inside its limits and couplings was found near the "
            "start; start from such a posture."
        )

    @cached_property
    def _neutral(self) -> FloatArray:
        """(nq,) the neutral posture, clamped to the limits."""
        q = self.figure.neutral()._q.copy()
        clamp(self.figure.compiled.bounds, _NO_PREVIOUS_POSTURE, q)
        return q


def _avoiding(figure: Figure, obstacles: Sequence[Obstacle | Plane], avoid_self: bool, solid: bool) -> list[Avoid]:
    """The tasks that keep a figure clear of obstacles and of itself."""
    made = solid_task(figure, obstacles) if solid else None
    hazards = [*([] if made else obstacles), *([SELF] if avoid_self else [])]
    return [*([made] if made else []), *([Avoid(hazards)] if hazards else [])]


def _checked_loads(figure: Figure, forces: Iterable[Load]) -> tuple[Load, ...]:
    """Check that forces and supports are at sites or bodies of the figure."""
    loads: tuple[Load, ...] = all_of(forces, (Force, Support, Gravity), "force")
    for load in loads:
        if not isinstance(load, Gravity):
            figure.frame_row(load.site)
    return loads


def _checked_stopping(max_steps: Any, tolerance: Any) -> tuple[int, float]:
    """Check the stopping criteria, and convert them to the types that the kernels are compiled for."""
    return whole(max_steps, "max_steps"), number(tolerance, "the tolerance of a solve", least=0.0)


def solve(  # noqa: PLR0913
    figure: Figure,
    tasks: Iterable[Task],
    *,
    start: PostureLike | None = None,
    obstacles: Iterable[Obstacle | Plane] = (),
    avoid_self: bool = False,
    solid: bool = False,
    forces: Iterable[Load] = (),
    criteria: Iterable[Criterion] | None = None,
    stand: bool = True,
    max_steps: int = 200,
    tolerance: float = 1e-6,
    restarts: int = 0,
    seed: int = 0,
) -> Result:
    """Find the best legal posture for tasks by priority.

    Args:
        figure: The figure to pose.
        tasks: The tasks, each with its priority.
        start: Start posture, clamped to the limits first. If not given, people on their feet start from the posture
            that is likely for the tasks, and, where it meets too little, also from those of people who are not
            upright and, if solid, from standing; other figures start from the neutral posture.
        obstacles: Obstacles to keep clear of: the same as `Avoid(obstacles)` among the tasks.
        avoid_self: Whether bodies keep clear of each other: the same as `Avoid("self")`.
        solid: Whether the figure is solid: its bodies touch each other, the floor and the obstacles, but do not pass
            through them; the same as `Avoid([*obstacles, floor, "self"], margin=0)`.
        forces: Forces, supports and gravity, for tasks and criteria that do not have their own.
        criteria: Objective functions to minimise in the freedom that the tasks leave; their sum counts. By default
            people move as people do (`Natural`), and other figures have none: `criteria=()` switches that off.
        stand: Whether a human that starts on its feet keeps standing there, balanced, above all tasks; a task for one
            leg frees the foot of that leg. Other figures need tasks for that.
        max_steps: Largest number of steps of one descent. Where a level is not met, a solve makes several: it also
            descends with the higher levels alone, and takes the better answer.
        tolerance: Step up to which the posture counts as at rest, and error up to which a task is met [rad or m].
        restarts: How many random starts to try while some task is not met; the best of all is the result. Without any,
            other branches of the limbs of unmet tasks are tried (`reach`), but not for figures with natural motion or
            obstacles.
        seed: Seed of the random starts; the same seed gives the same bytes.

    Returns:
        The posture, which tasks are met, and why the others are not.
    """
    checked_figure(figure, "a solver")
    tries, first_seed = whole(restarts, "restarts"), seed_of(seed)
    max_steps, tolerance = _checked_stopping(max_steps, tolerance)
    given = all_of(tasks, Task, "task", hints=TASK_HINTS)
    loads = _checked_loads(figure, forces)
    if stand and not loads:
        begins = figure.neutral() if start is None else figure.posture(start)
        given = (*given, *stance(figure, given, begins))
    solver = Solver(
        figure,
        given,
        obstacles=obstacles,
        avoid_self=avoid_self,
        solid=solid,
        forces=loads,
        criteria=criteria,
        step=StepSize(min_gain=SOLVE_MIN_GAIN),
    )
    first = solver._first_posture() if start is None else figure.posture(start)
    best = solver._settle(first, max_steps, tolerance, branches=True)
    if best.status != "solved" and start is None:
        others = solver._descents[0].problem.other_first_postures()
        best = _best_of(solver, best, others, max_steps=max_steps, tolerance=tolerance, slack=LEAST_START_GAIN)
    if best.status != "solved" and tries > 0:
        others = other_starts(first, tries, first_seed, solver._recruited)
        best = _best_of(solver, best, others, max_steps=max_steps, tolerance=tolerance)
    for descent in solver._descents:
        give_back(descent.problem)
    return best


def _best_of(
    solver: Solver,
    best: Result,
    starts: Iterable[Posture],
    *,
    max_steps: int,
    tolerance: float,
    slack: float = EQUAL_ERROR,
) -> Result:
    """The best of a result and those from other starts, which are tried until all tasks are met.

    Another one is better if it decreases the error of a level by more than `slack`, and costs no level above anything.
    """
    errors = solver._problem.level_errors(best.posture)
    for start in starts:
        found = solver.settle(start, max_steps=max_steps, tolerance=tolerance)
        found_errors = solver._problem.level_errors(found.posture)
        if is_better(found_errors, errors, tolerance, slack) and not is_better(errors, found_errors, tolerance):
            best, errors = found, found_errors
        if best.status == "solved":
            break
    return best


def other_starts(
    first: Posture, count: int, seed: int | None, moving: Collection[str] | None = None
) -> Iterator[Posture]:
    """Generate `count` random legal postures with the floating base of `first`.

    Args:
        first: The posture that is changed.
        count: Number of postures.
        seed: Seed of the random numbers.
        moving: Names of the joints to change; None for all.
    """
    figure, rng = first.figure, np.random.default_rng(seed)
    kept = [
        joint.name
        for joint in figure.joints
        if (joint.kind == "free" and joint.parent is None) or (moving is not None and joint.name not in moving)
    ]
    for _ in range(count):
        yield figure.clamp(figure.random(rng).changed({name: first[name] for name in kept}))
