"""Names for parts that a file leaves unnamed or names twice."""

from __future__ import annotations

from collections.abc import Iterable


class Names:
    """Hands out names, each only once."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        """Start with names that others have."""
        self._taken = set(taken)
        self._count: dict[str, int] = {}

    def take(self, wanted: str) -> str:
        """`wanted`, or `wanted_2`, `wanted_3` … when it is taken."""
        name = wanted
        while name in self._taken:
            self._count[wanted] = self._count.get(wanted, 1) + 1
            name = f"{wanted}_{self._count[wanted]}"
        self._taken.add(name)
        return name
