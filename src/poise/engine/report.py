"""A result as a table in words: per task the wanted and the actual value, the error, and the reason for the error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from poise.engine.result import Result
from poise.figure.model.posture import reached_limits
from poise.tasks.words import amount

STATUS_SENTENCES = {
    "solved": "every task is met",
    "compromised": "some task gave way to another one near this start (restarts=10 tries other starts)",
    "unreachable": "some task is out of reach from this start, or blocked by limits, whatever the other tasks are",
    "stalled": "the posture was still moving; more steps (max_steps) may help",
}
"""Explanation of each status, for the first line of a report."""
HEADINGS = ("level", "task", "wanted", "got", "error", "outcome")
"""Headings of the columns of a report."""


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
        error = "0" if verdict.met else amount(verdict.error, task.unit())
        found.append(Row(str(task.rank or "all"), task.label, wanted, got, error, verdict.outcome))
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
