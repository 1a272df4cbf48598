"""Input checks and results shared by the solvers that turn a chain of hinges to a direction or an orientation."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from poise.chains.chain import Limb, chain_of
from poise.chains.goals import GoalKind, TargetLike, goal_of
from poise.chains.options import Options, Settings, check_options
from poise.chains.result import ChainResult, ChainStatus
from poise.errors import TaskError
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.kernels.chains.chain import Chain
from poise.kernels.gaze.measures import Aim


@dataclass(frozen=True)
class FacingProblem:
    """A chain, the wanted direction or orientation of its tip, and the settings of the solve."""

    limb: Limb
    aim: Aim
    settings: Settings

    @property
    def chain(self) -> Chain:
        """The chain; without limits if the settings disable them."""
        chain = self.limb.chain
        free = np.full(len(self.limb.joints), math.inf)
        return chain if self.settings.limits else chain._replace(lower=-free, upper=free)

    def start(self) -> FloatArray:
        """(n,) a new array with the initial angles [rad]."""
        return np.array(self.limb.angles(self.settings.start))

    def trace_rows(self) -> FloatArray:
        """(t, n) an empty array for the trace."""
        return np.empty((self.settings.max_iterations if self.settings.trace else 0, len(self.limb.joints)))

    def result(self, angles: FloatArray, error: float, taken: int, trace_rows: FloatArray) -> ChainResult:
        """The result with these angles."""
        begin = self.settings.start
        trace = None
        if self.settings.trace:
            trace = np.repeat(begin.q[None], taken, axis=0)
            trace[:, self.limb.places] = trace_rows[:taken]
        status: ChainStatus = "solved" if error <= self.settings.tolerance else "stalled"
        return ChainResult(self.limb.posture(angles, begin), status, error, taken, trace)


def facing_problem(
    solver: str,
    figure: Figure,
    target: TargetLike,
    options: Options,
    *,
    max_iterations: int,
    can: Iterable[GoalKind] = ("direction", "orientation"),
) -> FacingProblem:
    """Check the arguments of a solver that turns a chain of hinges."""
    goal = goal_of(target, solver, can)
    settings = check_options(solver, figure, options, max_iterations)
    limb = chain_of(figure, settings.tip, solver=solver, faces=goal.faces)
    for name in limb.joints:
        if name in settings.held:
            raise TaskError(f"{solver} turns every joint of a chain and cannot hold {name!r}; poise.chains.ccd can.")
    assert goal.gaze is not None
    return FacingProblem(limb, goal.gaze.aim(figure.up_vector, np.zeros(3)), settings)
