"""ERIK of 2017, with three passes and a posture gradient: see `poise.kernels.gaze.erik.erik_2017`."""

from __future__ import annotations

import numpy as np

from poise.expressive.result import empty_solutions
from poise.figure.model.pose import FloatArray
from poise.kernels.chains.chain import Chain
from poise.kernels.gaze.batch_arrays import BatchProblems, BatchSolutions
from poise.kernels.gaze.erik.batch import solve_erik_2017_batch
from poise.kernels.gaze.erik.descent import Descent
from poise.kernels.gaze.erik.erik_2017 import Workspace2017, reset_gradient
from poise.kernels.gaze.erik.joint import Lalut
from poise.kernels.gaze.measures import Scoring

FABRIK_SWEEPS = 10
"""Largest number of sweeps of the FABRIK pass."""
CCD = Descent(sweeps=20, precision=1e-6, progress=1e-9)
"""Stopping criteria of the CCD pass: a tenth of a degree."""
MAX_MOTIONS = 16
"""Number of motions whose gradients are kept; a motion that does not continue is forgotten after some others."""


class Passes:
    """The solver of 2017 on one chain; it stores the gradients of the last frames of a few motions."""

    def __init__(self, chain: Chain, scoring: Scoring, lalut: Lalut) -> None:
        """Start without a gradient."""
        self._constants = chain, scoring, lalut, FABRIK_SWEEPS, CCD
        self._gradients: dict[bytes, FloatArray] = {}

    def solve_rows(self, problems: BatchProblems, first: int, stop: int, solutions: BatchSolutions) -> None:
        """Solve some rows of a batch, each without a gradient."""
        solve_erik_2017_batch(
            *self._constants, problems, first, stop, 1, workspace_2017(problems.posture.shape[1]), solutions
        )

    def solve_frame(self, problems: BatchProblems, follows: bool) -> BatchSolutions:
        """Solve one frame; `follows` says that it continues a previous frame, whose gradient is then used.

        The gradient belongs to the solution that the frame continues, so several motions may use one solver.
        """
        workspace, solutions = workspace_2017(problems.posture.shape[1]), empty_solutions(problems)
        gradient = self._gradients.pop(problems.start.tobytes(), None) if follows else None
        if gradient is None:
            reset_gradient(workspace)
        else:
            workspace.gradient[:] = gradient
        solve_erik_2017_batch(*self._constants, problems, 0, 1, 0, workspace, solutions)
        while len(self._gradients) >= MAX_MOTIONS:
            self._gradients.pop(next(iter(self._gradients)), None)
        self._gradients[solutions.angles.tobytes()] = workspace.gradient
        return solutions


def workspace_2017(joints: int) -> Workspace2017:
    """Workspace arrays of one solve."""
    frames = np.empty((2, joints, 4))
    places = np.empty((2, joints + 1, 3))
    return Workspace2017(np.empty((joints, 4)), *frames, *places, *np.empty((2, joints)))
