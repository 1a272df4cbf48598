"""Change the root of a figure: the posture stays, but a joint then moves the bodies on its other side.

Run: python examples/03_another_root.py [folder for the pictures]
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np

import poise
from poise.pictures import strip


def main(folder: Path) -> None:
    """Bend the knees of a human whose root is the pelvis, then of one rooted at its foot."""
    human = poise.load("human")
    standing = human.neutral()
    planted = human.rerooted("left_foot")
    same = planted.adopt(standing)
    for body in human.bodies.names:
        was, now = human.pose_of(body, standing).position, planted.pose_of(body, same).position
        assert np.allclose(was, now, atol=1e-12), body

    bend = {"left_knee": math.radians(60.0), "right_knee": math.radians(60.0)}
    from_pelvis, from_foot = standing.changed(bend), same.changed(bend)
    lifted = human.pose_of("left_foot", from_pelvis).position - human.pose_of("left_foot", standing).position
    kept = planted.pose_of("left_foot", from_foot).position - planted.pose_of("left_foot", same).position
    print(f"Rooted at the pelvis, the foot moves by {np.linalg.norm(lifted):.2f} m.")
    print(f"Rooted at the foot, it moves by {np.abs(kept).max():.0e} m.")
    assert np.linalg.norm(lifted) > 0.2
    assert np.abs(kept).max() < 1e-12

    folder.mkdir(parents=True, exist_ok=True)
    strip(human, [standing, from_pelvis, human.adopt(from_foot)], size=(400, 600)).save(folder / "roots.png")
    print(f"See {folder / 'roots.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
