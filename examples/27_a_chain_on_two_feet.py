"""A chain on two feet takes another posture for other forces of the ground; where its root is makes no difference.

After [Baerlocher 2001, fig. 6.7]. Run: python examples/27_a_chain_on_two_feet.py [folder for the pictures]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import poise
from poise import Equilibrium, Position
from poise.figure import Builder, capsule_between, revolute
from poise.forces import Force, Load, Support, joint_torques, support_forces
from poise.pictures import contact_sheet, draw_scene

LINKS, LONG, APART = 10, 0.1, 0.55
BEND = np.radians([40, -15, -20, -20, -25, -25, -20, -20, -15, -20])
GROUND = {
    "half on each": (0.5, 0.0),
    "0.7 on the left": (0.3, 0.0),
    "pushed inwards": (0.5, -0.35),
    "pulled outwards": (0.5, 0.2),
}
"""Share of the weight on the right foot, and the ground's push on it to the right, as a share of the weight."""


def ten_links() -> poise.Figure:
    """A chain of ten links of half a kilogram, hinged about z."""
    b = Builder("chain")
    below, at = b.body("base"), 0.0
    for k in range(1, LINKS + 1):
        hinge, link = revolute(f"hinge_{k}", "z", limits=(-1.3, 1.3)), capsule_between((0, 0, 0), (0, LONG, 0), 0.01)
        below, at = b.body(f"link_{k}", parent=below, joint=hinge, at=(0, at, 0), shapes=[link], mass=0.5), LONG
    b.site("tip", below, at=(0, LONG, 0))
    return b.build()


def main(folder: Path) -> None:
    """Solve for each pair of ground forces, with the root at either foot."""
    chain = ten_links()
    other = chain.with_floating_base().rerooted(f"link_{LINKS}")
    weight = chain.mass * 9.80665
    posture, sheet = chain.posture(BEND), []
    for title, (share, push) in GROUND.items():
        loads: tuple[Load, ...] = (
            Force("tip", (push * weight, 0.0, 0.0)),
            Support("base", 1.0 - share, brace=1.0),
            Support("tip", share),
        )
        tasks = [Position("tip", at=(APART, 0.0, 0.0), axes="xy"), Equilibrium(priority=2)]
        scene = poise.Scene(chain, tasks, start=posture, forces=loads)
        result = scene.solve()
        posture = result.posture
        assert result.status == "solved", title
        center = chain.center_of_mass(posture)
        assert abs(center[0] - share * APART) < 1e-6, "the centre of mass divides the feet as the weight does"
        assert np.allclose(sum(support_forces(chain, posture, loads).values()), (-push * weight, weight, 0.0))

        torques = joint_torques(chain, posture, loads)
        same = other.adopt(posture)
        assert np.allclose(other.pose_of("base", same).position, (0.0, 0.0, 0.0), atol=1e-9)
        from_other = joint_torques(other, same, loads)
        for joint in chain.moving_joints:
            assert np.allclose(from_other[other.v_slice(joint)], torques[chain.v_slice(joint)], atol=1e-6), joint
        print(f"{title}: centre of mass at {center[0]:.3f} m, torques {np.linalg.norm(torques):.1f} N m")
        sheet.append((title, draw_scene(scene, posture, size=(330, 330), start=False, torques=4.0, view="front")))

    folder.mkdir(parents=True, exist_ok=True)
    contact_sheet(sheet, columns=4).save(folder / "chain_on_two_feet.png")
    print(f"See {folder / 'chain_on_two_feet.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
