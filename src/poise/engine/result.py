"""The result of a solve: the posture, the verdict on each task with its reasons, and a report in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from poise.engine.reasons import Constraint, Reasons, confirmed, figure_constraints, find_hold_reasons, find_reasons
from poise.figure.collision.soles import SupportPolygon
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture, reached_limits
from poise.figure.model.viewable import View, Viewable
from poise.kernels.distances.clearance import MARGIN_TOLERANCE
from poise.kernels.engine.indirect_calls import evaluate_current
from poise.kernels.engine.step import examine
from poise.tasks.amounts import amount, inside_words
from poise.tasks.posture import Hold
from poise.tasks.words import lacking

if TYPE_CHECKING:
    from poise.engine.engine_arrays import TaskRows
    from poise.engine.problem import Problem
    from poise.tasks.avoid import Avoid
    from poise.tasks.task import Task

Status = Literal["solved", "compromised", "unreachable", "stalled"]
Settle = Callable[[FloatArray, int], float]
"""Moves coordinates (nq,) by at most a number of steps; returns the size of the last step."""
TRIAL_STEPS = 60
"""Number of steps that try whether an error falls without some tasks."""
MEASURED_TRIAL_STEPS = 20
"""The same for problems that measure distances before and after each step, which takes longer."""
LEAST_FALL, LEAST_FALL_SHARE = 1e-5, 1e-3
"""Least fall of an error that counts as one [m or rad], and the same as a share of the error."""
NOT_IMPROVING = 1e-6
"""Share of an error by which a step must lower it for the error to count as improving."""
LEAST_TOLERANCE = 1e-6
"""Error up to which a task counts as met for any tolerance [m or rad]: the error that accepted steps may leave."""
STATUS_SENTENCES = {
    "solved": "every task is met",
    "compromised": "some task gave way to another one near this start (restarts=10 tries other starts)",
    "unreachable": "some task is out of reach from this start, or blocked by limits, whatever the other tasks are",
    "stalled": "the posture was still moving; more steps (max_steps) may help",
}
"""Explanation of each status, for the first line of a report."""
HEADINGS = ("level", "task", "wanted", "got", "error", "outcome")
"""Headings of the columns of a report."""


@dataclass(frozen=True)
class Verdict:
    """The error of one task, and the reasons for it."""

    task: Task
    error: float
    """Size of its error, unweighted."""
    met: bool
    """Whether the error is within the tolerance."""
    gave_way_to: tuple[str, ...] = ()
    """Tasks of higher levels that keep it from being met."""
    blocked_by: tuple[str, ...] = ()
    """Joint limits, couplings and contacts that keep it from being met."""
    shares_with: tuple[str, ...] = ()
    """Tasks of the same priority whose targets conflict with this one's."""
    asked: Task | None = None
    """The task with its current target, where `Solver.target` has changed it."""
    stopped_after: int | None = None
    """Number of steps after which the solve ended while the figure was still moving; None if it was at rest."""
    because: str = ""
    """Why no posture nearby meets the task, as a sentence; empty if the other reasons explain it."""
    improving: float = 0.0
    """What one more step would have removed of its error, if the figure was still moving [m or rad]."""
    support: SupportPolygon | None = None
    """What carries the figure, for a task that keeps the centre of mass over it, and how far inside that is."""

    @property
    def outcome(self) -> str:
        """The outcome in words: "met", or the names of what keeps the task from being met."""
        if self.met:
            return "met"
        if self.because:
            return self.because
        if self.stopped_after is not None:
            return self._unfinished(self.stopped_after)
        reasons = []
        if self.gave_way_to:
            reasons.append("gave way to " + ", ".join(self.gave_way_to))
        if self.shares_with:
            reasons.append("compromises with " + ", ".join(self.shares_with))
        if self.blocked_by:
            reasons.append("blocked by " + ", ".join(self.blocked_by))
        return "; ".join(reasons) or "out of reach"

    def _unfinished(self, steps: int) -> str:
        if self.improving > NOT_IMPROVING * self.error:
            return f"still improving: {amount(self.improving, self.task.unit())} per step"
        return f"stopped after {steps} step{'s' if steps != 1 else ''}"


