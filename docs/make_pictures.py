"""Draw the pictures of the documentation again, into docs/pictures: `make docs`."""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from poise.engine.problem import StepSize
from poise.engine.solver import Solver, solve
from poise.figure.model.figure import Figure
from poise.figure.model.posture import Posture
from poise.figures import BUILT_IN, built_in, hand, hand_posture
from poise.pictures import Picture, contact_sheet, draw, strip
from poise.tasks.look_at import LookAt
from poise.tasks.mass import CenterOfMass
from poise.tasks.place import Frame, Position
from poise.tasks.task import Task

FOLDER = Path(__file__).parent / "pictures"
EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))[4:]
"""Those that draw the thesis' figures; the first four draw nothing the pages show."""
HUMAN = ["standing", "t_pose", "reaching", "waving", "walking", "crouching", "sitting", "thinking"]
ADELINO = ["neutral", "happy", "sad", "curious", "proud", "shy", "angry", "sleepy", "surprised", "confused"]
HAND = ["open", "relaxed", "point", "pinch", "fist"]
GAZES = [(10, 0), (30, 0), (60, 0), (90, 0), (120, 0), (150, 0), (0, -40), (0, 40)]
"""Azimuths and elevations [degrees]."""


def all_figures() -> Picture:
    """Every built-in figure."""
    pictures = [(name, draw(built_in(name), size=(260, 260))) for name in BUILT_IN]
    return contact_sheet(pictures, columns=6)


def views() -> Picture:
    """The ways `poise show` can look at a figure."""
    walker = built_in("walker")
    shown = [(view, draw(walker, size=(260, 300), view=view)) for view in ("three-quarter", "front", "side", "top")]
    shown.append(("--skeleton", draw(walker, size=(260, 300), skeleton=True)))
    shown.append(("--dark", draw(walker, size=(260, 300), theme="dark")))
    return contact_sheet(shown, columns=6)


PULLS: dict[str, tuple[str, tuple[float, float, float]]] = {
    "hand up": ("right_hand", (0.0, 0.2, 0.0)),
    "hand out": ("right_hand", (-0.5, 0.5, 0.05)),
    "hand across": ("right_hand", (0.5, 0.35, 0.25)),
    "hand behind": ("right_hand", (0.15, 0.25, -0.25)),
    "hand to the floor": ("right_hand", (-0.05, -0.75, 0.3)),
    "hand to a shelf": ("right_hand", (-0.05, 1.3, 0.3)),
    "hand far ahead": ("right_hand", (-0.05, 0.55, 0.9)),
    "head aside": ("head", (0.15, -0.05, 0.1)),
    "pelvis down": ("pelvis", (0.0, -0.45, 0.0)),
    "pelvis forward": ("pelvis", (0.0, 0.0, 0.1)),
    "foot up": ("right_foot", (0.0, 0.35, 0.15)),
    "foot out": ("right_foot", (-0.35, 0.1, 0.0)),
}
"""Twelve pulls on the standing human: the site, and by how much [m]."""


def natural_pulls() -> Picture:
    """Twelve pulls on the standing human, live, without natural motion above and with it below."""
    human = built_in("human")
    pictures = [
        (name, draw(human, _pulled(human, *pull, natural), size=(300, 380), joints=False))
        for half in (0, 6)
        for natural in (False, True)
        for name, pull in list(PULLS.items())[half : half + 6]
    ]
    return contact_sheet(pictures, columns=6)


def _pulled(human: Figure, site: str, by: tuple[float, float, float], natural: bool) -> Posture:
    """The posture after a pull of a second."""
    posture, feet = human.posture("standing"), [foot for foot in ("left_foot", "right_foot") if foot != site]
    at = human.pose_of(site, posture).position
    tasks: list[Task] = [Frame(foot, human.pose_of(foot, posture)) for foot in feet]
    pull = Position(site, at, priority=3, soft=natural)
    tasks += [CenterOfMass(over=feet, priority=2), pull]
    solver = Solver(human, tasks, criteria=None if natural else (), step=StepSize(turn=0.1))
    for frame in range(120):
        solver.target(pull, at + min(1.0, frame / 60) * np.array(by))
        posture = solver.step(posture)
    return posture


def gaze() -> Picture:
    """The standing human looks in eight directions, seen from the front and from above."""
    human = built_in("human")
    postures = [(f"{azimuth}°, {elevation}°", _looking(human, azimuth, elevation)) for azimuth, elevation in GAZES]
    front = [(name, draw(human, posture, size=(190, 240), view="front", joints=False)) for name, posture in postures]
    above = [(name, draw(human, posture, size=(190, 240), view="top", joints=False)) for name, posture in postures]
    return contact_sheet([*front, *above], columns=len(GAZES))


def _looking(human: Figure, azimuth: float, elevation: float) -> Posture:
    """The standing human when it looks aside and up [degrees]."""
    start = human.posture("standing")
    a, e = np.radians([azimuth, elevation])
    ahead = np.array([np.sin(a) * np.cos(e), np.sin(e), np.cos(a) * np.cos(e)])
    feet = [Frame(site, human.pose_of(site, start)) for site in ("left_foot", "right_foot")]
    return solve(human, [*feet, LookAt("eyes", direction=ahead, priority=2)], start=start).posture


def hand_postures() -> Picture:
    """The postures of a right hand, and below of a left one, half-way from the relaxed hand."""
    names = [*HAND, "hold"]
    right = [(name, draw(hand(), hand_posture(name), size=(210, 240), joints=False)) for name in names]
    halves = [
        (f"{name}, half", draw(hand("left"), hand_posture(name, 0.5), size=(210, 240), joints=False)) for name in names
    ]
    return contact_sheet([*right, *halves], columns=len(names))


PICTURES: dict[str, Callable[[], Picture]] = {
    "figures": all_figures,
    "views": views,
    "human": lambda: strip(built_in("human"), HUMAN, size=(200, 300), joints=False),
    "adelino": lambda: strip(built_in("adelino"), ADELINO, size=(160, 220), joints=False),
    "hand": lambda: strip(built_in("hand"), HAND, size=(240, 280), view="front"),
    "natural_pulls": natural_pulls,
    "gaze": gaze,
    "hand_postures": hand_postures,
}


def main() -> None:
    """Draw all pictures."""
    FOLDER.mkdir(exist_ok=True)
    for name, make in PICTURES.items():
        path = make().save(FOLDER / f"{name}.png")
        print(os.path.relpath(path))
    for example in EXAMPLES:
        sys.argv = [str(example), str(FOLDER)]
        runpy.run_path(str(example), run_name="__main__")


if __name__ == "__main__":
    main()
