"""Results of the expressive solvers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.figure.model.viewable import View, Viewable
from poise.kernels.gaze.batch_arrays import BatchProblems, BatchSolutions


@dataclass(frozen=True)
class ExpressiveResult(Viewable):
    """A posture near the wanted one whose tip faces the target, and its errors, each in [0, 1]."""

    posture: Posture
    """The solution, within limits."""
    error: float
    """Combined error: weighted sum of the orientation and the posture error."""
    orientation_error: float
    """√2 sin(d/4) for an angle d between tip and target: 0.35 per radian."""
    posture_error: float
    """Difference of the bends, which ignores their signs."""
    shape_error: float
    """Difference of the shapes, signs and twists included, up to a turn of the chain about its root."""
    iterations: int
    """Number of iterations."""
    target: FloatArray
    """(4,) the wanted frame of the tip, (w, x, y, z)."""

    def view(self) -> View:
        """The figure in the posture that was found."""
        return self.posture.view()


@dataclass(frozen=True, eq=False)
class ExpressiveBatch:
    """The solutions of a batch, as arrays; `batch[i]` is one of them."""

    figure: Figure
    q: FloatArray
    """(m, nq) the solutions."""
    error: FloatArray
    """(m,) see `ExpressiveResult`, as for the fields below."""
    orientation_error: FloatArray
    """(m,)"""
    posture_error: FloatArray
    """(m,)"""
    shape_error: FloatArray
    """(m,)"""
    iterations: NDArray[np.int64]
    """(m,)"""
    targets: FloatArray
    """(m, 4)"""

    def __len__(self) -> int:
        """Number of problems."""
        return len(self.q)

    def __getitem__(self, i: int) -> ExpressiveResult:
        """The result of problem `i`."""
        return ExpressiveResult(
            Posture(self.figure, self.q[i].copy()),
            float(self.error[i]),
            float(self.orientation_error[i]),
            float(self.posture_error[i]),
            float(self.shape_error[i]),
            int(self.iterations[i]),
            self.targets[i].copy(),
        )

    def __iter__(self) -> Iterator[ExpressiveResult]:
        """All results in order."""
        return (self[i] for i in range(len(self)))


def empty_problems(count: int, joints: int) -> BatchProblems:
    """Uninitialised arrays for the problems of a chain."""
    kinds = np.zeros(count, dtype=np.int64)
    return BatchProblems(np.empty((count, 4)), kinds, np.empty((count, joints)), np.empty((count, joints)))


def empty_solutions(problems: BatchProblems, each: int = 1) -> BatchSolutions:
    """Uninitialised arrays for the solutions, so many of each problem."""
    count, joints = each * problems.posture.shape[0], problems.posture.shape[1]
    return BatchSolutions(np.empty((count, joints)), np.empty((count, 4)), np.empty(count, dtype=np.int64))
