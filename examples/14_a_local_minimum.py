"""A local minimum: a goal behind a joint limit, which poise reaches only from another start.

Every local method finds the best posture *near its start* [Baerlocher 2001, 8.1].
Run: python examples/14_a_local_minimum.py [folder for the pictures]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import poise
from poise import Position
from poise.pictures import contact_sheet, draw_scene

GOAL = (-0.5, -0.5, 0.0)


def main(folder: Path) -> None:
    """An arm whose shoulder cannot turn by half a turn, with a goal behind it."""
    arm = poise.chain("ZZZ", lengths=[0.4, 0.3, 0.2], limits=[120, 60, 60])
    task = Position("tip", at=GOAL, axes="xy", name="tip")
    starts = {"from the right": (-1.6, -0.3, -0.3), "from the left": (1.6, 0.3, 0.3)}
    sheet, missed = [], {}
    for title, values in starts.items():
        scene = poise.Scene(arm, [task], start=arm.posture(np.array(values)))
        result = scene.solve()
        missed[title] = result.errors["tip"]
        print(f"{title}:\n{result.report()}\n")
        assert arm.violations(result.posture) == []
        sheet.append(
            (
                f"{title}: misses by {missed[title]:.3f} m",
                draw_scene(scene, result.posture, size=(400, 400), view="front"),
            )
        )
    assert missed["from the right"] > 0.1, "stuck at the limits, and it says so"
    assert missed["from the left"] < 1e-6

    found = poise.reach(arm, "tip", position=GOAL, start=arm.posture(np.array(starts["from the right"])), restarts=30)
    off = float(np.linalg.norm(arm.pose_of("tip", found.posture).position - GOAL))
    print(f"poise.reach, which starts again elsewhere, misses by {off:.1e} m")
    assert off < 1e-6
    scene = poise.Scene(arm, [task], start=arm.posture(np.array(starts["from the right"])))
    sheet.append(("poise.reach, from the right", draw_scene(scene, found.posture, size=(400, 400), view="front")))

    folder.mkdir(parents=True, exist_ok=True)
    contact_sheet(sheet, columns=3).save(folder / "local_minimum.png")
    print(f"See {folder / 'local_minimum.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
