"""The result of a solve: the posture, which tasks are met, and why the others are not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture

if TYPE_CHECKING:
    from poise.tasks.task import Task

Status = Literal["solved", "compromised", "unreachable", "stalled"]


@dataclass(frozen=True)
class Verdict:
    """The error of one task, and the reasons for it."""

    task: Task
    error: float
    """Size of its error, unweighted."""
    met: bool
    """Whether the error is within the tolerance."""
    gave_way_to: tuple[str, ...] = ()
    """Tasks of higher levels that keep it from being met."""
    blocked_by: tuple[str, ...] = ()
    """Joint limits, couplings and contacts that keep it from being met."""
    shares_with: tuple[str, ...] = ()
    """Tasks of the same priority whose targets conflict with this one's."""
    asked: Task | None = None
    """The task with its current target, where `Solver.target` has changed it."""

    @property
    def outcome(self) -> str:
        """The outcome in words: "met", or the names of what keeps the task from being met."""
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
        """Index the verdicts by task and by name."""
        self._by_task = {verdict.task: verdict.error for verdict in verdicts}
        self._by_name = {verdict.task.label: verdict.error for verdict in verdicts}

    def __getitem__(self, key: Task | str) -> float:
        """Error of a task; raises `KeyError` for a name that no task has."""
        if isinstance(key, str):
            if key not in self._by_name:
                raise KeyError(f"no task is called {key!r}; there are: {', '.join(self._by_name)}")
            return self._by_name[key]
        return self._by_task[key]

    def __iter__(self):  # type: ignore[no-untyped-def]
        """The tasks."""
        return iter(self._by_task)

    def __len__(self) -> int:
        """Number of tasks."""
        return len(self._by_task)


@dataclass(frozen=True)
class Result:
    """The best legal posture that a solve found, and the verdicts on all tasks."""

    posture: Posture
    status: Status
    """"solved": every task is met. "compromised": some task gave way to another. "unreachable": some task is out of
    reach, or blocked by limits, regardless of other tasks. "stalled": the posture was still moving at the last step."""
    verdicts: tuple[Verdict, ...]
    steps: int
    """Number of steps of the iteration."""
    tolerance: float
    """Tolerance of the solve [rad or m]."""

    @property
    def errors(self) -> Errors:
        """Final error of each task, by task or by name."""
        return Errors(self.verdicts)

    @property
    def q(self) -> FloatArray:
        """(nq,) the coordinates of the posture."""
        return self.posture.q

    def report(self) -> str:
        """A table in words: per task the wanted and the actual value, the error, and the reason for the error."""
        from poise.engine.report import report

        return report(self)
