"""A shoulder blade that slides on the ribs: an anatomical constraint of the first priority, a reach below it.

The ribs are an ellipsoid; two points of the blade stay on it. If the constraint is ignored, or is only one of several
equal wishes, the blade leaves the ribs or enters them. After [Baerlocher 2001, fig. 7.3].
Run: python examples/28_a_shoulder_blade_on_the_ribs.py [folder for the pictures]
"""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from pathlib import Path

import poise
from poise import OnEllipsoid, Position
from poise.figure import Builder, Ellipsoid, ball, capsule_between, revolute, universal
from poise.pictures import contact_sheet, draw_scene

RIBS, MIDDLE = (0.15, 0.22, 0.12), (0.0, 0.0, 0.0)
"""Half axes of the ribs [m], and where they are."""
POINTS = {"upper": (-0.09, -0.01, 0.045), "lower": (-0.075, -0.13, 0.03)}
"""Two points on the inner edge of the blade, in its frame at the tip of the clavicle [m]."""
GOALS = {"aside": (0.5, 0.15, -0.1), "up": (0.25, 0.6, -0.1), "far ahead": (0.1, 0.1, -1.2)}
SEEN = [(x, y, z) for x in (-0.15, 0.4) for y in (-0.2, 0.6) for z in (-0.1, 0.15)]
BLADE = (0.3, 0.5, 0.8)
"""Colour of the blade."""
KINDS = ("first priority", "ignored", "equal wishes")


def shoulder() -> poise.Figure:
    """The right half of a shoulder girdle that faces -z: clavicle, blade, upper arm and forearm."""
    b = Builder("shoulder")
    b.body("ribs", shapes=[Ellipsoid(RIBS, color=(0.85, 0.8, 0.7))])
    swing = [(math.radians(-20), math.radians(40)), (math.radians(-35), math.radians(30))]
    bone = capsule_between((0, 0, 0), (0.13, 0.02, 0.07), 0.009)
    clavicle = b.body(
        "clavicle",
        parent="ribs",
        joint=universal("sternum", "z", "y", limits=swing),
        at=(0.03, 0.2, -0.09),
        shapes=[bone],
    )
    corners = [(0.0, 0.0, 0.0), *POINTS.values()]
    edges = [
        replace(capsule_between(p, q, 0.01), color=BLADE)
        for p, q in zip(corners, [*corners[1:], corners[0]], strict=True)
    ]
    blade = b.body("blade", parent=clavicle, joint=ball("blade"), at=(0.13, 0.02, 0.07), shapes=edges)
    for name, at in POINTS.items():
        b.site(name, blade, at=at)
    upper = [capsule_between((0, 0, 0), (0, -0.3, 0), 0.02)]
    arm = b.body("arm", parent=blade, joint=ball("shoulder"), at=(0.02, -0.03, 0.0), shapes=upper)
    elbow = revolute("elbow", (1, 0, 0), limits=(0.0, 2.5))
    lower = [capsule_between((0, 0, 0), (0, -0.26, 0), 0.016)]
    forearm = b.body("forearm", parent=arm, joint=elbow, at=(0, -0.3, 0), shapes=lower)
    b.site("hand", forearm, at=(0, -0.26, 0))
    return b.build()


def main(folder: Path) -> None:
    """Reach for three goals with the constraint first, without it, and with equal weights."""
    figure, sheet = shoulder(), []
    gaps: dict[tuple[str, str], float] = {}
    on = [OnEllipsoid(point, MIDDLE, RIBS) for point in POINTS]
    start = poise.solve(figure, on).posture
    for kind in KINDS:
        for title, goal in GOALS.items():
            hand = Position("hand", at=goal, priority=1 if kind == "equal wishes" else 2)
            tasks = [hand] if kind == "ignored" else [*on, hand]
            result = poise.solve(figure, tasks, start=start)
            gaps[kind, title] = max(abs(task.distance_in(result.posture)) for task in on)
            gap, short = 1e3 * gaps[kind, title], 1e3 * result.errors[hand]
            print(f"{title}, {kind}: blade {gap:.2f} mm off the ribs, hand {short:.0f} mm short")
            scene = poise.Scene(figure, [hand], start=start)
            picture = draw_scene(scene, result.posture, size=(300, 300), view="front", start=False, within=SEEN)
            sheet.append((f"{title}, {kind}: {gap:.0f} mm", picture))
    assert max(gaps["first priority", title] for title in GOALS) < 1e-6, (
        "the blade stays on the ribs, whatever is asked"
    )
    assert max(gaps["ignored", title] for title in GOALS) > 0.01, "ignored, it does not"
    assert gaps["equal wishes", "far ahead"] > 0.01, "nor where the goal is out of reach and weighs as much"

    folder.mkdir(parents=True, exist_ok=True)
    contact_sheet(sheet, columns=len(GOALS)).save(folder / "shoulder_blade.png")
    print(f"See {folder / 'shoulder_blade.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
