"""Statistics of errors, accumulated block by block, so that any number of samples fits in a small file."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.figure.model.pose import FloatArray

BIN_WIDTH = 0.001
"""Width of a bin of the histograms."""
BIN_COUNT = 1000
"""Number of bins; they cover 0 to 1, the range of the errors."""
MEASURES = ("combined", "orientation", "posture", "shape")
"""The measures, in the order of the arrays."""
MAX_ITERATION_COUNT = 1000
"""Larger numbers of iterations are counted as this one."""


@dataclass
class Tally:
    """Statistics of the solutions so far."""

    blocks: int = 0
    """Number of blocks of samples included."""
    asked: int = 0
    """Number of samples solved."""
    count: int = 0
    """Number of samples that passed the filter."""
    total: FloatArray = field(default_factory=lambda: np.zeros(4))
    """(4,) sum of each measure."""
    squares: FloatArray = field(default_factory=lambda: np.zeros(4))
    """(4,) sum of the squares of each measure."""
    largest: FloatArray = field(default_factory=lambda: np.zeros(4))
    """(4,) largest value of each measure."""
    bars: NDArray[np.int64] = field(default_factory=lambda: np.zeros((4, BIN_COUNT), dtype=np.int64))
    """(4, BIN_COUNT) histogram of each measure."""
    iterations: NDArray[np.int64] = field(default_factory=lambda: np.zeros(MAX_ITERATION_COUNT + 1, dtype=np.int64))
    """Number of samples for each number of iterations."""
    within: int = 0
    """Number of samples with a combined error within the threshold."""
    seconds: float = 0.0
    """Time of all solves [s]."""

    def add(self, errors: FloatArray, iterations: NDArray[np.int64], *, asked: int, threshold: float) -> None:
        """Add the solutions of a block: `errors` (m, 4) in the order of MEASURES, weighted as in the report."""
        self.blocks += 1
        self.asked += asked
        self.count += len(errors)
        self.total += errors.sum(axis=0)
        self.squares += (errors**2).sum(axis=0)
        self.largest = np.maximum(self.largest, errors.max(axis=0, initial=0.0))
        places = np.minimum((errors / BIN_WIDTH).astype(np.int64), BIN_COUNT - 1)
        for measure in range(4):
            self.bars[measure] += np.bincount(places[:, measure], minlength=BIN_COUNT)
        self.iterations += np.bincount(np.minimum(iterations, MAX_ITERATION_COUNT), minlength=MAX_ITERATION_COUNT + 1)
        self.within += int((errors[:, 0] <= threshold).sum())

    def mean(self, measure: str) -> float:
        """Mean of a measure."""
        return float(self.total[MEASURES.index(measure)] / max(self.count, 1))

    def deviation(self, measure: str) -> float:
        """Standard deviation of a measure."""
        k = MEASURES.index(measure)
        return float(np.sqrt(max(self.squares[k] / max(self.count, 1) - self.mean(measure) ** 2, 0.0)))

    def iteration_statistics(self) -> tuple[int, int, float, float]:
        """Smallest, largest, mean and standard deviation of the number of iterations."""
        seen = np.flatnonzero(self.iterations)
        if not len(seen):
            return 0, 0, 0.0, 0.0
        weights = self.iterations[seen] / self.iterations.sum()
        mean = float(weights @ seen)
        return int(seen[0]), int(seen[-1]), mean, float(np.sqrt(weights @ (seen - mean) ** 2))

    def save(self, path: Path) -> None:
        """Write the statistics atomically."""
        beside = path.with_suffix(".part.npz")
        arrays: dict[str, Any] = {name: np.asarray(value) for name, value in vars(self).items()}
        np.savez(beside, **arrays)
        beside.replace(path)

    @staticmethod
    def load(path: Path) -> Tally:
        """The statistics that `save` wrote; empty ones if there is no file, or one that cannot be read."""
        tally = Tally()
        try:
            with np.load(path) as stored:
                for name, value in vars(tally).items():
                    found = stored[name]
                    setattr(tally, name, found if isinstance(value, np.ndarray) else type(value)(found))
        except (OSError, ValueError, KeyError):
            return Tally()
        return tally
