"""Judges a posture: which task is met, and what stands in the way of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from poise.engine.avoidance import DEEPER
from poise.engine.result import Result, Status, Verdict
from poise.kernels.goals import take_stance

if TYPE_CHECKING:
    from poise.engine.problem import Problem
    from poise.figure.posture import Posture
    from poise.tasks.avoid import Avoid


def judge(problem: Problem, posture: Posture, steps: int, moved: float, tolerance: float) -> Result:
    """The result for a posture."""
    engine = problem.engine
    take_stance(engine.tree, engine.goals, posture._q, engine.here)
    error = engine.here.error
    verdicts = []
    for asked in problem.asked:
        size = float(np.linalg.norm(error[asked.rows]))
        verdicts.append(Verdict(asked.task, size, size <= tolerance))
    if problem.held is not None:
        size = float(np.linalg.norm(problem.held_gap(posture)))
        verdicts.append(Verdict(problem.held, size, size <= tolerance))
    for avoid in problem.avoids:
        verdicts.append(_cleared(problem, avoid, tolerance))
    return Result(posture, _status(verdicts, moved, tolerance), tuple(verdicts), steps, tolerance)


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
    return "compromised" if any(verdict.gave_way_to for verdict in verdicts) else "unreachable"
