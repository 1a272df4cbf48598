"""Close a chain into a ring with a task of the first priority: other tasks cannot open the ring.

After [Baerlocher 2001, fig. 7.5]. Run: python examples/09_a_loop_as_a_task.py [folder for the pictures]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import poise
from poise import Position
from poise.pictures import contact_sheet, draw_scene

LINKS = 10
LONG = 0.2
PULLS = {
    "closed": (),
    "one point pulled": ((5, (-0.35, 0.8)),),
    "two points, too far": ((3, (-0.7, 0.3)), (7, (0.6, 0.6))),
}
"""Segments whose ends are pulled, and where to."""


def main(folder: Path) -> None:
    """Close a ring of ten segments and pull it, with the loop task first, and with all tasks at one priority."""
    chain = poise.chain("Z" * LINKS, lengths=[LONG] * LINKS, limits=170)
    curl = chain.posture(np.full(LINKS, np.radians(30.0)))
    sheet = []
    for title, pulls in PULLS.items():
        loop = Position("tip", at=(0, 0, 0), relative_to="base", axes="xy", priority=1, name="loop")
        tugs = [
            Position(f"segment_{k}", at=(*place, 0.0), offset=(0, LONG, 0), axes="xy", priority=2, name=f"pull {k}")
            for k, place in pulls
        ]
        scene = poise.Scene(chain, [loop, *tugs], start=curl)
        result = scene.solve()
        print(f"{title}: loop open by {result.errors['loop']:.1e} m, {result.status}")
        for tug in tugs:
            print(f"  {tug.name} misses by {result.errors[tug]:.3f} m")
        assert result.errors["loop"] < 1e-9
        sheet.append((title, draw_scene(scene, result.posture, size=(400, 400), view="front", start=not pulls)))

    equals = poise.Scene(chain, [Position("tip", at=(0, 0, 0), axes="xy", name="loop"), *_level_one(tugs)], start=curl)
    torn = equals.solve()
    print(f"All of one priority: loop open by {torn.errors['loop']:.3f} m")
    assert torn.errors["loop"] > 0.01
    assert max(result.errors[tug] for tug in tugs) > 0.1, "the pulls gave way, not the loop"
    sheet.append(
        ("all of one priority: torn", draw_scene(equals, torn.posture, size=(400, 400), view="front", start=False))
    )

    folder.mkdir(parents=True, exist_ok=True)
    contact_sheet(sheet, columns=4).save(folder / "loop.png")
    print(f"See {folder / 'loop.png'}")


def _level_one(tugs: list[Position]) -> list[Position]:
    return [Position(tug.site, at=tug.at, offset=tug.offset, axes="xy") for tug in tugs]


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
