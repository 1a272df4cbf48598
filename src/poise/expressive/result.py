"""What an expressive solver answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.kernels.gaze.batch_arrays import BatchProblems, BatchSolutions


@dataclass(frozen=True)
class ExpressiveResult:
    """A posture near to the one asked for whose tip faces the target, and how near it is; every error is in [0, 1]."""

    posture: Posture
    """The solution, inside all limits."""
    error: float
    """Weighted sum of the orientation and the posture error: what solvers are compared by."""
    orientation_error: float
    """√2 sin(d/4) for a tip that is d away from the target: 0.35 per radian."""
    posture_error: float
    """How much the bends differ, whatever their signs."""
    shape_error: float
    """How much the shape differs, signs and twists included, up to a turn of the body about its root."""
    iterations: int
    """How many it took."""
    target: FloatArray
    """(4,) frame that was wanted of the tip, (w, x, y, z)."""


@dataclass(frozen=True, eq=False)
class ExpressiveBatch:
    """The answers to many questions, as arrays; `batch[i]` is one of them."""

    figure: Figure
    q: FloatArray
    """(m, nq) the solutions."""
    error: FloatArray
    """(m,) see `ExpressiveResult`, as for the ones below."""
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
        """How many questions there were."""
        return len(self.q)

    def __getitem__(self, i: int) -> ExpressiveResult:
        """The answer to question `i`."""
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
        """All answers in order."""
        return (self[i] for i in range(len(self)))


def empty_problems(count: int, joints: int) -> BatchProblems:
    """Room for questions about a chain."""
    kinds = np.zeros(count, dtype=np.int64)
    return BatchProblems(np.empty((count, 4)), kinds, np.empty((count, joints)), np.empty((count, joints)))


def empty_solutions(problems: BatchProblems) -> BatchSolutions:
    """Room for the answers."""
    count, joints = problems.posture.shape
    return BatchSolutions(np.empty((count, joints)), np.empty((count, 4)), np.empty(count, dtype=np.int64))
