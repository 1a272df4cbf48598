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
SCENES: dict[str, tuple[tuple[Load, ...], tuple[float, float], dict[str, list[float]], float]] = {
    "single support": (
        (Force("tip", (0.0, -6.0, 0.0)), Support("base", 1.0)),
        (-0.1, 0.6),
        {"start": [0.9, -0.5, -0.6, -0.6, -0.2, 0.5, 0.8, 0.7, 0.5, 0.1]},
        0.72,
    ),
    "double support": (
        (Force("tip", (-8.0, 0.0, 0.0)), Support("base", 0.5, brace=1.0), Support("tip", 0.5)),
        (0.5, 0.0),
        {
            "start": [0.6, -0.8, 0.1, -0.8, -0.4, -0.2, -0.7, 0.1, -0.8, -0.4],
            "another": [0.0, -0.3, 0.3, -0.9, -0.5, -0.6, -0.7, 0.3, -0.3, 0.2],
        },
        0.65,
    ),
}
"""What acts, where the tip is held, bends to start near, and what the thesis reports for the least effort."""


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
    for title, (loads, tip, bends, reported) in SCENES.items():
        tasks = [Position("tip", at=(*tip, 0.0), axes="xy", priority=1), Equilibrium(priority=1)]
        postures = {
            name: poise.solve(figure, tasks, start=figure.posture(np.array(bend)), forces=loads).posture
            for name, bend in bends.items()
        }
        scene = poise.Scene(figure, tasks, start=postures["start"], forces=loads, criteria=[LeastTorque()])
        result = scene.solve(max_steps=500)
        postures["least effort"] = result.posture
        norms = {name: float(np.linalg.norm(joint_torques(figure, q, loads))) for name, q in postures.items()}
        shares = {name: norm / norms["start"] for name, norm in norms.items()}
        print(f"{title}: " + ", ".join(f"{name} {norms[name]:.2f} N m ({shares[name]:.2f})" for name in norms))
        for name, posture in postures.items():
            assert np.abs(equilibrium_error(figure, posture, loads).error).max() < 1e-6, name
            assert np.linalg.norm(figure.pose_of("tip", posture).position[:2] - tip) < 1e-6, name
            picture = draw_scene(scene, posture, size=(330, 330), view="front", start=False, torques=6.0)
            sheet.append((f"{title if name == 'start' else name}: {norms[name]:.1f} N m", picture))
        assert min(shares, key=shares.__getitem__) == "least effort" and shares["least effort"] <= reported

    folder.mkdir(parents=True, exist_ok=True)
    contact_sheet(sheet, columns=5).save(folder / "least_effort.png")
    print(f"See {folder / 'least_effort.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
