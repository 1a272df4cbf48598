"""What the solvers have in common that turn a chain of hinges to face something."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from poise.chains.chain import Limb, chain_of
from poise.chains.goals import GoalKind, TargetLike, goal_of
from poise.chains.options import Options, Settings, settle
from poise.chains.result import ChainResult, ChainStatus
from poise.errors import TaskError
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.kernels.chains.chain import Chain
from poise.kernels.gaze.measures import Aim


@dataclass(frozen=True)
class FacingQuestion:
    """A chain, what its tip is to face, and how hard to try."""

    limb: Limb
    aim: Aim
    settings: Settings

    @property
    def chain(self) -> Chain:
        """The chain, without its limits where they do not count."""
        chain = self.limb.chain
        free = np.full(len(self.limb.joints), math.inf)
        return chain if self.settings.limits else chain._replace(lower=-free, upper=free)

    def start(self) -> FloatArray:
        """(n,) a new array with the angles to begin with."""
        return np.array(self.limb.angles(self.settings.start))

    def rows(self) -> FloatArray:
        """(t, n) room for a trace."""
        return np.empty((self.settings.max_iterations if self.settings.trace else 0, len(self.limb.joints)))

    def answer(self, angles: FloatArray, error: float, taken: int, rows: FloatArray) -> ChainResult:
        """The result with these angles."""
        begin = self.settings.start
        trace = None
        if self.settings.trace:
            trace = np.repeat(begin.q[None], taken, axis=0)
            trace[:, self.limb.places] = rows[:taken]
        status: ChainStatus = "solved" if error <= self.settings.tolerance else "stalled"
        return ChainResult(self.limb.posture(angles, begin), status, error, taken, trace)


def ask_to_face(
    solver: str,
    figure: Figure,
    target: TargetLike,
    options: Options,
    *,
    max_iterations: int,
    can: Iterable[GoalKind] = ("direction", "orientation"),
) -> FacingQuestion:
    """Check everything that is asked of a solver that turns a chain of hinges."""
    goal = goal_of(target, solver, can)
    settings = settle(solver, figure, options, max_iterations)
    limb = chain_of(figure, settings.tip, solver=solver, needs_lengths=False)
    for name in limb.joints:
        if name in settings.held:
            raise TaskError(f"{solver} turns every joint of a chain and cannot hold {name!r}; poise.chains.ccd can.")
    assert goal.gaze is not None
    return FacingQuestion(limb, goal.gaze.aim(figure.up_vector, np.zeros(3)), settings)
