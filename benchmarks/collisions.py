"""Time of collision avoidance: one step of the human with and without it.

The human stands on both feet and reaches across its body. Steps are timed at rest, with its arm against its
chest, and on the way there; both with the same tasks, alternately, as the best of several rounds. Then both hands are
pulled softly along curves that cross, one step per frame, as in the studio: the processor time of a step.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from machine import describe, microseconds
from results import Table

import poise
from poise import Avoid, CenterOfMass, Frame, Obstacle, Plane, Pose, Position
from poise.engine.avoidance import Avoidance
from poise.engine.problem import StepSize
from poise.figure.collision.collisions import node_frames
from poise.figure.model.shapes import Box, Capsule, Sphere
from poise.tasks.task import Task

ACROSS = (0.25, 1.2, 0.0)
"""Behind the chest, as the right hand sees it [m]."""
REPEATS = 200
SIDES = ("left", "right")


def main() -> None:
    human = poise.load("human")
    tasks: list[Task] = [
        *(Frame(foot, human.pose_of(foot, "standing"), priority=1) for foot in ("left_foot", "right_foot")),
        CenterOfMass(over=["left_foot", "right_foot"], priority=2),
        Position("right_hand", at=ACROSS, priority=3),
    ]
    furniture = [
        Plane("y"),
        Obstacle(Box((0.8, 0.05, 0.5)), Pose((0.0, 0.7, 0.5))),
        Obstacle(Sphere(0.1), Pose((0.4, 1.3, 0.3))),
        Obstacle(Capsule(0.05, 1.0), Pose((-0.5, 1.0, 0.3))),
    ]
    print(describe("numba", "numpy", "coal"))
    table = Table("", "avoiding", "pairs", "look [µs]", "step at rest [µs]", "step under way [µs]", "steps")
    for name, extra in (
        ("nothing", []),
        ("itself", [Avoid("self")]),
        ("furniture", [Avoid(furniture)]),
        ("itself and furniture", [Avoid(["self", *furniture])]),
    ):
        table.row(name, *measure(human, tasks, extra))
    table = Table("Two hands pulled live, processor time of a step [µs]", "", "median", "90 %")
    live(table, human, "on its feet, in balance", criteria=())
    live(table, human, "and natural")
    live(table, human, "and solid: itself and the floor", solid=True)


def live(table: Table, human: poise.Figure, name: str, **options: Any) -> None:
    """Print the processor time of the steps of a human whose hands are pulled for five seconds."""
    start, feet = human.posture("standing"), ("left_foot", "right_foot")
    pulls = [Position(f"{side}_hand", human.pose_of(f"{side}_hand", start).position, soft=True) for side in SIDES]
    held = [Frame(foot, human.pose_of(foot, start), priority=1) for foot in feet]
    tasks = [*held, CenterOfMass(over=feet, margin=0.02, priority=2), *pulls]
    solver = poise.Solver(human, tasks, step=StepSize(turn=0.1), **options)
    posture, spent = start, []
    for frame in range(300):
        t = frame / 60.0
        way = np.array([0.25 * np.sin(2.0 * t), 0.25 * np.sin(3.0 * t), 0.2 + 0.2 * np.sin(1.7 * t)])
        for pull, side in zip(pulls, (-1.0, 1.0), strict=True):
            solver.target(pull, pull.at + way * np.array([side, 1.0, 1.0]))
        begin = time.thread_time()
        posture = solver.step(posture)
        spent.append(1e6 * (time.thread_time() - begin))
    median, most = np.percentile(spent[20:], [50, 90])
    table.row(name, median, most)


def measure(human: poise.Figure, tasks: list[Task], extra: list[Avoid]) -> tuple[int, float, float, float, int]:
    """Pairs of parts, times of a look and of steps at rest and under way [µs], and the number of steps."""
    start = human.posture("standing")
    solver = poise.Solver(human, [*tasks, *extra])
    result = solver.settle(start)
    resting = microseconds(lambda: solver.step(result.posture), REPEATS)

    def walk() -> None:
        posture = start
        for _ in range(10):
            posture = solver.step(posture)

    walking = microseconds(walk, max(1, REPEATS // 10)) / 10.0
    pairs, looking = 0, 0.0
    if extra:
        avoidance, frames = Avoidance(human, extra), node_frames(human, result.posture)
        pairs = avoidance.pair_count
        looking = microseconds(lambda: avoidance.measure(*frames), REPEATS)
    return pairs, looking, resting, walking, result.steps


if __name__ == "__main__":
    main()
