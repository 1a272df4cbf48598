"""A result in words: per level and task what was wanted, what was got, and what stood in the way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from poise.engine.result import Result
from poise.engine.wanted import amount, compared
from poise.figure.model.violations import reached_limits
from poise.tasks.avoid import Avoid
from poise.tasks.task import Task

SENTENCES = {
    "solved": "every task is met",
    "compromised": "what is not met gave way, near this start, to something else asked (restarts=10 tries others)",
    "unreachable": "something is out of reach from this start, or blocked by limits, whatever else is asked",
    "stalled": "the posture was still moving; more steps (max_steps) may help",
}
HEADINGS = ("level", "task", "wanted", "got", "error", "outcome")


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
    """Status, steps, and what the status means."""
    steps = "1 step" if result.steps == 1 else f"{result.steps} steps"
    return f"{result.status.capitalize()} after {steps}: {SENTENCES[result.status]}."


def rows(result: Result) -> list[Row]:
    """One row per task, the first level first; what is avoided stands above all."""
    found = []
    for verdict in sorted(result.verdicts, key=lambda verdict: _level(verdict.task)):
        task = verdict.task
        wanted, got = compared(verdict.asked or task, result.posture)
        error = "0" if verdict.met else amount(verdict.error, task.unit())
        found.append(Row(str(_level(task) or "all"), task.label, wanted, got, error, verdict.outcome))
    return found


def _level(task: Task) -> int:
    """Its priority; 0 for what is above every priority."""
    return 0 if isinstance(task, Avoid) else task.priority


def limits_line(result: Result) -> str:
    """Which joints and couplings are at their limits, if any are."""
    reached = reached_limits(result.posture.figure, result.posture)
    return f"At their limits: {', '.join(reached)}." if reached else ""


def _aligned(table: Sequence[Sequence[str]]) -> list[str]:
    """Columns as wide as they need to be; the error's numbers end below each other."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    right = HEADINGS.index("error")
    return [
        "  ".join(
            cell.rjust(width) if k == right else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]
