"""The evaluation of loops as one page: table I with the paper's numbers beside ours, and how time grows."""

from __future__ import annotations

import base64
import html
from collections.abc import Mapping, Sequence
from pathlib import Path

from poise.evaluation.loops import FRAMES_PER_SECOND, Row
from poise.evaluation.loops_growth import Curve, drawn
from poise.evaluation.loops_paper import TABLE_1

Rows = list[list[str]]
HEAD = (
    "robot", "motors", "passive", "bodies", "targets", "t [ms]", "paper", "mean [mm]", "most [mm]", "paper", "CoM [mm]",
    "paper", "fastest [rad/s]", "paper", "open by",
)  # fmt: skip
SHORT = {
    0: "robot",
    5: "t [ms]",
    6: "paper",
    8: "most [mm]",
    9: "paper",
    10: "CoM",
    11: "paper",
    12: "rad/s",
    13: "paper",
}
"""Columns that a terminal has room for, and what they are called there."""
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1150px; margin: 2em auto; padding: 0 1em; color: #222; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13px; }
th, td { padding: 3px 9px; text-align: right; border-bottom: 1px solid #ddd; }
th:first-child, td:first-child { text-align: left; }
td.paper { color: #8a5a00; }
img { width: 100%; }
"""
NOTE = (
    "The paper's animations, the boxer and the dancer are not public: ours are of the same joints and other sizes, so "
    "errors and times stand beside the paper's for orientation, on another computer. The paper slows the boxer down by "
    "a regulariser of its bodies' rotations; here its motors keep their own speed limits."
)


def table_1(rows: Mapping[str, Row]) -> Rows:
    """Ours beside the paper's, whose cells begin with ~."""
    return [_cells(name, row) for name, row in rows.items()]


def _cells(name: str, row: Row) -> list[str]:
    paper = TABLE_1[name]
    counts = [str(row.actuators), str(row.joints), str(row.components), row.targets]
    timed = [f"{row.milliseconds:.3f}", f"~{paper.milliseconds:g}"]
    errors = [_number(row.mean), _number(row.largest), f"~{_number(paper.largest)}"]
    center = [_number(row.center), f"~{_number(paper.center)}"]
    speed = [f"{row.speed:.2f}", f"~{_number(paper.speed)}"]
    return [name, *counts, *timed, *errors, *center, *speed, f"{row.gap:.0e}" if row.gap else ""]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def write_report(rows: Mapping[str, Row], rates: Curve, bodies: Curve, output: Path) -> Path:
    """Write report.html, with its picture inside, and the picture beside it; returns the page."""
    picture = drawn(rates, bodies)
    (output / "time.png").write_bytes(picture)
    image = base64.b64encode(picture).decode()
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8><title>Loops, evaluated again</title>",
        f"<style>{STYLE}</style><h1>Loops, evaluated again</h1>",
        f"<p>{html.escape(NOTE)} {FRAMES_PER_SECOND:.0f} frames per second, one step each, medians; in brown what the "
        "paper says [Schumacher et al. 2021].</p><h2>Table I</h2>",
        _table(HEAD, table_1(rows)),
        "<h2>Time against frame rate (figure 6c) and number of bodies</h2>",
        f"<img alt='time per frame' src='data:image/png;base64,{image}'>",
    ]
    page = output / "report.html"
    page.write_text("\n".join(parts) + "\n", encoding="utf-8")
    return page


def _table(head: Sequence[str], rows: Rows) -> str:
    cells = "".join(f"<th>{html.escape(text)}</th>" for text in head)
    body = "".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in rows)
    return f"<table><tr>{cells}</tr>{body}</table>"


def _cell(text: str) -> str:
    return f"<td class=paper>{html.escape(text[1:])}</td>" if text.startswith("~") else f"<td>{html.escape(text)}</td>"
