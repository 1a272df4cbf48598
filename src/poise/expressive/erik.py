"""`poise.Erik`: the ERIK algorithm of the papers.

See `poise.kernels.gaze.erik.erik` for the method of 2019 and `docs/erik.md` for the interpretation of its text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from poise.arguments import kind_of
from poise.errors import TaskError
from poise.expressive.cuda import CudaMethod, cuda_module
from poise.expressive.erik_2017 import Passes
from poise.expressive.lalut import lalut_of, no_lalut
from poise.expressive.measures import Weights, is_whole
from poise.expressive.result import empty_solutions
from poise.expressive.solver import ExpressiveSolver
from poise.figure.model.figure import Figure
from poise.kernels.gaze.batch_arrays import BatchProblems, BatchSolutions
from poise.kernels.gaze.erik.batch import erik_call_arguments, solve_erik_batch, solve_erik_call
from poise.kernels.gaze.erik.descent import Descent
from poise.kernels.gaze.erik.erik import ErikOptions, ErikWorkspace
from poise.kernels.gaze.erik.phases import Frames

Variant = Literal["2019", "2017"]


@dataclass(frozen=True)
class ErikSettings:
    """Hyperparameters and extensions of ERIK [Ribeiro & Paiva 2019, table 2 and 3.9]."""

    threshold: float = 0.04
    """The solve stops at this combined error."""
    iterations: int = 20
    """Largest number of iterations."""
    sweeps: int = 5
    """Largest number of sweeps of BWCD and CCD."""
    precision: float = 1e-4
    """BWCD and CCD stop when sin² of half the residual angle is at most this."""
    progress: float = 1e-6
    """CCD stops after a sweep that changes that measure by at most this."""
    disturbance: float = 0.02
    """Distance by which joints are moved off a limit, and angle by which the target is shifted [rad]."""
    stall: float = 0.001
    """Errors of two iterations that differ by no more than this count as equal: the solution does not converge."""
    patience: int = 4
    """Iterations before the first check for non-convergence."""
    avoid_edges: bool = True
    """Extension: keep joints off their limits, where chains get stuck."""
    offset_trick: bool = True
    """Extension: shift the target when the solution does not converge. It is part of the paper, but seldom helps."""
    ccd_trick: bool = True
    """Extension: continue with CCD when shifting the target did not help."""
    as_printed: bool = False
    """Run the forward phase as printed in the paper, which finds a few more solutions in more iterations."""
    lalut: bool = False
    """Look up angles in a table, as the paper does, instead of solving for them."""
    lalut_step: float = 1.0
    """Spacing of the table [degrees]."""

    def __post_init__(self) -> None:
        """Raise an error for settings outside their range."""
        for name in ("iterations", "sweeps", "patience"):
            if not is_whole(getattr(self, name), 1):
                raise TaskError(f"{name} of erik must be a whole number from 1 up, not {getattr(self, name)}.")
        for name in ("threshold", "precision", "progress", "disturbance", "stall"):
            if not 0.0 <= getattr(self, name) < np.inf:
                raise TaskError(f"{name} of erik must be a number from 0 up, not {getattr(self, name)}.")
        if not 0.0 < self.lalut_step <= 90.0:
            raise TaskError(f"lalut_step of erik must be between 0 and 90 degrees, not {self.lalut_step}.")


class Erik(ExpressiveSolver):
    """The ERIK algorithm on a single chain of revolute joints.

        r = poise.Erik(poise.load("adelino")).solve("sad", poise.facing([1, 0.3, 0.5]))

    The paper's fourth extension, a tip that may be upside down, is `Weights(symmetric=…)`.
    """

    def __init__(
        self,
        figure: Figure,
        *,
        variant: Variant = "2019",
        tip: str | None = None,
        weights: Weights | None = None,
        settings: ErikSettings | None = None,
    ) -> None:
        """Prepare the chain.

        Args:
            figure: A figure with one chain of revolute joints from its root to `tip`.
            variant: "2019", or "2017" for the three passes with a posture gradient, which is kept between frames: give
                `solve` the previous posture for that.
            tip: The site or body that faces the target, along the axis that the figure states (`facing`), else along
                its own +Y; not needed if the figure does not branch.
            weights: Weights of the errors.
            settings: Hyperparameters and extensions.
        """
        if variant not in get_args(Variant):
            raise TaskError(f"there is no variant {variant!r} of erik: {' or '.join(get_args(Variant))}.")
        super().__init__(
            figure,
            tip,
            weights,
            "erik" if variant == "2019" else "erik of 2017",
            needs_lengths=variant == "2017",
        )
        self.variant = variant
        self.settings = kind_of(settings, ErikSettings, "settings") or ErikSettings()
        self._options = _options(self.settings)
        self._lalut = (
            lalut_of(self.limb.chain, self.settings.lalut_step)
            if self.settings.lalut
            else no_lalut(len(self.limb.joints))
        )

        self._passes = Passes(self.limb.chain, self.scoring, self._lalut)

    def _solve_rows(self, problems: BatchProblems, first: int, stop: int, solutions: BatchSolutions) -> None:
        if self.variant == "2017":
            self._passes.solve_rows(problems, first, stop, solutions)
            return
        workspace = erik_workspace(len(self.limb.joints))
        solve_erik_batch(
            self.limb.chain, self.scoring, self._lalut, self._options, problems, first, stop, workspace, solutions
        )

    def cuda_method(self) -> tuple[CudaMethod, tuple[Any, ...]]:
        """The CUDA kernels and their constants."""
        if self.variant == "2017":
            raise TaskError("the erik of 2017 does not run on a GPU; leave out device=….")
        cuda_module()
        from poise.expressive.launches import ErikOnCuda

        return ErikOnCuda(len(self.limb.joints)), (self.limb.chain, self.scoring, (self._lalut, self._options))

    def _solve_frame(self, problems: BatchProblems, follows: bool) -> BatchSolutions:
        if self.variant == "2017":
            return self._passes.solve_frame(problems, follows)
        if not hasattr(self._own, "arguments"):
            self._own.solutions, workspace = empty_solutions(problems), erik_workspace(len(self.limb.joints))
            parts = self.limb.chain, self.scoring, self._lalut, self._options, problems, workspace, self._own.solutions
            self._own.arguments = erik_call_arguments(*parts)
        solve_erik_call(self._own.arguments)
        solutions: BatchSolutions = self._own.solutions
        return solutions


def _options(settings: ErikSettings) -> ErikOptions:
    return ErikOptions(
        float(settings.threshold),
        int(settings.iterations),
        Descent(int(settings.sweeps), float(settings.precision), float(settings.progress)),
        float(settings.disturbance),
        float(settings.stall),
        int(settings.patience),
        int(settings.avoid_edges),
        int(settings.offset_trick),
        int(settings.ccd_trick),
        int(settings.as_printed),
    )


def erik_workspace(joints: int) -> ErikWorkspace:
    """Workspace arrays of one solve."""
    frames = Frames(np.empty((joints, 4)), np.empty((joints, 4)), np.empty((joints, 4)))
    return ErikWorkspace(np.empty(joints), np.empty(joints), np.empty(joints), frames)
