"""The evaluation of ERIK as an HTML page: tables and figures beside the paper's numbers; CSV and JSON beside it."""

from __future__ import annotations

import csv
import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from poise.chains.chain import chain_of
from poise.evaluation.erik.cases import EXPRESSIVE, NO_POSTURE, Plan
from poise.evaluation.erik.denavit_hartenberg import parameters_of
from poise.evaluation.erik.figures import case_order, drawn_figures, png_of
from poise.evaluation.erik.paper import KEPT_OF_DLS, TABLE_5, TABLE_6, TABLE_7, TABLE_8, TABLE_9
from poise.evaluation.erik.sampling import TURN_VALUES, sample_space
from poise.evaluation.erik.space_figures import skeletons_sheet
from poise.evaluation.erik.tally import BIN_WIDTH, MEASURES, Statistics
from poise.evaluation.page import Rows, heading, paragraph, picture, table, write_page
from poise.expressive.two_priority import TwoPrioritySettings
from poise.figure.model.pose import FloatArray
from poise.figures import built_in

CAPTIONS = {
    "7": "Five postures of skeleton C, by the angles of its three middle joints; above from the front, below from the "
    "side.",
    "8": "All postures of the grid of skeleton C.",
    "9": "All orientations of the grid. A point's direction is that of the tip; its distance from the centre and its "
    "colour are the roll.",
    "10": "Orientation errors on skeleton C: ERIK, which also holds a posture, and DLS without a posture task.",
    "11": "Normal distributions of the errors of every skeleton but A. The dotted line is the threshold; dashed: "
    "poise.Expressive, which has no orientation error.",
    "12": "Histograms of the errors, orientation errors counted on a logarithmic axis; A has wider axes. Dotted: the "
    "threshold; solid: the largest error; black outline: poise.Expressive.",
    "13": "Normal distributions of ERIK and the DLS variants on skeleton C; dashed, the paper's (table 9).",
}
"""Caption of each figure, by its number in the paper."""

Found = Mapping[str, Statistics]
Times = Mapping[str, FloatArray]


class ReportTable(NamedTuple):
    """A table of the report; cells that begin with ~ are the paper's."""

    title: str
    head: Sequence[str]
    rows: Rows


def write_report(plan: Plan, found: Found, times: Times, output: Path) -> Path:
    """Write the page, with its pictures embedded, and beside it the pictures, CSV and JSON; returns the page's path."""
    pictures = drawn_figures(found)
    for number, png in pictures.items():
        (output / f"figure_{number}.png").write_bytes(png)
    tables = report_tables(plan, found, times)
    for name, content in tables.items():
        _write_csv(output / f"{name}.csv", content)
    (output / "evaluation.json").write_text(json.dumps(_numbers(plan, found, times), indent=1), encoding="utf-8")
    return write_page(output / "report.html", "ERIK, evaluated again", _parts(plan, found, tables, pictures))


def report_tables(plan: Plan, found: Found, times: Times) -> dict[str, ReportTable]:
    """All tables for which these cases suffice, by the names of their files."""
    errors = [part for name in MEASURES[:3] for what in (name, f"{name}, S.D.") for part in (what, "paper")]
    found_tables = {
        "table_5": ReportTable("Skeletons (table 5)", TABLE_5_HEAD, table_5(plan)),
        "table_6": ReportTable("Denavit-Hartenberg parameters of skeleton C (table 6)", TABLE_6_HEAD, table_6()),
        "table_7": ReportTable("Processors of the paper (table 7)", ("processor", "score", "ratio"), table_7()),
        "table_8": ReportTable("Iterations and time (table 8)", TABLE_8_HEAD, table_8(found, times)),
        "errors": ReportTable("Errors on every skeleton", ERRORS_HEAD, errors_table(found)),
        "table_9": ReportTable(
            "ERIK and DLS on skeleton C (table 9)",
            ("case", *errors),
            table_9(found),
        ),
    }
    return {name: content for name, content in found_tables.items() if content.rows}


