"""Judges a posture: which task is met, and what stands in the way of the others."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from poise.engine.avoidance import DEEPER
from poise.engine.reasons import Reasons, reasons_of, reasons_of_hold
from poise.engine.result import Result, Status, Verdict
from poise.kernels.engine.step import take_step
from poise.kernels.goals.goals import evaluate

if TYPE_CHECKING:
    from poise.engine.goal_arrays import Asked
    from poise.engine.problem import Problem
    from poise.figure.model.posture import Posture
    from poise.tasks.avoid import Avoid
    from poise.tasks.task import Task

SMALLEST = 1e-6
"""Error below which a task is met however small the tolerance [m or rad]: steps leave as much behind."""


def judge(problem: Problem, posture: Posture, steps: int, moved: float, tolerance: float) -> Result:
    """The result for a posture that `moved` so far in the last of so many steps."""
    engine = problem.engine
    evaluate(engine.tree, engine.goals, posture._q, engine.current)
    sizes = [_error_of(problem, asked) for asked in problem.asked]
    unmet = [a for a, size in zip(problem.asked, sizes, strict=True) if not _is_met(a.task, size, tolerance)]
    gap = problem.held_gap(posture)
    far = float(np.linalg.norm(gap))
    if unmet or (problem.held is not None and not _is_met(problem.held, far, tolerance)):
        # One more step, not kept, leaves rows, limits and curvature of this very posture behind.
        take_step(problem.handle, posture._q.copy())
    verdicts = []
    for asked, size in zip(problem.asked, sizes, strict=True):
        reasons = reasons_of(problem, posture, asked, unmet) if asked in unmet else Reasons()
        found = _verdict(asked.task, size, asked not in unmet, reasons)
        verdicts.append(replace(found, asked=problem.as_asked(asked)))
    if problem.held is not None:
        met = _is_met(problem.held, far, tolerance)
        reasons = Reasons() if met else reasons_of_hold(problem, posture, gap, unmet)
        verdicts.append(_verdict(problem.held, far, met, reasons))
    for avoid in problem.avoids:
        verdicts.append(_cleared(problem, avoid, tolerance))
    return Result(posture, _status(verdicts, moved, tolerance), tuple(verdicts), steps, tolerance)


def _error_of(problem: Problem, asked: Asked) -> float:
    """Length of a task's error at the posture looked at last; infinite where no posture balances the figure."""
    footing = problem.footings.get(asked.task)
    if footing is not None and footing.hopeless:
        return math.inf
    return float(np.linalg.norm(problem.engine.current.error[asked.rows]))


def _is_met(task: Task, size: float, tolerance: float) -> bool:
    """Whether an error is no larger than what steps of the tolerance leave of it."""
    return size <= max(tolerance, SMALLEST) / task.gain


def _verdict(task: Task, size: float, met: bool, reasons: Reasons) -> Verdict:
    return Verdict(task, size, met, reasons.above, reasons.limits, reasons.beside)


def _cleared(problem: Problem, avoid: Avoid, tolerance: float) -> Verdict:
    """Whether everything is as far away as a task wants it."""
    assert problem.avoidance is not None
    excess = problem.avoidance.excess(avoid)
    return Verdict(avoid, excess, excess <= max(tolerance, DEEPER))


def _status(verdicts: list[Verdict], moved: float, tolerance: float) -> Status:
    if all(verdict.met for verdict in verdicts):
        return "solved"
    if moved > tolerance:
        return "stalled"
    gave_way = any(verdict.gave_way_to or verdict.shares_with for verdict in verdicts)
    return "compromised" if gave_way else "unreachable"
