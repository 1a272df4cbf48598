"""What a solve found: the posture, what was met, and what gave way to what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture

if TYPE_CHECKING:
    from poise.tasks.task import Task

Status = Literal["solved", "compromised", "unreachable", "stalled"]


@dataclass(frozen=True)
class Verdict:
    """How one task fared."""

    task: Task
    error: float
    """Length of its error, unweighted."""
    met: bool
    """Whether the error is within the tolerance."""
    gave_way_to: tuple[str, ...] = ()
    """Tasks of higher levels that it leans against."""
    blocked_by: tuple[str, ...] = ()
    """Joint limits, couplings and contacts that it leans against."""
    shares_with: tuple[str, ...] = ()
    """Tasks of its own level that pull the other way."""
    asked: Task | None = None
    """The task with the target that it had last, where `Solver.target` gave it another than its own."""

    @property
    def outcome(self) -> str:
        """One or two words, then what stands in the way."""
        if self.met:
            return "met"
        reasons = []
        if self.gave_way_to:
            reasons.append("gave way to " + ", ".join(self.gave_way_to))
        if self.shares_with:
            reasons.append("shares with " + ", ".join(self.shares_with))
        if self.blocked_by:
            reasons.append("blocked by " + ", ".join(self.blocked_by))
        return "; ".join(reasons) or "out of reach"


class Errors(Mapping["Task | str", float]):
    """Final error of each task, by the task itself or by its name."""

    def __init__(self, verdicts: tuple[Verdict, ...]) -> None:
        """Index the verdicts."""
        self._by_task = {verdict.task: verdict.error for verdict in verdicts}
        self._by_name = {verdict.task.label: verdict.error for verdict in verdicts}

    def __getitem__(self, key: Task | str) -> float:
        """Error of a task."""
        if isinstance(key, str):
            if key not in self._by_name:
                raise KeyError(f"no task is called {key!r}; there are: {', '.join(self._by_name)}")
            return self._by_name[key]
        return self._by_task[key]

    def __iter__(self):  # type: ignore[no-untyped-def]
        """The tasks."""
        return iter(self._by_task)

    def __len__(self) -> int:
        """How many tasks."""
        return len(self._by_task)


@dataclass(frozen=True)
class Result:
    """The best legal posture found."""

    posture: Posture
    status: Status
    """"solved": every task is met. "compromised": some task gave way to another. "unreachable": some task is out of
    reach, or blocked by limits, whatever the others want. "stalled": the posture was still moving at the last step."""
    verdicts: tuple[Verdict, ...]
    steps: int
    tolerance: float

    @property
    def errors(self) -> Errors:
        """Final error of each task, by task or by name."""
        return Errors(self.verdicts)

    @property
    def q(self) -> FloatArray:
        """The posture's numbers."""
        return self.posture.q

    def report(self) -> str:
        """Per level and task: error, and whether it was met or what stood in the way."""
        from poise.engine.report import report

        return report(self)


def error_size(error: FloatArray) -> float:
    """Length of an error."""
    return float(np.linalg.norm(error))
