"""Forces shape a posture: weight on one foot, a pull at a hand, a push with both, and a twist.

After [Baerlocher 2001, fig. 7.15-7.18]. The ground forces, which are an input in the thesis,
are computed here.
Run: python examples/17_leaning_on_forces.py [folder for the pictures]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import poise
from poise import Equilibrium, Frame, LookAt, Position
from poise.forces import Force, Load, Support, balance, equilibrium_error
from poise.pictures import contact_sheet, draw_scene
from poise.tasks.task import Task

FEET = ("left_foot", "right_foot")
OPEN = (Support("left_foot"), Support("right_foot"))


def hands(height: float, ahead: float) -> list[Task]:
    """Both hands on the corners of a heavy object."""
    return [
        Position(f"{side}_hand", at=(x, height, ahead), priority=3) for side, x in (("left", 0.25), ("right", -0.25))
    ]


def cases() -> dict[str, tuple[list[Task], tuple[Load, ...]]]:
    """Additional tasks, and the forces, of each case."""
    ball = Position("right_hand", at=(-0.4, 1.2, 0.4), priority=3)
    wall = Position("right_hand", at=(0, 0, 0.4), axes="z", priority=3)
    return {
        "weight on both": ([], (Support("left_foot", 0.5), Support("right_foot", 0.5))),
        "on the right foot": ([], (Support("left_foot", 0.1), Support("right_foot", 0.9))),
        "carrying 80 N": ([wall], (Force("right_hand", (0, -80, 0)), *OPEN)),
        "pulling 100 N": ([ball], (Force("right_hand", (0, 0, 100)), *OPEN)),
        "pushing 120 N": (hands(1.2, 0.5), (*(Force(f"{s}_hand", (0, 0, -60)) for s in ("left", "right")), *OPEN)),
        "twisting": (
            [*hands(1.1, 0.4), LookAt("eyes", at=(0, 1.1, 0.4), priority=4)],
            (Force("left_hand", (0, 0, 60)), Force("right_hand", (0, 0, -60)), *OPEN),
        ),
    }


def main(folder: Path) -> None:
    """Solve each case, and check the position of the centre of mass."""
    human = poise.load("human")
    feet = [Frame(foot, human.pose_of(foot, "standing"), priority=1) for foot in FEET]
    center, sheet = {}, []
    for title, (more, loads) in cases().items():
        scene = poise.Scene(human, [*feet, Equilibrium(priority=2), *more], start="standing", forces=loads)
        result = scene.solve(max_steps=400)
        center[title] = human.center_of_mass(result.posture)
        print(f"{title}: centre of mass at {np.round(center[title], 3)}, {result.status} after {result.steps} steps")
        if all(load in loads for load in OPEN):
            assert balance(human, result.posture, loads).balanced, title
        else:
            moment = equilibrium_error(human, result.posture, loads).error
            assert np.abs(moment).max() < 1e-6 * human.mass * 9.81, title
        assert human.violations(result.posture) == []
        sheet.append((title, draw_scene(scene, result.posture, size=(300, 400))))
    assert center["on the right foot"][0] < center["weight on both"][0] - 0.05
    assert center["pushing 120 N"][2] > center["pulling 100 N"][2] + 0.02, "pushing leans forward, pulling back"

    folder.mkdir(parents=True, exist_ok=True)
    contact_sheet(sheet, columns=3).save(folder / "forces.png")
    print(f"See {folder / 'forces.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
