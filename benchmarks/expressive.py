"""Orientation and posture together, on the same pairs: poise.Expressive, poise.Erik, scipy, mink and PlaCo.

The other libraries run in their own interpreter (see `machine.peers_python`). Each starts from the wanted posture,
clamped to its limits, and may take up to a hundred steps; poise's own measures are applied to every solution.

With --grid, ERIK and the expressive solver are compared on the papers' skeletons: errors and throughput on
that many pairs of their grid, and the time of single solves on the first thousand.

python benchmarks/expressive.py --count 300 --skeletons CEG
python benchmarks/expressive.py --grid 20000 --skeletons ABCDEFG
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from machine import describe, peers_python
from results import Table

import poise
from poise.evaluation.erik.sampling import Samples, samples
from poise.expressive.measures import Weights, errors_of, scoring_of
from poise.expressive.solver import ExpressiveSolver
from poise.kernels.gaze.measures import FULL, Aim
from poise.kernels.maths.quaternion import Quaternion

HIT = 0.001
"""Orientation error that counts as met: 0.16°."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--skeletons", default="C")
    parser.add_argument("--grid", type=int, default=0)
    arguments = parser.parse_args()
    print(describe("numba", "scipy"))
    if arguments.grid:
        errors = ("error", "shape", "orientation, mean", "orientation, largest")
        table = Table("", "skeleton", "solver", *errors, "per second", "µs, mean", "µs, 99 %")
        for letter in arguments.skeletons.lower():
            on_grid(table, letter, arguments.grid)
        return
    for letter in arguments.skeletons.lower():
        compare(letter, arguments.count)


def on_grid(table: Table, letter: str, count: int) -> None:
    """One row for each of our two solvers."""
    for make in (poise.Expressive, poise.Erik):
        solver = make(poise.load(f"erik_{letter}"))
        asked = samples(solver.limb, count, 7)
        solver.solve_batch(asked.postures[:256], asked.orientations[:256])
        taken = []
        for _ in range(3):
            start = time.perf_counter()
            batch = solver.solve_batch(asked.postures, asked.orientations)
            taken.append(time.perf_counter() - start)
        us = 1e6 * np.min([solver.timed(asked.postures[:1000], asked.orientations[:1000]) for _ in range(3)], axis=0)
        turned = batch.orientation_error
        errors = (f"{batch.error.mean():.4f}", f"{batch.shape_error.mean():.4f}", f"{turned.mean():.4f}", turned.max())
        speed = (f"{count / min(taken):,.0f}", us.mean(), np.percentile(us, 99))
        table.row(letter.upper(), make.__name__, *errors, *speed)


def compare(letter: str, count: int) -> None:
    figure = poise.load(f"erik_{letter}")
    ours, erik = poise.Expressive(figure), poise.Erik(figure)
    asked = samples(ours.limb, count, 300)
    print(f"\nskeleton {letter.upper()}, {count} pairs: orientation met, mean error / shape, µs median / mean / p99")
    for name, solver in (("poise.Expressive", ours), ("poise.Erik", erik)):
        batch = solver.solve_batch(asked.postures, asked.orientations)
        report(name, solver, asked, batch.q, solver.timed(asked.postures, asked.orientations))
    for name, answer in peers(ours, asked).items():
        if "error" in answer:
            print(f"{name:20s} not measured: {answer['error']}")
        else:
            report(name, ours, asked, np.array(answer["q"]), np.array(answer["seconds"]))


def report(name: str, solver: ExpressiveSolver, asked: Samples, q: np.ndarray, seconds: np.ndarray) -> None:
    limb, scoring = solver.limb, scoring_of(solver.limb, Weights())
    errors = [
        errors_of(limb, scoring, Aim(Quaternion(*orientation), FULL), solution, posture)
        for orientation, solution, posture in zip(asked.orientations, q, asked.postures, strict=True)
    ]
    met = np.mean([error.orientation < HIT for error in errors])
    combined, shape = np.mean([error.combined for error in errors]), np.mean([error.shape for error in errors])
    us = 1e6 * seconds
    spread = f"{np.median(us):9.1f} / {us.mean():9.1f} / {np.percentile(us, 99):9.1f}"
    print(f"{name:20s}{100 * met:6.1f} %   {combined:.4f} / {shape:.4f}   {spread}")


def peers(solver: ExpressiveSolver, asked: Samples) -> dict[str, dict]:
    """The solutions of scipy, mink and PlaCo."""
    chain = solver.limb.chain
    question = {
        "axes": chain.axis.tolist(),
        "offsets": chain.offset.tolist(),
        "lower": chain.lower.tolist(),
        "upper": chain.upper.tolist(),
        "shapes": solver.scoring.shapes.tolist(),
        "postures": asked.postures.tolist(),
        "orientations": asked.orientations.tolist(),
    }
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "question.json"
        file.write_text(json.dumps(question))
        script = Path(__file__).with_name("expressive_peers.py")
        done = subprocess.run([str(peers_python()), str(script), str(file)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    main()
