"""Direction error and joint steps of poise.Expressive in motion: full turns of the target, and other paths.

Postures, rolls, first headings and the sense of turning are random; the target moves by 1° per frame, a joint by 5° at
most. Every line gives the direction error, mean over all frames and worst of all, in degrees; how many paths lost the
direction by more than 0.05°, or by 2° more than the geometry requires; the largest joint step; changes of branch per
path.

python benchmarks/expressive_turns.py --skeletons CEGD --postures 12 --seed 1
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
from machine import describe

import poise

Sight = tuple[float, float]
"""Heading and angle from the vertical [rad]."""
LOST = 0.05
"""A direction off by more than this is lost [degrees]."""


class Frames(NamedTuple):
    """Results of one path."""

    off: np.ndarray
    """Direction error of every frame [degrees]."""
    step: float
    """Largest turn of a joint in a frame [degrees]."""
    changes: int
    """How often the branch was changed."""
    slowest: float
    """Longest time of a frame [s]."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--skeletons", default="CEGD")
    parser.add_argument("--angles", default="30,50,70,85,95,110,130", help="from the vertical [degrees]")
    parser.add_argument("--postures", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-turns", action="store_true")
    arguments = parser.parse_args()
    print(describe("numba"))
    for letter in arguments.skeletons.lower():
        solver = poise.Expressive(poise.load(f"erik_{letter}"))
        for angle in [] if arguments.no_turns else map(float, arguments.angles.split(",")):
            bound = angle - 88.0 if letter in "ce" and angle > 90.0 else LOST
            report(f"{letter.upper()} turn {angle:g}°", solver, turned(angle), bound, arguments)
        for name, path in PATHS.items():
            report(f"{letter.upper()} {name}", solver, path, LOST, arguments)


def turned(angle: float) -> Callable[[np.random.Generator], Iterator[Sight]]:
    def path(rng: np.random.Generator) -> Iterator[Sight]:
        heading, sense = rng.uniform(-math.pi, math.pi), rng.choice([-1.0, 1.0])
        return ((heading + sense * math.radians(f), math.radians(angle)) for f in range(361))

    return path


def front(rng: np.random.Generator) -> Iterator[Sight]:
    return ((math.radians(60 * math.sin(f / 60)), math.radians(70)) for f in range(500))


def back(rng: np.random.Generator) -> Iterator[Sight]:
    return ((math.pi + heading, angle) for heading, angle in front(rng))


def nod(rng: np.random.Generator) -> Iterator[Sight]:
    heading = rng.uniform(-math.pi, math.pi)
    return ((heading, math.radians(80 - 70 * math.cos(f / 70))) for f in range(441))


def lissajous(rng: np.random.Generator) -> Iterator[Sight]:
    phase = rng.uniform(0, math.pi)
    return ((math.radians(50 * math.sin(f / 57 + phase)), math.radians(80 + 35 * math.sin(f / 38))) for f in range(720))


def fast(rng: np.random.Generator) -> Iterator[Sight]:
    return ((-math.radians(2 * f), math.radians(75)) for f in range(181))


PATHS = {"in front": front, "about the back": back, "nod": nod, "Lissajous": lissajous, "turn of 2° a frame": fast}


def report(
    name: str,
    solver: poise.Expressive,
    path: Callable[[np.random.Generator], Iterable[Sight]],
    bound: float,
    arguments: argparse.Namespace,
) -> None:
    rng = np.random.default_rng([arguments.seed, sum(map(ord, name))])
    runs = [
        moved(solver, solver.figure.random(rng), rng.uniform(-3, 3), list(path(rng))) for _ in range(arguments.postures)
    ]
    off = np.concatenate([run.off for run in runs])
    lost = sum(float(run.off.max()) > bound for run in runs)
    print(
        f"{name:24s} mean {off.mean():6.3f}  worst {off.max():6.2f}  lost {lost} of {len(runs)}  "
        f"step {max(run.step for run in runs):.2f}  changes {np.mean([run.changes for run in runs]):.2f}  "
        f"slowest frame {1e3 * max(run.slowest for run in runs):.1f} ms",
        flush=True,
    )


def moved(solver: poise.Expressive, posture: poise.Posture, roll: float, sights: list[Sight]) -> Frames:
    """A path, followed frame by frame."""
    result = solver.solve(posture, poise.facing(towards(sights[0]), roll=roll))
    solver.solve(posture, poise.facing(towards(sights[0]), roll=roll), previous=result)
    off, steps, changes, slowest = [], [], 0, 0.0
    for sight in sights:
        before, direction = result, towards(sight)
        start = time.perf_counter()
        result = solver.solve(posture, poise.facing(direction, roll=roll), previous=before)
        slowest = max(slowest, time.perf_counter() - start)
        points = solver.figure.pose_of(solver.limb.tip, result.posture).matrix[:3, 1]
        off.append(math.degrees(math.atan2(np.linalg.norm(np.cross(points, direction)), points @ direction)))
        steps.append(math.degrees(np.abs(result.posture.q - before.posture.q).max()))
        changes += result.changing and not getattr(before, "changing", False)
    return Frames(np.array(off), max(steps), changes, slowest)


def towards(sight: Sight) -> np.ndarray:
    heading, angle = sight
    return np.array([math.sin(angle) * math.sin(heading), math.cos(angle), math.sin(angle) * math.cos(heading)])


if __name__ == "__main__":
    main()
