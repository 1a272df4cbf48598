"""An ordered collection of a figure's parts with look-up by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, Protocol, TypeVar, overload

from poise.errors import FigureError
from poise.figure.model.names import look_up, plural


class HasName(Protocol):
    """Anything with a name."""

    @property
    def name(self) -> str:
        """Its name."""


T = TypeVar("T", bound=HasName)


class Named(Generic[T]):
    """An immutable sequence whose items can be looked up by index or by name."""

    def __init__(self, items: tuple[T, ...], what: str, owner: str) -> None:
        """Index the items by name; refuses two items of the same name."""
        self._items = items
        self._what, self._owner = what, owner
        self._index: dict[str, int] = {}
        for i, item in enumerate(items):
            if item.name in self._index:
                raise FigureError(f"{owner} has two {plural(what)} named {item.name!r}; names must be unique.")
            self._index[item.name] = i

    @overload
    def __getitem__(self, key: int | str) -> T: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[T, ...]: ...
    def __getitem__(self, key: int | str | slice) -> T | tuple[T, ...]:
        """The item at an index or with a name."""
        return self._items[self.index(key) if isinstance(key, str) else key]

    def index(self, name: str) -> int:
        """Position of a name."""
        return look_up(self._index, name, self._what, self._owner)

    def __contains__(self, item: object) -> bool:
        """Whether an item has this name, or is this item."""
        return item in self._index if isinstance(item, str) else item in self._items

    def __iter__(self) -> Iterator[T]:
        """The items in order."""
        return iter(self._items)

    def __len__(self) -> int:
        """Number of items."""
        return len(self._items)

    @property
    def names(self) -> tuple[str, ...]:
        """All names in order."""
        return tuple(self._index)

    def __eq__(self, other: object) -> bool:
        """Whether both hold equal items in the same order."""
        return self._items == other._items if isinstance(other, Named) else NotImplemented

    def __hash__(self) -> int:
        """Hash of the items."""
        return hash(self._items)

    def __repr__(self) -> str:
        """The names."""
        return f"[{', '.join(self._index)}]"