class Errors(Mapping["Task | str", float]):
    """Final error of each task, by the task itself or by its name."""

    def __init__(self, verdicts: tuple[Verdict, ...]) -> None:
        """Index the verdicts by task and by name."""
        self._by_task = {verdict.task: verdict.error for verdict in verdicts}
        self._by_name = {verdict.task.label: verdict.error for verdict in verdicts}

    def __getitem__(self, key: Task | str) -> float:
        """Error of a task; raises `KeyError` for a name that no task has."""
        if isinstance(key, str):
            if key not in self._by_name:
                raise KeyError(f"no task is called {key!r}; there are: {', '.join(self._by_name)}")
            return self._by_name[key]
        return self._by_task[key]

    def __iter__(self):  # type: ignore[no-untyped-def]
        """The tasks."""
        return iter(self._by_task)

    def __len__(self) -> int:
        """Number of tasks."""
        return len(self._by_task)


@dataclass(frozen=True)
class Result(Viewable):
    """The best legal posture that a solve found, and the verdicts on all tasks."""

    posture: Posture
    status: Status
    """"solved": every task is met. "compromised": some task gave way to another. "unreachable": some task is out of
    reach, or blocked by limits, regardless of other tasks. "stalled": the posture was still moving at the last step."""
    verdicts: tuple[Verdict, ...]
    steps: int
    """Number of steps of the iteration."""
    tolerance: float
    """Tolerance of the solve [rad or m]."""

    @property
    def errors(self) -> Errors:
        """Final error of each task, by task or by name."""
        return Errors(self.verdicts)

    @property
    def q(self) -> FloatArray:
        """(nq,) the coordinates of the posture."""
        return self.posture.q

    def report(self) -> str:
        """A table in words: per task the wanted and the actual value, the error, and the reason for the error."""
        return report(self)

    def view(self) -> View:
        """The figure in the posture that was found, with the report."""
        return View(self.posture.figure, [self.posture], text=self.report())


class Stop(NamedTuple):
    """How a solve ended."""

    steps: int = 0
    """Number of steps taken."""
    at_rest: bool | None = None
    """Whether the figure was at rest; None if that is to be tried."""


def judge(problem: Problem, posture: Posture, stop: Stop, tolerance: float, settle: Settle) -> Result:
    """The result of a solve that ended at `posture`.

    The problem's memory of earlier steps is not changed.

    Args:
        problem: The problem.
        posture: The posture to judge.
        stop: How the solve ended.
        tolerance: Step up to which the posture counts as at rest, and error up to which a task is met [rad or m].
        settle: Moves coordinates (nq,) by at most a number of steps; returns the size of the last one.
    """
    # Distances were measured at this posture; trials without some tasks measure them elsewhere.
    avoided = [_avoid_verdict(problem, avoid, tolerance) for avoid in problem.avoids]
    found = [*_Judge(problem, posture, settle).verdicts(stop, tolerance), *avoided]
    return Result(posture, _status(found), tuple(found), stop.steps, tolerance)


def with_reasons_of(result: Result, other: Result) -> Result:
    """A result with the reasons of another one for tasks that neither of them meets."""
    reasons = {verdict.task: verdict for verdict in other.verdicts if not verdict.met}
    found = [
        verdict if verdict.met or verdict.task not in reasons else replace(reasons[verdict.task], error=verdict.error)
        for verdict in result.verdicts
    ]
    return replace(result, verdicts=tuple(found), status=_status(found))


