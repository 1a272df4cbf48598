"""Targets that jump at random, far and often: whether limits hold, loops stay closed, and the figure comes to rest.

python benchmarks/jumps.py [JUMPS]

The hands, the feet and the centre of mass of the human, and the feet of the walker, whose legs are loops, have targets
that jump anywhere around the figure, each time before one to four live steps. Prints the largest violation of a limit,
the largest gap of a loop, and after how many steps the figure rests when the targets stay.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from machine import describe

import poise
from poise import CenterOfMass, LookAt, Position, Solver
from poise.tasks.task import Task

DT = 1.0 / 60.0
REST, STILL = 1e-4, 30
"""Largest step of a joint that counts as rest [rad or m], and the number of such steps that are enough."""
MOST_STEPS = 2000
"""Largest number of steps in which a figure may come to rest."""


def main(jumps: str = "10000") -> None:
    print(describe("numba", "numpy"))
    human = poise.load("human").with_floating_base()
    hands: list[Task] = [
        Position("right_hand", at=(0, 1, 0), priority=3),
        Position("left_hand", at=(0, 1, 0), priority=4),
    ]
    feet: list[Task] = [Position(foot, at=(0, 0, 0), priority=1) for foot in ("left_foot", "right_foot")]
    gaze = LookAt("head", at=(0, 1.5, 2), priority=5)
    leap("human", human, [*feet, CenterOfMass(at=(0, 1, 0), priority=2), *hands, gaze], int(jumps))
    walker = poise.load("walker")
    ends = [name for name in walker.bodies.names if "foot" in name][:4] or list(walker.bodies.names)[-4:]
    leap("walker", walker, [Position(name, at=(0, 0, 0), priority=1 + k) for k, name in enumerate(ends)], int(jumps))


def leap(name: str, figure: poise.Figure, tasks: list[Task], jumps: int) -> None:
    """Let the targets of tasks jump, and print one line."""
    rng, begin = np.random.default_rng(0), time.perf_counter()
    solver = Solver(figure, tasks, dt=DT, criteria=())
    posture = figure.neutral()
    centre, size = figure.center_of_mass(posture), 1.0
    violated, gap, fastest = 0, 0.0, 0.0
    speeds = np.array([joint.speed for joint in figure.joints for _ in range(joint.nv)])
    for _ in range(jumps):
        solver.target(tasks[rng.integers(len(tasks))], centre + size * rng.normal(size=3))
        for _ in range(rng.integers(1, 5)):
            after = solver.step(posture)
            assert np.isfinite(after.q).all()
            fastest = max(fastest, float(np.max(np.abs(figure.difference(posture, after)) / (speeds * DT))))
            posture = after
            violated += bool(figure.violations(posture))
            gap = max(gap, figure.closure_error(posture))
    steps, still = 0, 0
    while still < STILL and steps < MOST_STEPS:
        after = solver.step(posture)
        still = still + 1 if np.abs(figure.difference(posture, after)).max() <= REST else 0
        posture, steps = after, steps + 1
    rest = f"at rest after {steps - still} steps" if still == STILL else f"not at rest after {steps} steps"
    print(
        f"{name}: {jumps} jumps, limits violated in {violated} postures, loops open by at most {gap:.1g} m, "
        f"at most {fastest:.6g} of the speed limit; {rest}; {time.perf_counter() - begin:.0f} s",
        flush=True,
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
