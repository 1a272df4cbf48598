"""Two-priority damped least squares, for comparison with ERIK: see `poise.kernels.gaze.two_priority`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.arguments import kind_of
from poise.errors import TaskError
from poise.expressive.cuda import CudaMethod, cuda_module
from poise.expressive.measures import Weights
from poise.expressive.result import empty_solutions
from poise.expressive.solver import ExpressiveSolver, on_all_cores
from poise.figure.model.figure import Figure
from poise.kernels.gaze.batch_arrays import BatchProblems, BatchSolutions
from poise.kernels.gaze.two_priority.batch import solve_two_priority_batch
from poise.kernels.gaze.two_priority.two_priority import TwoPriorityOptions, TwoPriorityWorkspace


@dataclass(frozen=True)
class TwoPrioritySettings:
    """Bounds on the steps, and stopping criteria."""

    iterations: int = 100
    """Largest number of steps; the paper's DLS100, DLS200 and DLS400."""
    threshold: float = 0.04
    """The solve stops at this combined error."""
    bound: float = 1.2
    """b_max: largest length of a damped step, and largest residual rotation used [rad]. The paper does not give it;
    this value fits its table 9."""
    posture: bool = True
    """Whether to include the second task, the posture; without it, the paper's DLS100_nopost."""

    def __post_init__(self) -> None:
        """Raise an error for settings outside their range."""
        if self.iterations < 1:
            raise TaskError(f"iterations of the two-priority DLS must be 1 or more, not {self.iterations}.")
        if not 0.0 < self.bound < np.inf:
            raise TaskError(f"bound of the two-priority DLS must be a positive number, not {self.bound}.")


class TwoPriorityDls(ExpressiveSolver):
    """Damped least squares with the orientation first and the posture second; starts at zero, or at `previous`."""

    def __init__(
        self,
        figure: Figure,
        *,
        tip: str | None = None,
        weights: Weights | None = None,
        settings: TwoPrioritySettings | None = None,
    ) -> None:
        """Prepare the chain; the arguments are those of `poise.Erik`."""
        super().__init__(figure, tip, weights, "the two-priority DLS")
        self.settings = kind_of(settings, TwoPrioritySettings, "settings") or TwoPrioritySettings()
        s = self.settings
        self._options = TwoPriorityOptions(
            int(s.iterations), float(s.threshold), float(s.bound), float(s.bound), int(s.posture)
        )

    def _solve_rows(self, problems: BatchProblems, first: int, stop: int, solutions: BatchSolutions) -> None:
        self._solve_stages(np.array([self._options.iterations]), problems, first, stop, solutions)

    def _solve_stages(
        self, stages: NDArray[np.int64], problems: BatchProblems, first: int, stop: int, solutions: BatchSolutions
    ) -> None:
        workspace = two_priority_workspace(len(self.limb.joints))
        solve_two_priority_batch(
            self.limb.chain, self.scoring, self._options, stages, problems, first, stop, workspace, solutions
        )

    def solve_stages(self, problems: BatchProblems, stages: Sequence[int]) -> list[BatchSolutions]:
        """The solutions after at most so many steps, for several ascending numbers, by one run on all cores.

        The last number must be that of the settings.
        """
        count, steps = len(problems.rotation), np.array(stages, dtype=np.int64)
        solutions = empty_solutions(problems, len(stages))
        on_all_cores(count, lambda first, stop: self._solve_stages(steps, problems, first, stop, solutions))
        return split_stages(solutions, len(stages))

    def cuda_method(self) -> tuple[CudaMethod, tuple[Any, ...]]:
        """The CUDA kernels and their constants."""
        return self.cuda_stages([self.settings.iterations])

    def cuda_stages(self, stages: Sequence[int]) -> tuple[CudaMethod, tuple[Any, ...]]:
        """The CUDA kernels and constants of `solve_stages`."""
        cuda_module()
        from poise.expressive.launches import TwoPriorityOnCuda

        return TwoPriorityOnCuda(len(self.limb.joints), stages), (self.limb.chain, self.scoring, self._options)


def split_stages(solutions: BatchSolutions, stages: int) -> list[BatchSolutions]:
    """The solutions of each stage."""
    count = len(solutions.errors) // stages
    return [BatchSolutions(*(part[s * count : (s + 1) * count] for part in solutions)) for s in range(stages)]


def two_priority_workspace(joints: int) -> TwoPriorityWorkspace:
    """Workspace arrays of one solve; they have space for the three rows of the rotation on shorter chains too."""
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
        np.empty(joints),
    )
