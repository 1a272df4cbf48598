"""Look-ups by name that help when the name is wrong."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import TypeVar

from poise.errors import FigureError

T = TypeVar("T")
_SHOWN = 12


def suggestion(name: str, known: Iterable[str]) -> str:
    """The end of an error message: the nearest known name, if one is near."""
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f" Did you mean {near[0]!r}?" if near else ""


def listing(names: Iterable[str]) -> str:
    """Names separated by commas, the first dozen of them."""
    all_names = list(names)
    shown = ", ".join(all_names[:_SHOWN])
    return f"{shown}, … ({len(all_names)} in all)" if len(all_names) > _SHOWN else shown or "none"


def look_up(table: Mapping[str, T], name: str, what: str, owner: str) -> T:
    """table[name], or a FigureError that says what does exist."""
    try:
        return table[name]
    except (KeyError, TypeError):
        pass
    hint = suggestion(str(name), table)
    raise FigureError(f"{owner} has no {what} {name!r}.{hint} {plural(what).capitalize()}: {listing(table)}.")


def plural(what: str) -> str:
    """More than one of something: 'site or body' becomes 'sites and bodies'."""
    words = (f"{word[:-1]}ies" if word.endswith("y") else f"{word}s" for word in what.split(" or "))
    return " and ".join(words)
