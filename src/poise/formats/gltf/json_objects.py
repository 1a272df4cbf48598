"""Checked access to the JSON objects of a glTF file."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import NoReturn

from poise.errors import FormatError
from poise.formats.text.numbers import LARGEST_NUMBER

_SHOWN_LENGTH = 40
"""Longest value in an error message [characters]."""


class Fields:
    """A JSON object with its place in the file, such as `nodes[3]`; a wrong value in it raises a FormatError."""

    def __init__(self, value: object, name: str, path: Path | None) -> None:
        """Check that `value` is an object; `name` is its place in the file."""
        self.name, self.path = name, path
        if not isinstance(value, dict):
            raise FormatError(f"{name or 'the file'} must be a JSON object, not {_shown(value)}.", path)
        self._values = value

    def fail(self, reason: str) -> NoReturn:
        """Raise a FormatError about this object."""
        raise FormatError(f"{self.name or 'the file'} {reason}", self.path)

    def __contains__(self, key: str) -> bool:
        """Whether the object has this key."""
        return key in self._values

    def part(self, key: str) -> Fields:
        """The object under `key`."""
        if key not in self:
            self.fail(f"has no {key!r}.")
        return Fields(self._values[key], self._inner(key), self.path)

    def parts(self, key: str) -> list[Fields]:
        """The objects in the array under `key`; none if it is missing."""
        return [Fields(item, f"{self._inner(key)}[{i}]", self.path) for i, item in enumerate(self._array(key))]

    def text(self, key: str, default: str) -> str:
        """The string under `key`, or `default` if it is missing."""
        value = self._values.get(key, default)
        if not isinstance(value, str):
            self.fail(f"has {_shown(value)} as its {key!r}, which must be text.")
        return value

    def flag(self, key: str) -> bool:
        """The boolean under `key`, false if it is missing."""
        value = self._values.get(key, False)
        if not isinstance(value, bool):
            self.fail(f"has {_shown(value)} as its {key!r}, which must be true or false.")
        return value

    def whole(self, key: str, default: int | None = None, *, least: int = 0) -> int:
        """The whole number under `key`, at least `least`; `default` if it is missing."""
        value = self._values.get(key, default)
        number = _whole(value)
        if number is None or number < least:
            self.fail(f"has {_shown(value)} as its {key!r}, which must be a whole number from {least} up.")
        return number

    def index(self, key: str, count: int) -> int:
        """The index under `key` into a list of `count` items."""
        return self._checked_index(self._values.get(key), key, count)

    def indices(self, key: str, count: int) -> list[int]:
        """The indices, each below `count`, in the array under `key`; none if it is missing."""
        return [self._checked_index(value, key, count) for value in self._array(key)]

    def numbers(self, key: str, default: tuple[float, ...]) -> tuple[float, ...]:
        """The array of finite numbers under `key`, as long as `default`, which is returned if it is missing."""
        values = self._array(key) if key in self else list(default)
        if len(values) != len(default) or not all(_is_number(value) for value in values):
            self.fail(f"has {_shown(values)} as its {key!r}, which must be {len(default)} finite numbers.")
        return tuple(float(value) for value in values)  # type: ignore[arg-type]

    def _checked_index(self, value: object, key: str, count: int) -> int:
        number = _whole(value)
        if number is None or not 0 <= number < count:
            self.fail(f"has {_shown(value)} in its {key!r}, where an index below {count} must be.")
        return number

    def _array(self, key: str) -> list[object]:
        value = self._values.get(key, [])
        if not isinstance(value, list):
            self.fail(f"has {_shown(value)} as its {key!r}, which must be an array.")
        return value

    def _inner(self, key: str) -> str:
        return f"{self.name}.{key}" if self.name else key


def _whole(value: object) -> int | None:
    """The integer value of a whole JSON number, 3.0 included; None for other values."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not -(2**53) < value < 2**53:
        return None
    return int(value) if value == int(value) else None


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    # Comparison works for integers of any size; converting a huge one to float would raise OverflowError.
    return -LARGEST_NUMBER <= value <= LARGEST_NUMBER and not math.isnan(value)


def _shown(value: object) -> str:
    """A value for an error message, cut to `_SHOWN_LENGTH` characters."""
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return f"an array of {len(value)}"
    if isinstance(value, int) and abs(value) >= 2**53:
        return "a number of many digits"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN_LENGTH else f"{text[:_SHOWN_LENGTH]}…"