def _parts(plan: Plan, found: Found, tables: Mapping[str, ReportTable], pictures: Mapping[str, bytes]) -> list[str]:
    parts = [paragraph(_introduction(plan, found))]
    for name, content in tables.items():
        parts += [heading(content.title), table(content.head, content.rows)]
        if name == "table_5":
            parts.append(picture(png_of(skeletons_sheet(plan.skeletons)), "skeletons", "Red X, green Y, blue Z."))
        if name in NOTES:
            parts.append(paragraph(NOTES[name]))
        if name == "table_9":
            parts.append(paragraph(_filter_note(found)))
    for number, png in pictures.items():
        parts += [heading(f"Figure {number}"), picture(png, f"figure {number}", CAPTIONS[number])]
    return parts


def _introduction(plan: Plan, found: Found) -> str:
    total = sum(row.asked for row in found.values())
    seed = "" if plan.sampling == "exhaustive" else f", seed {plan.seed}"
    return (
        f"{total:,} problems, {plan.sampling} sampling{seed}. Brown numbers are the paper's [Ribeiro & Paiva 2019]. "
        f"Times are of single solves on one core of {platform.processor() or platform.machine()}."
    )


NOTES = {
    "table_5": "The paper's numbers of postures and orientations are not products of numbers of values; ours are the "
    "nearest ones that are.",
    "table_6": "Lengths are in centimetres. The sign of an angle depends on the choice of the axes' directions, and θ "
    "of the last joint on that of the tip's frame.",
    "table_7": "The paper multiplied its times by these ratios. Ours are as measured on the machine of this report.",
}
"""Remarks below a table."""
TABLE_5_HEAD = ("skeleton", "joints", "axes", "range", "values of a joint", "postures", "paper", "orientations")
TABLE_6_HEAD = ("joint", "θ [°]", "paper", "α [°]", "paper", "a [cm]", "paper", "d [cm]", "paper")
TABLE_8_HEAD = (
    "case",
    "samples",
    "paper",
    *(part for name in ("least", "most", "mean", "S.D.") for part in (f"iterations, {name}", "paper")),
    *(part for name in ("least", "most", "mean", "S.D.") for part in (f"time [µs], {name}", "paper")),
)
ERRORS_HEAD = ("case", "combined", "S.D.", "orientation", "posture", "shape", "≤ 0.04", "largest")


def table_5(plan: Plan) -> Rows:
    """The skeletons, and the size of their grids."""
    rows = []
    for letter in plan.skeletons:
        axes, limit = TABLE_5[letter]
        space = sample_space(chain_of(built_in(f"erik_{letter.lower()}")))
        postures, orientations = space.pairs // TURN_VALUES**3, TURN_VALUES**3
        counted = [str(space.joint_values), f"{postures:,}", f"~{TABLE_8[letter].postures:,}", f"{orientations:,}"]
        rows.append([letter, str(len(axes.split("-"))), axes, f"±{limit}°", *counted])
    return rows


def table_6() -> Rows:
    """The Denavit-Hartenberg parameters of skeleton C beside the paper's."""
    rows = []
    ours = parameters_of(chain_of(built_in("erik_c")))
    for k, (row, paper) in enumerate(zip(ours, TABLE_6, strict=True)):
        values = [*np.degrees(row[:2]), *(100.0 * length for length in row[2:])]
        cells = [cell for mine, theirs in zip(values, paper, strict=True) for cell in (f"{mine:.0f}", f"~{theirs}")]
        rows.append([str(k + 1), *(cell.replace("-0", "0") for cell in cells)])
    return rows


def table_7() -> Rows:
    """The processors of the paper's simulations."""
    return [[name, f"~{score}", f"~{ratio:.4f}"] for name, score, ratio in TABLE_7]


