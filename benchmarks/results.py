"""What benchmarks print, stored as JSON and shown on the pages of docs/benchmarks.

A benchmark prints its tables with `Table`, as Markdown, and whatever else it has to say as lines. `stored` reads both
back from what was printed. The file of a benchmark holds them with the machine, the versions, the date and the commit:
`benchmarks/run.py` writes it, and puts the tables on the pages, between the two comments that name the benchmark.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from datetime import date
from pathlib import Path
from typing import NamedTuple

RESULTS = Path(__file__).resolve().parent / "results"
PAGES = Path(__file__).resolve().parents[1] / "docs" / "benchmarks"
PLACE = re.compile(r"(<!-- results: (\w+)(?: part (\d+))? -->\n).*?(<!-- end of results -->)", re.DOTALL)
"""Where a page shows the results of a benchmark, or one part of them."""
EVERYTHING = "all"
"""The name in the place of which a page lists all stored results."""


class Table:
    """A table that is printed as Markdown, row by row."""

    def __init__(self, title: str, *columns: str) -> None:
        """Print the title and the names of the columns."""
        self._count = len(columns)
        print(f"\n**{title}**\n" if title else "")
        print(_line(columns) + "\n" + _line(["---"] * len(columns)), flush=True)

    def row(self, *cells: object) -> None:
        """Print a row; numbers are rounded to three digits."""
        if len(cells) != self._count:
            raise ValueError(f"a row of {len(cells)} cells in a table of {self._count} columns.")
        print(_line(map(shown, cells)), flush=True)


def shown(cell: object) -> str:
    """A cell as text."""
    if not isinstance(cell, float):
        return str(cell)
    if cell == 0.0 or not 1e-4 <= abs(cell) < 1e5:
        return f"{cell:.2g}"
    return f"{cell:.0f}" if abs(cell) >= 100.0 else f"{cell:.3g}"


class Results(NamedTuple):
    """What one run of a benchmark has found."""

    benchmark: str
    """Name of the benchmark: that of its file."""
    command: str
    """The command line that ran it."""
    measured: str
    """Date, as 2026-11-19."""
    machine: str
    """Processor, Python and versions."""
    note: str
    """What else there is to know of this run, such as what kept the machine busy."""
    seconds: float | None
    """Time that the benchmark took [s]; None if it is not known."""
    commit: str
    """The commit that was measured; empty if it is not known."""
    parts: list[dict]
    """What was printed, in its order: {"title", "columns", "rows"} for a table, {"lines"} for text."""

    def save(self) -> None:
        """Write the file of the benchmark."""
        RESULTS.mkdir(exist_ok=True)
        text = json.dumps(self._asdict(), indent=1, ensure_ascii=False)
        # A row of a table on one line, so that a difference between two runs can be read.
        text = re.sub(r"\[\n\s+(\"[^\[\]]*?\")\n\s+\]", lambda m: "[" + re.sub(r"\n\s+", " ", m[1]) + "]", text)
        (RESULTS / f"{self.benchmark}.json").write_text(text + "\n", encoding="utf-8")

    def markdown(self, number: int | None = None) -> str:
        """The results as a page shows them, or the part with a number, from 1 on."""
        found = []
        for part in self.parts if number is None else self.parts[number - 1 : number]:
            if "lines" in part:
                found += ["```text", *part["lines"], "```", ""]
                continue
            found += [f"**{part['title']}**", ""] if part["title"] else []
            found += [_line(part["columns"]), _line(["---"] * len(part["columns"]))]
            found += [*map(_line, part["rows"]), ""]
        found.append(f"*Measured on {self.day()} by `{self.command}` on {self.machine}{self._more()}.*")
        return "\n".join(found)

    def day(self) -> str:
        """The date in words."""
        day = date.fromisoformat(self.measured)
        return f"{day.day} {day:%B %Y}"

    def _more(self) -> str:
        took = f", in {duration(self.seconds)}" if self.seconds is not None else ""
        return took + (f", commit {self.commit}" if self.commit else "") + (f"; {self.note}" if self.note else "")


def duration(seconds: float) -> str:
    """A time in words."""
    return f"{seconds:.0f} s" if seconds < 100.0 else f"{seconds / 60.0:.0f} min"


def loaded(benchmark: str) -> Results | None:
    """The stored results of a benchmark; None if there are none."""
    path = RESULTS / f"{benchmark}.json"
    return Results(**json.loads(path.read_text(encoding="utf-8"))) if path.exists() else None


def parts_of(printed: Iterable[str]) -> Iterator[dict]:
    """The tables and the other lines of what a benchmark has printed."""
    title, lines, table = "", [], None
    for line in (text.rstrip() for text in printed):
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else None
        if cells is None:
            if table is not None:
                yield table
                table = None
            match = re.fullmatch(r"\*\*(.*)\*\*", line)
            title = match[1] if match else title if not line else ""
            lines += [line] if line and not match else []
        elif table is None:
            if lines:
                yield {"lines": lines}
            table, lines = {"title": title, "columns": cells, "rows": []}, []
        elif any(cell.strip("-: ") for cell in cells) or not all(cells):
            table["rows"].append(cells)
    if table is not None:
        yield table
    if lines:
        yield {"lines": lines}


def with_results(page: str) -> str:
    """The text of a page with the stored results in their places."""

    def replaced(match: re.Match[str]) -> str:
        if match[2] == EVERYTHING:
            return f"{match[1]}\n{summary()}\n\n{match[4]}"
        found = loaded(match[2])
        number = None if match[3] is None else int(match[3])
        return match[0] if found is None else f"{match[1]}\n{found.markdown(number)}\n\n{match[4]}"

    return PLACE.sub(replaced, page)


def summary() -> str:
    """A table of all stored results."""
    heads = ("benchmark", "measured on", "by", "on", "in")
    lines = [_line(heads), _line(["---"] * len(heads))]
    for path in sorted(RESULTS.glob("*.json")):
        each = loaded(path.stem)
        assert each is not None
        took = "" if each.seconds is None else duration(each.seconds)
        lines.append(_line((each.benchmark, each.day(), f"`{each.command}`", each.machine, took)))
    return "\n".join(lines)


def update_pages() -> None:
    """Put the stored results on all pages."""
    for path in sorted(PAGES.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        if (new := with_results(text)) != text:
            path.write_text(new, encoding="utf-8")


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    update_pages()
