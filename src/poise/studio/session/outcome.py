"""The status light: green if every task is met, orange if the first level is met, red if it is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from poise.engine.result import Verdict
from poise.tasks.task import Task

Light = Literal["green", "orange", "red"]
LIGHTS: tuple[Light, ...] = ("green", "orange", "red")
UNMET_TASKS_LISTED = 3
"""Names that a sentence lists; the others are only counted."""


@dataclass(frozen=True)
class Outcome:
    """The status light, its sentence, and the verdict on each task."""

    light: Light = "green"
    """Colour of the status light."""
    sentence: str = "No tasks yet: drag the figure, or add a task."
    """Sentence beside the light."""
    verdicts: Mapping[Task, Verdict] = field(default_factory=dict)
    """Verdict on each task that has been evaluated."""
    inside: float | None = None
    """How far the centre of mass is inside what carries the figure, negative outside [m]; None if no task says."""

    @property
    def balance(self) -> str:
        """A sentence that says how far the centre of mass is from tipping the figure over; empty if no task says."""
        if self.inside is None:
            return ""
        millimetres = round(1000.0 * abs(self.inside))
        side = "inside" if self.inside > 0.0 else "outside"
        place = f"{millimetres} mm {side} its support" if millimetres else "on the edge of its support"
        return f"The centre of mass is {place}."

    def is_met(self, task: Task) -> bool:
        """Whether a task is met; a task that has not been evaluated counts as met."""
        verdict = self.verdicts.get(task)
        return verdict is None or verdict.met


NOT_READY = Outcome("orange", "Getting ready: pulling works in a moment.")
"""The outcome while the kernels of the engine are being compiled."""
MODE_NOT_READY = Outcome("orange", "Getting ready: this mode works in a moment.")
"""The outcome while the kernels of a mode that moves the figure itself are being compiled."""


def outcome_of(verdicts: Sequence[Verdict]) -> Outcome:
    """The outcome for the verdicts of all tasks."""
    if not verdicts:
        return Outcome()
    by_task = {verdict.task: verdict for verdict in verdicts}
    unmet = sorted((verdict for verdict in verdicts if not verdict.met), key=lambda verdict: verdict.task.rank)
    inside = next((float(verdict.support.inside) for verdict in verdicts if verdict.support is not None), None)
    if not unmet:
        return Outcome("green", "Every task is met.", by_task, inside)
    first = min((verdict.task.rank for verdict in verdicts if verdict.task.rank > 0), default=0)
    light: Light = "red" if unmet[0].task.rank <= first else "orange"
    others = f" {len(unmet) - 1} more not met." if len(unmet) > 1 else ""
    return Outcome(light, _sentence(unmet[0]) + others, by_task, inside)


def _sentence(verdict: Verdict) -> str:
    """A sentence that names an unmet task and the reason: tasks above it, tasks beside it, limits, or its distance."""
    who = verdict.task.label[:1].upper() + verdict.task.label[1:]
    if verdict.stopped_after is not None:
        return f"{who} is on its way."
    if verdict.gave_way_to:
        return f"{who} gave way to {listed(verdict.gave_way_to)}."
    if verdict.shares_with:
        return f"{who} compromises with {listed(verdict.shares_with)}, which has the same priority."
    if verdict.blocked_by:
        return f"{who} is blocked by {listed(verdict.blocked_by)}."
    return f"{who} is out of reach."


def listed(names: Sequence[str]) -> str:
    """Names separated by commas; those beyond the first few are only counted."""
    shown, more = names[:UNMET_TASKS_LISTED], len(names) - UNMET_TASKS_LISTED
    return ", ".join(name.replace("_", " ") for name in shown) + (f" and {more} more" if more > 0 else "")
