"""Our own solver of posture and gaze: `poise.Expressive`.

See `poise.kernels.gaze.expressive.solve` for the method and `docs/expressive.md` for what it reaches.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from poise.chains.targets import Gaze
from poise.errors import TaskError
from poise.expressive.cuda import cuda_module, local_array_size, solve_on_cuda
from poise.expressive.measures import Weights
from poise.expressive.result import ExpressiveResult
from poise.expressive.sighting import look_nearer
from poise.expressive.solver import ExpressiveSolver
from poise.expressive.tracker import TrackedResult, Tracker, first_memory
from poise.figure.model.figure import Figure, PostureLike
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.kernels.chains.chain import SWING_JOINT, TWIST_JOINT, Chain
from poise.kernels.gaze.batch_arrays import BatchProblems, BatchSolutions
from poise.kernels.gaze.expressive.batch import solve_expressive_batch
from poise.kernels.gaze.expressive.memory import Memory
from poise.kernels.gaze.expressive.solve import SearchSettings
from poise.kernels.gaze.expressive.track import Pace
from poise.kernels.gaze.expressive.workspace import WORKSPACE_ROWS

AHEAD = math.radians(100.0)
"""Turn that a change of branch may need before the target is lost [rad]."""
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
    rate: float = math.radians(5.0)
    """Most that a joint turns from one frame to the next [rad]."""
    worse: float = 0.03
    """Combined error by which another branch must be better before the chain changes to it."""
    tries: int = 8
    """Detours tried in one frame while a change of branch is planned; each takes a tenth of a millisecond or two, all
    of them four at most."""

    def __post_init__(self) -> None:
        """Refuse settings with which nothing can be solved."""
        for name, least in (("starts", 1), ("steps", 0), ("restarts", 0), ("tries", 1)):
            if getattr(self, name) < least:
                raise TaskError(f"{name} of expressive must be {least} or more, not {getattr(self, name)}.")
        if not 0.0 <= self.blend <= 1.0:
            raise TaskError(f"blend of expressive must be between 0 and 1, not {self.blend}.")
        if not 0.0 < self.rate <= math.pi:
            raise TaskError(f"rate of expressive must be above 0 and at most π rad per frame, not {self.rate}.")
        if not 0.0 <= self.worse < math.inf:
            raise TaskError(f"worse of expressive must be a number from 0 up, not {self.worse}.")


class Expressive(ExpressiveSolver):
    """Holds a posture while the tip faces a target: the nearest shape among those that face it exactly.

        r = poise.Expressive(poise.load("adelino")).solve("sad", poise.facing([1, 0.3, 0.5]))

    For motion, hand each frame the answer of the one before, which knows where a change of branch has got to. No joint
    then turns by more than `settings.rate`, and the gaze is held wherever the limits allow it, also while the chain
    changes from one way of facing the target to another:

        r = solver.solve("sad", poise.facing(direction), previous=r)

    Instead of the answer its posture will do, if it is the one answered last; any other begins a motion.
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
            figure: A figure with a chain of revolute joints from its root to `tip`. All other joints hold the posture;
                so do prismatic joints on the way to the tip, which turn nothing.
            tip: The site or body that faces the target along its own +Y; not needed if the figure does not branch.
            weights: What the errors weigh.
            settings: How hard to search.
        """
        super().__init__(figure, tip, weights or Weights(), "expressive", slides=True)
        self.settings = settings or ExpressiveSettings()
        self._search = search_settings(self.limb.chain, self.weights, self.settings)

    def _solved(
        self, wanted: Posture, target: Gaze, problems: BatchProblems, previous: ExpressiveResult | PostureLike | None
    ) -> ExpressiveResult:
        if previous is None:
            return super()._solved(wanted, target, problems, None)
        result = self._tracker().step(wanted, target, self._memory(previous))
        self._own.latest = result
        return result

    def _tracker(self) -> Tracker:
        """The tracker of this thread."""
        tracker: Tracker | None = getattr(self._own, "tracker", None)
        if tracker is None:
            tracker = Tracker(self.limb, self.scoring, self._search, pace_of(self.settings))
            self._own.tracker = tracker
        return tracker

    def _memory(self, previous: ExpressiveResult | PostureLike) -> Memory:
        if isinstance(previous, TrackedResult) and previous.posture.figure is self.figure:
            return previous.memory
        last = self.figure.posture(previous.posture if isinstance(previous, ExpressiveResult) else previous)
        latest: TrackedResult | None = getattr(self._own, "latest", None)
        if latest is not None and np.array_equal(latest.posture.q, last.q):
            return latest.memory
        return first_memory(self.limb, last)

    def _solve_targets(
        self,
        targets: FloatArray | list[Gaze],
        postures: FloatArray,
        problems: BatchProblems,
        solve_all: Callable[[], BatchSolutions],
    ) -> BatchSolutions:
        solutions = super()._solve_targets(targets, postures, problems, solve_all)
        if isinstance(targets, list) and not self.limb.slides:
            look_nearer(
                self.limb,
                self.scoring,
                self._search,
                targets=targets,
                postures=postures,
                problems=problems,
                solutions=solutions,
            )
        return solutions

    def _solve_rows(self, problems: BatchProblems, first: int, stop: int, solutions: BatchSolutions) -> None:
        joints = len(self.limb.joints)
        work, angles = np.zeros((WORKSPACE_ROWS, joints)), np.empty(joints)
        solve_expressive_batch(
            self.limb.chain, self.scoring, self._search, problems, first, stop, work, angles, solutions
        )

    def _solve_on_cuda(self, problems: BatchProblems, solutions: BatchSolutions) -> None:
        cuda_module()
        from poise.expressive.launches import expressive_launch

        constants = self.limb.chain, self.scoring, self._search
        solve_on_cuda(expressive_launch(local_array_size(len(self.limb.joints))), constants, problems, solutions)


def search_settings(chain: Chain, weights: Weights, settings: ExpressiveSettings) -> SearchSettings:
    """The search that a chain allows."""
    return SearchSettings(
        int(settings.starts),
        int(settings.steps),
        int(settings.restarts),
        float(settings.blend),
        _free_root(chain),
        _free_tip(chain, weights),
    )


def pace_of(settings: ExpressiveSettings) -> Pace:
    """How a chain moves; it looks as far ahead as a joint takes to turn by AHEAD."""
    return Pace(float(settings.rate), float(settings.worse), math.ceil(AHEAD / settings.rate), int(settings.tries))


def _range(chain: Chain, k: int) -> float:
    return float(chain.upper[k] - chain.lower[k])


def _free_root(chain: Chain) -> int:
    """1 where the root reaches every heading, 2 where it does with the help of the mirrored shape, else 0."""
    if chain.role[0] != TWIST_JOINT:
        return 0
    if _range(chain, 0) >= 2.0 * math.pi - _ROUNDING:
        return 1
    swings = chain.role == SWING_JOINT
    symmetric = np.allclose(chain.lower[swings], -chain.upper[swings], atol=_ROUNDING)
    return 2 if chain.mirrors and symmetric and _range(chain, 0) >= math.pi - _ROUNDING else 0


def _free_tip(chain: Chain, weights: Weights) -> int:
    """1 where the tip reaches every roll, upside down where that is allowed."""
    needed = math.pi if weights.symmetric else 2.0 * math.pi
    last = len(chain.role) - 1
    return int(last > 0 and chain.role[last] == TWIST_JOINT and _range(chain, last) >= needed - _ROUNDING)
