"""On a beam, watching a fly: feet first, then balance, then the gaze, and a hand that reaches as far as these allow.

After [Baerlocher 2001, fig. 7.11 and 7.12]. Run: python examples/12_a_fly_on_a_beam.py [folder for the pictures]
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import poise
from poise import CenterOfMass, Frame, Hold, LookAt, Obstacle, Pose, Position
from poise.figure import Box
from poise.pictures import Picture, contact_sheet, draw_scene

BEAM = Obstacle(Box((1.2, 0.12, 0.3)), Pose((0.0, -0.06, 0.04)), name="beam")
FLIES = {
    "ahead": (0.2, 1.5, 1.2),
    "high left": (0.9, 2.1, 0.8),
    "low right": (-1.0, 0.4, 0.7),
    "behind": (0.0, 0.3, -1.2),
}
FAR = (-1.5, 1.2, 0.6)
"""Where the fly sits at last, out of the hand's reach."""
FLEXED = {"left_knee": math.radians(35.0), "right_knee": math.radians(35.0)}


def main(folder: Path) -> None:
    """Follow the fly with the eyes, then with a hand too, then with all the weight on one foot."""
    human = poise.load("human")
    start = human.posture("standing")
    left, right = (human.pose_of(foot, start) for foot in ("left_foot", "right_foot"))
    between = 0.5 * (left.position + right.position)
    feet = [Frame("left_foot", left, priority=1), Frame("right_foot", right, priority=1)]
    middle = CenterOfMass(at=between, axes="xz", priority=2, name="balance")
    flex = Hold(start.changed(FLEXED), priority=9, name="flex")

    def watched(
        title: str, fly: tuple[float, float, float], *more: Position, balance: CenterOfMass = middle
    ) -> poise.Result:
        scene = poise.Scene(
            human, [*feet, balance, LookAt("eyes", at=fly, priority=3, name="gaze"), *more, flex], start=posture
        )
        result = scene.solve(max_steps=300)
        errors = ", ".join(f"{v.task.label} {v.error:.4f}" for v in result.verdicts if v.task.priority in (2, 3, 4))
        print(f"{title}: {errors}; {result.status} after {result.steps} steps")
        assert max(result.errors[task] for task in (*feet, balance)) < 1e-5
        assert human.violations(result.posture) == []
        shown = poise.Scene(human, scene.tasks, obstacles=[BEAM])
        sheet.append((title, draw_scene(shown, result.posture, size=(300, 360), start=False)))
        return result

    posture, sheet = start, list[tuple[str, Picture]]()
    gazes = {}
    for name, fly in FLIES.items():
        result = watched(f"fly {name}", fly)
        posture, gazes[name] = result.posture, result.errors["gaze"]
    assert max(gazes.values()) < 1e-5, "even behind: it bends over and looks back"

    posture = start
    reach = Position("right_hand", at=FAR, priority=4, name="hand")
    both = watched("reach, weight between the feet", FAR, reach)
    one = CenterOfMass(at=right.position, axes="xz", priority=2, name="balance")
    single = watched("reach, weight on one foot", FAR, reach, balance=one)
    print(f"The weight on one foot brings the hand {both.errors['hand'] - single.errors['hand']:.3f} m nearer.")
    assert single.errors["hand"] < both.errors["hand"] - 0.02

    folder.mkdir(parents=True, exist_ok=True)
    contact_sheet(sheet, columns=3).save(folder / "fly.png")
    print(f"See {folder / 'fly.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
