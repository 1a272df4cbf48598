"""The evaluation of loops as an HTML page: table I beside the paper's numbers, and the time per frame.

The paper is [Schumacher et al. 2021]; its numbers are those of table I and section V.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from poise.evaluation.loops.evaluation import FRAMES_PER_SECOND, Row
from poise.evaluation.loops.growth import Curve, drawn
from poise.evaluation.page import Rows, heading, paragraph, picture, table, write_page

TABLE_1_HEAD = (
    "robot", "motors", "passive", "bodies", "targets", "t [ms]", "paper", "mean [mm]", "most [mm]", "paper", "CoM [mm]",
    "paper", "fastest [rad/s]", "paper", "open by",
)  # fmt: skip
"""Headings of table I."""
TERMINAL_COLUMNS = {
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
"""Columns that a terminal has space for, by index, and their short headings."""
COMPARISON_NOTE = (
    "The paper's animations, the boxer and the dancer are not public: ours have the same joints with other "
    "dimensions and ran on another computer, so the paper's errors and times are only a rough comparison. Our boxer's "
    "swing cannot be followed at the speed of its motors: it also lags behind with hard speed limits, which the paper "
    "does not have."
)
"""A note on differences from the paper."""


def table_1(rows: Mapping[str, Row]) -> Rows:
    """Rows of table I beside the paper's numbers, which are marked with ~."""
    return [_cells(name, row) for name, row in rows.items()]


def _cells(name: str, row: Row) -> list[str]:
    paper = TABLE_1[name]
    counts = [str(row.actuators), str(row.joints), str(row.components), row.targets]
    timed = [f"{row.milliseconds:.3f}", _papers(paper.milliseconds)]
    errors = [_number(row.mean), _number(row.largest), _papers(paper.largest)]
    center = [_number(row.center), _papers(paper.center)]
    speed = [f"{row.speed:.2f}", _papers(paper.speed)]
    return [name, *counts, *timed, *errors, *center, *speed, f"{row.gap:.0e}" if row.gap else ""]


def _papers(value: float | None) -> str:
    return "" if value is None else f"~{value:.4g}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def write_report(rows: Mapping[str, Row], rates: Curve, bodies: Curve, output: Path) -> Path:
    """Write report.html, with its picture embedded, and the picture as a file beside it; returns the page's path."""
    chart = drawn(rates, bodies)
    (output / "time.png").write_bytes(chart)
    parts = [
        paragraph(
            f"{COMPARISON_NOTE} {FRAMES_PER_SECOND:.0f} frames per second, one step each, medians. Brown numbers "
            "are the paper's [Schumacher et al. 2021]."
        ),
        heading("Table I"),
        table(TABLE_1_HEAD, table_1(rows)),
        heading("Time against frame rate (figure 6c) and number of bodies"),
        picture(chart, "time per frame"),
    ]
    return write_page(output / "report.html", "Loops, evaluated again", parts)


class TableOne(NamedTuple):
    """A row of table I, and the errors given in the text."""

    actuators: int
    joints: int
    """Number of passive joints."""
    components: int
    targets: str
    milliseconds: float | None
    """Time per frame [ms]."""
    largest: float | None
    """Largest position error of a frame [mm]."""
    speed: float | None
    """Largest speed of a joint [rad/s]."""
    center: float | None
    """Largest error of the centre of mass [mm]."""


TABLE_1 = {
    "Boxer": TableOne(4, 0, 5, "Fr (1)", 0.14, 3.89, 147.04, None),
    "Boxer (reg.)": TableOne(4, 0, 5, "Fr (1)", 0.23, 24.03, 5.90, None),
    "Boxer (limited)": TableOne(4, 0, 5, "Fr (1)", None, None, None, None),
    "Dancer": TableOne(8, 4, 12, "Fr (1)", 0.68, 2.46e-5, None, None),
    "Walker": TableOne(12, 24, 31, "Fr (3), CoM", 13.99, 1.11, None, 1.30),
}
"""Rows by case. The paper has no boxer with hard speed limits."""
