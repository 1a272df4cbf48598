"""Draw the pictures of the documentation again, into docs/pictures: `make docs`."""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from poise.engine.elastic_solver import ElasticSolver
from poise.engine.problem import StepSize
from poise.engine.solver import Solver, solve
from poise.figure.model.figure import Figure
from poise.figure.model.pose import Pose
from poise.figure.model.posture import Posture
from poise.figure.model.shapes import Box
from poise.figures import BUILT_IN, built_in, hand, hand_posture
from poise.formats import load
from poise.pictures import Picture, contact_sheet, draw, strip
from poise.tasks.criteria import Natural
from poise.tasks.look_at import LookAt
from poise.tasks.mass import CenterOfMass
from poise.tasks.obstacles import Obstacle
from poise.tasks.place import Frame, Orientation, Position
from poise.tasks.task import Task
from poise.tasks.touch import Touch

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


ROBOTS = ("g1", "talos")
"""Humanoids of the package example-robot-data."""


def natural_robots() -> Picture:
    """Five tasks for humanoids, without natural motion above and with it below."""
    pictures = []
    for name in ROBOTS:
        robot = load(name).with_floating_base()
        start, roles = robot.neutral(), robot.roles
        feet = [roles["left_ankle"].part, roles["right_ankle"].part]
        pelvis, hand = roles["pelvis"].part, roles["right_wrist"].part
        hips, at = (robot.pose_of(part, start).position for part in (pelvis, hand))
        leg = float(hips[2] - robot.pose_of(feet[0], start).position[2])
        asked = {
            "a hand 10 cm up": Position(hand, at + np.array([0.0, 0.0, 0.1]), priority=3),
            "a hand far ahead": Position(hand, at + leg * np.array([0.55, 0.0, 0.35]), priority=3),
            "a hand to the floor": Position(hand, (hips[0] + 0.4 * leg, at[1], hips[2] - 0.9 * leg), priority=3),
            "the pelvis down": Position(pelvis, hips - np.array([0.0, 0.0, 0.4 * leg]), axes="z", priority=3),
            "a hand up high": Position(hand, (hips[0] + 0.1, at[1], hips[2] + 1.05 * leg), priority=3),
        }
        stance: list[Task] = [Frame(foot, robot.pose_of(foot, start)) for foot in feet]
        stance.append(CenterOfMass(over=feet, priority=2))
        for criteria in ([], [Natural()]):
            for title, task in asked.items():
                posture = solve(robot, [*stance, task], start=start, criteria=criteria).posture
                pictures.append((title, draw(robot, posture, size=(240, 260), joints=False)))
    return contact_sheet(pictures, columns=5)


INTO_SOLIDS: dict[str, tuple[str, tuple[float, float, float]]] = {
    "hand to the other hip": ("right_hand", (0.25, -0.1, 0.0)),
    "hand under the floor": ("right_hand", (0.0, -1.0, 0.1)),
    "hand to the chest": ("left_hand", (-0.25, 0.45, 0.1)),
    "hand behind": ("right_hand", (0.3, 0.35, -0.3)),
    "head to the knees": ("head", (0.0, -0.9, 0.4)),
    "elbow across": ("left_ulna", (-0.4, 0.0, 0.0)),
}
"""Six pulls on the standing human that lead into the floor or the body: the part, and by how much [m]."""


def solid_pulls() -> Picture:
    """Pulls that lead into the floor or the body, live, of a hollow human above and of a solid one below."""
    human = built_in("human")
    pictures = [
        (name, draw(human, _pulled(human, *pull, True, solid=solid), size=(300, 380), joints=False))
        for solid in (False, True)
        for name, pull in INTO_SOLIDS.items()
    ]
    return contact_sheet(pictures, columns=6)