def table_8(found: Found, times: Times) -> Rows:
    """Iterations and times of every case beside the paper's numbers, which are marked with ~."""
    rows = []
    for case in case_order(list(found)):
        least, most, mean, deviation = found[case].iteration_statistics()
        counted = [str(least), str(most), f"{mean:.2f}", f"{deviation:.2f}"]
        taken = times.get(case)
        timed = [""] * 4 if taken is None else [f"{1e6 * value:.1f}" for value in _spread(taken)]
        paper = TABLE_8.get(case)
        theirs = [""] * 8 if paper is None else [f"~{value:g}" for value in paper[2:6]]
        if paper is not None:
            theirs += [f"~{1000.0 * value:,.0f}" for value in paper[6:]]
        cells = [cell for pair in zip(counted + timed, theirs, strict=True) for cell in pair]
        rows.append([case, f"{found[case].count:,}", "" if paper is None else f"~{paper.samples:,}", *cells])
    return rows


def _spread(values: FloatArray) -> tuple[float, float, float, float]:
    """Smallest, largest, mean and standard deviation."""
    return float(values.min()), float(values.max()), float(values.mean()), float(values.std())


def errors_table(found: Found) -> Rows:
    """Mean errors of every case, with the posture error weighted."""
    rows = []
    for case in case_order(list(found)):
        row = found[case]
        means = [f"{row.mean(measure):.4f}" for measure in ("orientation", "posture", "shape")]
        share = row.within / max(row.count, 1)
        combined = [f"{row.mean('combined'):.4f}", f"{row.deviation('combined'):.4f}"]
        rows.append([case, *combined, *means, f"{100.0 * share:.1f} %", f"{row.largest[0]:.3f}"])
    return rows


def table_9(found: Found) -> Rows:
    """Means and standard deviations on skeleton C beside the paper's; below them, `poise.Expressive`."""
    rows = []
    for case in (*TABLE_9, "C" + EXPRESSIVE):
        if case not in found:
            continue
        paper = TABLE_9.get(case)
        row = ["ERIK" if case == "C" else case.removeprefix("C-")]
        for k, measure in enumerate(("combined", "orientation", "posture")):
            theirs = ["", ""] if paper is None else [f"~{paper[2 * k]:.4f}", f"~{paper[2 * k + 1]:.4f}"]
            mean, deviation = found[case].mean(measure), found[case].deviation(measure)
            row += [f"{mean:.4f}", theirs[0], f"{deviation:.4f}", theirs[1]]
        rows.append(row)
    return rows if "C-DLS100" in found else []


def _filter_note(found: Found) -> str:
    row = found[NO_POSTURE]
    share = row.count / max(row.asked, 1)
    return (
        f"The DLS filter kept {share:.0%} of our samples; of the paper's, {KEPT_OF_DLS:.0%}. The paper does not "
        f"give the bound of a DLS step: ours, {TwoPrioritySettings().bound:g} rad, was chosen by its fit to this "
        "table. ERIK's own free constants were chosen by their fit to the iterations of table 8."
    )


def _write_csv(path: Path, content: ReportTable) -> None:
    """Write a table; a column headed "paper" also gets the name of the column before it."""
    names: list[str] = []
    for name in content.head:
        names.append(f"{names[-1]}, paper" if name == "paper" else name)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows([[cell.removeprefix("~").replace(",", "") for cell in row] for row in content.rows])


def _numbers(plan: Plan, found: Found, times: Times) -> dict[str, Any]:
    """All statistics, histograms included, for other programs."""
    cases = {}
    for case, row in found.items():
        least, most, mean, deviation = row.iteration_statistics()
        cases[case] = {
            "samples": row.asked,
            "kept": row.count,
            "within_threshold": row.within,
            "key": plan.key(case),
            "iterations": {"least": least, "most": most, "mean": mean, "deviation": deviation},
            "time_s": dict(zip(("least", "most", "mean", "deviation"), _spread(times[case]), strict=True))
            if case in times
            else None,
            "errors": {
                name: {
                    "mean": float(row.means[k]),
                    "deviation": float(row.deviations[k]),
                    "largest": float(row.largest[k]),
                    "histogram": np.trim_zeros(row.bars[k], "b").tolist(),
                }
                for k, name in enumerate(MEASURES)
            },
            "paper": TABLE_8[case]._asdict() if case in TABLE_8 else None,
        }
    return {"plan": asdict(plan), "histogram_bin": BIN_WIDTH, "cases": cases}
