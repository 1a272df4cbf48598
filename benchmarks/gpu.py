"""Batches of poise.Erik and poise.Expressive on the CPU and on a CUDA GPU: agreement and throughput.

Every result of the GPU is compared with that of the CPU, bit for bit. Where errors differ by more than 1e-9 the exit
status is 1.

python benchmarks/gpu.py --count 1000000 --skeletons BCG
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable

import mended_numpy  # noqa: F401  # first of all that import numba
import numpy as np
from machine import describe

import poise
from poise.errors import TaskError
from poise.evaluation.sampling import Samples, samples
from poise.expressive.cuda import local_array_size
from poise.expressive.result import ExpressiveBatch
from poise.expressive.solver import ExpressiveSolver

SAME = 1e-9
"""Errors of two answers that differ by less are the same."""
FEW = 256
"""Questions of a first run, which compiles."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1_000_000, help="questions on the GPU")
    parser.add_argument("--compared", type=int, default=200_000, help="how many of them the cores answer too")
    parser.add_argument("--skeletons", default="ABCDEFG")
    parser.add_argument("--solvers", default="erik,expressive")
    arguments = parser.parse_args()
    print(describe("numba", "numba-cuda"), flush=True)
    differing = 0.0
    for name in arguments.solvers.split(","):
        make = {"erik": poise.Erik, "expressive": poise.Expressive}[name]
        for letter in arguments.skeletons.lower():
            solver = make(poise.load(f"erik_{letter}"))
            asked = samples(solver.limb, arguments.count, np.random.default_rng(0), "uniform")
            try:
                differing = max(differing, compare(f"{name} {letter.upper()}", solver, asked, arguments.compared))
            except TaskError as error:
                print(error)
                return 1
    print(f"largest difference of all: {differing:.1e}, {'within' if differing <= SAME else 'BEYOND'} {SAME:.0e}")
    return int(differing > SAME)


def compare(name: str, solver: ExpressiveSolver, asked: Samples, compared: int) -> float:
    """Largest difference between the errors on the GPU and on the CPU; prints throughput."""
    postures, orientations = asked.postures, asked.orientations
    solver.solve_batch(postures[:FEW], orientations[:FEW], device="cuda")
    solver.solve_batch(postures[:FEW], orientations[:FEW])
    fast, there = timed(lambda: solver.solve_batch(postures, orientations, device="cuda"))
    few = min(len(postures), compared)
    slow, here = timed(lambda: solver.solve_batch(postures[:few], orientations[:few]))
    apart = np.zeros(few)
    for mine, theirs in zip(measures(there), measures(here), strict=True):
        apart = np.maximum(apart, np.abs(mine[:few] - theirs))
    turned = np.abs(there.q[:few] - here.q).max(axis=1)
    others = (turned > 0.0) | (apart > 0.0) | (there.iterations[:few] != here.iterations)
    print(
        f"{name}: {len(postures) / fast:,.0f} per second on the GPU, {few / slow:,.0f} on the cores; "
        f"{others.sum()} of {few} answers differ in any bit, {(apart > SAME).sum()} by more than {SAME:.0e}; "
        f"errors by {apart.max():.1e} at most, joints by {turned.max():.1e} rad; "
        f"{fused(solver)} fused operations in the kernel",
        flush=True,
    )
    return float(apart.max())


def fused(solver: ExpressiveSolver) -> int:
    """Number of fused multiply-add operations, which round once instead of twice."""
    from poise.expressive.launches import erik_launch, expressive_launch

    launch = erik_launch if isinstance(solver, poise.Erik) else expressive_launch
    return launch(local_array_size(len(solver.limb.joints))).fused()


def measures(batch: ExpressiveBatch) -> tuple[np.ndarray, ...]:
    return batch.error, batch.orientation_error, batch.posture_error, batch.shape_error


def timed(run: Callable[[], ExpressiveBatch]) -> tuple[float, ExpressiveBatch]:
    start = time.perf_counter()
    result = run()
    return time.perf_counter() - start, result


if __name__ == "__main__":
    sys.exit(main())
