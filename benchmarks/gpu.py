"""Batches of poise.Erik, poise.Expressive and the two-priority DLS on the CPU and on a CUDA GPU.

Every result of the GPU is compared with that of the CPU, bit for bit. Where errors differ by more than 1e-9 the exit
status is 1. With --table-8, the paper's evaluation is run on the GPU and timed, and the statistics of some of its
samples are compared with those of the CPU.

python benchmarks/gpu.py --count 1000000 --skeletons BCG
python benchmarks/gpu.py --table-8
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import mended_numpy  # noqa: F401  # first of all that import numba
import numpy as np
from machine import describe

import poise
from poise.errors import TaskError
from poise.evaluation.erik.cases import Plan, solve_range
from poise.evaluation.erik.evaluation import evaluate
from poise.evaluation.erik.sampling import Samples, samples
from poise.expressive.result import ExpressiveBatch
from poise.expressive.solver import ExpressiveSolver
from poise.expressive.two_priority import TwoPriorityDls

SAME = 1e-9
"""Errors of two answers that differ by less are the same."""
FEW = 256
"""Questions of a first run, which compiles."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1_000_000, help="questions on the GPU")
    parser.add_argument("--compared", type=int, default=200_000, help="how many of them the cores answer too")
    parser.add_argument("--skeletons", default="ABCDEFG")
    parser.add_argument("--solvers", default="erik,expressive,dls")
    parser.add_argument("--table-8", action="store_true", help="the paper's evaluation instead")
    parser.add_argument("--samples", type=int, default=None, help="of each case of table 8, instead of all")
    arguments = parser.parse_args()
    print(describe("numba", "numba-cuda"), flush=True)
    if arguments.table_8:
        return table_8(arguments.skeletons, arguments.samples, "expressive" in arguments.solvers)
    differing = 0.0
    for name in arguments.solvers.split(","):
        make = {"erik": poise.Erik, "expressive": poise.Expressive, "dls": TwoPriorityDls}[name]
        for letter in arguments.skeletons.lower():
            solver = make(poise.load(f"erik_{letter}"))
            asked = samples(solver.limb, arguments.count, 0, "uniform")
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
    method, _ = solver.cuda_method()
    return sum(kernel.fused() for kernel in method.kernels)


def table_8(skeletons: str, samples: int | None, expressive: bool) -> int:
    """Time the exhaustive evaluation on the GPU; returns 1 if its statistics differ from those of the CPU."""
    differing = 0
    for letter in skeletons:
        few = Plan(samples=20_000, skeletons=letter, expressive=expressive, sampling="exhaustive")
        for case in few.cases_of(letter):  # compiles
            begun = time.perf_counter()
            there = solve_range(replace(few, device="cuda"), letter, (case,), 0, 20_000)[case]
            compiled = time.perf_counter() - begun
            here = solve_range(few, letter, (case,), 0, 20_000)[case]
            same = all(np.array_equal(a, b) for a, b in zip(there.arrays, here.arrays, strict=True))
            differing += not same
            print(f"{case}: first call {compiled:.1f} s, statistics {'equal' if same else 'DIFFER'}", flush=True)
    plan = Plan(samples, skeletons, sampling="exhaustive", device="cuda", expressive=expressive)
    begun = time.perf_counter()
    with TemporaryDirectory() as folder:
        found = evaluate(plan, Path(folder), lambda case, count: None)
    taken = time.perf_counter() - begun
    for case, row in found.items():
        print(
            f"{case}: {row.asked:,} samples, {row.count:,} kept, {row.seconds:.2f} s on the GPU,"
            f" {row.asked / row.seconds:,.0f} per second; combined {row.mean('combined'):.4f}"
            f" ± {row.deviation('combined'):.4f}, iterations {row.iteration_statistics()[2]:.2f}"
        )
    total = sum(row.asked for row in found.values())
    print(f"{total:,} samples in {taken:.1f} s, files included, {total / taken:,.0f} per second")
    return int(differing > 0)


def measures(batch: ExpressiveBatch) -> tuple[np.ndarray, ...]:
    return batch.error, batch.orientation_error, batch.posture_error, batch.shape_error


def timed(run: Callable[[], ExpressiveBatch]) -> tuple[float, ExpressiveBatch]:
    start = time.perf_counter()
    result = run()
    return time.perf_counter() - start, result


if __name__ == "__main__":
    sys.exit(main())
