"""Damped least squares with two priorities, to compare ERIK with: see `poise.kernels.gaze.two_priority`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.errors import TaskError
from poise.expressive.measures import Weights
from poise.expressive.solver import ExpressiveSolver
from poise.figure.model.figure import Figure
from poise.kernels.gaze.batch_arrays import BatchProblems, BatchSolutions
from poise.kernels.gaze.two_priority.batch import solve_two_priority_batch
from poise.kernels.gaze.two_priority.two_priority import TwoPriorityOptions, TwoPriorityWorkspace


@dataclass(frozen=True)
class TwoPrioritySettings:
    """How the steps are taken and when they end."""

    iterations: int = 100
    """Most steps; the paper's DLS100, DLS200 and DLS400."""
    threshold: float = 0.04
    """Combined error that is good enough."""
    bound: float = 1.2
    """b_max: how long a damped step may be, and to what the rotation left is cut [rad]. The paper does not say; this
    value fits its table 9."""
    posture: bool = True
    """Whether there is a second task at all; without it, the paper's DLS100_nopost."""

    def __post_init__(self) -> None:
        """Refuse settings with which no step can be taken."""
        if self.iterations < 1:
            raise TaskError(f"iterations of the two-priority DLS must be 1 or more, not {self.iterations}.")
        if not 0.0 < self.bound < np.inf:
            raise TaskError(f"bound of the two-priority DLS must be a positive number, not {self.bound}.")


class TwoPriorityDls(ExpressiveSolver):
    """Orientation first, posture second, by damped least squares; starts from all joints at zero, or at `previous`."""

    def __init__(
        self,
        figure: Figure,
        *,
        tip: str | None = None,
        weights: Weights | None = None,
        settings: TwoPrioritySettings | None = None,
    ) -> None:
        """Prepare the chain; the arguments are those of `poise.Erik`."""
        super().__init__(figure, tip, weights or Weights(), "the two-priority DLS")
        self.settings = settings or TwoPrioritySettings()
        s = self.settings
        self._options = TwoPriorityOptions(
            int(s.iterations), float(s.threshold), float(s.bound), float(s.bound), int(s.posture)
        )

    def _solve_rows(self, problems: BatchProblems, first: int, stop: int, solutions: BatchSolutions) -> None:
        workspace = two_priority_workspace(len(self.limb.joints))
        solve_two_priority_batch(
            self.limb.chain, self.scoring, self._options, problems, first, stop, workspace, solutions
        )


def two_priority_workspace(joints: int) -> TwoPriorityWorkspace:
    """Room for one solve; a chain of one or two joints needs it for three rotations all the same."""
    n = max(joints, 3)
    return TwoPriorityWorkspace(
        np.empty(joints),
        np.empty(joints),
        np.empty(joints),
        np.empty(n),
        np.empty((joints, 4)),
        np.zeros((n, joints)),
        np.empty((n, n)),
        np.empty(n),
        np.empty((joints, joints)),
    )
