"""The evaluation of ERIK as an HTML page: tables and figures beside the paper's numbers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from poise.evaluation.erik import NO_POSTURE, Plan
from poise.evaluation.erik_figures import case_order, drawn_figures
from poise.evaluation.erik_paper import KEPT_OF_DLS, TABLE_8, TABLE_9
from poise.evaluation.page import Rows, heading, paragraph, picture, table, write_page
from poise.evaluation.tally import Tally
from poise.expressive.two_priority import TwoPrioritySettings
from poise.figure.model.pose import FloatArray

CAPTIONS = {
    "10": "Orientation errors on skeleton C: ERIK, which also holds a posture, and DLS without a posture task.",
    "11": "Normal distributions of the errors of every skeleton but A. The dotted line is the threshold.",
    "12": "Histograms of the errors, orientation errors counted on a logarithmic axis; A has wider axes. Dotted: the "
    "threshold; solid: the largest error.",
    "13": "Normal distributions of ERIK and the DLS variants on skeleton C; dashed, the paper's (table 9).",
}
"""Caption of each figure, by its number in the paper."""


def write_report(plan: Plan, tallies: Mapping[str, Tally], times: Mapping[str, FloatArray], output: Path) -> Path:
    """Write report.html, with its pictures embedded, and the pictures as files beside it; returns the page's path."""
    pictures = drawn_figures(tallies)
    for number, png in pictures.items():
        (output / f"figure_{number}.png").write_bytes(png)
    return write_page(output / "report.html", "ERIK, evaluated again", _parts(plan, tallies, times, pictures))


def _parts(
    plan: Plan, tallies: Mapping[str, Tally], times: Mapping[str, FloatArray], pictures: Mapping[str, bytes]
) -> list[str]:
    parts = [
        paragraph(_introduction(plan, tallies)),
        heading("Iterations and time (table 8)"),
        table(TABLE_8_HEAD, table_8(tallies, times)),
        heading("Errors on every skeleton"),
        table(ERRORS_HEAD, errors_table(tallies)),
    ]
    if compared := table_9(tallies):
        parts += [heading("ERIK and DLS on skeleton C (table 9)"), table(TABLE_9_HEAD, compared), _filter_note(tallies)]
    for number, png in pictures.items():
        parts += [heading(f"Figure {number}"), picture(png, f"figure {number}", CAPTIONS[number])]
    return parts


def _introduction(plan: Plan, tallies: Mapping[str, Tally]) -> str:
    total = sum(tally.asked for tally in tallies.values())
    return (
        f"{total:,} problems, {plan.samples:,} for each case, {plan.sampling} sampling, seed {plan.seed}. "
        "Brown numbers are the paper's [Ribeiro & Paiva 2019]."
    )


PAPER_COLUMNS = ("paper", "S.D.", "paper")
"""Headings of the columns after a mean: the paper's mean, the standard deviation, and the paper's."""
TABLE_8_HEAD = (
    "case",
    "samples",
    "iterations",
    *PAPER_COLUMNS,
    "most",
    "paper",
    "time [µs]",
    "99 % [µs]",
    "paper [µs]",
)
ERRORS_HEAD = ("case", "combined", "S.D.", "orientation", "posture", "shape", "≤ 0.04", "largest")
TABLE_9_HEAD = ("case", "combined", *PAPER_COLUMNS, "orientation", *PAPER_COLUMNS, "posture", *PAPER_COLUMNS)


def table_8(tallies: Mapping[str, Tally], times: Mapping[str, FloatArray]) -> Rows:
    """Iterations and times of every case beside the paper's numbers, which are marked with ~."""
    rows = []
    for case in case_order(list(tallies)):
        _, most, mean, deviation = tallies[case].iteration_statistics()
        paper = TABLE_8[case]
        taken = times.get(case)
        ours = ["", ""] if taken is None else [f"{1e6 * _mean(taken):.1f}", f"{1e6 * _percentile_99(taken):.1f}"]
        counted = [f"{mean:.2f}", f"~{paper.mean:g}", f"{deviation:.2f}", f"~{paper.deviation:g}"]
        longest = [str(most), f"~{paper.most}"]
        taken_by_paper = f"~{1000.0 * paper.milliseconds:,.0f}"
        rows.append([case, f"{tallies[case].count:,}", *counted, *longest, *ours, taken_by_paper])
    return rows


def errors_table(tallies: Mapping[str, Tally]) -> Rows:
    """Mean errors of every case, with the posture error weighted."""
    rows = []
    for case in case_order(list(tallies)):
        tally = tallies[case]
        means = [f"{tally.mean(measure):.4f}" for measure in ("orientation", "posture", "shape")]
        share = tally.within / max(tally.count, 1)
        combined = [f"{tally.mean('combined'):.4f}", f"{tally.deviation('combined'):.4f}"]
        rows.append([case, *combined, *means, f"{100.0 * share:.1f} %", f"{tally.largest[0]:.3f}"])
    return rows


def table_9(tallies: Mapping[str, Tally]) -> Rows:
    """Means and standard deviations on skeleton C beside the paper's."""
    rows = []
    for case, paper in TABLE_9.items():
        if case not in tallies:
            continue
        row = ["ERIK" if case == "C" else case.removeprefix("C-")]
        for k, measure in enumerate(("combined", "orientation", "posture")):
            mean, deviation = tallies[case].mean(measure), tallies[case].deviation(measure)
            row += [f"{mean:.4f}", f"~{paper[2 * k]:.4f}", f"{deviation:.4f}", f"~{paper[2 * k + 1]:.4f}"]
        rows.append(row)
    return rows if len(rows) > 1 else []


def _filter_note(tallies: Mapping[str, Tally]) -> str:
    tally = tallies[NO_POSTURE]
    share = tally.count / max(tally.asked, 1)
    return (
        f"<p>The DLS filter kept {share:.0%} of our samples; of the paper's, {KEPT_OF_DLS:.0%}. The paper does not "
        f"give the bound of a DLS step: ours, {TwoPrioritySettings().bound:g} rad, was chosen by its fit to this "
        "table. ERIK's own free constants were chosen by their fit to the iterations of table 8.</p>"
    )


def _mean(values: FloatArray) -> float:
    return float(values.mean())


def _percentile_99(values: FloatArray) -> float:
    """The 99th percentile."""
    return float(sorted(values.tolist())[min(len(values) - 1, int(0.99 * len(values)))])
