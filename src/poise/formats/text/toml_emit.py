"""Writes TOML as a person would: short arrays on one line, quotes only where needed, whole numbers without a point."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_WIDTH = 110
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\b": "\\b", "\f": "\\f"}


class Raw(str):
    """A value that is TOML text already."""


class Dotted(tuple[str, ...]):
    """A dotted key such as `shoulder.twist`."""

    __slots__ = ()


def number(value: float) -> str:
    """The shortest text that parses to the same float."""
    value = float(value)
    whole = value.is_integer() and abs(value) < 1e15 and (value != 0.0 or math.copysign(1.0, value) > 0.0)
    return str(int(value)) if whole else repr(value)


def key(word: str) -> str:
    """A key, in quotes if TOML requires them."""
    return word if _BARE.fullmatch(word) else string(word)


def string(text: str) -> str:
    """A TOML basic string, with quotes and escapes."""
    return f'"{"".join(_ESCAPES.get(c) or _plain(c) for c in text)}"'


def _plain(c: str) -> str:
    return f"\\u{ord(c):04X}" if ord(c) < 0x20 or ord(c) == 0x7F else c


def inline(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, Raw):
        return value
    if isinstance(value, str):
        return string(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{_any_key(k)} = {inline(v)}" for k, v in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    if isinstance(value, Sequence):
        return f"[{', '.join(inline(item) for item in value)}]"
    return number(value)


def _any_key(word: str | Dotted) -> str:
    return ".".join(key(part) for part in word) if isinstance(word, Dotted) else key(word)


def pair(word: str, value: Any) -> Iterable[str]:
    """The lines of `word = value`: one line, or one per item of an array that is too long for a line."""
    line = f"{key(word)} = {inline(value)}"
    nested = isinstance(value, Sequence) and not isinstance(value, str) and len(value) > 0
    if len(line) <= _WIDTH or not nested or not isinstance(value[0], Sequence | Mapping):
        return [line]
    return [f"{key(word)} = [", *(f"    {inline(item)}," for item in value), "]"]


def section(header: str, pairs: Mapping[str, Any]) -> list[str]:
    """The lines of a table: an empty line, the header and the keys."""
    return ["", header, *(line for word, value in pairs.items() for line in pair(word, value))]
