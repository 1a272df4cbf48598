"""Checked access to the tables of a TOML file, or of a message; every error of a file has file and line."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from poise.errors import FormatError, PoiseError
from poise.figure.model.names import suggestion
from poise.formats.text import toml_lines

_MISSING = object()
MOST_KEY_PARTS = 64
"""Largest number of parts of a dotted key; the time to parse one grows with the square of their number."""
_LONG_KEY = re.compile(
    rf"""(?<![A-Za-z0-9_-])(?>(?>[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){{{MOST_KEY_PARTS}}}"""
)
"""Takes time in proportion to the text: it starts at the beginning of a word only, and never goes back."""
_POSITION = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


class Source:
    """A parsed TOML text with the line of every key."""

    def __init__(self, text: str | bytes, path: Path | None) -> None:
        """Parse `text`; `path` is for error messages only."""
        self.path = path
        source = self._decoded(text).removeprefix("\ufeff").replace("\r\n", "\n")
        if long := _LONG_KEY.search(source):
            line = 1 + source.count("\n", 0, long.start())
            raise FormatError(f"has a key of more than {MOST_KEY_PARTS} parts.", path, line)
        try:
            values = tomllib.loads(source)
            self._lines: dict[toml_lines.Path, int] | None = toml_lines.key_lines(source)
        except tomllib.TOMLDecodeError as problem:
            reason, line = _syntax_error(str(problem), source)
            raise FormatError(reason, path, line) from None
        except RecursionError:
            raise FormatError("nests tables or arrays too deeply.", path) from None
        except ValueError as problem:
            # Python refuses integers of thousands of digits.
            raise FormatError(f"is not TOML: {problem}.", path) from None
        self.top = Table(self, values, (), "the file")

    @classmethod
    def table_of(cls, values: Mapping[str, Any], what: str) -> Table:
        """A table of values that were not read from a file; `what` names it in error messages."""
        source = cls.__new__(cls)
        source.path, source._lines = None, None
        return Table(source, values, (), what)

    def _decoded(self, text: str | bytes) -> str:
        if isinstance(text, str):
            return text
        try:
            return text.decode("utf-8")
        except UnicodeDecodeError as problem:
            line = 1 + text.count(b"\n", 0, problem.start)
            raise FormatError("is not UTF-8 text.", self.path, line) from None

    def error(self, reason: str, place: toml_lines.Path = ()) -> FormatError:
        """A FormatError with the line of `place`, if there is one."""
        line = None if self._lines is None else toml_lines.nearest_line(self._lines, place)
        return FormatError(reason, self.path, line)


class Table:
    """One table: `take` its keys, then call `finish` to refuse unknown ones."""

    def __init__(self, source: Source, values: Mapping[str, Any], place: toml_lines.Path, what: str) -> None:
        """Wrap the values of a table; `what` names it in error messages."""
        self.source, self.place, self.what = source, place, what
        self._values = dict(values)
        self._known: list[str] = []

    def error(self, reason: str, key: str | None = None) -> FormatError:
        """A FormatError with the line of this table, or of one of its keys."""
        return self.source.error(reason, self.place if key is None else (*self.place, key))

    @contextmanager
    def locating_errors(self, key: str | None = None) -> Iterator[None]:
        """Turn any other error of poise inside the block into a FormatError with the line of this table or key."""
        try:
            yield
        except FormatError:
            raise
        except PoiseError as problem:
            raise self.error(str(problem), key) from None

    def __contains__(self, key: str) -> bool:
        """Whether the file has this key."""
        return key in self._values

    def keys(self) -> list[str]:
        """The keys not yet taken."""
        return [key for key in self._values if key not in self._known]

    def all_keys(self) -> list[str]:
        """Every key, taken or not."""
        return list(self._values)

    def take(self, key: str, default: Any = _MISSING) -> Any:
        """The unchecked value of a key, or `default` if it is missing."""
        self._known.append(key)
        if key in self._values:
            return self._values[key]
        if default is _MISSING:
            raise self.error(f"{self.what} has no {key!r}.")
        return default

    def text(self, key: str, default: Any = _MISSING) -> Any:
        """A string, or `default`."""
        return self._typed(key, default, str, "a string in quotes")

    def flag(self, key: str, default: Any = _MISSING) -> bool:
        """True or false."""
        return bool(self._typed(key, default, bool, "true or false"))

    def _typed(self, key: str, default: Any, kind: type, words: str) -> Any:
        value = self.take(key, default)
        if key in self._values and not isinstance(value, kind):
            raise self.error(f"{key!r} of {self.what} must be {words}, not {shown(value)}.", key)
        return value

    def choice(self, key: str, choices: Sequence[str], default: Any = _MISSING) -> str:
        """One of the words in `choices`."""
        word = self.text(key, default)
        if word not in choices:
            hint = suggestion(word, choices)
            raise self.error(f"{key!r} of {self.what} is {word!r}.{hint} It can be {', '.join(choices)}.", key)
        return str(word)

    def number(self, key: str, default: float | None = None) -> float:
        """A number, possibly infinite, but not NaN."""
        return self.as_number(self.take(key) if default is None else self.take(key, default), key)

    def numbers(self, key: str, counts: Sequence[int], default: Sequence[float] | None = None) -> list[float]:
        """An array of numbers, whose length is one of `counts`; any length if `counts` is empty."""
        return self.as_numbers(self.take(key) if default is None else self.take(key, list(default)), key, counts)

    def as_number(self, value: Any, key: str) -> float:
        """`value`, if it is a number."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.error(f"{key!r} of {self.what} must be a number, not {shown(value)}.", key)
        try:
            number = float(value)
        except OverflowError:
            number = math.nan
        if math.isnan(number):
            raise self.error(f"{key!r} of {self.what} must be a number, not {shown(value)}.", key)
        return number

    def as_numbers(self, value: Any, key: str, counts: Sequence[int]) -> list[float]:
        """`value`, if it is an array of numbers whose length is one of `counts`."""
        if not isinstance(value, list) or (counts and len(value) not in counts):
            wanted = f"{' or '.join(map(str, counts))} numbers" if counts else "an array of numbers"
            raise self.error(f"{key!r} of {self.what} must be {wanted} in brackets, not {shown(value)}.", key)
        return [self.as_number(item, key) for item in value]

    def within(self, key: str, most: float, numbers: Sequence[float]) -> None:
        """Refuse finite numbers above `most` in magnitude, with which arithmetic could overflow."""
        for number in numbers:
            if not math.isinf(number) and abs(number) > most:
                raise self.error(f"{key!r} of {self.what} must lie within ±{most:g}, not {number:g}.", key)

    def as_table(self, value: Any, key: str | int, what: str) -> Table:
        """`value`, if it is a table."""
        place = (*self.place, key)
        if not isinstance(value, dict):
            raise self.source.error(f"{what} must be a table, not {shown(value)}.", place)
        return Table(self.source, value, place, what)

    def array(self, key: str) -> list[Any]:
        """An array, empty if the key is missing."""
        value = self.take(key, [])
        if not isinstance(value, list):
            raise self.error(f"{key!r} of {self.what} must be an array, not {shown(value)}.", key)
        return value

    def tables(self, key: str, what: str) -> list[Table]:
        """The tables `[[key]]`; error messages call each by its `name`, or by its number."""
        if isinstance(self._values.get(key), dict):
            raise self.error(f"there can be several tables {key!r}: write [[{key}]], not [{key}].", key)
        found = []
        for i, value in enumerate(self.array(key)):
            place = (*self.place, key, i)
            if not isinstance(value, dict):
                raise self.source.error(f"{what} {i + 1} must be a table, not {shown(value)}.", place)
            name = value.get("name")
            title = f"{what} {name!r}" if isinstance(name, str) else f"{what} {i + 1}"
            found.append(Table(self.source, value, place, title))
        return found

    def finish(self, *optional: str) -> None:
        """Refuse keys that were not taken and are not in `optional`."""
        self._known += optional
        for key in self.keys():
            hint = suggestion(key, self._known)
            known = ", ".join(sorted(set(self._known)))
            raise self.error(f"{self.what} has the unknown key {key!r}.{hint} Keys: {known}.", key)


def shown(value: Any) -> str:
    """A value for an error message, cut to 60 characters."""
    word = "true" if value is True else "false" if value is False else None
    try:
        word = word or repr(value)
    except ValueError:
        word = "a number of thousands of digits"
    return word if len(word) <= 60 else f"{word[:57]}…"


def _syntax_error(message: str, source: str) -> tuple[str, int]:
    """Reason and line of a parser's error message."""
    found = _POSITION.search(message)
    line = int(found[1]) if found and found[1] else 1 + source.rstrip("\n").count("\n")
    reason = _POSITION.sub("", message)
    return f"is not TOML: {reason[0].lower()}{reason[1:]}.", line
