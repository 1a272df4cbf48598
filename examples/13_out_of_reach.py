"""A ball out of reach: the resulting posture, the report, and why more steps do not help.

Run: python examples/13_out_of_reach.py [folder for the pictures]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import poise
from poise import CenterOfMass, Frame, LookAt, Position
from poise.pictures import contact_sheet, draw_scene

FEET = ("left_foot", "right_foot")
BALLS = {"a step too far": (-0.5, 1.2, 1.5), "across the room": (-1.5, 1.0, 3.0)}


def main(folder: Path) -> None:
    """Reach for two balls, one a little and one far out of reach."""
    human = poise.load("human")
    feet = [Frame(foot, human.pose_of(foot, "standing"), priority=1) for foot in FEET]
    sheet = []
    for title, ball in BALLS.items():
        tasks = [
            *feet,
            CenterOfMass(over=FEET, margin=0.01, priority=2),
            LookAt("eyes", at=ball, priority=3),
            Position("right_hand", at=ball, priority=4, name="hand"),
        ]
        scene = poise.Scene(human, tasks, start="standing")
        result = scene.solve(max_steps=1000)
        print(f"A ball {title}.\n{result.report()}\n")
        sheet.append((title, draw_scene(scene, result.posture, size=(420, 480))))

        assert result.status not in ("solved", "stalled")
        assert human.violations(result.posture) == []
        assert all(result.errors[task] < 1e-6 for task in tasks[:3]), "what comes first is not touched"
        assert result.errors["hand"] > 0.05
        hand = human.pose_of("right_hand", result.posture).position
        shoulder = human.pose_of("right_upper_arm", result.posture).position
        along = (np.asarray(ball) - hand) @ (hand - shoulder)
        assert along / np.linalg.norm(np.asarray(ball) - hand) / np.linalg.norm(hand - shoulder) > 0.95, (
            "it points there"
        )
        again = poise.solve(human, tasks, start=result.posture, max_steps=1000)
        assert abs(again.errors["hand"] - result.errors["hand"]) < 1e-3, "and going on brings it no nearer"

    folder.mkdir(parents=True, exist_ok=True)
    contact_sheet(sheet, columns=2).save(folder / "out_of_reach.png")
    print(f"See {folder / 'out_of_reach.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
