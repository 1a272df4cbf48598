"""Judges a posture: which task is met, and what stands in the way of the others."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from poise.engine.result import Result, Status, Verdict
from poise.kernels.goals import take_stance

if TYPE_CHECKING:
    from poise.engine.problem import Problem
    from poise.figure.posture import Posture


def judge(problem: Problem, posture: Posture, steps: int, moved: float, tolerance: float) -> Result:
    """The result for a posture."""
    engine = problem.engine
    take_stance(engine.tree, engine.goals, posture._q, engine.here)
    error = engine.here.error
    verdicts = []
    for asked in problem.asked:
        footing = problem.footings.get(asked.task)
        size = math.inf if footing is not None and footing.hopeless else float(np.linalg.norm(error[asked.rows]))
        verdicts.append(Verdict(asked.task, size, size <= tolerance))
    if problem.held is not None:
        size = float(np.linalg.norm(problem.held_gap(posture)))
        verdicts.append(Verdict(problem.held, size, size <= tolerance))
    return Result(posture, _status(verdicts, moved, tolerance), tuple(verdicts), steps, tolerance)


def _status(verdicts: list[Verdict], moved: float, tolerance: float) -> Status:
    if all(verdict.met for verdict in verdicts):
        return "solved"
    if moved > tolerance:
        return "stalled"
    return "compromised" if any(verdict.gave_way_to for verdict in verdicts) else "unreachable"
