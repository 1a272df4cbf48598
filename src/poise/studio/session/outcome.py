"""The status light: green where every task is met, orange where the first level is, red where it is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from poise.engine.result import Verdict
from poise.tasks.avoid import Avoid
from poise.tasks.task import Task

Light = Literal["green", "orange", "red"]
LIGHTS: tuple[Light, ...] = ("green", "orange", "red")
NAMED = 3
"""How many names a sentence lists before it counts the others."""


@dataclass(frozen=True)
class Outcome:
    """How the tasks fare."""

    light: Light = "green"
    sentence: str = "Nothing is asked: pull the figure, or add a task."
    verdicts: Mapping[Task, Verdict] = field(default_factory=dict)

    def is_met(self, task: Task) -> bool:
        """Whether a task is met; one that is not judged yet counts as met."""
        verdict = self.verdicts.get(task)
        return verdict is None or verdict.met


def outcome_of(verdicts: Sequence[Verdict]) -> Outcome:
    """The light and its sentence."""
    if not verdicts:
        return Outcome()
    unmet = sorted((verdict for verdict in verdicts if not verdict.met), key=lambda verdict: _level(verdict.task))
    if not unmet:
        return Outcome("green", "Every task is met.", _by_task(verdicts))
    first = min(_level(verdict.task) for verdict in verdicts)
    light: Light = "red" if _level(unmet[0].task) == first else "orange"
    others = f" {len(unmet) - 1} more not met." if len(unmet) > 1 else ""
    return Outcome(light, _sentence(unmet[0]) + others, _by_task(verdicts))


def _by_task(verdicts: Sequence[Verdict]) -> dict[Task, Verdict]:
    return {verdict.task: verdict for verdict in verdicts}


def _level(task: Task) -> int:
    return 0 if isinstance(task, Avoid) else task.priority


def _sentence(verdict: Verdict) -> str:
    """Who gave way to what, or what stopped it."""
    who = verdict.task.label[:1].upper() + verdict.task.label[1:]
    if verdict.gave_way_to:
        return f"{who} gave way to {listed(verdict.gave_way_to)}."
    if verdict.shares_with:
        return f"{who} shares with {listed(verdict.shares_with)}."
    if verdict.blocked_by:
        return f"{who} is blocked by {listed(verdict.blocked_by)}."
    return f"{who} is out of reach."


def listed(names: Sequence[str]) -> str:
    """Names with commas between, the last few counted."""
    shown, more = names[:NAMED], len(names) - NAMED
    return ", ".join(name.replace("_", " ") for name in shown) + (f" and {more} more" if more > 0 else "")
