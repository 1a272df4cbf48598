"""`poise.Expressive`: the posture nearest in shape whose tip faces a target exactly.

See `poise.kernels.gaze.expressive.solve` for the method and `docs/expressive.md` for its results.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from poise.arguments import kind_of
from poise.chains.chain import chain_of
from poise.chains.targets import Gaze
from poise.errors import FigureError, TaskError
from poise.expressive.cuda import CudaMethod, cuda_module
from poise.expressive.measures import Weights, is_whole
from poise.expressive.point_targets import improve_missed_points
from poise.expressive.result import ExpressiveResult
from poise.expressive.solver import ExpressiveSolver
from poise.expressive.tracker import TrackedResult, Tracker, first_memory
from poise.figure.model.figure import Figure, PostureLike, checked_figure
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.kernels.chains.chain import SWING_JOINT, TWIST_JOINT, Chain
from poise.kernels.gaze.batch_arrays import BatchProblems, BatchSolutions
from poise.kernels.gaze.expressive.approach import Pace
from poise.kernels.gaze.expressive.batch import solve_expressive_batch
from poise.kernels.gaze.expressive.solve import SearchSettings
from poise.kernels.gaze.expressive.tracking_state import TrackingState
from poise.kernels.gaze.expressive.workspace import WORKSPACE_ROWS

Hold = Literal["gaze", "balanced", "expression"]
"""What matters most while a chain moves."""
GAZE_WEIGHTS: dict[str, float] = {"gaze": 100.0, "balanced": 2.5, "expression": 1.2}
"""Cost of a direction error of up to 5°, per radian, for each `Hold`; the shape error costs 1."""
GAZE_SLACKS: dict[str, float] = {"gaze": 0.0, "balanced": 0.0, "expression": math.radians(4.5)}
"""Direction error that counts as none while the target moves [rad], for each `Hold`."""
HORIZON_TURN = math.radians(450.0)
"""A motion adds up its costs over the time in which a joint could turn by this [rad]; 1.5 s with the defaults."""
_RANGE_ROUNDING = 1e-9
"""Rounding error allowed when ranges of joints are compared [rad]."""


@dataclass(frozen=True)
class ExpressiveSettings:
    """Parameters of the search; with the defaults a solve of six joints takes less than 30 µs."""

    starts: int = 3
    """Number of starts, of which the best solution is taken."""
    steps: int = 6
    """Largest number of steps from each start towards the wanted shape."""
    restarts: int = 20
    """Number of further starts while the target is not reached, on chains without free twisters (roll joints) at both
    ends."""
    blend: float = 0.2
    """Weight of the papers' posture error, which ignores signs, in the cost; the shape error has the rest."""
    rate: float = math.radians(5.0)
    """Largest turn of a joint from one frame to the next [rad]."""

    def __post_init__(self) -> None:
        """Raise an error for settings outside their range."""
        for name, least in (("starts", 1), ("steps", 0), ("restarts", 0)):
            if not is_whole(getattr(self, name), least):
                raise TaskError(
                    f"{name} of expressive must be a whole number from {least} up, not {getattr(self, name)}."
                )
        if not 0.0 <= self.blend <= 1.0:
            raise TaskError(f"blend of expressive must be between 0 and 1, not {self.blend}.")
        if not 0.0 < self.rate <= math.pi:
            raise TaskError(f"rate of expressive must be above 0 and at most π rad per frame, not {self.rate}.")


