"""A chain and a ball: avoiding the ball comes first, and the tip comes as near to its goals as that allows.

After [Baerlocher 2001, fig. 7.6]. Run: python examples/15_around_a_ball.py [folder for the pictures]
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np

import poise
from poise import Obstacle, Pose, Position
from poise.figure import Sphere
from poise.figure.collision.collisions import Collisions
from poise.pictures import contact_sheet, draw_scene

LINKS = 10
LONG = 0.15
CENTER = np.array([0.4, 0.55, 0.0])
RADIUS = 0.2
BALL = Obstacle(Sphere(RADIUS), Pose(CENTER), name="ball")
GOALS = {"above": (0.5, 1.0), "right": (0.75, 0.85), "around": (0.8, 0.55), "too far": (0.45, 0.1)}


def main(folder: Path) -> None:
    """Move the tip around the ball, and check that no body ever enters it."""
    chain = poise.chain("Z" * LINKS, lengths=[LONG] * LINKS, limits=90)
    posture = chain.posture(np.array([0.2, -0.1] * (LINKS // 2)))
    collisions = Collisions(chain, [BALL])
    sheet, errors = [], {}
    for title, goal in GOALS.items():
        scene = poise.Scene(
            chain, [Position("tip", at=(*goal, 0.0), axes="xy", name="tip")], start=posture, obstacles=[BALL]
        )
        result = scene.solve(max_steps=400)
        posture, errors[title] = result.posture, result.errors["tip"]
        gap = min((contact.distance for contact in collisions.at(posture)), default=math.inf)
        near = f"{1000 * gap:.2f} mm from the ball" if math.isfinite(gap) else "well clear of the ball"
        print(f"{title}: tip misses by {errors[title]:.4f} m, {near} ({result.status})")
        assert gap > -1e-6, "nothing is inside the ball"
        sheet.append((title, draw_scene(scene, posture, size=(360, 360), view="front", start=False)))
    assert max(errors[title] for title in ("above", "right", "around")) < 1e-5
    assert errors["too far"] > 0.01

    folder.mkdir(parents=True, exist_ok=True)
    contact_sheet(sheet, columns=4).save(folder / "around_a_ball.png")
    print(f"See {folder / 'around_a_ball.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
