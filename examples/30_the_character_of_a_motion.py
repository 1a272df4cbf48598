"""Step responses of the motion filter: smoothness, responsiveness, β and bounce, all inside the same limits.

After [Ribeiro & Paiva 2019, section 3.7]. Run: python examples/30_the_character_of_a_motion.py [folder for pictures]
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from numpy.typing import NDArray

import poise
from poise.motion.filter.nutty import NuttyFilter

mpl.use("Agg")
from matplotlib import pyplot as plt

RATE = 60.0
SECONDS = 3.0
SERVO = {"velocity": math.radians(180), "acceleration": math.radians(720), "jerk": math.radians(7200)}
RANGE = {"lower": math.radians(-90), "upper": math.radians(90)}
TIMES = np.arange(1, int(SECONDS * RATE) + 1) / RATE


def response(goal: float, **style: float) -> NDArray[np.float64]:
    """Degrees after the set-point jumps from 0 to `goal`."""
    motion = poise.MotionFilter(**SERVO, **RANGE, **style)
    motion.reset(0.0)
    return np.degrees(motion.run(np.full(len(TIMES), math.radians(goal)), RATE)[:, 0])


def check_limits(x: NDArray[np.float64]) -> None:
    """Check that velocity, acceleration and jerk of the output are inside their limits."""
    padded = np.concatenate([[0.0, 0.0, 0.0], np.radians(x)])
    for order, limit in enumerate(SERVO.values(), start=1):
        assert np.abs(np.diff(padded, order)).max() * RATE**order <= limit * (1 + 1e-6)
    assert np.abs(x).max() <= 90.0 + 1e-9


def draw(axes: Any, title: str, goal: float, styles: Sequence[tuple[str, dict[str, float]]]) -> None:
    """One plot: a curve per style."""
    axes.axhline(goal, color="0.6", linewidth=0.8, linestyle="--")
    for label, style in styles:
        x = response(goal, **style)
        check_limits(x)
        axes.plot(TIMES, x, label=label)
    axes.set_title(title)
    axes.legend(fontsize=8, frameon=False, loc="lower right")
    axes.set_xlabel("time [s]")


def draw_printed(axes: Any) -> None:
    """Jerk of the published equations' output, compared with that of the filter."""
    wild = np.repeat(np.random.default_rng(3).uniform(-1.5, 1.5, 9), 20)
    motion = poise.MotionFilter(**SERVO, **RANGE)
    motion.reset(0.0)
    ours = motion.run(wild, RATE)[:, 0]
    limits = (SERVO["velocity"], SERVO["acceleration"], SERVO["jerk"], RANGE["lower"], RANGE["upper"])
    printed = NuttyFilter(*limits, responsiveness=0.5).run(wild, RATE)
    for label, x in (("printed, units mended", printed), ("MotionFilter", ours)):
        jerk = np.abs(np.diff(np.concatenate([[0.0] * 3, x]), 3)) * RATE**3 / SERVO["jerk"]
        axes.plot(TIMES, jerk, label=f"{label}: up to {jerk.max():.2f}")
    axes.axhline(1.0, color="0.6", linewidth=0.8, linestyle="--")
    axes.set_title("jerk / limit, set-point jumping")
    axes.legend(fontsize=8, frameon=False, loc="upper right")
    axes.set_xlabel("time [s]")


def main(folder: Path) -> None:
    """Draw the step responses."""
    figure, axes = plt.subplots(2, 3, figsize=(13, 7), constrained_layout=True)
    soft = [(f"σ = {s}", {"smoothness": s, "responsiveness": 0.0}) for s in (0.0, 0.6, 0.8, 1.0)]
    draw(axes[0, 0], "smoothness σ (ρ = 0)", 60.0, soft)
    quick = [(f"ρ = {r}", {"smoothness": 0.8, "responsiveness": r}) for r in (0.0, 0.9, 0.95, 0.99)]
    draw(axes[0, 1], "responsiveness ρ (σ = 0.8)", 60.0, quick)
    draw(axes[0, 2], "bounce κ", 60.0, [(f"κ = {k}", {"bounce": k}) for k in (0.0, 0.1, 0.3, 0.6)])
    near = [("β off", {}), *((f"β = {b}", {"beta": b}) for b in (8.0, 2.0, 1.0))]
    draw(axes[1, 0], "β, set-point at the limit", 90.0, near)
    draw(axes[1, 1], "β, set-point far from it", 30.0, near)
    draw_printed(axes[1, 2])
    for plot in (axes[0, 0], axes[1, 0]):
        plot.set_ylabel("angle [°]")
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "motion_filter.png", dpi=110)
    plt.close(figure)
    fast, slow = response(60.0), response(60.0, smoothness=1.0)
    print(f"60° in half a second or two: at 1 s the quick one is at {fast[59]:.1f}°, the heavy one at {slow[59]:.1f}°.")
    assert fast[59] > 59.9
    assert slow[59] < 45.0
    print(f"See {folder / 'motion_filter.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
