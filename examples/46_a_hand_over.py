"""Two arms pass a stick: one brings it, both hold it, the other takes it away.

While both hold it, arms and stick form a loop; wherever the stick's target is, in reach or not, no hand slips.
Run: python examples/46_a_hand_over.py [folder for the pictures]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import poise
from poise import Builder, Frame, Pose, Position, Posture
from poise.figure import fixed, revolute
from poise.figures.parts import BLUE, DARK_GREY, GOLD, RED, knob, rod
from poise.pictures import contact_sheet, draw

SIDES = {"left": (0.25, RED), "right": (-0.25, BLUE)}
AXES = "yxzxyx"
LINK = 0.13
HALF = 0.12
"""Half of the stick [m]."""
BENT = (0.0, 0.9, 0.0, 1.0, 0.0, 0.5)
GRIP = Pose((0.0, LINK, 0.0))
HANDLES = {
    "left": Pose((HALF, 0.0, 0.0), (np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5))),
    "right": Pose((-HALF, 0.0, 0.0), (np.sqrt(0.5), 0.0, 0.0, -np.sqrt(0.5))),
}
"""Where hands hold the stick, in its own axes: their palms face each other along it."""


def arms(holding: tuple[str, ...]) -> poise.Figure:
    """Two arms and a stick: the first of `holding` moves it, and the others are joined to it by loop joints."""
    made = Builder("arms")
    made.body("torso", shapes=[rod((0.0, 0.0, 0.0), (0.0, 0.3, 0.0), 0.05, DARK_GREY)], mass=10.0)
    for side, (x, color) in SIDES.items():
        upper, at = "torso", (x, 0.3, 0.0)
        for k, axis in enumerate(AXES, start=1):
            hinge = revolute(f"{side}_{k}", axis, limits=(-2.8, 2.8))
            shapes = [knob((0.0, 0.0, 0.0), 0.025, DARK_GREY), rod((0.0, 0.0, 0.0), (0.0, LINK, 0.0), 0.018, color)]
            upper = made.body(f"{side}_link_{k}", parent=upper, joint=hinge, at=at, shapes=shapes, mass=0.3)
            at = (0.0, LINK, 0.0)
        made.site(f"{side}_grip", upper, at=GRIP.position)
    first, *others = holding
    stick = GRIP @ HANDLES[first].inverse()
    wood = [rod((-HALF, 0.0, 0.0), (HALF, 0.0, 0.0), 0.015, GOLD)]
    hold = fixed(f"{first}_hold")
    made.body(
        "stick",
        parent=f"{first}_link_6",
        joint=hold,
        at=stick.position,
        turned=stick.rotation,
        shapes=wood,
        mass=0.2,
    )
    for side in others:
        ends = {"parent_frame": GRIP, "child_frame": HANDLES[side]}
        made.loop(fixed(f"{side}_hold"), f"{side}_link_6", "stick", **ends)
    return made.build()


def joints_of(posture: Posture) -> dict[str, float]:
    """Values of the arms' hinges, which all figures share."""
    return {f"{side}_{k}": float(posture[f"{side}_{k}"]) for side in SIDES for k in range(1, len(AXES) + 1)}


def main(folder: Path) -> None:
    """Bring, hold, take."""
    left, both, right = arms(("left",)), arms(("left", "right")), arms(("right",))
    bent = {f"{side}_{k}": value for side in SIDES for k, value in enumerate(BENT, start=1)}
    middle = Pose((0.0, 0.55, 0.40))
    brought = poise.solve(left, [Frame("stick", middle)], start=bent, restarts=20)
    assert brought.status == "solved"
    handle = left.pose_of("stick", brought.posture) @ HANDLES["right"]
    taken = poise.solve(left, [Frame("stick", middle), Frame("right_grip", handle)], start=brought.posture, restarts=20)
    assert taken.status == "solved", "the other hand is at the stick"
    sheet = [("brought", draw(left, brought.posture, size=(380, 420)))]

    posture = both.posture(joints_of(taken.posture))
    for title, place in {"both hold": (0.05, 0.62, 0.35), "pulled too far": (0.2, 1.3, 0.9)}.items():
        result = poise.solve(both, [Position("stick", at=place)], start=posture)
        slip = both.closure_error(result.posture)
        print(f"{title}: {result.status}, hands slip by {slip:.1e}")
        assert slip < 1e-9
        assert result.status == ("solved" if title == "both hold" else "unreachable")
        sheet.append((title, draw(both, result.posture, size=(380, 420))))

    held = poise.solve(both, [Frame("stick", middle)], start=posture)
    away = poise.solve(right, [Position("stick", at=(-0.35, 0.6, 0.35))], start=joints_of(held.posture))
    before = both.pose_of("stick", held.posture)
    after = right.pose_of("stick", right.posture(joints_of(held.posture)))
    assert np.linalg.norm(before.position - after.position) < 1e-9, "the stick is where it was when it changes hands"
    assert away.status == "solved"
    sheet.append(("taken away", draw(right, away.posture, size=(380, 420))))

    folder.mkdir(parents=True, exist_ok=True)
    contact_sheet(sheet, columns=4).save(folder / "hand_over.png")
    print(f"See {folder / 'hand_over.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
