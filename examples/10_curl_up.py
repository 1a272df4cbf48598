"""Stretch and curl up: the moment of inertia as a task of low priority.

After [Baerlocher 2001, fig. 7.7 and 7.8]. Run: python examples/10_curl_up.py [folder for the pictures]
"""

from __future__ import annotations

import itertools
import math
import sys
from pathlib import Path

import numpy as np

import poise
from poise import CenterOfMass, Frame, MomentOfInertia, Position
from poise.pictures import Picture, contact_sheet, draw_scene, strip
from poise.tasks.task import Task

LINKS = 9
LONG = 0.25
HUGE = 100.0
"""More than any posture has, to find the one with the most [kg m²]."""


def ring() -> list[tuple[str, Picture]]:
    """A closed chain that spreads its mass, with its centre of mass at a point and then on a vertical line."""
    chain = poise.chain("Z" * LINKS, lengths=[LONG] * LINKS, limits=170)
    start = chain.posture(np.radians([-60.0, *[40.0] * (LINKS - 1)]))
    loop = Position("tip", at=(0, 0, 0), axes="xy", priority=1, name="loop")
    spread = MomentOfInertia("z", HUGE, priority=3)
    middle = (0.0, 0.2, 0.0)
    sheet, inertias = [], []
    cases: dict[str, list[Task]] = {
        "ring, centre held": [CenterOfMass(at=middle, axes="xy", priority=2)],
        "spread, centre held": [CenterOfMass(at=middle, axes="xy", priority=2), spread],
        "spread, free to rise": [CenterOfMass(at=middle, axes="x", priority=2), spread],
    }
    for title, tasks in cases.items():
        scene = poise.Scene(chain, [loop, *tasks], start=start)
        result = scene.solve()
        inertias.append(chain.moment_of_inertia(result.posture, "z"))
        print(f"{title}: {inertias[-1]:.3f} kg m², loop open by {result.errors['loop']:.0e} m, {result.status}")
        assert max(result.errors["loop"], result.errors["centre of mass"]) < 1e-6
        title = f"{title}: {1e3 * inertias[-1]:.0f}"
        sheet.append((title, draw_scene(scene, result.posture, size=(330, 330), view="front", start=False)))
    assert inertias[0] < inertias[1] < inertias[2]
    return sheet


def person() -> Picture:
    """A person who spreads out and then curls up step by step, with feet in place and balanced."""
    human = poise.load("human")
    feet = [Frame(foot, human.pose_of(foot, "standing"), priority=1) for foot in ("left_foot", "right_foot")]
    middle = np.mean([human.pose_of(foot, "standing").position for foot in ("left_foot", "right_foot")], axis=0)
    balance = CenterOfMass(at=middle, axes="xz", priority=2)
    spread = MomentOfInertia("x", HUGE, priority=3)
    solver = poise.Solver(human, [*feet, balance, spread])
    largest = solver.settle("standing", max_steps=400)
    most = human.moment_of_inertia(largest.posture, "x")
    postures, titles = [largest.posture], [f"most: {most:.1f}"]
    for share in (0.75, 0.5, 0.25, 0.0):
        solver.target(spread, share * most)
        result = solver.settle(postures[-1], max_steps=400)
        inertia = human.moment_of_inertia(result.posture, "x")
        print(f"asked for {share * most:.2f} kg m²: {inertia:.2f}, {result.status} after {result.steps} steps")
        assert human.violations(result.posture) == []
        assert np.abs(human.center_of_mass(result.posture) - middle)[[0, 2]].max() < 1e-6
        assert share == 0.0 or math.isclose(inertia, share * most, rel_tol=1e-4) or inertia > share * most
        postures.append(result.posture)
        titles.append(f"{inertia:.1f}")
    inertias = [human.moment_of_inertia(posture, "x") for posture in postures]
    assert all(later < earlier + 1e-6 for earlier, later in itertools.pairwise(inertias))
    assert inertias[-1] < 0.35 * most
    return strip(human, postures, size=(200, 330), view="side", joints=False, titles=titles)


def main(folder: Path) -> None:
    """Draw both."""
    folder.mkdir(parents=True, exist_ok=True)
    contact_sheet(ring(), columns=3).save(folder / "inertia_ring.png")
    person().save(folder / "inertia_person.png")
    print(f"See {folder / 'inertia_ring.png'} and {folder / 'inertia_person.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
