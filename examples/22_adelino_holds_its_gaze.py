"""Adelino keeps looking at one place while it changes from posture to posture: one easy place, one hard to reach.

After [Ribeiro & Paiva 2017, fig. 8]. Run: python examples/22_adelino_holds_its_gaze.py [folder for the pictures]
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

import poise
from poise import LookAt
from poise.pictures import Picture, contact_sheet, draw_scene, save_gif

SHIFTS = {"an easy place": ("neutral", "happy", "sad"), "a hard place": ("proud", "shy", "surprised")}
DIRECTIONS = {"an easy place": (0.2, 0.1, 1.0), "a hard place": (-0.8, -0.2, -0.7)}
STAGE = np.array([(x, y, z) for x in (-0.25, 0.25) for y in (0.0, 0.5) for z in (-0.25, 0.25)])
"""Corners of what the pictures show [m]."""
FRAMES = 20
"""From one posture to the next."""


def blended(lamp: poise.Figure, names: tuple[str, ...]) -> Iterator[poise.Posture]:
    """The postures in turn, with interpolated postures between them."""
    for before, after in pairwise(names):
        start, stop = lamp.posture(before).q, lamp.posture(after).q
        for t in np.linspace(0.0, 1.0, FRAMES, endpoint=False):
            yield lamp.posture((1.0 - t) * start + t * stop)
    yield lamp.posture(names[-1])


def picture(
    lamp: poise.Figure, result: poise.Posture, held: poise.Posture, direction: np.ndarray, size: int
) -> Picture:
    """The lamp, its wanted posture drawn faintly, and its line of sight."""
    tip = lamp.pose_of("tip", result).position
    scene = poise.Scene(lamp, [LookAt("eyes", at=tip + 0.2 * direction)], start=held)
    return draw_scene(scene, result, size=(size, size), within=STAGE)


def main(folder: Path) -> None:
    """Change postures at two gaze targets, with both solvers."""
    lamp = poise.load("adelino")
    folder.mkdir(parents=True, exist_ok=True)
    sheet, frames = [], []
    for place, names in SHIFTS.items():
        direction = np.array(DIRECTIONS[place]) / np.linalg.norm(DIRECTIONS[place])
        wanted = list(blended(lamp, names))
        for name, solver in (("erik", poise.Erik(lamp)), ("expressive", poise.Expressive(lamp))):
            results: list[poise.Posture] = []
            for posture in wanted:
                answer = solver.solve(posture, poise.facing(direction), previous=results[-1] if results else None)
                results.append(answer.posture)
                assert not lamp.violations(answer.posture)
            cosines = [float(lamp.pose_of("tip", result).matrix[:, 1] @ direction) for result in results]
            apart = np.degrees(np.arccos(np.minimum(1.0, cosines)))
            moved = np.abs(np.array([result.q for result in results]) - results[0].q).max()
            print(
                f"{place}, {name}: the gaze is {apart.mean():.2f}° off on average, {apart.max():.2f}° at worst, while "
                f"joints move by up to {math.degrees(moved):.0f}°."
            )
            assert apart.max() < 5.0, "the gaze is held"
            assert moved > 0.3, "and the posture changes"
        shown = range(0, len(wanted), FRAMES)
        sheet += [
            (f"{place}: {names[k // FRAMES]}", picture(lamp, results[k], wanted[k], direction, 260)) for k in shown
        ]
        frames += [picture(lamp, results[k], wanted[k], direction, 260) for k in range(0, len(wanted), 2)]
    contact_sheet(sheet, columns=3).save(folder / "adelino_holds_its_gaze.png")
    save_gif(frames, folder / "adelino_holds_its_gaze.gif", rate=10.0)
    print(f"See {folder / 'adelino_holds_its_gaze.png'} and the GIF beside it.")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