def contacts() -> Picture:
    """The human kneels, sits on a box, and touches its hip, its head and the floor."""
    human = built_in("human")
    stance: list[Task] = [Frame(foot, human.pose_of(foot, "standing")) for foot in ("left_foot", "right_foot")]
    stance.append(CenterOfMass(over=["left_foot", "right_foot"], margin=0.02, priority=2))
    knees: list[Task] = [Touch(f"{s}_thigh", "floor", offset=(0, -0.43, 0.03)) for s in ("left", "right")]
    knees += [Touch(f"{s}_toes", "floor", priority=2) for s in ("left", "right")]
    knees.append(CenterOfMass(over=["left_thigh", "right_thigh", "left_toes", "right_toes"], margin=0.02, priority=3))
    upright = Orientation("chest", rotation=human.pose_of("chest", "standing").rotation, priority=4)
    chair = Obstacle(Box((0.5, 0.45, 0.45)), Pose((0.0, 0.225, -0.15)), name="chair")
    seat: list[Task] = [Frame(f"{s}_foot", Pose((x, 0, 0.35))) for s, x in (("left", 0.1), ("right", -0.1))]
    seat += [Touch("pelvis", "chair", priority=2), CenterOfMass(over=["left_foot", "right_foot", "pelvis"], priority=3)]
    asked: dict[str, tuple[list[Task], str, list[Obstacle]]] = {
        "kneels": ([*knees, upright], "standing", []),
        "sits": ([*seat, upright], "sitting", [chair]),
        "touches its hip": ([*stance, Touch("right_hand", "pelvis", priority=3)], "standing", []),
        "touches its head": ([*stance, Touch("left_hand", "head", priority=3)], "standing", []),
        "touches the floor": ([*stance, Touch("right_hand", "floor", priority=3)], "standing", []),
    }
    pictures = []
    for name, (tasks, start, obstacles) in asked.items():
        posture = solve(human, tasks, start=start, obstacles=obstacles, solid=True, max_steps=400).posture
        pictures.append((name, draw(human, posture, size=(300, 380), joints=False)))
    return contact_sheet(pictures, columns=len(pictures))


def _pulled(human: Figure, site: str, by: tuple[float, float, float], natural: bool, *, solid: bool = False) -> Posture:
    """The posture after a pull of a second."""
    posture, feet = human.posture("standing"), [foot for foot in ("left_foot", "right_foot") if foot != site]
    at = human.pose_of(site, posture).position
    tasks: list[Task] = [Frame(foot, human.pose_of(foot, posture)) for foot in feet]
    pull = Position(site, at, priority=3, soft=natural)
    tasks += [CenterOfMass(over=feet, priority=2), pull]
    kind = ElasticSolver if natural else Solver
    solver = kind(human, tasks, criteria=None if natural else (), step=StepSize(turn=0.1), solid=solid)
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


def thumbnail(name: str, posture: str | dict[str, float] | None = None, *, joints: bool = False) -> Picture:
    """A figure in the shape of the pictures that lead to the tutorials."""
    return draw(built_in(name), posture, size=(400, 280), joints=joints)


PICTURES: dict[str, Callable[[], Picture]] = {
    "figures": all_figures,
    "views": views,
    "human": lambda: strip(built_in("human"), HUMAN, size=(200, 300), joints=False),
    "adelino": lambda: strip(built_in("adelino"), ADELINO, size=(160, 220), joints=False),
    "hand": lambda: strip(built_in("hand"), HAND, size=(240, 280), view="front"),
    "natural_pulls": natural_pulls,
    "natural_robots": natural_robots,
    "solid_pulls": solid_pulls,
    "contacts": contacts,
    "gaze": gaze,
    "hand_postures": hand_postures,
    "tutorial_human": lambda: thumbnail("human", "reaching"),
    "tutorial_robot": lambda: thumbnail("arm", {"shoulder": 0.4, "elbow": 0.9, "wrist": 0.6}),
    "tutorial_lamp": lambda: thumbnail("adelino", "curious"),
    "tutorial_walk": lambda: thumbnail("human", "walking"),
    "tutorial_loops": lambda: thumbnail("four_bar"),
    "tutorial_servos": lambda: thumbnail("adelino", "proud", joints=True),
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
