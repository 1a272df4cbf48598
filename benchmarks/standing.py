"""Humanoids on both feet while a hand reaches: how many of 100 targets `solve` meets, with and without restarts.

H1, OP3 and T1 are read as MJCF from the folder MENAGERIE_ROOT, or beside the repository; G1 and Talos come with
example-robot-data. SLSQP has the same start as poise: if it ends no nearer, a better posture is in another local
minimum, which no descent from that start finds.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import numpy as np
from machine import describe
from results import Table
from scipy.optimize import minimize

import poise
from poise.tasks.task import Task

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests import real_data, standing
from tests.standing import Humanoid

TARGETS, RESTARTS = 100, 10
NEARER = 1e-4
"""How much nearer counts as a better answer [m]."""


def main() -> None:
    print(describe("numba", "numpy", "scipy"))
    folder = Path(os.environ.get("MENAGERIE_ROOT", real_data.MENAGERIE))
    found = [
        standing.h1(folder),
        standing.op3(folder),
        standing.t1(folder),
        standing.g1(),
        standing.talos(),
        standing.human(),
        standing.five_joint_legs(),
    ]
    heads = (f"solved, of {TARGETS}", "with restarts", "nearer with restarts", "of these nearer by SLSQP", "ms a solve")
    table = Table("", "robot", *heads)
    for humanoid in found:
        if humanoid is not None:
            table.row(*row(humanoid))


def row(humanoid: Humanoid) -> tuple[object, ...]:
    """One row of the table."""
    solved = again = nearer = local = 0
    spent = 0.0
    for start, tasks in humanoid.questions(TARGETS, seed=5):
        begin = time.perf_counter()
        found = poise.solve(humanoid.figure, tasks, start=start)
        spent += time.perf_counter() - begin
        if found.status == "solved":
            solved, again = solved + 1, again + 1
            continue
        other = poise.solve(humanoid.figure, tasks, start=start, restarts=RESTARTS)
        again += other.status == "solved"
        if other.errors[tasks[-1]] < found.errors[tasks[-1]] - NEARER:
            nearer += 1
            local += by_slsqp(humanoid, start, tasks) < found.errors[tasks[-1]] - NEARER
    return humanoid.name, solved, again, nearer, local, 1e3 * spent / TARGETS


def by_slsqp(humanoid: Humanoid, start: poise.Posture, tasks: list[Task]) -> float:
    """Distance of the hand from its target after SLSQP with both feet held, from the same start [m]."""
    figure, feet, hand = humanoid.figure, tasks[:-1], tasks[-1]

    def errors(change: np.ndarray) -> np.ndarray:
        posture = figure.integrate(start, change)
        gaps = []
        for foot in feet:
            here, there = figure.pose_of(foot.site, posture), foot.pose
            turn = (there.inverse() @ here).rotation
            gaps += [*(here.position - there.position), *(2.0 * np.sign(turn[0]) * turn[1:])]
        return np.array(gaps)

    def distance(change: np.ndarray) -> float:
        gap = figure.pose_of(hand.site, figure.integrate(start, change)).position - hand.at
        return 100.0 * float(gap @ gap)

    rng, best = np.random.default_rng(0), np.inf
    for size in (0.0, 0.01, 0.03):
        first = size * rng.normal(size=figure.nv)
        answer = minimize(distance, first, method="SLSQP", constraints=[{"type": "eq", "fun": errors}])
        if np.abs(errors(answer.x)).max() < 1e-4:
            best = min(best, float(np.sqrt(answer.fun / 100.0)))
    return best


if __name__ == "__main__":
    main()
