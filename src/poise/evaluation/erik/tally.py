"""Statistics of errors, accumulated block by block, so that any number of samples fits in a small file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from poise.figure.model.pose import FloatArray
from poise.kernels.gaze.tally import (
    ASKED,
    BIN_COUNT,
    KEPT,
    MAX_ITERATION_COUNT,
    MEASURE_COUNT,
    UNIT,
    WITHIN,
    TallyArrays,
)

BIN_WIDTH = 1.0 / BIN_COUNT
"""Width of a bin of the histograms."""
MEASURES = ("combined", "orientation", "posture", "shape")
"""The measures, in the order of the arrays."""


def empty_arrays() -> TallyArrays:
    """Statistics without any solution."""
    shapes = (3, MEASURE_COUNT, MEASURE_COUNT, MEASURE_COUNT, (MEASURE_COUNT, BIN_COUNT), MAX_ITERATION_COUNT + 1)
    return TallyArrays(*(np.zeros(shape, dtype=np.int64) for shape in shapes))


@dataclass
class Tally:
    """Statistics of the solutions so far."""

    arrays: TallyArrays = field(default_factory=empty_arrays)
    """Sums as integers, so that their order does not matter; of at most 2²⁰ solutions."""
    seconds: float = 0.0
    """Time of all solves [s]."""

    @property
    def asked(self) -> int:
        """Number of samples solved."""
        return int(self.arrays.counts[ASKED])

    def added(self, other: Tally) -> Tally:
        """The statistics of the solutions of both."""
        sums = [mine + theirs for mine, theirs in zip(self.arrays, other.arrays, strict=True)]
        largest = np.maximum(self.arrays.largest, other.arrays.largest)
        return Tally(TallyArrays(*sums)._replace(largest=largest), self.seconds + other.seconds)

    def save(self, path: Path) -> None:
        """Write the statistics atomically."""
        beside = path.with_suffix(".part.npz")
        arrays: dict[str, Any] = {**self.arrays._asdict(), "seconds": np.asarray(self.seconds)}
        np.savez(beside, **arrays)
        beside.replace(path)

    @staticmethod
    def load(path: Path) -> Tally:
        """The statistics that `save` wrote; empty ones if there is no file, or one that cannot be read."""
        tally = Tally()
        try:
            with np.load(path) as stored:
                found = TallyArrays(*(stored[name] for name in TallyArrays._fields))
                seconds = float(stored["seconds"])
        except (OSError, EOFError, ValueError, KeyError, BadZipFile):
            return tally
        same = all(
            mine.shape == theirs.shape and theirs.dtype == np.int64
            for mine, theirs in zip(tally.arrays, found, strict=True)
        )
        return Tally(found, seconds) if same else tally


@dataclass(frozen=True)
class Statistics:
    """Statistics of all blocks of a case."""

    asked: int
    """Number of samples solved."""
    count: int
    """Number of samples that passed the filter."""
    within: int
    """Number of samples with a combined error within the threshold."""
    means: FloatArray
    """(4,) mean of each measure."""
    deviations: FloatArray
    """(4,) standard deviation of each measure."""
    largest: FloatArray
    """(4,) largest value of each measure."""
    bars: NDArray[np.int64]
    """(4, BIN_COUNT) histogram of each measure."""
    iterations: NDArray[np.int64]
    """Number of samples for each number of iterations."""
    seconds: float
    """Time of all solves [s]."""

    @staticmethod
    def of(tallies: Iterable[Tally]) -> Statistics:
        """Sum up the statistics of blocks; the sums of many blocks would not fit into 64 bits."""
        parts = list(tallies) or [Tally()]
        asked, kept, within = (sum(int(part.arrays.counts[k]) for part in parts) for k in (ASKED, KEPT, WITHIN))
        sums = _total([part.arrays.sums for part in parts])
        squares = _total([part.arrays.squares for part in parts])
        means = sums / max(kept, 1)
        return Statistics(
            asked,
            kept,
            within,
            means,
            np.sqrt(np.maximum(squares / max(kept, 1) - means**2, 0.0)),
            np.max([part.arrays.largest for part in parts], axis=0) / UNIT,
            np.sum([part.arrays.bars for part in parts], axis=0),
            np.sum([part.arrays.iterations for part in parts], axis=0),
            sum(part.seconds for part in parts),
        )

    def mean(self, measure: str) -> float:
        """Mean of a measure."""
        return float(self.means[MEASURES.index(measure)])

    def deviation(self, measure: str) -> float:
        """Standard deviation of a measure."""
        return float(self.deviations[MEASURES.index(measure)])

    def iteration_statistics(self) -> tuple[int, int, float, float]:
        """Smallest, largest, mean and standard deviation of the number of iterations."""
        seen = np.flatnonzero(self.iterations)
        if not len(seen):
            return 0, 0, 0.0, 0.0
        weights = self.iterations[seen] / self.iterations.sum()
        mean = float(weights @ seen)
        return int(seen[0]), int(seen[-1]), mean, float(np.sqrt(weights @ (seen - mean) ** 2))


def _total(parts: list[NDArray[np.int64]]) -> FloatArray:
    """Exact sums of integers, as errors."""
    return np.array([sum(int(part[k]) for part in parts) / UNIT for k in range(MEASURE_COUNT)])
