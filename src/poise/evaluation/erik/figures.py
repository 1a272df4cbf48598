"""Figures 7 to 13 of the paper, drawn from this evaluation's samples [Ribeiro & Paiva 2019]."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure as Sheet

from poise.evaluation.erik.cases import EXPRESSIVE, NO_POSTURE, SKELETON_LETTERS, THRESHOLD
from poise.evaluation.erik.paper import TABLE_9
from poise.evaluation.erik.space_figures import figure_7, figure_8, figure_9
from poise.evaluation.erik.tally import BIN_WIDTH, MEASURES, Statistics
from poise.figure.model.pose import FloatArray

CASE_COLORS = {
    "A": "#6b6b6b",
    "B": "#d62728",
    "C": "#d9a400",
    "D": "#2ca02c",
    "E": "#17a2b8",
    "F": "#1f5fd0",
    "G": "#b03ac0",
    "C-DLS100": "#1f5fd0",
    "C-DLS200": "#17a2b8",
    "C-DLS400": "#2ca02c",
    NO_POSTURE: "#1f5fd0",
}
"""Colour of each case."""
TITLES = {"combined": "combined error", "orientation": "orientation error", "posture": "posture error (weighted)"}
"""Title of each measure."""
PLOTTED_MEASURES = MEASURES[:3]
"""Measures that the figures show."""
POINTS_PER_INCH = 110

Tallies = Mapping[str, Statistics]


def drawn_figures(tallies: Tallies) -> dict[str, bytes]:
    """All figures for which these cases suffice, as PNG files by their number in the paper."""
    sheets = {
        "7": figure_7() if "C" in tallies else None,
        "8": figure_8() if "C" in tallies else None,
        "9": figure_9(),
        "10": _figure_10(tallies),
        "11": _figure_11(tallies),
        "12": _figure_12(tallies),
        "13": _figure_13(tallies),
    }
    return {number: png_of(sheet) for number, sheet in sheets.items() if sheet is not None}


def _figure_10(tallies: Tallies) -> Sheet | None:
    """Orientation errors of ERIK and of DLS without a posture task."""
    if not {"C", NO_POSTURE} <= tallies.keys():
        return None
    sheet, axes = _sheet(1, 2, height=3.4)
    for case in ("C", NO_POSTURE):
        _bars(axes[0, 0], tallies[case], "orientation", _label(case), CASE_COLORS[case])
        _normal_curve(axes[0, 1], tallies[case], "orientation", _label(case), CASE_COLORS[case])
    _paper_normal_curve(axes[0, 1], "C", "orientation")
    _format_axes(axes[0, 0], "orientation error", "samples", 0.14)
    axes[0, 0].set_yscale("log")
    _format_axes(axes[0, 1], "orientation error", "density", 0.14)
    return sheet


def _figure_11(tallies: Tallies) -> Sheet | None:
    """Normal distributions of the errors of all skeletons but A, whose errors would flatten the others.

    Dashed: `poise.Expressive`.
    """
    letters = [letter for letter in SKELETON_LETTERS if letter in tallies and letter != "A"]
    if not letters:
        return None
    sheet, axes = _sheet(1, 3, height=3.6)
    for column, measure in enumerate(PLOTTED_MEASURES):
        for letter in letters:
            _normal_curve(axes[0, column], tallies[letter], measure, f"skeleton {letter}", CASE_COLORS[letter])
            if letter + EXPRESSIVE in tallies and measure != "orientation":  # whose errors are all 0
                _normal_curve(
                    axes[0, column], tallies[letter + EXPRESSIVE], measure, "", CASE_COLORS[letter], line="--"
                )
        _format_axes(axes[0, column], TITLES[measure], "density", 0.15)
    return sheet


def _figure_12(tallies: Tallies) -> Sheet | None:
    """Histograms of the errors, a row for each skeleton; the solid line is the largest error."""
    letters = [letter for letter in SKELETON_LETTERS if letter in tallies]
    if not letters:
        return None
    sheet, axes = _sheet(len(letters), 3, height=1.9 * len(letters))
    for row, letter in enumerate(letters):
        for column, measure in enumerate(PLOTTED_MEASURES):
            axis, largest = axes[row, column], float(tallies[letter].largest[column])
            _bars(axis, tallies[letter], measure, "", CASE_COLORS[letter])
            if letter + EXPRESSIVE in tallies:
                _outline(axis, tallies[letter + EXPRESSIVE], measure)
            axis.axvline(largest, color="black", linewidth=0.8)
            _format_axes(axis, "", "", 1.0 if letter == "A" and column < 2 else 0.2)
            if measure == "orientation":
                axis.set_yscale("log")
            axis.set_title(f"{letter}: {TITLES[measure]}", fontsize=9)
    return sheet


def _figure_13(tallies: Tallies) -> Sheet | None:
    """Normal distributions of the errors of ERIK and DLS on skeleton C; dashed lines are the paper's."""
    cases = [case for case in TABLE_9 if case in tallies]
    if len(cases) < 2:
        return None
    sheet, axes = _sheet(1, 3, height=3.6)
    for column, measure in enumerate(PLOTTED_MEASURES):
        for case in cases:
            _normal_curve(axes[0, column], tallies[case], measure, _label(case), CASE_COLORS[case])
            _paper_normal_curve(axes[0, column], case, measure)
        _format_axes(axes[0, column], TITLES[measure], "density", 0.3)
    return sheet


