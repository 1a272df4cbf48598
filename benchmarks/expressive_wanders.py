"""Shape and gaze of `poise.Expressive` in motion: a target that wanders about for ten minutes.

The target moves on the unit sphere by a fixed angle per frame; its course is a random walk, reflected where the angle
from the vertical leaves its range. Adelino holds each of its own postures in turn, the skeletons of the paper random
ones. Every line gives the mean shape error, tracked and of single solves of the same frames; their ratio; the share of
frames above the horizon whose gaze is within 1° and within 5°, and of all frames; the largest joint step; the mean and
the longest time of a frame.

python benchmarks/expressive_wanders.py --figures adelino,erik_c --hold balanced --minutes 10 --seeds 20
"""

from __future__ import annotations

import argparse
import math
import time
from typing import NamedTuple

import numpy as np
from machine import describe

import poise

FRAMES_PER_MINUTE = 3600
COURSE_CHANGE = math.radians(5.0)
"""Standard deviation of the change of the target's course per frame [rad]."""


class Wander(NamedTuple):
    """Frames of one or several wanders."""

    single: np.ndarray
    """Shape error of the single solve of each frame."""
    shape: np.ndarray
    """Shape error of each frame."""
    off: np.ndarray
    """Direction error of each frame [degrees]."""
    high: np.ndarray
    """Whether the target is above the horizon."""
    step: np.ndarray
    """Largest joint step of each frame [degrees]."""
    seconds: np.ndarray
    """Time of each frame [s]."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--figures", default="adelino," + ",".join(f"erik_{letter}" for letter in "bcdefg"))
    parser.add_argument("--ranges", default="10-100,10-150", help="angles from the vertical [degrees]")
    parser.add_argument("--speeds", default="0.5,1,2", help="degrees per frame")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--hold", default="", help="gaze, balanced, expression; several with commas")
    parser.add_argument("--roll", action="store_true", help="ask for a roll of 0, not for a direction alone")
    arguments = parser.parse_args()
    print(describe("numba"))
    print(f"{'':34s} single  tracked ratio  1° high  5° high  1° all  step  mean ms  max ms")
    for name in arguments.figures.split(","):
        for bounds in arguments.ranges.split(","):
            for speed in map(float, arguments.speeds.split(",")):
                for hold in arguments.hold.split(","):
                    report(name, bounds, speed, hold, arguments)


def report(name: str, bounds: str, speed: float, hold: str, arguments: argparse.Namespace) -> None:
    options = {"hold": hold} if hold else {}
    solver = poise.Expressive(poise.load(name), **options)  # type: ignore[arg-type]
    roll = 0.0 if arguments.roll else None
    runs = [wander(solver, name, bounds, speed, seed, arguments.minutes, roll) for seed in range(arguments.seeds)]
    all_runs = Wander(*(np.concatenate(parts) for parts in zip(*runs, strict=True)))
    off = all_runs.off[all_runs.high]
    print(
        f"{name:8s} {bounds:>7s} {speed:4.1f} {hold:11s} {all_runs.single.mean():8.4f} {all_runs.shape.mean():8.4f} "
        f"{all_runs.shape.mean() / all_runs.single.mean():5.2f} {(off < 1.0).mean():8.1%} {(off < 5.0).mean():8.1%} "
        f"{(all_runs.off < 1.0).mean():7.1%} {all_runs.step.max():5.2f} {1e3 * all_runs.seconds.mean():8.3f} "
        f"{1e3 * all_runs.seconds.max():7.2f}",
        flush=True,
    )


def course(rng: np.random.Generator, bounds: str, speed: float, frames: int) -> np.ndarray:
    """(frames, 3) directions of a wandering target, y up."""
    low, high = (math.cos(math.radians(float(end))) for end in reversed(bounds.split("-")))
    angle = math.radians(speed)
    while True:
        d = rng.normal(size=3)
        d /= np.linalg.norm(d)
        if low < d[1] < high:
            break
    v = np.cross(d, rng.normal(size=3))
    v /= np.linalg.norm(v)
    rows = np.empty((frames, 3))
    turns = rng.normal(0.0, COURSE_CHANGE, frames)
    for i in range(frames):
        v = math.cos(turns[i]) * v + math.sin(turns[i]) * np.cross(d, v)
        new, ahead = math.cos(angle) * d + math.sin(angle) * v, math.cos(angle) * v - math.sin(angle) * d
        if not low < new[1] < high:
            up = np.array([0.0, 1.0, 0.0]) - d[1] * d
            up /= np.linalg.norm(up)
            v = v - 2.0 * (v @ up) * up
            new, ahead = math.cos(angle) * d + math.sin(angle) * v, math.cos(angle) * v - math.sin(angle) * d
        d, v = new / np.linalg.norm(new), ahead - (ahead @ new) * new
        v /= np.linalg.norm(v)
        rows[i] = d
    return rows


def wander(
    solver: poise.Expressive, name: str, bounds: str, speed: float, seed: int, minutes: float, roll: float | None
) -> Wander:
    """One wander, followed frame by frame."""
    figure = solver.figure
    rng = np.random.default_rng([seed, sum(map(ord, name)), round(10 * speed)])
    own = figure.posture_names if name == "adelino" else ()
    posture = figure.posture(own[seed % len(own)]) if own else figure.random(rng)
    rows = course(rng, bounds, speed, round(minutes * FRAMES_PER_MINUTE))
    targets = [poise.facing(row, roll=roll) for row in rows]
    single = solver.solve_batch(posture, targets).shape_error
    result = solver.solve(posture, targets[0])
    joints, frames = np.empty((len(rows), figure.nq)), np.empty((len(rows), 3))
    pointed = np.empty((len(rows), 3))
    for i, target in enumerate(targets):
        begin = time.thread_time()
        result = solver.solve(posture, target, previous=result)
        frames[i] = result.shape_error, time.thread_time() - begin, 0.0
        joints[i] = result.posture.q
        pointed[i] = figure.pose_of(solver.limb.tip, result.posture).matrix[:, 1]
    off = np.degrees(2.0 * np.arcsin(np.minimum(1.0, 0.5 * np.linalg.norm(pointed - rows, axis=1))))
    step = np.degrees(np.abs(np.diff(joints, axis=0, prepend=joints[:1])).max(axis=1))
    return Wander(single, frames[:, 0], off, rows[:, 1] > 0.0, step, frames[:, 1])


if __name__ == "__main__":
    main()
