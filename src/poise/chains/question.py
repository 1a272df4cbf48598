"""One end-point, one goal: what the solvers that follow a single path have in common."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from poise.chains.chain import only_tip
from poise.chains.goals import Goal, GoalKind, GoalNumbers, TargetLike, goal_of
from poise.chains.options import Options, Settings, refuse_coupling, settle
from poise.chains.result import ChainResult, ChainStatus
from poise.chains.zones import can_reach
from poise.errors import TaskError
from poise.figure.model.figure import Figure
from poise.figure.model.path import LENGTH_SHARE, find_path
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.kernels.chains.goal import error_of
from poise.kernels.reach.path import flatten

ANYTHING: tuple[GoalKind, ...] = ("position", "direction", "orientation", "point")
LOOKS = 60
"""How often a tip that looks at a point with a given roll is aimed again from where it has come to be."""

_ORIGIN = np.zeros(3)

Run = Callable[[GoalNumbers, FloatArray, int, FloatArray, FloatArray], tuple[float, int]]
"""A kernel's call: goal, posture to begin in, most iterations, rows for a trace, posture to write to; gives error and
iterations."""


class PreparedPath(NamedTuple):
    """What solves of one tip share."""

    integers: np.ndarray
    numbers: np.ndarray
    length: float
    """Of the limb, stretched [m]."""


@dataclass(frozen=True)
class Question:
    """A figure, the tip to move, what is wanted of it, and how hard to try."""

    figure: Figure
    tip: str
    goal: Goal
    path: PreparedPath
    settings: Settings

    def answer(self, run: Run) -> ChainResult:
        """Run a solver; a tip whose goal depends on where it comes to be is aimed again until it is met."""
        most, nq = self.settings.max_iterations, self.figure.nq
        begin, q = self.settings.start._q, np.empty(nq)
        rows = np.empty((most if self.settings.trace else 0, nq))
        taken, error = 0, math.inf
        for _ in range(LOOKS if self.goal.follows_tip else 1):
            error, more = run(self._numbers(begin), begin, most - taken, rows[taken:], q)
            taken += more
            error = self.error(q) if self.goal.follows_tip else error
            if error <= self.settings.tolerance or more == 0 or taken >= most:
                break
            begin = q.copy()
        trace = rows[:taken] if self.settings.trace else None
        return ChainResult(Posture(self.figure, q), self.status(error), error, taken, trace)

    def error(self, q: FloatArray) -> float:
        """How far the tip is off at joint values `q`."""
        return error_of(self.path.integers, self.path.numbers, q, self._numbers(q))

    def status(self, error: float) -> ChainStatus:
        """What an error means."""
        if error <= self.settings.tolerance:
            return "solved"
        target = self.goal.position
        if target is None or can_reach(self.figure, self.tip, target, self.settings.start, self.settings.held):
            return "stalled"
        return "unreachable"

    def _numbers(self, q: FloatArray) -> GoalNumbers:
        if self.goal.gaze is None:
            return self.goal.numbers(_ORIGIN, _ORIGIN)
        eye = self.figure.pose_of(self.tip, Posture(self.figure, q)).position if self.goal.follows_tip else _ORIGIN
        return self.goal.numbers(self.figure.up_vector, eye)


def ask(
    solver: str,
    figure: Figure,
    target: TargetLike,
    options: Options,
    *,
    max_iterations: int,
    can: Iterable[GoalKind] = ANYTHING,
) -> Question:
    """Check everything that is asked of a solver for one end-point."""
    if isinstance(target, Mapping):
        raise TaskError(f"{solver} moves one end-point; poise.chains.fabrik and poise.chains.circles take several.")
    goal = goal_of(target, solver, can)
    settings = settle(solver, figure, options, max_iterations)
    tip = settings.tip if settings.tip is not None else only_tip(figure, solver)
    return Question(figure, tip, goal, prepared(figure, tip, settings), settings)


_prepared: dict[tuple[int, str, frozenset[str], bool], PreparedPath] = {}


def prepared(figure: Figure, tip: str, settings: Settings) -> PreparedPath:
    """The path to a tip, kept as long as the figure lives."""
    key = (id(figure), tip, settings.held, settings.limits)
    if key in _prepared:
        return _prepared[key]
    solver = settings.solver
    path = find_path(figure, tip, settings.held, solver=solver, limits=settings.limits)
    if path.couplings.size:
        refuse_coupling(solver, figure, list(figure.couplings)[int(path.couplings[0])].name)
    if path.dof_held.all():
        raise TaskError(f"{solver} cannot move {tip!r} of figure {figure.name!r}: no joint on the way to it may move.")
    integers, numbers = flatten(path)
    weakref.finalize(figure, _prepared.pop, key, None)
    _prepared[key] = PreparedPath(integers, numbers, float(path.site[7]) / LENGTH_SHARE)
    return _prepared[key]
