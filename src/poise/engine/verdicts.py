"""Judges a posture: which tasks are met, and what keeps the others from being met."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from poise.engine.avoidance import MARGIN_TOLERANCE
from poise.engine.reasons import Reasons, find_hold_reasons, find_reasons
from poise.engine.result import Result, Status, Verdict
from poise.kernels.engine.step import take_step
from poise.kernels.goals.goals import evaluate

if TYPE_CHECKING:
    from poise.engine.goal_arrays import TaskRows
    from poise.engine.problem import Problem
    from poise.figure.model.posture import Posture
    from poise.tasks.avoid import Avoid
    from poise.tasks.task import Task

LEAST_TOLERANCE = 1e-6
"""Error up to which a task counts as met for any tolerance [m or rad]: the error that accepted steps may leave."""


def judge(problem: Problem, posture: Posture, steps: int, moved: float, tolerance: float) -> Result:
    """The result of a solve that ended at `posture` after `steps` steps, the last of which had the size `moved`.

    The problem's memory of earlier steps is not changed.
    """
    with problem.memory_kept():
        verdicts = _verdicts(problem, posture, tolerance)
    return Result(posture, _status(verdicts, moved, tolerance), tuple(verdicts), steps, tolerance)


def _verdicts(problem: Problem, posture: Posture, tolerance: float) -> list[Verdict]:
    """Judge every task at a posture."""
    engine = problem.engine
    evaluate(engine.tree, engine.goals, posture._q, engine.current)
    sizes = [_error_of(problem, rows) for rows in problem.task_rows]
    unmet = [t for t, size in zip(problem.task_rows, sizes, strict=True) if not _is_met(t.task, size, tolerance)]
    hold_error = problem.hold_error(posture)
    hold_size = float(np.linalg.norm(hold_error))
    if unmet or (problem.last_hold is not None and not _is_met(problem.last_hold, hold_size, tolerance)):
        # One more step, whose posture is discarded, computes the rows, limits and curvature at this posture.
        take_step(problem.handle, posture._q.copy())
    verdicts = []
    for rows, size in zip(problem.task_rows, sizes, strict=True):
        reasons = find_reasons(problem, posture, rows, unmet) if rows in unmet else Reasons()
        found = _verdict(rows.task, size, rows not in unmet, reasons)
        verdicts.append(replace(found, asked=problem.current_task(rows.task)))
    if problem.last_hold is not None:
        met = _is_met(problem.last_hold, hold_size, tolerance)
        reasons = Reasons() if met else find_hold_reasons(problem, posture, hold_error, unmet)
        verdicts.append(_verdict(problem.last_hold, hold_size, met, reasons))
    verdicts += [_avoid_verdict(problem, avoid, tolerance) for avoid in problem.avoids]
    return verdicts


def _error_of(problem: Problem, rows: TaskRows) -> float:
    """Size of a task's error at the posture evaluated last; infinite where no centre of mass could be balanced."""
    outline = problem.support_outlines.get(rows.task)
    if outline is not None and outline.is_empty:
        return math.inf
    return float(np.linalg.norm(problem.engine.current.error[rows.rows]))


def _is_met(task: Task, size: float, tolerance: float) -> bool:
    """Whether an error of this size is met: one step would reduce it by no more than the tolerance."""
    return size <= max(tolerance, LEAST_TOLERANCE) / task.gain


def _verdict(task: Task, size: float, met: bool, reasons: Reasons) -> Verdict:
    return Verdict(task, size, met, reasons.above, reasons.limits, reasons.beside)


def _avoid_verdict(problem: Problem, avoid: Avoid, tolerance: float) -> Verdict:
    """The verdict on an `Avoid` task: whether all pairs keep their margin."""
    assert problem.avoidance is not None
    violation = problem.avoidance.violation(avoid)
    return Verdict(avoid, violation, violation <= max(tolerance, MARGIN_TOLERANCE))


def _status(verdicts: list[Verdict], moved: float, tolerance: float) -> Status:
    """The status of a result: see `Result.status`."""
    if all(verdict.met for verdict in verdicts):
        return "solved"
    if moved > tolerance:
        return "stalled"
    gave_way = any(verdict.gave_way_to or verdict.shares_with for verdict in verdicts)
    return "compromised" if gave_way else "unreachable"
