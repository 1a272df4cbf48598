"""Whether what a report says is true: every claim is tried by intervention, on random conflicts."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

import poise
from poise.engine.problem import Problem
from poise.engine.result import LEAST_FALL, LEAST_FALL_SHARE, Result, Verdict
from poise.tasks.task import Task

LEAST = 1e-6
"""Fall of an error that shows that a reason holds [m or rad]."""
SAME = 1e-9
"""Change of an error up to which it is the same [m or rad]: limits that are lifted may let tasks above improve, which
can cost the task in question more than the limits did."""
MOST_NAMES = 3
"""Largest number of tasks, and of limits, that a verdict names."""


def false_claims(figure: poise.Figure, tasks: list[Task], start: poise.Posture) -> Iterator[str]:
    """The claims of a report that an intervention refutes, in words; a verdict that gives no reason claims nothing."""
    result = rest_of(figure, tasks, start)
    for verdict in result.verdicts:
        error = errors_at(figure, [verdict.task], result.posture)[0]
        if verdict.met and error > 2.0 * result.tolerance:
            yield f"{verdict.task.label}: met, but its error is {error:.3g}"
        if not verdict.met and verdict.stopped_after is None:
            for found in (
                _refuted_tasks(figure, tasks, result, verdict),
                _refuted_limits(figure, tasks, result, verdict),
                _refuted_reach(figure, result, verdict),
            ):
                if found:
                    yield f"{verdict.task.label}: {verdict.outcome}, but {found}"


def _refuted_tasks(figure: poise.Figure, tasks: list[Task], result: Result, verdict: Verdict) -> str:
    """What refutes that the task gave way to others or shares with them: without them, its error does not fall."""
    named = {*verdict.gave_way_to, *verdict.shares_with}
    if len(named) > MOST_NAMES:
        return "these are too many names"
    above = [other for other in tasks if other.priority < verdict.task.priority and other.label not in named]
    return _refuted(figure, [*above, verdict.task], result.posture, "without them") if named else ""


def _refuted_limits(figure: poise.Figure, tasks: list[Task], result: Result, verdict: Verdict) -> str:
    """What refutes that limits block the task: without them, its error does not fall, with the tasks above as good."""
    if not verdict.blocked_by:
        return ""
    if len(verdict.blocked_by) > MOST_NAMES:
        return "these are too many limits"
    wider = without_limits(figure, verdict.blocked_by)
    kept = [*(other for other in tasks if other.priority < verdict.task.priority), verdict.task]
    return _refuted(wider, kept, wider.posture(result.posture.q), "without these limits")


def _refuted(figure: poise.Figure, tasks: list[Task], start: poise.Posture, change: str) -> str:
    """What refutes that the error of the last of some tasks falls, with the tasks above it as good as at the start."""
    before, after = errors_at(figure, tasks, start), errors_after(figure, tasks, start)
    as_good = all(abs(a - b) <= SAME for a, b in zip(after[:-1], before[:-1], strict=True))
    if as_good and after[-1] > before[-1] - LEAST:
        return f"{change} it is {after[-1]:.6g} instead of {before[-1]:.6g}"
    return ""


def _refuted_reach(figure: poise.Figure, result: Result, verdict: Verdict) -> str:
    """What refutes that the task is out of reach: alone, it is better."""
    if verdict.outcome != "out of reach":
        return ""
    alone = errors_after(figure, [verdict.task], result.posture)[0]
    before = errors_at(figure, [verdict.task], result.posture)[0]
    better = alone < before - max(LEAST_FALL, LEAST_FALL_SHARE * before)
    return f"alone it is {alone:.6g} instead of {before:.6g}" if better else ""


def errors_at(figure: poise.Figure, tasks: list[Task], posture: poise.Posture) -> list[float]:
    """Error of every level at a posture."""
    priorities = {task.priority for task in tasks}
    return [float(error) for error in Problem(figure, tasks).level_errors(posture)[: len(priorities)]]


def errors_after(figure: poise.Figure, tasks: list[Task], start: poise.Posture) -> list[float]:
    """Error of every level where a solve of some tasks comes to rest."""
    return errors_at(figure, tasks, rest_of(figure, tasks, start).posture)


def rest_of(figure: poise.Figure, tasks: list[Task], start: poise.Posture) -> Result:
    """The result of a solve of these tasks and no others."""
    return poise.solve(figure, tasks, start=start, max_steps=500, stand=False)


def without_limits(figure: poise.Figure, names: Collection[str]) -> poise.Figure:
    """A figure whose joints and couplings with some names, as verdicts name them, have no limits."""
    joints = {name.split(" (")[0] for name in names}
    return figure.replaced(
        joints=[
            replace(joint, lower=(), upper=(), ball_limits=None) if joint.name in joints else joint
            for joint in figure.joints
        ],
        couplings=[coupling for coupling in figure.couplings if coupling.name not in names],
    )
