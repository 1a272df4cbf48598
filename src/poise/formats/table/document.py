"""The text of a motion table as names and numbers."""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from poise.errors import FormatError
from poise.figure.model.pose import FloatArray
from poise.formats.text.numbers import LARGEST_NUMBER, is_number


@dataclass
class TableDocument:
    """The parsed text of a motion table."""

    settings: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Values of the comments `# name: value` above the header, each with its line."""
    header: list[str] = field(default_factory=list)
    header_line: int = 0
    values: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    """(frames, columns)"""
    lines: list[int] = field(default_factory=list)
    """Line number of every frame."""
    path: Path | None = None


def parse_table(text: str | bytes, path: Path | str | None = None) -> TableDocument:
    """Parse the comments, the header and the numbers of a table; `path` is for error messages only."""
    table = TableDocument(path=Path(path) if path is not None else None)
    lines = _as_text(text, table.path).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        if line.lstrip().startswith("#"):
            _note(table, line, number)
        elif not table.header:
            table.header, table.header_line = _header(line, number, table.path), number
        else:
            table.lines.append(number)
    if not table.header:
        raise FormatError("the table has no header with the names of its columns.", table.path)
    if not table.lines:
        raise FormatError("the table has a header and no frames.", table.path, table.header_line)
    table.values = _numbers(table, [lines[number - 1] for number in table.lines])
    return table


def _as_text(text: str | bytes, path: Path | None) -> str:
    if isinstance(text, str):
        return text.removeprefix("\ufeff")
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise FormatError("is not UTF-8 text.", path, text.count(b"\n", 0, problem.start) + 1) from None


def _note(table: TableDocument, line: str, number: int) -> None:
    found = re.match(r"\s*#\s*(figure|rate|angles)\s*:\s*(.*\S)", line)
    if found and not table.header:
        table.settings[found[1]] = (found[2], number)


def _header(line: str, number: int, path: Path | None) -> list[str]:
    try:
        names = [name.strip() for name in next(csv.reader([line], strict=True))]
    except (csv.Error, StopIteration):
        raise FormatError("the header must be a line of comma-separated names.", path, number) from None
    if len(set(names)) < len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise FormatError(f"two columns are named {twice[:60]!r}.", path, number)
    return names


def _numbers(table: TableDocument, rows: list[str]) -> FloatArray:
    try:
        values = np.loadtxt(rows, delimiter=",", comments=None, ndmin=2)
    except (ValueError, UnicodeError):
        values = np.full((1, 1), np.nan)
    if values.shape != (len(rows), len(table.header)) or not (np.abs(values) <= LARGEST_NUMBER).all():
        _raise_first_error(table, rows)
    return values


def _raise_first_error(table: TableDocument, rows: list[str]) -> None:
    """Raise an error about the first row or value that is wrong."""
    for line, row in zip(table.lines, rows, strict=True):
        cells = row.split(",")
        if len(cells) != len(table.header):
            raise FormatError(
                f"the line has {len(cells)} values and the header has {len(table.header)} columns.", table.path, line
            )
        for name, cell in zip(table.header, cells, strict=True):
            if not is_number(cell):
                hint = " Separate columns by commas, not by semicolons." if ";" in cell else ""
                raise FormatError(
                    f"{cell.strip()[:40]!r} in column {name[:40]!r} is not a finite number.{hint}", table.path, line
                )
    raise FormatError("the values are not a table of numbers.", table.path, table.lines[0])
