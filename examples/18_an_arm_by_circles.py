"""Drag the hand of a robot arm: each joint is placed once, on an intersection of circles, and the hand is exact.

After [Ramachandran & John 2013, fig. 4 and 5]. Run: python examples/18_an_arm_by_circles.py [folder for the pictures]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Page
from matplotlib.patches import Circle
from numpy.typing import NDArray

import poise
from poise.pictures import contact_sheet, draw

Array = NDArray[np.float64]
SHOULDER = np.array([0.0, 0.25, 0.0])
LINKS = ("upper_arm", "forearm", "hand")
TARGETS = {"far": (0.75, 0.65), "middle": (0.55, 0.35), "near": (0.25, 0.35), "out of reach": (0.9, 1.1)}
"""Along z and y, in the plane of the arm [m]."""


def joints(arm: poise.Figure, posture: poise.Posture) -> Array:
    """(4, 2) shoulder, elbow, wrist and tip, seen from the side."""
    frames = arm.frames(posture)
    return np.array([frames[name].position for name in (*LINKS, "tip")])[:, [2, 1]]


def side_view(plot: Axes, places: Array, target: Array, zones: tuple[float, float], title: str) -> None:
    """The arm, its safe zone, and the circles whose intersections are its joints."""
    shoulder, elbow, wrist, tip = places
    plot.add_patch(Circle(tuple(shoulder), zones[1], color="tab:green", alpha=0.1))
    circles = [
        (tip, np.linalg.norm(wrist - tip), "tab:orange"),
        (shoulder, np.linalg.norm(wrist - shoulder), "tab:orange"),
        (wrist, np.linalg.norm(elbow - wrist), "tab:purple"),
        (shoulder, np.linalg.norm(elbow - shoulder), "tab:purple"),
    ]
    for center, radius, color in circles:
        plot.add_patch(Circle(tuple(center), float(radius), fill=False, lw=0.8, color=color))
    plot.plot(*places.T, "-o", lw=4, ms=7, color="0.3")
    plot.plot(*target, "x", ms=9, mew=2, color="tab:blue")
    plot.set(title=title, aspect="equal", xlim=(-1.2, 1.4), ylim=(-0.9, 1.5), xlabel="[m]")


def main(folder: Path) -> None:
    """Four targets, from the side and in space."""
    arm = poise.load("arm")
    zones = poise.chains.circle_zones(arm)
    assert np.allclose(zones, (0.0, 0.45 + 0.40 + 0.20)), "no link is longer than the others together"
    page = Page(figsize=(13, 3.9), layout="constrained")
    sheet, posture = [], arm.posture("ready")
    for plot, (title, (z, y)) in zip(page.subplots(1, 4), TARGETS.items(), strict=True):
        target = np.array([0.0, y, z])
        # Without limits every chain of n points takes exactly n - 2 placements.
        free = poise.chains.circles(arm, target, start=posture, limits=False)
        assert free.iterations == 4 - 2
        result = poise.chains.circles(arm, target, start=posture)
        posture = result.posture
        assert arm.violations(posture) == []
        beyond = max(0.0, float(np.linalg.norm(target - SHOULDER)) - zones[1])
        assert abs(result.error - beyond) <= 1e-12
        assert (result.status == "unreachable") == (beyond > 0.0)
        print(
            f"{title}: {result.status}, off by {result.error:.1e} m, {result.iterations} placements inside the limits"
        )
        side_view(plot, joints(arm, posture), target[[2, 1]], zones, title)
        sheet.append((title, draw(arm, posture.changed({"turn": 0.6}), size=(320, 320))))

    folder.mkdir(parents=True, exist_ok=True)
    page.savefig(folder / "arm_by_circles.png", dpi=90)
    contact_sheet(sheet, columns=4).save(folder / "arm_in_space.png")
    print(f"See {folder / 'arm_by_circles.png'} and {folder / 'arm_in_space.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
