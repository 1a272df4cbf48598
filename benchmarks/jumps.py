"""Targets that jump at random, far and often: whether limits hold, loops stay closed, and the figure comes to rest.

    python benchmarks/jumps.py [RUNS] [--cores N] [--first SEED]

The hands, the feet and the centre of mass of the human, and the feet of the walker, whose legs are loops, have targets
that jump anywhere around the figure, each time before one to four live steps. After 34 jumps the targets stay, and the
figure should come to rest: that is one run. Prints the largest violation of a limit, the largest gap of a loop, and
after how many steps figures rest.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
from cores import answers, parser_of
from machine import describe

import poise
from poise import CenterOfMass, LookAt, Position, Solver
from poise.tasks.task import Task

DT = 1.0 / 60.0
JUMPS = 34
"""Jumps of a run, so that 300 runs have more than 10,000."""
REST, STILL = 1e-4, 30
"""Largest step of a joint that counts as rest [rad or m], and the number of such steps that are enough."""
SOON, MOST_STEPS = 500, 2000
"""Number of steps in which a figure should come to rest, and in which it is given up."""


class Run(NamedTuple):
    """What happened in a run."""

    violated: int
    """Number of postures outside the limits."""
    gap: float
    """Largest gap of a loop [m]."""
    fastest: float
    """Largest speed of a joint, as a share of its limit."""
    steps: int
    """Steps to rest when the targets stay; MOST_STEPS if it did not come."""


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("runs", type=int, nargs="?", default=300)
    options = parser.parse_args()
    print(describe("numba", "numpy"))
    seeds = range(options.first, options.first + options.runs)
    for name in ("human", "walker"):
        begin = time.perf_counter()
        questions = [(name, seed) for seed in seeds]
        report(name, dict(zip(seeds, answers(run, questions, options.cores), strict=True)))
        print(f"  {time.perf_counter() - begin:.0f} s", flush=True)


def report(name: str, runs: dict[int, Run]) -> None:
    """Print what happened to a figure."""
    steps = np.array([run.steps for run in runs.values()])
    print(
        f"{name}: {len(runs) * JUMPS} jumps, limits violated in {sum(run.violated for run in runs.values())} postures, "
        f"loops open by at most {max(run.gap for run in runs.values()):.1g} m, "
        f"at most {max(run.fastest for run in runs.values()):.6g} of the speed limit; "
        f"at rest after {np.median(steps):.0f} steps (median), {steps.max()} at most, "
        f"{(steps > SOON).sum()} of {len(steps)} after more than {SOON}"
    )
    for seed, found in runs.items():
        if found.violated or found.steps > SOON:
            print(f"  seed {seed}: {found}")


def scene(name: str) -> tuple[poise.Figure, list[Task]]:
    """A figure, and the tasks whose targets jump."""
    if name == "human":
        human = poise.load("human").with_floating_base()
        hands: list[Task] = [
            Position("right_hand", at=(0, 1, 0), priority=3),
            Position("left_hand", at=(0, 1, 0), priority=4),
        ]
        feet: list[Task] = [Position(foot, at=(0, 0, 0), priority=1) for foot in ("left_foot", "right_foot")]
        gaze = LookAt("head", at=(0, 1.5, 2), priority=5)
        return human, [*feet, CenterOfMass(at=(0, 1, 0), priority=2), *hands, gaze]
    walker = poise.load("walker")
    ends = [body for body in walker.bodies.names if "foot" in body][:4] or list(walker.bodies.names)[-4:]
    return walker, [Position(end, at=(0, 0, 0), priority=1 + k) for k, end in enumerate(ends)]


def run(question: tuple[str, int]) -> Run:
    """Let the targets of a figure jump, then rest."""
    name, seed = question
    figure, tasks = scene(name)
    rng = np.random.default_rng(seed)
    solver = Solver(figure, tasks, dt=DT, criteria=())
    posture = figure.neutral()
    centre = figure.center_of_mass(posture)
    violated, gap, fastest = 0, 0.0, 0.0
    speeds = np.array([joint.speed for joint in figure.joints for _ in range(joint.nv)])
    for _ in range(JUMPS):
        solver.target(tasks[rng.integers(len(tasks))], centre + rng.normal(size=3))
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
    return Run(violated, gap, fastest, steps - still if still == STILL else MOST_STEPS)


if __name__ == "__main__":
    main()
