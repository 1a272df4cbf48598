"""Shape and gaze of `poise.Expressive` in motion: a target that wanders about for ten minutes.

The target moves on the unit sphere by a fixed angle per frame; its course is a random walk, reflected where the angle
from the vertical leaves its range. Adelino holds each of its own postures in turn, the skeletons of the paper random
ones. Every line gives the mean shape error of single solves and the tracked one of the same frames, and their ratio;
the share of frames above the horizon whose gaze is within 1° and within 5°, and of all frames within 1°; the largest
joint step; the mean processor time of a frame, calls from Python included, how many took more than 2 ms, and the
longest; and ratio and share within 1° of the tracker that this one replaced, measured with `--seeds 11 --minutes 0.5`.

The wanders are shared among `--cores` processes; all but the times is the same for any number of them.

python benchmarks/expressive_wanders.py --figures adelino,erik_c --hold balanced --minutes 10 --seeds 20 --cores 16
"""

from __future__ import annotations

import argparse
import csv
import functools
import math
import multiprocessing
import time
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
from machine import describe
from results import Table

import poise
from poise.expressive.tracker import TrackedResult

FRAMES_PER_MINUTE = 3600
COURSE_CHANGE = math.radians(5.0)
"""Standard deviation of the change of the target's course per frame [rad]."""
SLOW = 2e-3
"""Processor time of a frame above which it is counted as slow [s]."""
BEFORE = Path(__file__).with_name("expressive_before.csv")


class Case(NamedTuple):
    """A wander and what follows it."""

    name: str
    """The figure."""
    bounds: str
    """Smallest and largest angle from the vertical [degrees]."""
    speed: float
    """Turn of the target per frame [degrees]."""
    hold: str
    seed: int
    frames: int
    roll: float | None