class Expressive(ExpressiveSolver):
    """Finds the posture nearest in shape to a wanted one among those whose tip faces the target exactly.

        r = poise.Expressive(poise.load("adelino")).solve("sad", poise.facing([1, 0.3, 0.5]))

    For a motion, pass the result of the previous frame to each frame; it contains the state of the motion. No joint
    then turns by more than `settings.rate`. Where the shape can be kept only by a change to another family of
    solutions, the chain changes to it, and holds its gaze on the way if it can; `hold` says what matters more:

        r = solver.solve("sad", poise.facing(direction), previous=r)

    The posture of the last result can be passed instead of the result; any other posture starts a new motion.

    A figure that looks with a face and is no chain of hinges, such as a human, looks with its whole body: eyes first,
    then head, then chest, and keeps its posture as far as that goes (`poise.expressive.body`).
    """

    def __new__(cls, figure: Figure | None = None, *, tip: str | None = None, **_: object) -> Expressive:
        """A solver for the chain, or for the whole body; copying and unpickling give no figure."""
        if cls is Expressive and figure is not None and not is_chain(checked_figure(figure, "expressive"), tip):
            from poise.expressive.body import ExpressiveBody, face_of

            if face_of(figure, tip) is not None:
                return object.__new__(ExpressiveBody)
        return object.__new__(cls)

    def __init__(
        self,
        figure: Figure,
        *,
        tip: str | None = None,
        hold: Hold = "balanced",
        weights: Weights | None = None,
        settings: ExpressiveSettings | None = None,
    ) -> None:
        """Prepare the chain.

        Args:
            figure: A figure with a chain of revolute joints from its root to `tip`. All other joints keep the posture;
                so do prismatic joints between the root and the tip, which change no orientation.
            tip: The site or body that faces the target, along the axis that the figure states (`facing`), else along
                its own +Y; not needed if the figure does not branch, or if it has a head with a face.
            hold: What a motion keeps where it cannot keep both for a while, gaze or shape: "gaze", "expression", or
                "balanced" between them. With "expression", the gaze is also off a moving target by up to 4.5° where
                that helps the shape. Single solves face their target in any case.
            weights: Weights of the errors.
            settings: Parameters of the search.
        """
        super().__init__(figure, tip, weights, "expressive", slides=True)
        self.hold = checked_hold(hold)
        self.settings = kind_of(settings, ExpressiveSettings, "settings") or ExpressiveSettings()
        self._search = search_settings(self.limb.chain, self.weights, self.settings)

    def _solved(
        self, wanted: Posture, target: Gaze, problems: BatchProblems, previous: ExpressiveResult | PostureLike | None
    ) -> ExpressiveResult:
        if previous is None:
            return super()._solved(wanted, target, problems, None)
        result = self._tracker().step(wanted, target, self._memory(previous))
        self._own.latest = result
        return result

    def follow(self, wanted: Posture, target: Gaze, last_wanted: Posture, last: ExpressiveResult) -> ExpressiveResult:
        """The next frame of a clip, given the wanted posture and the result of the last frame."""
        return self.solve(wanted, target, previous=last)

    def _tracker(self) -> Tracker:
        """The tracker that the calling thread uses: each thread has its own, so that two never share arrays."""
        tracker: Tracker | None = getattr(self._own, "tracker", None)
        if tracker is None:
            tracker = Tracker(self.limb, self.scoring, self._search, motion_settings(self.settings, self.hold))
            self._own.tracker = tracker
        return tracker

    def _memory(self, previous: ExpressiveResult | PostureLike) -> TrackingState:
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
            improve_missed_points(
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

    def cuda_method(self) -> tuple[CudaMethod, tuple[Any, ...]]:
        """The CUDA kernels and their constants."""
        cuda_module()
        from poise.expressive.launches import ExpressiveOnCuda

        return ExpressiveOnCuda(len(self.limb.joints)), (self.limb.chain, self.scoring, self._search)


def is_chain(figure: Figure, tip: str | None) -> bool:
    """Whether the way from the root of a figure to a tip is one chain that this solver can turn."""
    try:
        chain_of(figure, tip, solver="expressive", slides=True, faces=True)
    except FigureError:
        return False
    return True


def search_settings(chain: Chain, weights: Weights, settings: ExpressiveSettings) -> SearchSettings:
    """The search settings for a chain."""
    return SearchSettings(
        int(settings.starts),
        int(settings.steps),
        int(settings.restarts),
        float(settings.blend),
        _free_root(chain),
        _free_tip(chain, weights),
    )


def checked_hold(hold: Hold) -> Hold:
    """What a motion keeps; raises a TaskError for anything else than the three words."""
    if hold not in GAZE_WEIGHTS:
        raise TaskError(f"hold of expressive must be one of {', '.join(map(repr, GAZE_WEIGHTS))}, not {hold!r}.")
    return hold


def motion_settings(settings: ExpressiveSettings, hold: Hold) -> Pace:
    """The limits and weights of a motion."""
    return Pace(float(settings.rate), GAZE_WEIGHTS[hold], math.ceil(HORIZON_TURN / settings.rate), GAZE_SLACKS[hold])


def _range(chain: Chain, k: int) -> float:
    return float(chain.upper[k] - chain.lower[k])


def _free_root(chain: Chain) -> int:
    """1 if the root reaches every heading, 2 if it does so with the help of the mirrored shape, else 0."""
    if chain.role[0] != TWIST_JOINT:
        return 0
    if _range(chain, 0) >= 2.0 * math.pi - _RANGE_ROUNDING:
        return 1
    swings = chain.role == SWING_JOINT
    symmetric = np.allclose(chain.lower[swings], -chain.upper[swings], atol=_RANGE_ROUNDING)
    return 2 if chain.mirrors and symmetric and _range(chain, 0) >= math.pi - _RANGE_ROUNDING else 0


def _free_tip(chain: Chain, weights: Weights) -> int:
    """1 if the tip reaches every roll, upside down if that is allowed, else 0."""
    needed = math.pi if weights.symmetric else 2.0 * math.pi
    last = len(chain.role) - 1
    return int(last > 0 and chain.role[last] == TWIST_JOINT and _range(chain, last) >= needed - _RANGE_ROUNDING)
