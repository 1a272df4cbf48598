"""Targets at rest: `poise.Expressive` from random starts, with random postures, to random directions.

Every line gives the number of problems; how many directions a single solve faces; how many of those are not faced after
180 frames, three seconds at 60 per second; how many chains still move then; the frame in which the last one arrives;
the largest joint step; and by how much the shape error exceeds that of the single solve, mean and largest.

python benchmarks/expressive_rest.py --figures adelino,erik_c --count 20000 --hold balanced
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
from multiprocessing.pool import Pool

import numpy as np
from machine import describe
from results import Table

import poise
from poise.expressive.expressive import Hold
from poise.expressive.tracker import TrackedResult

FRAMES = 180
FACED = 1e-6
"""Orientation error below which a direction is faced."""
MOVING = math.radians(0.001)
"""Step of a joint above which a chain moves [rad]."""
PART = 250
"""Number of problems that a process solves at a time."""
CERTAIN = 60
"""Frames of a resting target after which a chain that does not move any more is not asked again."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--figures", default="adelino," + ",".join(f"erik_{letter}" for letter in "bcdefg"))
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--hold", default="balanced")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cores", type=int, default=1, help="number of processes; the numbers are the same for any")
    arguments = parser.parse_args()
    print(describe("numba"))
    above = ("shape error above the single solve's, mean", "largest")
    heads = ("problems", "faced by a single solve", "not faced", "still moving", "last arrival, frame", "largest step")
    table = Table("", "", *heads, *above)
    with multiprocessing.get_context("spawn").Pool(arguments.cores) as pool:
        for name in arguments.figures.split(","):
            table.row(name, *row(name, arguments, pool))


def row(name: str, arguments: argparse.Namespace, pool: Pool) -> tuple[object, ...]:
    parts = [
        (name, arguments.hold, arguments.seed, first, min(first + PART, arguments.count))
        for first in range(0, arguments.count, PART)
    ]
    rows = np.concatenate(pool.starmap(settled, parts, chunksize=1))
    faced, lost, moves, arrival, step, excess = rows.T
    can = faced == 1.0
    numbers = (len(rows), int(can.sum()), int(lost[can].sum()), int(moves.sum()), int(arrival[can].max()))
    above = (f"{excess[can].mean():.4f}", f"{excess[can].max():.4f}")
    return *numbers, f"{math.degrees(step.max()):.2f}°", *above


def settled(name: str, hold: Hold, seed: int, first: int, stop: int) -> np.ndarray:
    """(stop - first, 6) problems with these numbers, solved."""
    solver = poise.Expressive(poise.load(name), hold=hold)
    problems = (np.random.default_rng([seed, sum(map(ord, name)), number]) for number in range(first, stop))
    return np.array([settle(solver, rng) for rng in problems])


def settle(solver: poise.Expressive, rng: np.random.Generator) -> tuple[float, ...]:
    """One problem: can a single solve face it, is it lost, does it move, its arrival, its step, its shape excess."""
    posture, last, direction = solver.figure.random(rng), solver.figure.random(rng), rng.normal(size=3)
    target = poise.facing(direction, roll=None)
    alone = solver.solve(posture, target)
    result: poise.Posture | TrackedResult = last
    q, largest, step, arrival = last.q, 0.0, 0.0, 0
    for frame in range(FRAMES):
        answer = solver.solve(posture, target, previous=result)
        assert isinstance(answer, TrackedResult)
        result, before, q = answer, q, answer.posture.q
        step = float(np.abs(q - before).max())
        largest = max(largest, step)
        if answer.orientation_error > FACED:
            arrival = frame + 1
        if frame > CERTAIN and step == 0.0 and not answer.changing:
            break
    can = alone.orientation_error < FACED
    excess = answer.shape_error - alone.shape_error
    return float(can), float(answer.orientation_error > FACED), float(step > MOVING), arrival, largest, excess


if __name__ == "__main__":
    main()
