"""The newest samples of a plot, numbered so that each page can ask for those it does not have."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

SAMPLES_KEPT = 900
"""Number of samples kept: fifteen seconds at sixty per second."""


class Samples:
    """Rows of numbers; the first number of a row is its time [s]."""

    def __init__(self) -> None:
        """Start without samples."""
        self._rows: deque[list[float]] = deque(maxlen=SAMPLES_KEPT)
        self._count = 0

    def add(self, values: Iterable[float]) -> None:
        """Add a row."""
        self._rows.append([round(float(value), 5) for value in values])
        self._count += 1

    def since(self, number: int) -> tuple[int, list[list[float]]]:
        """The number of the newest row, and the rows after number `number` that are still kept."""
        fresh = min(max(self._count - number, 0), len(self._rows))
        return self._count, list(self._rows)[len(self._rows) - fresh :]
