"""Solves for the posture and target of a character in a thread of its own; a failure keeps the last valid solution."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Any, Protocol

import numpy as np

from poise.chains.targets import Gaze
from poise.character.idle import Idle
from poise.character.script import Script
from poise.errors import FigureError, PoiseError
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture

REST_CHANGE = 1e-4
"""A solution that changes by less than this counts as at rest [rad or m]."""
LATE_AFTER = 0.5
"""A solve that takes longer than this is reported as late [s]."""


GAZE_EVENTS = {
    "gaze": "the gaze is given up for a moment, to face the target from another side.",
    "shape": "the gaze is given up for a moment, to keep the shape of the posture from another side.",
    "reach": "the target cannot be faced within the limits of the joints.",
}
"""What is reported when the gaze is off, for the reason in a solver's result; turning to a new target is no event."""


class SolverResult(Protocol):
    """The result of a solver."""

    @property
    def posture(self) -> Posture:
        """The solution."""


class Solver(Protocol):
    """Keeps a posture while the figure faces a target: `poise.Expressive`, `poise.Erik`, or a class of your own."""

    def solve(self, posture: Posture, orientation: Gaze, previous: Any = None) -> SolverResult:
        """The posture nearest to the wanted one that faces the target.

        Args:
            posture: The wanted posture.
            orientation: The target to face.
            previous: The complete result of the previous solve, or the posture at which a motion starts.
        """


@dataclass(frozen=True)
class Requests:
    """The current requests to a character; immutable, replaced as a whole."""

    script: Script
    """The posture or clip to follow."""
    gaze: Gaze | None = None
    """The target to face, or None."""
    idle: float = 0.0
    """Amount of idle motion, 0 to 1."""


class TargetSolver:
    """Solves for the requests and keeps the last valid solution when a solve fails."""

    def __init__(
        self,
        figure: Figure,
        solver: Callable[[], Solver],
        start: Posture,
        idle: Idle,
        report: Callable[[str], object],
        *,
        tell: Callable[[str], object] | None = None,
    ) -> None:
        """Start from a posture.

        Args:
            figure: The figure.
            solver: Creates the solver when it is first needed.
            start: The solution until the first solve.
            idle: The idle motion.
            report: Called with one sentence when a solve fails or works again.
            tell: Called with one sentence when the gaze is given up or returns; by default `report`.
        """
        self.figure = figure
        self.solution = start._q
        """(nq,) the last valid solution; always replaced as a whole array."""
        self.solves = self.failures = 0
        self.solving_since: float | None = None
        """Start time of the current solve, by the system's clock [s]; None between solves."""
        self._make_solver = solver
        self._solver: Solver | None = None
        self.is_resting = False
        """Whether the last solve changed nothing; an extra solve then does not speed up any motion."""
        self._previous: SolverResult | Posture = start
        self._idle, self._report, self._tell = idle, report, tell or report
        self._lower, self._upper = figure.compiled.bounds.lower, figure.compiled.bounds.upper
        self._failing = False
        self._gave_up = False

    def prepare(self) -> Solver:
        """Return the solver, created at the first call; raises an error for a figure that it does not support."""
        if self._solver is None:
            self._solver = self._make_solver()
        return self._solver

    def solve_once(self, requests: Requests, time: float) -> None:
        """Solve once; if anything fails, the last valid solution is kept."""
        self.solving_since = monotonic()
        try:
            before, self.solution = self.solution, self._solution(requests, time)
            self.is_resting = float(np.abs(self.solution - before).max()) < REST_CHANGE
            self.solves += 1
            if self._failing:
                self._report("the solver works again.")
            self._failing = False
        except Exception as problem:
            self.failures += 1
            if not self._failing:
                self._report(f"the solver failed, the last posture is held: {_error_text(problem)}")
            self._failing = True
        finally:
            self.solving_since = None

    def _solution(self, requests: Requests, time: float) -> FloatArray:
        base = requests.script.at(time)
        if requests.idle > 0.0:
            base = base + requests.idle * self._idle.at(time)
        base = np.clip(base, self._lower, self._upper)
        if requests.gaze is None:
            self._previous = Posture(self.figure, base)
            return base
        answer = self.prepare().solve(Posture(self.figure, base), requests.gaze, previous=self._previous)
        q = np.array(answer.posture.q, dtype=np.float64)
        if q.shape != base.shape or not np.isfinite(q).all():
            raise FigureError(f"it returned {q.tolist()} instead of {len(base)} finite numbers.")
        self._previous = answer
        self._report_gaze(answer)
        return np.clip(q, self._lower, self._upper)

    def _report_gaze(self, answer: SolverResult) -> None:
        """Report once when the gaze is given up, and why, and when the target is faced again; see `GAZE_EVENTS`."""
        reason = getattr(answer, "gave_up_gaze", None)
        if reason in GAZE_EVENTS and not self._gave_up:
            self._tell(GAZE_EVENTS[reason])
            self._gave_up = True
        elif reason is None and self._gave_up:
            self._tell("the target is faced again.")
            self._gave_up = False


def _error_text(problem: Exception) -> str:
    text = str(problem) if isinstance(problem, PoiseError) else f"{type(problem).__name__}: {problem}"
    return text if text.endswith(".") else f"{text}."


class SolverThread:
    """Solves at a steady rate, and at once for a new request while the solution is at rest.

    During a motion a new request waits for the next regular solve, because solvers that move by a fixed amount per
    solve would otherwise move faster.
    """

    def __init__(
        self, target_solver: TargetSolver, requests: Callable[[], Requests], now: Callable[[], float], rate: float
    ) -> None:
        """Prepare to solve for the result of `requests()` at the time `now()`, `rate` times per second."""
        self._target_solver, self._requests, self._now = target_solver, requests, now
        self._period = 1.0 / rate
        self._changed = threading.Event()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._was_late = False

    def start(self) -> None:
        """Start the thread."""
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(self._stop,), name="poise solver", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread; a solve that does not return within a second is abandoned."""
        self._stop.set()
        self._changed.set()
        thread, self._thread = self._thread, None
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout=2.0 * LATE_AFTER)

    def wake(self) -> None:
        """Signal a new request."""
        self._changed.set()

    def solve_if_due(self, last: float, now: float) -> None:
        """Without a thread: solve if a regular solve is due between two times, or for a new request at rest."""
        turn = int(now / self._period + 1e-9) > int(last / self._period + 1e-9)
        if turn or (self._changed.is_set() and self._target_solver.is_resting):
            self._changed.clear()
            self._target_solver.solve_once(self._requests(), now)

    def has_become_late(self) -> bool:
        """Whether the current solve has just become late; True once for each late solve."""
        since = self._target_solver.solving_since
        late = since is not None and monotonic() - since > LATE_AFTER
        became, self._was_late = late and not self._was_late, late
        return became

    def _run(self, stop: threading.Event) -> None:
        start = monotonic()
        while not stop.is_set():
            self._changed.clear()
            self._target_solver.solve_once(self._requests(), self._now())
            now = monotonic()
            # Half-way between the ticks of a frame clock of the same rate, so that the two do not compete for a core.
            turn = math.floor((now - start) / self._period - 0.5) + 1.5
            (self._changed if self._target_solver.is_resting else stop).wait(
                max(0.0, start + turn * self._period - now)
            )
