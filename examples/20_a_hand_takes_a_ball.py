"""A hand grasps a ball: every finger is solved by circles in its own plane, once the ball is within reach.

After [Ramachandran & John 2013, fig. 7]. Run: python examples/20_a_hand_takes_a_ball.py [folder for the pictures]
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import poise
from poise import Obstacle, Pose
from poise.figure import Sphere
from poise.pictures import contact_sheet, draw_scene

Array = NDArray[np.float64]
FINGERS = ("index", "middle", "ring", "little")
RADIUS = 0.036
BALLS = {
    "out of range": np.array([0.0, 0.17, 0.18]),
    "almost": np.array([0.0, 0.155, 0.10]),
    "in range": np.array([0.0, 0.115, 0.045]),
}
"""Where the ball is [m]."""
TOUCH = math.radians(35.0)
"""How far in front of its top a finger touches the ball."""


def touch(hand: poise.Figure, finger: str, ball: Array) -> Array:
    """The contact point of a finger: on the intersection of the ball and the finger's plane."""
    x = hand.pose_of(f"{finger}_proximal", hand.neutral()).position[0]
    radius = math.sqrt(RADIUS**2 - (x - ball[0]) ** 2)
    return np.array([x, ball[1] + radius * math.cos(TOUCH), ball[2] + radius * math.sin(TOUCH)])


def main(folder: Path) -> None:
    """The ball at three distances."""
    # Circles place every hinge by itself, so the last two hinges of a finger are not tied together here.
    hand = poise.load("hand").replaced(couplings=())
    sheet = []
    for title, ball in BALLS.items():
        targets = {f"{finger}_tip": touch(hand, finger, ball) for finger in FINGERS}
        free = poise.chains.circles(hand, targets, hold=["wrist"], limits=False)
        assert free.iterations == len(FINGERS) * (4 - 2), "four points to a finger, two placements"
        result = poise.chains.circles(hand, targets, hold=["wrist"])
        assert hand.violations(result.posture) == []
        held = [tip for tip, error in result.errors.items() if error <= 1e-12]
        print(f"{title}: {result.status}, {len(held)} of {len(FINGERS)} fingers on the ball")
        assert (len(held) == len(FINGERS)) == (title == "in range")
        for tip in held:
            gap = np.linalg.norm(hand.pose_of(tip, result.posture).position - ball) - RADIUS
            assert abs(gap) <= 1e-12, "a fingertip that holds the ball is on its surface"
        obstacle = Obstacle(Sphere(RADIUS), Pose(ball), name="ball")
        scene = poise.Scene(hand, [], start=result.posture, obstacles=[obstacle])
        sheet.append((title, draw_scene(scene, result.posture, size=(340, 380), start=False)))

    folder.mkdir(parents=True, exist_ok=True)
    contact_sheet(sheet, columns=3).save(folder / "hand_takes_a_ball.png")
    print(f"See {folder / 'hand_takes_a_ball.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
