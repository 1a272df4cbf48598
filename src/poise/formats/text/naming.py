"""Unique names for parts that have no name in a file, or share one."""

from __future__ import annotations

from collections.abc import Iterable


class Names:
    """Generates unique names."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        """Start with names that are in use."""
        self._taken = set(taken)
        self._count: dict[str, int] = {}

    def take(self, wanted: str) -> str:
        """A unique name: `wanted`, or `wanted_2`, `wanted_3` … if it is in use."""
        name = wanted
        while name in self._taken:
            self._count[wanted] = self._count.get(wanted, 1) + 1
            name = f"{wanted}_{self._count[wanted]}"
        self._taken.add(name)
        return name
