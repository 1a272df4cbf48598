"""Two conflicting goals: weights meet neither, divided joints waste freedom, priorities meet the first exactly.

After [Baerlocher 2001, fig. 5.4]. Run: python examples/06_weights_or_priorities.py [folder for the pictures]
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np

import poise
from poise import Position
from poise.figure import Builder, capsule_between, revolute
from poise.pictures import contact_sheet, draw_scene

LONG = 0.4
WIDE = (-2.5, 2.5)
NEAR = ((-0.35, 0.2, 0.0), (0.8, 1.25, 0.0))
"""Places for the left and the right tip that can both be had."""
FAR = ((-1.2, 0.6, 0.0), (1.1, 1.0, 0.0))
"""Places that cannot."""


def fork() -> poise.Figure:
    """Three hinges up a trunk, then two in each of two branches."""
    b = Builder("fork")
    link = [capsule_between((0, 0, 0), (0, LONG, 0), 0.02)]
    below, at = b.body("base"), 0.0
    for k in range(1, 4):
        below, at = (
            b.body(f"trunk_{k}", parent=below, joint=revolute(f"bend_{k}", "z", WIDE), at=(0, at, 0), shapes=link),
            LONG,
        )
    for side, lean in (("left", 0.5), ("right", -0.5)):
        half = (math.cos(lean / 2), 0.0, 0.0, math.sin(lean / 2))
        upper = b.body(
            f"{side}_1",
            parent=below,
            joint=revolute(f"{side}_bend_1", "z", WIDE),
            at=(0, LONG, 0),
            turned=half,
            shapes=link,
        )
        tip = b.body(
            f"{side}_2", parent=upper, joint=revolute(f"{side}_bend_2", "z", WIDE), at=(0, LONG, 0), shapes=link
        )
        b.site(f"{side}_tip", tip, at=(0, LONG, 0))
    return b.build()


def slope(figure: poise.Figure, posture: poise.Posture, left: tuple[float, float, float]) -> float:
    """Rate at which the left tip could still approach its goal by motions that do not move the right tip."""
    right, rows = (figure.jacobian(f"{side}_tip", posture)[:2] for side in ("right", "left"))
    free = np.eye(figure.nv) - np.linalg.pinv(right, rcond=1e-6) @ right
    gap = np.asarray(left) - figure.pose_of("left_tip", posture).position
    return float(np.linalg.norm(free @ rows.T @ gap[:2]) / np.linalg.norm(gap))


def main(folder: Path) -> None:
    """Goals within and out of reach, with three ways to resolve the conflict."""
    figure = fork()
    branch = ["left_bend_1", "left_bend_2"]
    cases = {
        "a: weights, both reachable": (NEAR, {"weight": 1.0}, {"weight": 3.0}),
        "b: weights, in conflict": (FAR, {"weight": 1.0}, {"weight": 3.0}),
        "c: joints split, both reachable": (NEAR, {"priority": 2, "joints": branch}, {"priority": 1}),
        "d: priorities, in conflict": (FAR, {"priority": 2}, {"priority": 1}),
    }
    sheet, found, errors = [], {}, {}
    for title, ((left, right), for_left, for_right) in cases.items():
        tasks = [
            Position("left_tip", at=left, axes="xy", name="left", **for_left),  # type: ignore[arg-type]
            Position("right_tip", at=right, axes="xy", name="right", **for_right),  # type: ignore[arg-type]
        ]
        scene = poise.Scene(
            figure, tasks, start={"bend_1": 0.1, "bend_2": -0.2, "left_bend_1": 0.3, "right_bend_1": -0.3}
        )
        result = found[title[0]] = scene.solve()
        errors[title[0]] = result.errors["left"], result.errors["right"]
        misses = " and ".join(f"{side} by {result.errors[side]:.3f} m" for side in ("left", "right"))
        print(f"{title}: {misses} off ({result.status})")
        sheet.append((title, draw_scene(scene, result.posture, size=(400, 400), view="front", start=False)))

    assert found["a"].status == "solved"
    assert min(errors["b"]) > 0.01, "weights leave neither goal reached"
    assert errors["c"][1] < 1e-6 < errors["c"][0], "split joints miss what (a) reaches"
    assert errors["d"][1] < 1e-6, "the right tip has its goal to itself"
    assert slope(figure, found["d"].posture, FAR[0]) < 1e-5, "and the left one comes as near as that allows"

    folder.mkdir(parents=True, exist_ok=True)
    contact_sheet(sheet, columns=4).save(folder / "priorities.png")
    print(f"See {folder / 'priorities.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
