"""Reach for the ground: without the coupling of hip and knee the legs stay straight, with it the knees bend.

After [Baerlocher 2001, fig. 7.4 and 3.8.2]. Run: python examples/08_hip_and_knee.py [folder for the pictures]
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import poise
from poise import CenterOfMass, Frame, Hold, Position
from poise.pictures import contact_sheet, draw_scene

KNEES = ["left_knee", "right_knee"]


def bend_down(human: poise.Figure) -> tuple[poise.Scene, poise.Result]:
    """Feet, balance, both hands near the ground, and the back as straight as these tasks allow."""
    feet = [Frame(foot, human.pose_of(foot, "standing"), priority=1) for foot in ("left_foot", "right_foot")]
    hands = [
        Position(f"{side}_fingertips", at=(x, 0.05, 0.45), priority=3) for side, x in (("left", 0.12), ("right", -0.12))
    ]
    tasks = [
        *feet,
        CenterOfMass(over=["left_foot", "right_foot"], margin=0.02, priority=2),
        *hands,
        Hold("standing", joints=["spine", "chest"], priority=4),
        Hold("standing", priority=5),
    ]
    scene = poise.Scene(human, tasks, start="standing")
    return scene, scene.solve()


def main(folder: Path) -> None:
    """Bend down twice."""
    human = poise.load("human")
    loose = human.replaced(couplings=())
    sheet = [("standing", draw_scene(poise.Scene(human), "standing", size=(360, 480), view="side"))]
    bends = {}
    for title, figure in (("no coupling", loose), ("hip and knee coupled", human)):
        scene, result = bend_down(figure)
        bends[title] = result
        knee = math.degrees(max(float(result.posture[name]) for name in KNEES))
        print(f"{title}: knees bend by {knee:.1f} degrees; {result.steps} steps, {result.status}")
        for hand in ("left_fingertips", "right_fingertips"):
            assert result.errors[f"position of {hand}"] < 1e-5, hand
        sheet.append((title, draw_scene(scene, result.posture, size=(360, 480), view="side", start=False)))

    free, coupled = (result.posture for result in bends.values())
    torn = human.violations(human.adopt(free))
    print("Without it: " + "; ".join(map(str, torn)))
    assert [violation.part for violation in torn] == ["left_hamstrings", "right_hamstrings"]
    assert human.violations(coupled) == []
    assert all(float(coupled[knee]) > float(free[knee]) + math.radians(20.0) for knee in KNEES)

    folder.mkdir(parents=True, exist_ok=True)
    contact_sheet(sheet, columns=3).save(folder / "hip_and_knee.png")
    print(f"See {folder / 'hip_and_knee.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
