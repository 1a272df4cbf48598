"""Flex the legs with an object in both hands: a criterion uses the freedom that feet, balance, hands and gaze leave.

After [Baerlocher 2001, fig. 7.14]. Run: python examples/24_flex_the_legs.py [folder for the pictures]
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import poise
from poise import CenterOfMass, Flex, Frame, LookAt, Position
from poise.pictures import contact_sheet, draw_scene

FEET = ["left_foot", "right_foot"]
OBJECT = (0.0, 1.15, 0.35)
LEGS = [f"{side}_{joint}" for side in ("left", "right") for joint in ("hip", "knee", "ankle")]


def main(folder: Path) -> None:
    """Take hold of an object, then flex."""
    human = poise.load("human")
    tasks = [
        *(Frame(foot, human.pose_of(foot, "standing"), priority=1) for foot in FEET),
        CenterOfMass(over=FEET, margin=0.03, priority=2),
        Position("left_hand", at=(0.15, *OBJECT[1:]), priority=3),
        Position("right_hand", at=(-0.15, *OBJECT[1:]), priority=3),
        LookAt("eyes", at=OBJECT, priority=4),
    ]
    holding = poise.Scene(human, tasks, start="standing")
    before = holding.solve()
    flexing = poise.Scene(human, tasks, start=before.posture, criteria=[Flex(joints=LEGS)])
    after = flexing.solve(max_steps=400)
    sheet = []
    for title, scene, result in (("before", holding, before), ("flexed", flexing, after)):
        knees = [math.degrees(float(result.posture[f"{side}_knee"])) for side in ("left", "right")]
        print(
            f"{title}: knees at {knees[0]:.0f} and {knees[1]:.0f} degrees, {result.status} after {result.steps} steps"
        )
        assert result.status == "solved"
        assert human.violations(result.posture) == []
        sheet.append((title, draw_scene(scene, result.posture, size=(360, 440), start=False)))
    lower = [human.pose_of("pelvis", result.posture).position[1] for result in (before, after)]
    print(f"The pelvis sinks by {lower[0] - lower[1]:.2f} m.")
    assert lower[1] < lower[0] - 0.05

    folder.mkdir(parents=True, exist_ok=True)
    contact_sheet(sheet, columns=2).save(folder / "flex.png")
    print(f"See {folder / 'flex.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
