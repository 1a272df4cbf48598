"""The part of a character that thinks: from what is wished to a posture, whatever the solver does."""

from __future__ import annotations

import time as clocks
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from poise.chains.targets import Gaze
from poise.character.idle import Idle
from poise.character.script import Script
from poise.errors import FigureError, PoiseError
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture

AT_REST = 1e-4
"""A solution that changes by less has not moved [rad or m]."""


class Answer(Protocol):
    """What a solver returns."""

    @property
    def posture(self) -> Posture:
        """The solution."""


class Solver(Protocol):
    """Holds a posture while the figure faces a target: `poise.Expressive`, `poise.Erik`, or one of your own."""

    def solve(self, posture: Posture, orientation: Gaze, previous: Any = None) -> Answer:
        """The posture nearest to the wanted one that faces the target.

        Args:
            posture: The posture to hold.
            orientation: What to face.
            previous: The answer of the turn before, whole; or the posture from which a motion begins.
        """


@dataclass(frozen=True)
class Wishes:
    """Everything asked of a character; replaced whole, never changed."""

    script: Script
    gaze: Gaze | None = None
    idle: float = 0.0


class Mind:
    """Solves for what is wished and keeps the last good posture when that fails."""

    def __init__(
        self,
        figure: Figure,
        solver: Callable[[], Solver],
        start: Posture,
        idle: Idle,
        say: Callable[[str], object],
    ) -> None:
        """Start from a posture.

        Args:
            figure: Who thinks.
            solver: Makes the solver, when one is first needed.
            start: The posture until the first solution.
            idle: Its idle life.
            say: Told what went wrong, in one sentence.
        """
        self.figure = figure
        self.solution = start._q
        """(nq,) the last good posture; replaced whole."""
        self.solves = self.failures = 0
        self.thinking_since: float | None = None
        """When the solve that is under way began, by the system's clock [s]."""
        self._make = solver
        self._solver: Solver | None = None
        self.is_resting = False
        """Whether the last solve changed nothing, so that another one out of turn would not hurry a motion."""
        self._previous: Answer | Posture = start
        self._idle, self._say = idle, say
        self._lower, self._upper = figure.compiled.bounds.lower, figure.compiled.bounds.upper
        self._ill = False

    def prepare(self) -> Solver:
        """The solver; a figure that it cannot serve is an error here."""
        if self._solver is None:
            self._solver = self._make()
        return self._solver

    def think(self, wishes: Wishes, time: float) -> None:
        """Solve once. Whatever goes wrong, the last good posture stands."""
        self.thinking_since = clocks.monotonic()
        try:
            before, self.solution = self.solution, self._solved(wishes, time)
            self.is_resting = float(np.abs(self.solution - before).max()) < AT_REST
            self.solves += 1
            if self._ill:
                self._say("the solver works again.")
            self._ill = False
        except Exception as problem:
            self.failures += 1
            if not self._ill:
                self._say(f"the solver failed, the last posture is held: {_sentence(problem)}")
            self._ill = True
        finally:
            self.thinking_since = None

    def _solved(self, wishes: Wishes, time: float) -> FloatArray:
        base = wishes.script.at(time)
        if wishes.idle > 0.0:
            base = base + wishes.idle * self._idle.at(time)
        base = np.clip(base, self._lower, self._upper)
        if wishes.gaze is None:
            self._previous = Posture(self.figure, base)
            return base
        answer = self.prepare().solve(Posture(self.figure, base), wishes.gaze, previous=self._previous)
        q = np.array(answer.posture.q, dtype=np.float64)
        if q.shape != base.shape or not np.isfinite(q).all():
            raise FigureError(f"it returned {q.tolist()}.")
        self._previous = answer
        return np.clip(q, self._lower, self._upper)


def _sentence(problem: Exception) -> str:
    text = str(problem) if isinstance(problem, PoiseError) else f"{type(problem).__name__}: {problem}"
    return text if text.endswith(".") else f"{text}."
