"""Forces shape a posture: weight on one foot, a pull at a hand, a push with both, and a twist.

After [Baerlocher 2001, fig. 7.15-7.18]. The ground forces, an input in the thesis, are computed where no share of the
weight is given.
Run: python examples/17_leaning_on_forces.py [folder for the pictures]
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np

import poise
from poise import Equilibrium, Frame, LookAt, Natural, Position
from poise.forces import Force, Load, Support, balance, equilibrium_error
from poise.pictures import contact_sheet, draw_scene
from poise.tasks.task import Task

FEET = ("left_foot", "right_foot")
OPEN = (Support("left_foot"), Support("right_foot"))
ON_RIGHT = (Support("left_foot", 0.1), Support("right_foot", 0.9))


def hands(height: float, ahead: float) -> list[Task]:
    """Both hands on the corners of a heavy object."""
    return [
        Position(f"{side}_hand", at=(x, height, ahead), priority=3) for side, x in (("left", 0.25), ("right", -0.25))
    ]


def cases() -> dict[str, tuple[list[Task], tuple[Load, ...]]]:
    """Additional tasks, and the forces, of each case."""
    plane = Position("right_hand", at=(0, 0, 0.35), axes="z", priority=3)
    look = LookAt("eyes", at=(-0.15, 1.3, 0.8), priority=4)
    pull, push = Force("right_hand", (0, 0, 120)), [Force(f"{side}_hand", (0, 0, -60)) for side in ("left", "right")]
    twist = Force("left_hand", (0, 0, 80)), Force("right_hand", (0, 0, -80))
    box = [*hands(1.1, 0.4), LookAt("eyes", at=(0, 1.1, 0.4), priority=4)]
    return {
        "weight on both": ([], (Support("left_foot", 0.5), Support("right_foot", 0.5))),
        "on the right foot": ([], ON_RIGHT),
        "hand in a plane": ([plane], ON_RIGHT),
        "carrying 120 N": ([plane], (Force("right_hand", (0, -120, 0)), *ON_RIGHT)),
        "pulling 120 N": ([plane], (pull, *ON_RIGHT)),
        "and looking": ([plane, look], (pull, *ON_RIGHT)),
        "pushing 120 N": (hands(1.35, 0.85), (*push, *OPEN)),
        "hands on a box": (box, OPEN),
        "twisting it": (box, (*twist, *OPEN)),
    }


def main(folder: Path) -> None:
    """Solve each case, and check the position of the centre of mass."""
    human = poise.load("human")
    feet = [Frame(foot, human.pose_of(foot, "standing"), priority=1) for foot in FEET]
    center, lean, sheet = {}, {}, []
    for title, (more, loads) in cases().items():
        tasks = [*feet, Equilibrium(priority=2), *more]
        scene = poise.Scene(human, tasks, start="standing", forces=loads, criteria=[Natural()])
        result = scene.solve(max_steps=400)
        center[title], lean[title] = human.center_of_mass(result.posture), trunk_lean(human, result.posture)
        print(
            f"{title}: centre of mass at {np.round(center[title], 3)}, trunk {lean[title]:+.0f}°, "
            f"{result.status} after {result.steps} steps"
        )
        assert result.status == "solved" and human.violations(result.posture) == []
        if all(load in loads for load in OPEN):
            assert balance(human, result.posture, loads).balanced, title
        else:
            moment = equilibrium_error(human, result.posture, loads).error
            assert np.abs(moment).max() < 1e-6 * human.mass * 9.81, title
        sheet.append((title, draw_scene(scene, result.posture, size=(320, 420), start=False, torques=120.0)))
    assert center["on the right foot"][0] < center["weight on both"][0] - 0.05
    assert center["pulling 120 N"][2] < center["hand in a plane"][2] - 0.05, "pulling leans back"
    assert center["pushing 120 N"][2] > center["weight on both"][2] + 0.05, "pushing leans forward,"
    assert lean["pushing 120 N"] > 0.0, "and so does the trunk"

    folder.mkdir(parents=True, exist_ok=True)
    contact_sheet(sheet, columns=3).save(folder / "forces.png")
    print(f"See {folder / 'forces.png'}")


def trunk_lean(human: poise.Figure, posture: poise.Posture) -> float:
    """How far the thorax leans forward [degrees]."""
    up = human.pose_of("thorax", posture).matrix[:, 1]
    return math.degrees(math.atan2(up[2], up[1]))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
