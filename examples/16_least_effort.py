"""Hold a chain with less torque: the same tip and balance with another posture.

After [Baerlocher 2001, fig. 6.8 and 6.9], which report torques of 0.72 and 0.65 times those at the start.
Run: python examples/16_least_effort.py [folder for the pictures]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import poise
from poise import Equilibrium, LeastTorque, Position
from poise.figure import Builder, capsule_between, revolute
from poise.forces import Force, Load, Support, equilibrium_error, joint_torques
from poise.pictures import contact_sheet, draw_scene

LINKS, LONG, TURN = 10, 0.1, 1.0
SCENES: dict[str, tuple[tuple[Load, ...], tuple[float, float], list[float], float]] = {
    "single support": (
        (Force("tip", (0.0, -6.0, 0.0)),),
        (-0.1, 0.6),
        [0.9, -0.5, -0.6, -0.6, -0.2, 0.5, 0.8, 0.7, 0.5, 0.1],
        0.72,
    ),
    "double support": (
        (Force("tip", (-8.0, 0.0, 0.0)), Support("base", 0.5, brace=1.0), Support("tip", 0.5)),
        (0.5, 0.0),
        [0.6, -0.8, 0.1, -0.8, -0.4, -0.2, -0.7, 0.1, -0.8, -0.4],
        0.65,
    ),
}
"""What acts, where the tip is held, bends to start near, and what the thesis reports."""


def chain() -> poise.Figure:
    """Ten links of half a kilogram."""
    b = Builder("chain")
    below, at = b.body("base"), 0.0
    link = [capsule_between((0, 0, 0), (0, LONG, 0), 0.008)]
    for k in range(1, LINKS + 1):
        hinge = revolute(f"hinge_{k}", "z", limits=(-TURN, TURN))
        below, at = b.body(f"link_{k}", parent=below, joint=hinge, at=(0, at, 0), shapes=link, mass=0.5), LONG
    b.site("tip", below, at=(0, LONG, 0))
    return b.build()


def main(folder: Path) -> None:
    """Both chains at the start and with the least effort."""
    figure, sheet = chain(), []
    for title, (loads, tip, bend, reported) in SCENES.items():
        tasks = [Position("tip", at=(*tip, 0.0), axes="xy", priority=1), Equilibrium(priority=1)]
        start = poise.solve(figure, tasks, start=figure.posture(np.array(bend)), forces=loads).posture
        scene = poise.Scene(figure, tasks, start=start, forces=loads, criteria=[LeastTorque()])
        result = scene.solve(max_steps=500)
        before, after = (np.linalg.norm(joint_torques(figure, q, loads)) for q in (start, result.posture))
        print(f"{title}: torques {before:.2f} to {after:.2f} N m, {after / before:.2f} of the start ({result.status})")
        assert np.abs(equilibrium_error(figure, result.posture, loads).error).max() < 1e-6
        assert np.linalg.norm(figure.pose_of("tip", result.posture).position[:2] - tip) < 1e-6
        assert after <= reported * before
        for name, posture, torque in ((f"{title}, start", start, before), ("least effort", result.posture, after)):
            picture = draw_scene(scene, posture, size=(330, 330), view="front", start=False)
            sheet.append((f"{name}: {torque:.1f} N m", picture))

    folder.mkdir(parents=True, exist_ok=True)
    contact_sheet(sheet, columns=4).save(folder / "least_effort.png")
    print(f"See {folder / 'least_effort.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
