"""Time of collision avoidance: one step of the human with and without it.

The human stands on both feet and reaches across its body. Steps are timed at rest, with its arm against its
chest, and on the way there; both with the same tasks, alternately, as the best of several rounds.
"""

from __future__ import annotations

import numpy as np
from machine import describe, microseconds

import poise
from poise import Avoid, CenterOfMass, Frame, Obstacle, Plane, Pose, Position
from poise.engine.avoidance import Avoidance
from poise.figure.model.shapes import Box, Capsule, Sphere
from poise.tasks.task import Task

ACROSS = (0.25, 1.2, 0.0)
"""Behind the chest, as the right hand sees it [m]."""
REPEATS = 200


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
    print(
        f"{'avoiding':<22}{'pairs':>7}{'look [µs]':>12}{'step at rest [µs]':>19}{'step under way [µs]':>21}{'steps':>7}"
    )
    for name, extra in (
        ("nothing", []),
        ("itself", [Avoid("self")]),
        ("furniture", [Avoid(furniture)]),
        ("itself and furniture", [Avoid(["self", *furniture])]),
    ):
        measure(human, name, tasks, extra)


def measure(human: poise.Figure, name: str, tasks: list[Task], extra: list[Avoid]) -> None:
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
        avoidance, q = Avoidance(human, extra), np.array(result.posture.q)
        pairs = avoidance.pair_count
        looking = microseconds(lambda: avoidance.measure(q), REPEATS)
    print(f"{name:<22}{pairs:>7}{looking:>12.0f}{resting:>19.0f}{walking:>21.0f}{result.steps:>7}")


if __name__ == "__main__":
    main()
