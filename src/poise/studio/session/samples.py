"""The newest samples of what a mode plots, numbered, so that every page gets each one once."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

KEPT = 900
"""How many samples are kept: fifteen seconds."""


class Samples:
    """Rows of numbers, the first of each its time."""

    def __init__(self) -> None:
        """Begin without any."""
        self._rows: deque[list[float]] = deque(maxlen=KEPT)
        self._count = 0

    def add(self, values: Iterable[float]) -> None:
        """Add a row."""
        self._rows.append([round(float(value), 5) for value in values])
        self._count += 1

    def since(self, number: int) -> tuple[int, list[list[float]]]:
        """The number of the newest row, and the rows after number `number` that are still kept."""
        fresh = min(max(self._count - number, 0), len(self._rows))
        return self._count, list(self._rows)[len(self._rows) - fresh :]
