"""Hands on a large egg: on its surface, at a distance from each other, wherever on it that is best.

The fingertips may slide on the egg, as a shoulder blade slides on the ribs [Baerlocher 2001, fig. 7.3]; in the last
picture the egg is too far away. Run: python examples/25_hands_on_an_egg.py [folder for the pictures]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import poise
from poise import CenterOfMass, Distance, Frame, LookAt, Obstacle, OnEllipsoid, Pose
from poise.figure import Ellipsoid
from poise.figure.model.pose import turn
from poise.pictures import contact_sheet, draw_scene

RADII = (0.14, 0.2, 0.14)
WIDE = 0.27
"""Distance between the fingertips [m]."""
EGGS = {
    "in front": Pose((0.0, 1.1, 0.4)),
    "low, and lying": Pose((0.1, 0.6, 0.45), turn("z", 90.0)),
    "high, and tilted": Pose((-0.15, 1.65, 0.3), turn("z", 40.0)),
    "too far": Pose((0.0, 1.3, 2.0)),
}
SIDES = ("left", "right")


def main(folder: Path) -> None:
    """Put both hands on the egg in four places, and check where the fingertips are."""
    human = poise.load("human")
    feet = [Frame(f"{side}_foot", human.pose_of(f"{side}_foot", "standing")) for side in SIDES]
    balance = CenterOfMass(over=["left_foot", "right_foot"], priority=2)
    sheet = []
    for title, egg in EGGS.items():
        on = [OnEllipsoid(f"{side}_fingertips", egg.position, RADII, egg.rotation, priority=3) for side in SIDES]
        apart = Distance("left_fingertips", "right_fingertips", WIDE, priority=3)
        gaze = LookAt("eyes", egg.position, priority=4)
        result = poise.solve(human, [*feet, balance, *on, apart, gaze], start="standing")
        left, right = (human.pose_of(f"{side}_fingertips", result.posture).position for side in SIDES)
        gaps = [task.distance_in(result.posture) for task in on]
        width = float(np.linalg.norm(left - right))
        print(f"{title}: {1e3 * max(gaps):.3f} mm from the egg, {1e3 * width:.1f} mm apart ({result.status})")
        if title == "too far":
            assert min(gaps) > 0.1
        else:
            assert max(map(abs, gaps)) < 1e-5 and abs(width - WIDE) < 1e-5
        drawn = poise.Scene(human, [gaze], obstacles=[Obstacle(Ellipsoid(RADII), egg, name="egg")])
        sheet.append((title, draw_scene(drawn, result.posture, size=(360, 420), start=False)))

    folder.mkdir(parents=True, exist_ok=True)
    contact_sheet(sheet, columns=4).save(folder / "hands_on_an_egg.png")
    print(f"See {folder / 'hands_on_an_egg.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
