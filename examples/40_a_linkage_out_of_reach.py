"""Pull a four-bar linkage out of its workspace: it comes as near as it can, and its loop stays closed.

After [Schumacher et al. 2021, fig. 5]. For comparison, the implicit formulation that the paper
argues against: bodies follow the motor by least squares, and the motor goes where the tip is nearest. Its loop opens on
the way.
Run: python examples/40_a_linkage_out_of_reach.py [folder for the pictures]
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure as Sheet
from numpy.typing import NDArray
from scipy.optimize import least_squares, minimize_scalar

import poise
from poise import Position
from poise.figures.mechanisms.four_bar import A, B, C, D

TARGET = np.array([0.5, -0.4])
PINS = np.array([A, B, C, D])[:, :2]
LENGTHS = np.linalg.norm(np.diff(PINS, axis=0), axis=1)
Bars = NDArray[np.float64]
"""(3, 3): x, y and angle of the near end of crank, coupler and rocker."""


def ends(bars: Bars) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """First and second ends of the bars."""
    along = np.stack([np.cos(bars[:, 2]), np.sin(bars[:, 2])], axis=1)
    return bars[:, :2], bars[:, :2] + LENGTHS[:, None] * along


def gaps(bars: Bars, motor: float) -> NDArray[np.float64]:
    """Residuals of pins and motor: zero when assembled."""
    near, far = ends(bars)
    pins = [near[0] - PINS[0], near[1] - far[0], near[2] - far[1], far[2] - PINS[3]]
    return np.concatenate([*pins, [bars[0, 2] - motor]])


def follow(motor: float, start: Bars) -> Bars:
    """The implicit formulation's forward kinematics: the least-squares solution for the gaps."""

    def lacking(x: NDArray[np.float64]) -> NDArray[np.float64]:
        return gaps(x.reshape(3, 3), motor)

    found = least_squares(lacking, start.ravel(), xtol=1e-14, ftol=1e-14, gtol=1e-14)
    return np.asarray(found.x, dtype=np.float64).reshape(3, 3)


def tip_of(bars: Bars) -> NDArray[np.float64]:
    """The middle of the coupler."""
    near, far = ends(bars)
    return np.asarray(0.5 * (near[1] + far[1]))


def main(folder: Path) -> None:
    """Pull both linkages."""
    limited = poise.load("four_bar")
    figure = limited.replaced(joints=[replace(joint, lower=(), upper=()) for joint in limited.joints], couplings=[])
    result = poise.solve(figure, [Position("tip", at=(*TARGET, 0.0))])
    open_by = figure.closure_error(result.posture)
    ours = figure.pose_of("tip", result.posture).position[:2]
    print(f"poise: {result.status}, {np.linalg.norm(ours - TARGET):.3f} m away, open by {open_by:.1e} m")
    assert result.status == "unreachable"
    assert open_by < 1e-9

    steps = np.diff(PINS, axis=0)
    rest = np.column_stack([PINS[:3], np.arctan2(steps[:, 1], steps[:, 0])])
    assert np.abs(gaps(rest, rest[0, 2])).max() < 1e-12, "both start assembled"
    bars, motor, torn, worst = rest, float(rest[0, 2]), 0.0, rest
    for _ in range(40):
        begin = bars

        def distance(value: float, begin: Bars = begin) -> float:
            return float(np.linalg.norm(tip_of(follow(value, begin)) - TARGET))

        motor = float(minimize_scalar(distance, bounds=(motor - 0.1, motor + 0.1), method="bounded").x)
        bars = follow(motor, begin)
        if (gap := float(np.abs(gaps(bars, motor)[:8]).max())) > torn:
            torn, worst = gap, bars
    print(f"implicit: open by up to {torn:.3f} m on its way")
    assert torn > 0.01, "the implicit formulation comes apart"

    crank, rocker = (figure.pose_of(body, result.posture) for body in ("crank", "rocker"))
    b = (crank.position + crank.matrix @ np.subtract(B, A))[:2]
    c = (rocker.position + rocker.matrix @ np.subtract(C, D))[:2]
    closed = [(PINS[0], b), (b, c), (c, PINS[3])]
    lengths = [np.linalg.norm(end - begin) for begin, end in closed]
    np.testing.assert_allclose(lengths, LENGTHS, atol=1e-9, err_msg="no bar is longer than it was")
    draw(closed, list(zip(*ends(worst), strict=True)), folder)


def draw(ours: list[tuple[Bars, Bars]], theirs: list[tuple[Bars, Bars]], folder: Path) -> None:
    """Both linkages and the target."""
    folder.mkdir(parents=True, exist_ok=True)
    sheet = Sheet(figsize=(8.0, 4.2), layout="constrained")
    titles = ("poise: in one piece", "implicit: comes apart")
    for axes, bars, title in zip(sheet.subplots(1, 2), (ours, theirs), titles, strict=True):
        for (begin, end), color in zip(bars, ("#d62728", "#2ca02c", "#1f5fd0"), strict=True):
            axes.plot(*zip(begin, end, strict=True), "o-", color=color, lw=4, ms=8)
        axes.plot(*PINS[[0, 3]].T, "-", color="#444444", lw=6, zorder=0)
        axes.plot(*TARGET, "+", color="#2ca02c", ms=16, mew=3)
        axes.set(title=title, aspect="equal", xlim=(-0.7, 0.7), ylim=(-0.45, 0.75))
    sheet.savefig(folder / "linkage_out_of_reach.png", dpi=110)
    print(f"See {folder / 'linkage_out_of_reach.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
