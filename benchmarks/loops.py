"""Assembling mechanisms: time per frame, remaining gaps, jumps, and growth with the number of bodies.

DR Legs (31 bodies, 36 hinges, 12 motors, 6 loops) follows the 22 s that its makers recorded, frame after frame, and
then jumps between random frames. Maximal coordinates, every body free and every joint a constraint, solve the same
frames with the small reference of the tests: dense, in Python, so only the order of magnitude is meaningful. Ladders
of parallelograms with more and more rungs show how the time grows.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
from machine import describe, microseconds
from results import Table

import poise
from poise.evaluation.loops.growth import ladder

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests import dr_legs as legs
from tests.oracle.maximal import Maximal

JUMPS = 400
RUNGS = (1, 2, 4, 8, 16, 32)


def main() -> None:
    print(describe("numba", "numpy", "scipy"))
    if legs.FOLDER.is_dir():
        follow_the_walk()
    else:
        print(f"DR Legs is not at {legs.FOLDER}; left out.")
    table = Table("Built-in mechanisms", "", "bodies", "µs per frame", "assembled", "open by at most [m]")
    for name in ("four_bar", "five_bar", "delta", "stewart", "all_joints", "walker"):
        table.row(name, *move_motors(name))
    table = Table("Ladders", "bodies", "loops", "µs per frame", "µs per body")
    for rungs in RUNGS:
        table.row(*climb(rungs))


def follow_the_walk() -> None:
    figure, walk = legs.clean_dr_legs(), legs.recorded_walk()
    motors = {motor: walk[:, k] for k, motor in enumerate(legs.MOTORS)}
    q, shares = figure.assembler.frames(motors, figure.neutral())
    frame = microseconds(lambda: figure.assembler.frames(motors, figure.neutral()), 1) / len(walk)
    gap = max(figure.closure_error(posture) for posture in q)
    done = int((shares == 1.0).sum())
    table = Table("DR Legs, 31 bodies, 6 loops", "", "")
    table.row("frames of the recorded walk that assemble", f"{done} of {len(walk)}")
    table.row("open by at most [m]", gap)
    table.row("µs per frame", frame)
    maximal = Maximal(figure)
    start, values = maximal.poses(figure.posture(q[999])), dict(zip(legs.MOTORS, walk[1000].tolist(), strict=True))
    reference = microseconds(lambda: maximal.solve(start, values), 1, rounds=3)
    table.row("in maximal coordinates, times as long", reference / frame)
    jump(table, figure, walk, q)


def jump(table: Table, figure: poise.Figure, walk: np.ndarray, q: np.ndarray) -> None:
    rng, times, there, same = np.random.default_rng(0), [], 0, 0
    for a, b in rng.integers(0, len(walk), (JUMPS, 2)):
        begin = time.perf_counter()
        result = figure.assemble(dict(zip(legs.MOTORS, walk[b], strict=True)), near=q[a])
        times.append(time.perf_counter() - begin)
        there += result.status == "assembled"
        same += bool(np.abs(result.posture.q - q[b]).max() < 1e-6)
    each = np.median(times) * 1e6
    table.row("jumps between random frames that assemble", f"{there} of {JUMPS}")
    table.row("of these on the same branch", same)
    table.row("µs per jump", each)


def move_motors(name: str) -> tuple[object, ...]:
    figure = poise.load(name)
    way = np.sin(np.linspace(0.0, 20.0, 500))
    motors = {joint.name: 0.05 * way for joint in figure.joints if joint.active}
    q, shares = figure.assembler.frames(motors, figure.neutral())
    frame = microseconds(lambda: figure.assembler.frames(motors, figure.neutral()), 1) / len(way)
    gap = max(figure.closure_error(posture) for posture in q[::10])
    return len(figure.bodies), frame, f"{shares.mean():.0%}", gap


def climb(rungs: int) -> tuple[object, ...]:
    figure = ladder(rungs)
    way = 0.3 * np.sin(np.linspace(0.0, 20.0, 300))
    motors = {f"motor_{k}": way / (k + 1) for k in range(rungs)}
    frame = microseconds(lambda: figure.assembler.frames(motors, figure.neutral()), 1) / len(way)
    bodies = len(figure.bodies)
    return bodies, rungs, frame, frame / bodies


if __name__ == "__main__":
    main()
