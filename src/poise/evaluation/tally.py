"""Statistics of errors that add up block by block, so that any number of samples fits in a small file."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.figure.model.pose import FloatArray

BIN = 0.001
"""Width of a bar of the histograms."""
BINS = 1000
"""They cover 0 to 1, as the errors do."""
MEASURES = ("combined", "orientation", "posture", "shape")
LONGEST = 1000
"""Iteration counts that are told apart."""


@dataclass
class Tally:
    """What is known of the answers so far."""

    blocks: int = 0
    """Blocks of samples that went in."""
    asked: int = 0
    """Samples that were solved."""
    count: int = 0
    """Samples that were kept."""
    total: FloatArray = field(default_factory=lambda: np.zeros(4))
    """(4,) sum of each measure."""
    squares: FloatArray = field(default_factory=lambda: np.zeros(4))
    """(4,) sum of the squares of each measure."""
    largest: FloatArray = field(default_factory=lambda: np.zeros(4))
    """(4,)"""
    bars: NDArray[np.int64] = field(default_factory=lambda: np.zeros((4, BINS), dtype=np.int64))
    """(4, BINS) histogram of each measure."""
    iterations: NDArray[np.int64] = field(default_factory=lambda: np.zeros(LONGEST + 1, dtype=np.int64))
    """How often each number of iterations occurred."""
    within: int = 0
    """Samples whose combined error is within the threshold."""
    seconds: float = 0.0
    """Spent on all samples."""

    def add(self, errors: FloatArray, iterations: NDArray[np.int64], *, asked: int, threshold: float) -> None:
        """Add the answers of a block: `errors` (m, 4) in the order of MEASURES, weighted as the report shows them."""
        self.blocks += 1
        self.asked += asked
        self.count += len(errors)
        self.total += errors.sum(axis=0)
        self.squares += (errors**2).sum(axis=0)
        self.largest = np.maximum(self.largest, errors.max(axis=0, initial=0.0))
        places = np.minimum((errors / BIN).astype(np.int64), BINS - 1)
        for measure in range(4):
            self.bars[measure] += np.bincount(places[:, measure], minlength=BINS)
        self.iterations += np.bincount(np.minimum(iterations, LONGEST), minlength=LONGEST + 1)
        self.within += int((errors[:, 0] <= threshold).sum())

    def mean(self, measure: str) -> float:
        """Mean of a measure."""
        return float(self.total[MEASURES.index(measure)] / max(self.count, 1))

    def deviation(self, measure: str) -> float:
        """Standard deviation of a measure."""
        k = MEASURES.index(measure)
        return float(np.sqrt(max(self.squares[k] / max(self.count, 1) - self.mean(measure) ** 2, 0.0)))

    def iteration_statistics(self) -> tuple[int, int, float, float]:
        """Least, most, mean and standard deviation of the iterations."""
        seen = np.flatnonzero(self.iterations)
        if not len(seen):
            return 0, 0, 0.0, 0.0
        weights = self.iterations[seen] / self.iterations.sum()
        mean = float(weights @ seen)
        return int(seen[0]), int(seen[-1]), mean, float(np.sqrt(weights @ (seen - mean) ** 2))

    def save(self, path: Path) -> None:
        """Write everything, never half of it."""
        beside = path.with_suffix(".part.npz")
        arrays: dict[str, Any] = {name: np.asarray(value) for name, value in vars(self).items()}
        np.savez(beside, **arrays)
        beside.replace(path)

    @staticmethod
    def load(path: Path) -> Tally:
        """What `save` wrote; nothing yet where there is no file, or one that cannot be read."""
        tally = Tally()
        try:
            with np.load(path) as stored:
                for name, value in vars(tally).items():
                    found = stored[name]
                    setattr(tally, name, found if isinstance(value, np.ndarray) else type(value)(found))
        except (OSError, ValueError, KeyError):
            return Tally()
        return tally