class Tally(NamedTuple):
    """Sums over the frames of one or several wanders."""

    frames: int
    single: float
    shape: float
    high: int
    """Frames above the horizon."""
    high_within_1: int
    high_within_5: int
    within_1: int
    slow: int
    seconds: float
    longest: float
    """Longest time of a frame [s]."""
    step: float
    """Largest turn of a joint in a frame [rad]."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--figures", default="adelino," + ",".join(f"erik_{letter}" for letter in "bcdefg"))
    parser.add_argument("--ranges", default="10-100,10-150", help="angles from the vertical [degrees]")
    parser.add_argument("--speeds", default="0.5,1,2", help="degrees per frame")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--hold", default="gaze,balanced,expression")
    parser.add_argument("--cores", type=int, default=1, help="number of processes")
    parser.add_argument("--roll", action="store_true", help="ask for a roll of 0, not for a direction alone")
    arguments = parser.parse_args()
    print(describe("numba"))
    shares = ("within 1°, above the horizon", "within 5°, above the horizon", "within 1°, all")
    times = ("largest step", "ms, mean", "frames over 2 ms", "ms, longest")
    heads = (
        "figure",
        "speed",
        "hold",
        "single solves",
        "tracked",
        "ratio",
        *shares,
        *times,
        "before: ratio, within 1°",
    )
    table = Table("", *heads)
    lines = [
        (name, bounds, speed, hold)
        for name in arguments.figures.split(",")
        for bounds in arguments.ranges.split(",")
        for speed in map(float, arguments.speeds.split(","))
        for hold in arguments.hold.split(",")
    ]
    frames, roll = round(arguments.minutes * FRAMES_PER_MINUTE), 0.0 if arguments.roll else None
    seeds = range(arguments.first, arguments.first + arguments.seeds)
    cases = [Case(*line, seed, frames, roll) for line in lines for seed in seeds]
    with multiprocessing.get_context("spawn").Pool(arguments.cores) as pool:
        tallies = pool.imap(wander, cases, chunksize=1)
        for line in lines:
            table.row(*row(*line, total([next(tallies) for _ in range(arguments.seeds)])))


def row(name: str, bounds: str, speed: float, hold: str, all_of: Tally) -> tuple[object, ...]:
    ratio, before = all_of.shape / all_of.single, before_of(name, bounds, speed)
    shapes = (f"{all_of.single / all_of.frames:.4f}", f"{all_of.shape / all_of.frames:.4f}", f"{ratio:.2f}")
    high = (share(all_of.high_within_1, all_of.high), share(all_of.high_within_5, all_of.high))
    times = (1e3 * all_of.seconds / all_of.frames, all_of.slow, 1e3 * all_of.longest)
    step = f"{math.degrees(all_of.step):.2f}°"
    within = share(all_of.within_1, all_of.frames)
    return f"{name} {bounds}°", f"{speed:g}°", hold, *shapes, *high, within, step, *times, before


def share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "-"


def before_of(name: str, bounds: str, speed: float) -> str:
    """Ratio and share within 1° of the tracker that this one replaced."""
    with BEFORE.open(newline="") as file:
        for row in csv.DictReader(file):
            if (row["figure"], row["range"], float(row["speed"])) == (name, bounds, speed):
                return f"{float(row['ratio']):5.2f} {float(row['within_1_high']):.1%}"
    return ""


def total(tallies: list[Tally]) -> Tally:
    """The sums of all wanders."""
    sums = [sum(values) for values in zip(*tallies, strict=True)]
    (*sums[-2:],) = (max(tally.longest for tally in tallies), max(tally.step for tally in tallies))
    return Tally(*sums)


@numba.njit(cache=True)
def walk(d, v, turns, angle, low, high):  # type: ignore[no-untyped-def]
    """(frames, 3) directions from `d` on the course `v`, which turns by `turns`."""
    up, rows = np.array([0.0, 1.0, 0.0]), np.empty((len(turns), 3))
    for i in range(len(turns)):
        v = math.cos(turns[i]) * v + math.sin(turns[i]) * np.cross(d, v)
        new, ahead = math.cos(angle) * d + math.sin(angle) * v, math.cos(angle) * v - math.sin(angle) * d
        if not low < new[1] < high:
            across = up - d[1] * d
            across /= np.linalg.norm(across)
            v = v - 2.0 * np.dot(v, across) * across
            new, ahead = math.cos(angle) * d + math.sin(angle) * v, math.cos(angle) * v - math.sin(angle) * d
        d = new / np.linalg.norm(new)
        v = ahead - np.dot(ahead, new) * new
        v /= np.linalg.norm(v)
        rows[i] = d
    return rows


def course(rng: np.random.Generator, bounds: str, speed: float, frames: int) -> np.ndarray:
    """(frames, 3) directions of a wandering target, y up."""
    low, high = (math.cos(math.radians(float(end))) for end in reversed(bounds.split("-")))
    while True:
        d = rng.normal(size=3)
        d /= np.linalg.norm(d)
        if low < d[1] < high:
            break
    v = np.cross(d, rng.normal(size=3))
    v /= np.linalg.norm(v)
    rows: np.ndarray = walk(d, v, rng.normal(0.0, COURSE_CHANGE, frames), math.radians(speed), low, high)
    return rows


def wanted_and_course(figure: poise.Figure, case: Case) -> tuple[poise.Posture, np.ndarray]:
    """The posture and the directions of a case."""
    rng = np.random.default_rng([case.seed, sum(map(ord, case.name)), round(10 * case.speed)])
    own = figure.posture_names if case.name == "adelino" else ()
    posture = figure.posture(own[case.seed % len(own)]) if own else figure.random(rng)
    return posture, course(rng, case.bounds, case.speed, case.frames)


@functools.cache
def solver_of(name: str, hold: str) -> poise.Expressive:
    return poise.Expressive(poise.load(name), hold=hold)  # type: ignore[arg-type]


def wander(case: Case) -> Tally:
    """One wander, followed frame by frame."""
    solver = solver_of(case.name, case.hold)
    posture, rows = wanted_and_course(solver.figure, case)
    targets = [poise.facing(row, roll=case.roll) for row in rows]
    single = float(solver.solve_batch(posture, targets).shape_error.sum())
    result, columns = solver.solve(posture, targets[0]), np.empty((len(rows), 4))
    last = result.posture.q
    for i, target in enumerate(targets):
        begin = time.thread_time()
        result = solver.solve(posture, target, previous=result)
        seconds = time.thread_time() - begin
        assert isinstance(result, TrackedResult)
        q = result.posture.q
        columns[i] = result.shape_error, result.direction_error, seconds, np.abs(q - last).max()
        last = q
    shape, off, seconds_of, steps = columns.T
    high, near, nearby = rows[:, 1] > 0.0, off < math.radians(1.0), off < math.radians(5.0)
    return Tally(
        frames=len(rows),
        single=single,
        shape=float(shape.sum()),
        high=int(high.sum()),
        high_within_1=int((near & high).sum()),
        high_within_5=int((nearby & high).sum()),
        within_1=int(near.sum()),
        slow=int((seconds_of > SLOW).sum()),
        seconds=float(seconds_of.sum()),
        longest=float(seconds_of.max()),
        step=float(steps.max()),
    )


if __name__ == "__main__":
    main()
