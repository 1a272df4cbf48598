"""Adelino holds a posture while its gaze sweeps a full turn, by the paper's algorithm and by ours.

Its root turns by 180° only, so it must turn round twice: the paper's algorithm jumps, ours takes 36 frames for it.

After [Ribeiro & Paiva 2017, fig. 7]. Run: python examples/21_adelino_sweeps.py [folder for the pictures]
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import poise
from poise import LookAt
from poise.pictures import Picture, contact_sheet, draw_scene, save_gif

POSTURES = ("sad", "curious")
HEIGHT = 0.35
"""Of the direction over the horizon, for one ahead."""
SIGHT = 0.2
"""Length of the line of sight that is drawn [m]."""
JUMP = math.radians(10.0)
STAGE = np.array([(x, y, z) for x in (-0.25, 0.25) for y in (0.0, 0.5) for z in (-0.25, 0.25)])
"""Corners of what the pictures show [m]."""


def direction(degrees: float) -> NDArray[np.float64]:
    """Direction of the gaze at a heading."""
    heading = math.radians(degrees)
    return np.array([math.sin(heading), HEIGHT, math.cos(heading)])


def sweep(
    solver: poise.Erik | poise.Expressive, posture: str, headings: NDArray[np.float64]
) -> tuple[list[poise.Posture], float]:
    """The postures of a sweep, each from the one before, and their mean shape error."""
    postures: list[poise.Posture] = []
    shapes = []
    for heading in headings:
        target = poise.facing(direction(heading))
        result = solver.solve(posture, target, previous=postures[-1] if postures else None)
        assert not solver.figure.violations(result.posture)
        postures.append(result.posture)
        shapes.append(result.shape_error)
    return postures, float(np.mean(shapes))


def faced(lamp: poise.Figure, posture: poise.Posture, heading: float) -> float:
    """Angle between the tip and its target direction [rad]."""
    wanted = direction(heading) / np.linalg.norm(direction(heading))
    return math.acos(min(1.0, float(lamp.pose_of("tip", posture).matrix[:, 1] @ wanted)))


def picture(lamp: poise.Figure, posture: poise.Posture, held: str, heading: float, size: int) -> Picture:
    """The lamp, its wanted posture drawn faintly, and its line of sight."""
    tip = lamp.pose_of("tip", posture).position
    scene = poise.Scene(lamp, [LookAt("eyes", at=tip + SIGHT * direction(heading))], start=held)
    return draw_scene(scene, posture, size=(size, size), within=STAGE)


def main(folder: Path) -> None:
    """Sweep both postures, count jumps, and draw eight headings of each."""
    lamp = poise.load("adelino")
    headings = np.arange(-180.0, 180.5, 1.0)
    sheet = []
    for held in POSTURES:
        swept = {name: sweep(make(lamp), held, headings) for name, make in SOLVERS.items()}
        for name, (postures, shape) in swept.items():
            steps = np.abs(np.diff([posture.q for posture in postures], axis=0)).max(axis=1)
            errors = np.degrees([faced(lamp, posture, h) for posture, h in zip(postures, headings, strict=True)])
            print(
                f"{held}, {name}: {errors.mean():.2f}° from the target on average, {errors.max():.1f}° at worst; "
                f"{(steps > JUMP).sum()} of {len(steps)} steps over 10°, the largest {math.degrees(steps.max()):.1f}°; "
                f"mean shape error {shape:.3f}."
            )
            assert errors.mean() < 3.0, "the gaze is kept"
            if name == "expressive":
                assert (errors < 1.0).mean() > 0.95, "nearly all the way around"
                assert math.degrees(steps.max()) < 5.01, "no joint jumps"
                assert shape < 0.05, "and the posture can be seen all the way round"
        ours, _ = swept["expressive"]
        for k in range(0, 360, 45):
            sheet.append((f"{held}, {headings[k]:.0f}°", picture(lamp, ours[k], held, headings[k], 200)))
        frames = (picture(lamp, ours[k], held, headings[k], 240) for k in range(0, 360, 10))
        folder.mkdir(parents=True, exist_ok=True)
        save_gif(frames, folder / f"adelino_sweeps_{held}.gif", rate=10.0)
    contact_sheet(sheet, columns=8).save(folder / "adelino_sweeps.png")
    print(f"See {folder / 'adelino_sweeps.png'} and the GIFs beside it.")


SOLVERS = {"erik": poise.Erik, "expressive": poise.Expressive}

if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
