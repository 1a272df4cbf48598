"""Five levels of tasks, and which of them gives way: first the hand, then the gaze and balance, and the feet never.

A ball moves away from a standing figure, then a bar is pushed into its waist. Avoiding the bar comes first,
then the feet, balance, gaze and reach. After [Baerlocher 2001, table 7.1 and fig. 7.13].
Run: python examples/23_five_levels.py [folder for the pictures]
"""

from __future__ import annotations

import sys
from pathlib import Path

import poise
from poise import CenterOfMass, Frame, LookAt, Obstacle, Pose, Position, Posture, Result
from poise.figure import Cylinder, Sphere, turn
from poise.figure.collision.collisions import Collisions
from poise.pictures import contact_sheet, draw_scene

FEET = ("left_foot", "right_foot")
NEAR, FAR = (-0.35, 1.35, 0.5), (-0.5, 1.2, 1.3)
STAGES = {
    "all tasks met": (NEAR, 0.5),
    "the ball too far": (FAR, 0.5),
    "the bar closer": (FAR, 0.0),
    "the bar pushed in": (FAR, -0.25),
}
"""Where the ball is, and how far in front of the ankles the near side of the bar [m]."""
BAR, HEIGHT = Cylinder(0.05, 1.2), 0.95
PACE = 0.005
"""How far the bar goes while the figure takes a step [m]."""
RED, RADIUS = (0.8, 0.25, 0.2), 0.06
"""Colour and radius of the ball, which is drawn but not avoided [m]."""
SEEN = [(x, y, z) for x in (-0.5, 0.4) for y in (0.1, 1.6) for z in (-0.3, 1.3)]


def main(folder: Path) -> None:
    """Move the ball away, then push the bar in, and check which tasks give way."""
    human = poise.load("human")
    posture, front, sheet = human.posture("standing"), 0.5, []
    errors, gaps = {}, {}
    for title, (ball, goal) in STAGES.items():
        scene = scene_with(human, posture, ball, bar_at(goal))
        result = push_in(scene, posture, front, goal)
        posture, front, errors[title] = result.posture, goal, result.errors
        gaps[title] = gap_to(human, bar_at(goal), posture)
        print(f"{title}:\n{result.report()}\n")
        assert human.violations(posture) == []
        drawn = poise.Scene(
            human, scene.tasks, obstacles=[*scene.obstacles, Obstacle(Sphere(RADIUS, color=RED), Pose(ball))]
        )
        sheet.append((title, draw_scene(drawn, posture, size=(380, 400), start=False, within=SEEN)))

    met, far, close, pushed = errors.values()
    assert min(gaps.values()) > 0.0, "1: nothing enters the bar"
    assert max(found[foot] for found in errors.values() for foot in FEET) < 1e-6, "2: the feet stay"
    assert max(found["balance"] for found in (met, far, close)) < 1e-6, "3: then balance"
    assert pushed["balance"] > 0.02, "3: which gives way to the bar"
    assert max(found["gaze"] for found in (met, far, close)) < 1e-6, "4: the gaze is kept as long"
    assert met["hand"] < 1e-6, "5: the hand reaches"
    assert 0.1 < far["hand"] < close["hand"] < pushed["hand"], "5: and gives way first"

    folder.mkdir(parents=True, exist_ok=True)
    contact_sheet(sheet, columns=4).save(folder / "five_levels.png")
    print(f"See {folder / 'five_levels.png'}")


def bar_at(front: float) -> Obstacle:
    """A bar in front of the figure, its near side `front` metres in front of the ankles."""
    return Obstacle(BAR, Pose((0.0, HEIGHT, front + BAR.radius), turn("y", 90.0)), name="bar")


def scene_with(human: poise.Figure, posture: Posture, ball: tuple[float, float, float], bar: Obstacle) -> poise.Scene:
    """The tasks of table 7.1; avoiding the bar comes before them all."""
    tasks = [
        *(Frame(foot, human.pose_of(foot, "standing"), priority=2, name=foot) for foot in FEET),
        CenterOfMass(over=FEET, margin=0.02, priority=3, name="balance"),
        LookAt("eyes", at=ball, priority=4, name="gaze"),
        Position("right_hand", at=ball, priority=5, name="hand"),
    ]
    return poise.Scene(human, tasks, start=posture, obstacles=[bar])


def push_in(scene: poise.Scene, posture: Posture, front: float, goal: float) -> Result:
    """Push the bar from `front` to `goal` while the figure follows step by step, and let the figure come to rest."""
    bar = bar_at(front)
    solver = poise.Solver(scene.figure, scene.tasks, obstacles=[bar])
    while front > goal:
        front = max(goal, front - PACE)
        solver.move(bar, bar_at(front).pose)
        posture = solver.step(posture)
    return solver.settle(posture, max_steps=400)


def gap_to(human: poise.Figure, bar: Obstacle, posture: Posture) -> float:
    """Distance from the nearest body to the bar, at most the reach of the avoidance [m]."""
    return min((near.distance for near in Collisions(human, [bar], itself=False).at(posture)), default=0.1)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