def _sheet(rows: int, columns: int, height: float) -> tuple[Sheet, Any]:
    sheet = Sheet(figsize=(11.0, height), layout="constrained")
    return sheet, sheet.subplots(rows, columns, squeeze=False)


def _bars(axis: Any, tally: Statistics, measure: str, label: str, color: str) -> None:
    bars = tally.bars[MEASURES.index(measure)]
    last = int(np.flatnonzero(bars)[-1]) + 1 if bars.any() else 1
    edges = np.arange(last + 1) * BIN_WIDTH
    axis.stairs(bars[:last], edges, fill=True, alpha=0.65, color=color, label=label or None)


def _outline(axis: Any, tally: Statistics, measure: str) -> None:
    """The histogram of `poise.Expressive` over that of ERIK."""
    bars = tally.bars[MEASURES.index(measure)]
    axis.stairs(bars, np.arange(len(bars) + 1) * BIN_WIDTH, color="black", linewidth=0.7, alpha=0.8)


def _normal_curve(axis: Any, tally: Statistics, measure: str, label: str, color: str, *, line: str = "-") -> None:
    _curve(axis, tally.mean(measure), tally.deviation(measure), color=color, label=label or None, linestyle=line)


def _paper_normal_curve(axis: Any, case: str, measure: str) -> None:
    row = TABLE_9[case]
    k = 2 * MEASURES.index(measure)
    _curve(
        axis, row[k], row[k + 1], color=CASE_COLORS[case], linestyle="--", linewidth=0.9, label=f"{_label(case)}, paper"
    )


def _curve(axis: Any, mean: float, deviation: float, **style: Any) -> None:
    """The normal density with this mean and standard deviation."""
    x: FloatArray = np.linspace(0.0, 1.0, 4001)
    width = max(deviation, 1e-4)
    axis.plot(x, np.exp(-0.5 * ((x - mean) / width) ** 2) / (width * np.sqrt(2.0 * np.pi)), **style)


def _format_axes(axis: Any, across: str, upwards: str, right: float) -> None:
    axis.set_xlim(0.0, right)
    axis.axvline(THRESHOLD, color="black", linestyle=":", linewidth=0.8)
    axis.set_xlabel(across, fontsize=9)
    axis.set_ylabel(upwards, fontsize=9)
    axis.tick_params(labelsize=8)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    if axis.get_legend_handles_labels()[1]:
        axis.legend(fontsize=7, frameon=False)


def _label(case: str) -> str:
    return "ERIK" if case == "C" else case.removeprefix("C-")


def png_of(sheet: Sheet) -> bytes:
    """A drawing as a PNG file."""
    out = io.BytesIO()
    sheet.savefig(out, format="png", dpi=POINTS_PER_INCH)
    return out.getvalue()


def case_order(cases: Sequence[str]) -> list[str]:
    """The cases in the order of the tables, without the DLS case that only filters samples."""
    return [case for case in cases if case != NO_POSTURE]
