"""Look-up by name, with error messages that suggest and list the known names; collections of a figure's named parts."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Generic, Protocol, TypeVar, overload

from poise.arguments import shown
from poise.errors import FigureError

T = TypeVar("T")
_NAMES_LISTED = 12
"""Largest number of names listed in an error message."""


def suggestion(name: str, known: Iterable[str]) -> str:
    """' Did you mean …?' with the most similar known name, or nothing if none is similar."""
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f" Did you mean {near[0]!r}?" if near else ""


def listing(names: Iterable[str]) -> str:
    """The first names, separated by commas, and their total number."""
    all_names = list(names)
    shown = ", ".join(all_names[:_NAMES_LISTED])
    return f"{shown}, … ({len(all_names)} in all)" if len(all_names) > _NAMES_LISTED else shown or "none"


def look_up(table: Mapping[str, T], name: str, what: str, owner: str) -> T:
    """table[name]; raises a FigureError that lists the known names if it does not exist."""
    try:
        return table[name]
    except (KeyError, TypeError):
        pass
    hint = suggestion(str(name), table)
    raise FigureError(f"{owner} has no {what} {name!r}.{hint} {plural(what).capitalize()}: {listing(table)}.")


def plural(what: str) -> str:
    """The plural of a noun: 'site or body' becomes 'sites and bodies'."""
    words = (f"{word[:-1]}ies" if word.endswith("y") else f"{word}s" for word in what.split(" or "))
    return " and ".join(words)


class HasName(Protocol):
    """Anything with a name."""

    @property
    def name(self) -> str:
        """Its name."""


Part = TypeVar("Part", bound=HasName)


class Named(Generic[Part]):
    """An immutable sequence whose items can be looked up by index or by name."""

    def __init__(self, items: tuple[Part, ...], what: str, owner: str) -> None:
        """Index the items by name; refuses two items of the same name."""
        self._items = items
        self._what, self._owner = what, owner
        self._index: dict[str, int] = {}
        for i, item in enumerate(items):
            if not isinstance(item.name, str):
                raise FigureError(f"{owner}: the name of a {what} must be text, not {shown(item.name)}.")
            if item.name in self._index:
                raise FigureError(f"{owner} has two {plural(what)} named {item.name!r}; names must be unique.")
            self._index[item.name] = i

    @overload
    def __getitem__(self, key: int | str) -> Part: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Part, ...]: ...
    def __getitem__(self, key: int | str | slice) -> Part | tuple[Part, ...]:
        """The item at an index or with a name."""
        return self._items[self.index(key) if isinstance(key, str) else key]

    def index(self, name: str) -> int:
        """Position of a name."""
        return look_up(self._index, name, self._what, self._owner)

    def __contains__(self, item: object) -> bool:
        """Whether an item has this name, or is this item."""
        return item in self._index if isinstance(item, str) else item in self._items

    def __iter__(self) -> Iterator[Part]:
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
