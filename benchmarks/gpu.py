"""Batches of ERIK on the cores and on a CUDA GPU: agreement and throughput.

python benchmarks/gpu.py --count 2000000
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from machine import describe

import poise
from poise.errors import TaskError
from poise.evaluation.sampling import samples


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--skeletons", default="ACG")
    arguments = parser.parse_args()
    print(describe())
    for letter in arguments.skeletons.lower():
        solver = poise.Erik(poise.load(f"erik_{letter}"))
        asked = samples(solver.limb, arguments.count, np.random.default_rng(0), "uniform")
        try:
            compare(letter.upper(), solver, asked.postures, asked.orientations)
        except TaskError as error:
            print(error)
            return


def compare(letter: str, solver: poise.Erik, postures: np.ndarray, orientations: np.ndarray) -> None:
    solver.solve_batch(postures[:256], orientations[:256], device="cuda")
    fast, there = timed(lambda: solver.solve_batch(postures, orientations, device="cuda"))
    few = min(len(postures), 100_000)
    slow, here = timed(lambda: solver.solve_batch(postures[:few], orientations[:few]))
    apart = np.abs(there.error[:few] - here.error)
    print(
        f"{letter}: {len(postures) / fast:,.0f} per second on the GPU, {few / slow:,.0f} on the cores; "
        f"errors differ by {apart.max():.1e} at most, {(apart > 1e-9).mean():.2%} by more than 1e-9"
    )


def timed(run):  # type: ignore[no-untyped-def]
    start = time.perf_counter()
    result = run()
    return time.perf_counter() - start, result


if __name__ == "__main__":
    main()