@dataclass(frozen=True)
class _Judge:
    """Judges the tasks of a problem at a posture."""

    problem: Problem
    posture: Posture
    settle: Settle

    def verdicts(self, stop: Stop, tolerance: float) -> list[Verdict]:
        """Verdicts on all tasks."""
        problem, tasks = self.problem, self.tasks
        sizes, hopeless = _errors_at(problem, self.posture._q), self._hopeless()
        support = {t.task: polygon for t in problem.task_rows if (polygon := problem.support_polygon(t)) is not None}
        met = [_is_met(_task_of(t), size, tolerance) for t, size in zip(tasks, sizes.tolist(), strict=True)]
        if all(met):
            found = [Verdict(_task_of(t), size, True) for t, size in zip(tasks, sizes.tolist(), strict=True)]
        else:
            with problem.memory_kept():
                found = self._with_reasons(sizes, met, stop, tolerance)
        for i, verdict in enumerate(found):
            task = verdict.task
            if not verdict.met and task in hopeless:
                found[i] = replace(found[i], because=hopeless[task])
            if (asked := problem.current_task(task)) is not None:
                found[i] = replace(found[i], asked=asked)
            if task in support:
                found[i] = replace(found[i], support=support[task])
        return found

    def _with_reasons(self, sizes: FloatArray, met: Sequence[bool], stop: Stop, tolerance: float) -> list[Verdict]:
        """Verdicts on all tasks, some of which are not met."""
        q = self.posture._q.copy()
        if stop.at_rest or (self.settle(q, 1) <= tolerance and stop.at_rest is None):
            return self._at_rest(sizes, met)
        gains = sizes - _errors_at(self.problem, q)
        return [
            Verdict(_task_of(t), float(size), ok, stopped_after=stop.steps, improving=max(float(gain), 0.0))
            for t, size, ok, gain in zip(self.tasks, sizes, met, gains, strict=True)
        ]

    @property
    def tasks(self) -> list[TaskRows | Hold]:
        """The tasks by level, and the `Hold` task below all others if there is one."""
        last = self.problem.last_hold
        return [*self.problem.task_rows, *([] if last is None else [last])]

    def _at_rest(self, sizes: FloatArray, met: Sequence[bool]) -> list[Verdict]:
        """Verdicts at a posture at rest, with the reasons of the tasks that are not met."""
        self.settle(self.posture._q.copy(), 0)  # Distances are measured here, wherever they were measured last.
        examine(self.problem.handle, self.posture._q.copy())
        unmet = [t for t, ok in zip(self.tasks, met, strict=True) if not ok and not isinstance(t, Hold)]
        limits = figure_constraints(self.problem, self.posture)
        reasons = [Reasons() if ok else self._reasons(t, limits, unmet) for t, ok in zip(self.tasks, met, strict=True)]
        verdicts = []
        hopeless = self._hopeless()
        for k, t in enumerate(self.tasks):
            found = Reasons() if _task_of(t) in hopeless else reasons[k]
            if not met[k] and _task_of(t) not in hopeless:
                found = confirmed(found, self._others(t), partial(self._falls_without, k, float(sizes[k])))
            verdicts.append(Verdict(_task_of(t), float(sizes[k]), met[k], found.above, found.limits, found.beside))
        return verdicts

    def _hopeless(self) -> dict[Task, str]:
        """Why no forces of the ground can balance the figure, by task."""
        outlines = self.problem.support_outlines
        return {
            task: lacking(o.missing.force, o.missing.moment) for task, o in outlines.items() if o.missing is not None
        }

    def _reasons(self, task: TaskRows | Hold, limits: Sequence[Constraint], unmet: Sequence[TaskRows]) -> Reasons:
        """What balances the gradient of a task."""
        if isinstance(task, Hold):
            return find_hold_reasons(self.problem, limits, self.problem.hold_error(self.posture), unmet)
        return find_reasons(self.problem, limits, task, unmet)

    def _others(self, task: TaskRows | Hold) -> Reasons:
        """The names of all tasks above a task and beside it."""
        rows = self.problem.task_rows
        if isinstance(task, Hold):
            return Reasons(above=tuple(t.task.label for t in rows))
        return Reasons(
            above=tuple(t.task.label for t in rows if t.level < task.level),
            beside=tuple(t.task.label for t in rows if t.level == task.level and t is not task),
        )

    def _falls_without(self, k: int, size: float, names: Collection[str]) -> bool:
        """Whether the error of task `k`, of this size at rest, falls when the tasks with these names are left out.

        The tasks below it are left out as well.
        """
        q, rows = self.posture._q.copy(), self.problem.task_rows
        level = rows[k].level if k < len(rows) else math.inf
        others = [t for i, t in enumerate(rows) if i != k]
        with self.problem.left_out({t.task for t in others if t.task.label in names or t.level > level}):
            self.problem.forget()
            self.settle(q, TRIAL_STEPS if self.problem.avoidance is None else MEASURED_TRIAL_STEPS)
            now = float(_errors_at(self.problem, q)[k])
        return now < size - max(LEAST_FALL, LEAST_FALL_SHARE * size)


