"""A chain leans into the force on its tip until it is in equilibrium; arcs show the torques that its joints hold.

The base carries the weight and the force. After [Baerlocher 2001, fig. 6.5 and 6.6].
Run: python examples/26_a_force_on_a_chain.py [folder for the pictures]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import poise
from poise import Equilibrium
from poise.figure import Builder, capsule_between, revolute
from poise.forces import Force, Support, joint_torques, support_forces
from poise.pictures import contact_sheet, draw_scene

LINKS, LONG = 10, 0.1
BEND = [0.2, -0.1, -0.2, 0.1, 0.1, 0.1, -0.1, -0.2, -0.1, 0.1]
PUSHES = {"no force": (0.0, 0.0), "to the left": (-0.15, 0.0), "down": (0.0, -0.4), "up, to the right": (0.3, 0.3)}
"""Forces on the tip, to the right and up, as shares of the chain's weight."""
SEEN = [(x, y, 0.0) for x in (-0.75, 0.45) for y in (-0.1, 1.1)]


def ten_links() -> poise.Figure:
    """A chain of ten links of half a kilogram, hinged about z."""
    b = Builder("chain")
    below, at = b.body("base"), 0.0
    for k in range(1, LINKS + 1):
        hinge, link = revolute(f"hinge_{k}", "z", limits=(-1.0, 1.0)), capsule_between((0, 0, 0), (0, LONG, 0), 0.01)
        below, at = b.body(f"link_{k}", parent=below, joint=hinge, at=(0, at, 0), shapes=[link], mass=0.5), LONG
    b.site("tip", below, at=(0, LONG, 0))
    return b.build()


def main(folder: Path) -> None:
    """Change the force, let the chain find its equilibrium, and compare its torques with sums over its links."""
    chain = ten_links()
    weight = chain.mass * 9.80665
    sheet, norms = [], {}
    for title, push in PUSHES.items():
        force = weight * np.array([*push, 0.0])
        loads = (Force("tip", force), Support("base", 1.0))
        scene = poise.Scene(chain, [Equilibrium()], start=chain.posture(np.array(BEND)), forces=loads)
        result = scene.solve()
        posture = result.posture

        center, tip = chain.center_of_mass(posture), chain.pose_of("tip", posture).position
        moment = np.cross(center, (0.0, -weight, 0.0)) + np.cross(tip, force)
        assert result.status == "solved" and np.abs(moment).max() < 1e-6 * weight, title
        ground = support_forces(chain, posture, loads)["base"]
        assert np.allclose(ground, (0.0, weight, 0.0) - force), "the base carries the rest"
        torques = joint_torques(chain, posture, loads)
        assert np.allclose(torques, torques_by_hand(chain, posture, force), atol=1e-9)
        norms[title] = float(np.linalg.norm(torques))
        print(f"{title}: centre of mass {1e3 * center[0]:+.0f} mm aside, torques {norms[title]:.1f} N m")
        sheet.append(
            (title, draw_scene(scene, posture, size=(330, 380), start=False, torques=4.0, within=SEEN, view="front"))
        )
    assert norms["no force"] == min(norms.values()), "without a force on its tip the chain holds least"

    folder.mkdir(parents=True, exist_ok=True)
    contact_sheet(sheet, columns=4).save(folder / "force_on_a_chain.png")
    print(f"See {folder / 'force_on_a_chain.png'}")


def torques_by_hand(chain: poise.Figure, posture: poise.Posture, force: NDArray[np.float64]) -> NDArray[np.float64]:
    """The torque of each hinge against the weights of the links beyond it and the force on the tip."""
    found = np.zeros(LINKS)
    tip = chain.pose_of("tip", posture).position
    for k in range(LINKS):
        hinge = chain.pose_of(f"link_{k + 1}", posture).position
        moment = np.cross(tip - hinge, force)
        for link in range(k, LINKS):
            mass = chain.bodies[f"link_{link + 1}"].mass
            middle = chain.pose_of(f"link_{link + 1}", posture).apply(mass.center)
            moment = moment + np.cross(middle - hinge, (0.0, -9.80665 * mass.mass, 0.0))
        found[k] = -moment[2]
    return found


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
