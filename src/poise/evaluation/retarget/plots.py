"""Plots of the measures of a retargeted motion over its frames."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure as Sheet

from poise.figure.model.pose import FloatArray
from poise.motion.clip.motion import Motion, Track
from poise.motion.report.curves import JointCurve
from poise.motion.report.report import Quality

LINE_COLOR, SPIKE_COLOR, LIMIT_COLOR, GREY = "#1f5fd0", "#d9263e", "#c0273a", "#8d9bb0"
"""Colours of measures, spikes, limits and secondary lines."""
NAMED_COLORS = ("#1f5fd0", "#d9a400", "#2ca02c", "#b03ac0", "#17a2b8", "#e06a1b")
"""Colours of the joints that are named in a legend."""
SHEET_WIDTH, ROW_HEIGHT = 10.5, 1.35
"""Width of a sheet and height of a row [inches]."""
POINTS_PER_INCH = 110
FOOT_PARTS = ("heel", "ball")
"""Parts of a foot that can be in contact."""


class _Row(NamedTuple):
    label: str
    draw: Callable[[Any], None]


def drawn_timeline(motion: Motion, quality: Quality) -> bytes:
    """Tracking, contacts, skate, penetration, balance and loop gaps over the frames, with spikes marked."""
    rows = [_Row("off target\n[mm]", lambda axes: _tracking(axes, quality))]
    track = motion.track
    if track is not None and track.locks:
        rows.append(_Row("feet\nthat stand", lambda axes: _contacts(axes, track)))
        rows.append(_Row("skate\n[mm]", lambda axes: _small(axes, 1, quality.skate)))
        rows.append(_Row("below ground\n[mm]", lambda axes: _small(axes, 0, quality.penetration)))
    margin = quality.margin
    if margin is not None:
        rows.append(_Row("mass inside\nsupport [mm]", lambda axes: _margin(axes, margin)))
    if motion.figure.loops:
        rows.append(_Row("loops\nopen by", lambda axes: _gaps(axes, quality.gaps)))
    sheet, grid = _sheet(len(rows), ROW_HEIGHT)
    for axes, row in zip(grid, rows, strict=True):
        row.draw(axes)
        axes.set_ylabel(row.label, fontsize=8)
        _mark(axes, quality.spikes)
    return _finished(sheet, grid, len(motion))


def drawn_joints(motion: Motion, curves: Sequence[JointCurve], quality: Quality) -> bytes:
    """Distance to limits, speed, acceleration and jerk of every joint; the most extreme joints are named."""
    sheet, grid = _sheet(4, 2.1)
    bounded = [(curve, curve.room) for curve in curves if curve.room is not None]
    _bundle(grid[0], [(c.joint, 0.0, _shown(c) * room) for c, room in bounded], least=True)
    grid[0].axhline(0.0, color=LIMIT_COLOR, linestyle="--", linewidth=1.0)
    labels = ("distance to limit\n[° or mm]", "speed\n[rad/s or m/s]", "acceleration\n[rad/s² or m/s²]", "jerk\n[1/s³]")
    _bundle(grid[1], [(c.joint, 0.5, c.speed) for c in curves])
    for limit in sorted({c.fastest for c in curves if np.isfinite(c.fastest)}):
        grid[1].axhline(limit, color=LIMIT_COLOR, linestyle="--", linewidth=1.0)
    _bundle(grid[2], [(c.joint, 1.0, c.acceleration) for c in curves])
    _bundle(grid[3], [(c.joint, 1.5, c.jerk) for c in curves])
    for axes, label in zip(grid, labels, strict=True):
        axes.set_ylabel(label, fontsize=8)
        _mark(axes, quality.spikes)
    return _finished(sheet, grid, len(motion))


def _shown(curve: JointCurve) -> float:
    """Factor to degrees for hinges, to millimetres for slides."""
    return 1e3 if curve.slides else float(np.degrees(1.0))


def _bundle(axes: Any, lines: list[tuple[str, float, FloatArray]], *, least: bool = False) -> None:
    """Plot one line for each joint; those with the largest value, or smallest if `least`, are named."""
    lines = [line for line in lines if len(line[2])]
    order = sorted(lines, key=lambda line: line[2].min() if least else -line[2].max())
    for rank, (name, shift, values) in reversed(list(enumerate(order))):
        named = rank < len(NAMED_COLORS)
        axes.plot(
            np.arange(len(values)) + shift,
            values,
            color=NAMED_COLORS[rank] if named else GREY,
            linewidth=1.1 if named else 0.5,
            label=name if named else None,
        )
    if lines:
        handles, names = axes.get_legend_handles_labels()
        axes.legend(handles[::-1], names[::-1], fontsize=7, loc="upper left", bbox_to_anchor=(1.0, 1.02), frameon=False)


def _tracking(axes: Any, quality: Quality) -> None:
    if quality.errors:
        axes.plot(1e3 * np.max(list(quality.errors.values()), axis=0), color=GREY, linewidth=0.8, label="worst joint")
    axes.plot(1e3 * quality.tracking, color=LINE_COLOR, label="mean")
    axes.set_ylim(0.0, None)
    axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1.0, 1.05), frameon=False)


def _contacts(axes: Any, track: Track) -> None:
    """Plot a bar for each part of each foot while it is in contact."""
    rows = [
        (f"{side} {part}", getattr(track.contacts, part)[side]) for side in track.contacts.heel for part in FOOT_PARTS
    ]
    for k, (_, stands) in enumerate(rows):
        axes.fill_between(np.arange(len(stands)), k, k + 0.8, where=stands, color=LINE_COLOR, linewidth=0.0, step="mid")
    axes.set(ylim=(len(rows), -0.2))
    axes.set_yticks(np.arange(len(rows)) + 0.4, [name for name, _ in rows], fontsize=7)


def _small(axes: Any, first: int, lengths: FloatArray) -> None:
    """Plot lengths that should be below a millimetre."""
    axes.plot(np.arange(len(lengths)) + first, 1e3 * lengths, color=LINE_COLOR)
    axes.axhline(1.0, color=LIMIT_COLOR, linestyle="--", linewidth=1.0)
    axes.set_ylim(-0.05, max(1.2, 1.1e3 * float(lengths.max(initial=0.0))))


def _margin(axes: Any, margin: FloatArray) -> None:
    axes.plot(1e3 * margin, color=LINE_COLOR)
    axes.axhline(0.0, color=LIMIT_COLOR, linestyle="--", linewidth=1.0)
    inside = np.nan_to_num(margin, nan=0.0)
    axes.fill_between(
        np.arange(len(margin)), 1e3 * np.minimum(inside, 0.0), 0.0, color=SPIKE_COLOR, alpha=0.25, linewidth=0
    )


def _gaps(axes: Any, gaps: FloatArray) -> None:
    axes.semilogy(np.maximum(gaps, 1e-16), color=LINE_COLOR)


def _mark(axes: Any, spikes: Sequence[int]) -> None:
    for frame in spikes:
        axes.axvline(frame, color=SPIKE_COLOR, linewidth=0.7, alpha=0.6)


def _sheet(rows: int, height: float) -> tuple[Sheet, Any]:
    sheet = Sheet(figsize=(SHEET_WIDTH, height * rows + 0.5), layout="constrained")
    return sheet, sheet.subplots(rows, 1, sharex=True, squeeze=False)[:, 0]


def _finished(sheet: Sheet, grid: Any, count: int) -> bytes:
    for axes in grid:
        axes.grid(alpha=0.25)
        axes.tick_params(labelsize=8)
    grid[-1].set(xlabel="frame", xlim=(0.0, max(count - 1, 1)))
    png = io.BytesIO()
    sheet.savefig(png, format="png", dpi=POINTS_PER_INCH)
    return png.getvalue()