def _task_of(given: TaskRows | Hold) -> Task:
    return given if isinstance(given, Hold) else given.task


def _errors_at(problem: Problem, q: FloatArray) -> FloatArray:
    """Size of the error of every task, and of the last `Hold` task if there is one, at a posture `q` (nq,)."""
    evaluate_current(problem.handle, q)
    sizes = [_error_of(problem, rows) for rows in problem.task_rows]
    if problem.last_hold is not None:
        sizes.append(float(np.linalg.norm(problem.hold_error(Posture(problem.figure, q)))))
    return np.array(sizes)


def _error_of(problem: Problem, rows: TaskRows) -> float:
    """Size of a task's error at the posture evaluated last; that of the missing wrench where balance is impossible."""
    outline = problem.support_outlines.get(rows.task)
    if outline is not None and outline.missing is not None:
        return float(np.linalg.norm(outline.missing.error))
    counted = problem.engine.current.error[rows.rows][problem.counted[rows.rows]]
    return math.sqrt(counted.dot(counted))


def _is_met(task: Task, size: float, tolerance: float) -> bool:
    """Whether an error of this size is met: one step would reduce it by no more than the tolerance."""
    return size <= max(tolerance, LEAST_TOLERANCE, task.precision) / task.gain


def _avoid_verdict(problem: Problem, avoid: Avoid, tolerance: float) -> Verdict:
    """The verdict on an `Avoid` task: whether all pairs keep their margin."""
    assert problem.avoidance is not None
    violation = problem.avoidance.violation(avoid)
    return Verdict(avoid, violation, violation <= max(tolerance, MARGIN_TOLERANCE))


def _status(verdicts: list[Verdict]) -> Status:
    """The status of a result: see `Result.status`."""
    if all(verdict.met for verdict in verdicts):
        return "solved"
    if any(verdict.stopped_after is not None for verdict in verdicts):
        return "stalled"
    gave_way = any(verdict.gave_way_to or verdict.shares_with for verdict in verdicts)
    return "compromised" if gave_way else "unreachable"


class Row(NamedTuple):
    """One task's line of a report."""

    level: str
    task: str
    wanted: str
    got: str
    error: str
    outcome: str


def report(result: Result) -> str:
    """The whole report as plain text."""
    lines = [headline(result), "", *_aligned([HEADINGS, *rows(result)])]
    if limits := limits_line(result):
        lines += ["", limits]
    return "\n".join(lines)


def headline(result: Result) -> str:
    """The first line of a report: the status, the number of steps, and an explanation of the status."""
    steps = "1 step" if result.steps == 1 else f"{result.steps} steps"
    return f"{result.status.capitalize()} after {steps}: {STATUS_SENTENCES[result.status]}."


def rows(result: Result) -> list[Row]:
    """One row per task, the first level first; `Avoid` tasks come before all levels."""
    found = []
    for verdict in sorted(result.verdicts, key=lambda verdict: verdict.task.rank):
        task = verdict.task
        wanted, got = (verdict.asked or task).compare(result.posture)
        got = got if verdict.support is None else inside_words(verdict.support.inside)
        error = "0" if verdict.met else (verdict.asked or task).error_words(result.posture, verdict.error)
        level = "soft" if task.soft else str(task.rank or "all")
        found.append(Row(level, task.label, wanted, got, error, verdict.outcome))
    return found


def limits_line(result: Result) -> str:
    """The line of a report that names the joints and couplings at their limits; empty if there are none."""
    reached = reached_limits(result.posture.figure, result.posture)
    return f"At their limits: {', '.join(reached)}." if reached else ""


def _aligned(table: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table with aligned columns; the errors are aligned to the right."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    right = HEADINGS.index("error")
    return [
        "  ".join(
            cell.rjust(width) if k == right else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]
