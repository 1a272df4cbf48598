"""Look-up by name, with error messages that suggest and list the known names."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import TypeVar

from poise.errors import FigureError

T = TypeVar("T")
_NAMES_LISTED = 12
"""Most names listed in an error message."""


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
