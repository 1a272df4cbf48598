"""Input checks, cached paths and results shared by the solvers that move one end-point to one goal."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, get_args

import numpy as np

from poise.chains.chain import only_tip
from poise.chains.goals import Goal, GoalKind, GoalNumbers, TargetLike, goal_of
from poise.chains.options import Options, Settings, check_options, raise_coupling_error
from poise.chains.result import ChainResult, ChainStatus
from poise.chains.zones import can_reach
from poise.errors import TaskError
from poise.figure.model.figure import Figure
from poise.figure.model.path import LENGTH_SHARE, find_path
from poise.figure.model.pose import FloatArray, Pose, from_to
from poise.figure.model.posture import Posture
from poise.kernels.chains.goal import error_of
from poise.kernels.reach.path import PathMemory, store_path

MAX_AIMS = 60
"""Largest number of solves for a look at a point with a given roll; each aims from the tip of the previous one."""

_ORIGIN = np.zeros(3)

SolverCall = Callable[[GoalNumbers, FloatArray, int, FloatArray, FloatArray], tuple[float, int]]
"""A call of a kernel: goal, initial posture, largest number of iterations, rows for a trace, posture to write; returns
the error and the number of iterations."""


class StoredPath(NamedTuple):
    """A path that all solves with the same tip share."""

    memory: PathMemory
    """The path, for the kernels."""
    length: float
    """Length of the stretched limb [m]."""


@dataclass(frozen=True)
class ChainProblem:
    """A figure, the tip to move, its goal, and the settings of the solve."""

    figure: Figure
    tip: str
    goal: Goal
    path: StoredPath
    settings: Settings

    def solve(self, run: SolverCall) -> ChainResult:
        """Run a solver; if the goal depends on the tip's position, aim and solve again until the goal is met."""
        most, nq = self.settings.max_iterations, self.figure.nq
        begin, q = self.settings.start._q, np.empty(nq)
        rows = np.empty((most if self.settings.trace else 0, nq))
        taken, error = 0, math.inf
        for _ in range(MAX_AIMS if self.goal.follows_tip else 1):
            error, more = run(self._numbers(begin), begin, most - taken, rows[taken:], q)
            taken += more
            error = self.error(q) if self.goal.follows_tip else error
            if error <= self.settings.tolerance or more == 0 or taken >= most:
                break
            begin = q.copy()
        trace = rows[:taken] if self.settings.trace else None
        return ChainResult(Posture(self.figure, q), self.status(error), error, taken, trace)

    def error(self, q: FloatArray) -> float:
        """Error of the tip at joint values `q` [m or rad]."""
        return error_of(self.path.memory, q, self._numbers(q))

    def status(self, error: float) -> ChainStatus:
        """The status of a result with this error."""
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


def chain_problem(
    solver: str,
    figure: Figure,
    target: TargetLike,
    options: Options,
    *,
    max_iterations: int,
) -> ChainProblem:
    """Check the arguments of a solver for one end-point."""
    if isinstance(target, Mapping):
        raise TaskError(f"{solver} moves one end-point; poise.chains.fabrik and poise.chains.circles take several.")
    goal = goal_of(target, solver, get_args(GoalKind))
    settings = check_options(solver, figure, options, max_iterations)
    tip = settings.tip if settings.tip is not None else only_tip(figure, solver)
    return ChainProblem(figure, tip, goal, stored_path(figure, tip, settings, faces=goal.faces), settings)


_stored_paths: dict[tuple[int, str, frozenset[str], bool, bool], StoredPath] = {}


def stored_path(figure: Figure, tip: str, settings: Settings, *, faces: bool = False) -> StoredPath:
    """The path to a tip, cached while the figure exists.

    With `faces`, +Y of the tip is the axis with which it faces, where the figure says it (`Figure.facing_axis`).
    """
    key = (id(figure), tip, settings.held, settings.limits, faces)
    if key in _stored_paths:
        return _stored_paths[key]
    solver = settings.solver
    path = find_path(figure, tip, settings.held, solver=solver, limits=settings.limits)
    if path.couplings.size:
        raise_coupling_error(solver, figure, list(figure.couplings)[int(path.couplings[0])].name)
    if path.dof_held.all():
        raise TaskError(f"{solver} cannot move {tip!r} of figure {figure.name!r}: no joint on the way to it may move.")
    axis = figure.facing_axis(tip) if faces else None
    if axis is not None:
        turned = Pose(rotation=path.site[3:7]) @ Pose(rotation=from_to("y", axis))
        path = path._replace(site=np.concatenate([path.site[:3], turned.rotation, path.site[7:]]))
    weakref.finalize(figure, _stored_paths.pop, key, None)
    _stored_paths[key] = StoredPath(store_path(path), float(path.site[7]) / LENGTH_SHARE)
    return _stored_paths[key]
