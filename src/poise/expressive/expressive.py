"""Our own solver of posture and gaze: `poise.Expressive`.

See `poise.kernels.expressive_solve` for the method and `docs/expressive.md` for what it reaches.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from poise.errors import TaskError
from poise.expressive.measures import Weights
from poise.expressive.solver import ExpressiveSolver
from poise.figure.figure import Figure
from poise.kernels.chain import SWING, TWIST, Chain
from poise.kernels.expressive_batch import answer_expressive
from poise.kernels.expressive_solve import Manner
from poise.kernels.expressive_work import ROWS
from poise.kernels.questions import Answers, Questions

_ROUNDING = 1e-9


@dataclass(frozen=True)
class ExpressiveSettings:
    """How hard to search; the defaults keep a solve of six joints under 30 µs."""

    starts: int = 3
    """Starts of which the best counts."""
    steps: int = 6
    """Steps of each start towards the wanted shape."""
    restarts: int = 20
    """Further starts while the target is not faced, on chains without free twisters at both ends."""
    blend: float = 0.2
    """Share of the papers' posture error, blind to signs, in what is minimised; the rest is the shape error."""

    def __post_init__(self) -> None:
        """Refuse settings with which nothing can be solved."""
        for name, least in (("starts", 1), ("steps", 0), ("restarts", 0)):
            if getattr(self, name) < least:
                raise TaskError(f"{name} of expressive must be {least} or more, not {getattr(self, name)}.")
        if not 0.0 <= self.blend <= 1.0:
            raise TaskError(f"blend of expressive must be between 0 and 1, not {self.blend}.")


class Expressive(ExpressiveSolver):
    """Holds a posture while the tip faces a target: the nearest shape among those that face it exactly.

    r = poise.Expressive(poise.load("adelino")).solve("sad", poise.facing([1, 0.3, 0.5]))
    """

    def __init__(
        self,
        figure: Figure,
        *,
        tip: str | None = None,
        weights: Weights | None = None,
        settings: ExpressiveSettings | None = None,
    ) -> None:
        """Prepare the chain.

        Args:
            figure: A figure with a chain of revolute joints from its root to `tip`; all other joints hold the posture.
            tip: The site or body that faces the target along its own +Y; not needed if the figure does not branch.
            weights: What the errors weigh.
            settings: How hard to search.
        """
        super().__init__(figure, tip, weights or Weights(), "expressive")
        self.settings = settings or ExpressiveSettings()
        self._manner = manner_of(self.limb.chain, self.weights, self.settings)

    def _answer_rows(self, asked: Questions, first: int, stop: int, given: Answers) -> None:
        joints = len(self.limb.joints)
        work, angles = np.zeros((ROWS, joints)), np.empty(joints)
        answer_expressive(self.limb.chain, self.scoring, self._manner, asked, first, stop, work, angles, given)


def manner_of(chain: Chain, weights: Weights, settings: ExpressiveSettings) -> Manner:
    """The search that a chain allows."""
    return Manner(
        int(settings.starts),
        int(settings.steps),
        int(settings.restarts),
        float(settings.blend),
        _free_root(chain),
        _free_tip(chain, weights),
    )


def _range(chain: Chain, k: int) -> float:
    return float(chain.upper[k] - chain.lower[k])


def _free_root(chain: Chain) -> int:
    """1 where the root reaches every heading, 2 where it does with the help of the mirrored shape, else 0."""
    if chain.role[0] != TWIST:
        return 0
    if _range(chain, 0) >= 2.0 * math.pi - _ROUNDING:
        return 1
    swings = chain.role == SWING
    symmetric = np.allclose(chain.lower[swings], -chain.upper[swings], atol=_ROUNDING)
    return 2 if chain.mirrors and symmetric and _range(chain, 0) >= math.pi - _ROUNDING else 0


def _free_tip(chain: Chain, weights: Weights) -> int:
    """1 where the tip reaches every roll, upside down where that is allowed."""
    needed = math.pi if weights.symmetric else 2.0 * math.pi
    last = len(chain.role) - 1
    return int(last > 0 and chain.role[last] == TWIST and _range(chain, last) >= needed - _ROUNDING)
