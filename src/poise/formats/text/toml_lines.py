"""Finds the line of each key of a TOML text, which the standard parser does not report.

`key_lines` scans a text that the parser has accepted, so it only needs to find where keys and values begin and end.
"""

from __future__ import annotations

import re
import tomllib

Path = tuple[str | int, ...]
"""Place of a value in a document: keys of tables and indices of arrays, from the top."""

_SPACE = re.compile(r"[ \t]*")
_GAP = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}' r"|'''.*?'{3,5}" r'|"(?:[^"\\\n]|\\.)*+"' r"|'[^'\n]*'",
    re.DOTALL,
)
_SCALAR = re.compile(r"[^,\]}#\n]*")


def key_lines(text: str) -> dict[Path, int]:
    """Line number, from 1, of every table, key and array item of a valid TOML text."""
    return _Walk(text).lines


def nearest_line(lines: dict[Path, int], path: Path) -> int:
    """Line number of a value, or of the innermost table around it that has one."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path, 1)


class _Walk:
    """One pass over a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines: dict[Path, int] = {}
        self.counts: dict[Path, int] = {}
        """Number of items so far in each array of tables."""
        self._line, self._counted_to = 1, 0
        table: Path = ()
        while self._skip(_GAP) < len(text):
            if text[self.at] == "[":
                table = self._header()
            else:
                self._pair(table)

    def _skip(self, pattern: re.Pattern[str]) -> int:
        """Skip the text that matches here, and return the new position."""
        found = pattern.match(self.text, self.at)
        if found is not None:
            self.at = found.end()
        return self.at

    def _mark(self, path: Path) -> None:
        """Record the current line for `path`, unless it has one already."""
        self._line += self.text.count("\n", self._counted_to, self.at)
        self._counted_to = self.at
        self.lines.setdefault(path, self._line)

    def _header(self) -> Path:
        """Scan `[a.b]` or `[[a.b]]`, and return the path of the table."""
        opens_item = self.text.startswith("[[", self.at)
        self.at += 2 if opens_item else 1
        keys = self._dotted_key()
        self.at += 2 if opens_item else 1
        table = (*self._resolved(keys[:-1]), keys[-1])
        if opens_item:
            self.counts[table] = self.counts.get(table, 0) + 1
            self._mark(table)
        table = self._resolved(keys)
        self._mark(table)
        return table

    def _resolved(self, keys: tuple[str, ...]) -> Path:
        """The path that a header refers to; in an array of tables, that of its last item."""
        path: Path = ()
        for key in keys:
            path = (*path, key)
            if path in self.counts:
                path = (*path, self.counts[path] - 1)
        return path

    def _dotted_key(self) -> tuple[str, ...]:
        keys = [self._simple_key()]
        while self._skip(_SPACE) < len(self.text) and self.text[self.at] == ".":
            self.at += 1
            keys.append(self._simple_key())
        return tuple(keys)

    def _simple_key(self) -> str:
        start = self._skip(_SPACE)
        quoted = self.text[start] in "\"'"
        self._skip(_STRING if quoted else _KEY)
        word = self.text[start : self.at]
        return str(tomllib.loads(f"k = {word}")["k"]) if quoted else word

    def _pair(self, table: Path) -> None:
        """Scan `key = value`."""
        path = table
        for key in self._dotted_key():
            path = (*path, key)
            self._mark(path)
        self.at += 1
        self._skip(_SPACE)
        self._value(path)

    def _value(self, path: Path) -> None:
        opening = self.text[self.at : self.at + 1]
        if opening == "[":
            self._array(path)
        elif opening == "{":
            self._inline_table(path)
        else:
            self._skip(_STRING if opening in ('"', "'") else _SCALAR)

    def _array(self, path: Path) -> None:
        self.at += 1
        index = 0
        while self.text[self._skip(_GAP)] != "]":
            self._mark((*path, index))
            self._value((*path, index))
            index += 1
            if self.text[self._skip(_GAP)] == ",":
                self.at += 1
        self.at += 1

    def _inline_table(self, path: Path) -> None:
        self.at += 1
        while self.text[self._skip(_GAP)] != "}":
            self._pair(path)
            if self.text[self._skip(_GAP)] == ",":
                self.at += 1
        self.at += 1
