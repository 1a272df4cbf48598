"""One whole-body step of Talos (38 degrees of freedom), poise against PlaCo, Pink and mink.

Two feet fixed, centre of mass, right hand, gaze, posture, joint limits; one step per frame of 10 ms. *Normal*: the hand
on a circle within reach. *Stress*: the target of the hand is out of reach, speed limits on. `--scenarios N` adds random
conflicts and measures how still each solver is once the targets stop. All errors are measured by Pinocchio.

Each solver runs alone in a process of its own, one thread, and the processes take turns round by round, so that all
run under the same load; each time is the best of all rounds, and ratios are to PlaCo's in the same run. Peers
come from the environment that `make bench` sets up beside `.venv` (or from the interpreter named by POISE_PEERS).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from machine import describe, peers_python
from peers_conflicts import conflicts
from peers_judge import Errors, Judge
from peers_problem import Problem, Targets
from peers_process import HOMES, Motion, Process
from peers_talos import HAND, HEAD, normal, stress, talos
from results import Table

RIVAL = "placo"


class Timed(NamedTuple):
    """Rounds of one solver on one set."""

    motion: Motion
    """Of the last round."""
    milliseconds: np.ndarray
    """Median, mean and 99th percentile of a step, each the best of all rounds (3,)."""
    repeats: bool
    """Whether every round gave the same bytes."""


def main() -> None:
    options = parse()
    print(describe("numba", "numpy", "pin"))
    print("peers: " + versions(peers_python(), "placo", "pin-pink", "mink", "daqp", "pin", "numpy"))
    with TemporaryDirectory() as folder:
        for name, speed_limits, ask in (("normal", False, normal), ("stress", True, stress)):
            problem = talos(Path(folder), speed_limits=speed_limits)
            judge = Judge(problem)
            targets = ask(*start_of(judge), options.frames)
            with solvers(options.solvers, problem) as contestants:
                runs = rounds(contestants, targets, options.rounds)
            times_table(name, runs)
            errors_table(name, runs, judge, targets)
            say_failures(runs)
        if options.scenarios:
            problem = talos(Path(folder), speed_limits=True)
            seeds = range(options.seed, options.seed + options.scenarios)
            with solvers(options.solvers, problem) as contestants:
                conflicts(contestants, Judge(problem), seeds)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--frames", type=int, default=300, help="frames of each set")
    parser.add_argument("--rounds", type=int, default=15, help="how often each set is run and timed")
    parser.add_argument("--scenarios", type=int, default=0, help="random conflict scenarios to run as well")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first scenario")
    parser.add_argument("--solvers", nargs="+", choices=HOMES, default=list(HOMES), metavar="NAME")
    return parser.parse_args()


def versions(python: Path, *packages: str) -> str:
    code = "import sys; from machine import with_version as v; print(', '.join(map(v, sys.argv[1:])))"
    folder = Path(__file__).parent
    return subprocess.run(
        [python, "-c", code, *packages], cwd=folder, check=True, capture_output=True, text=True
    ).stdout.strip()


@contextmanager
def solvers(names: list[str], problem: Problem) -> Iterator[list[Process]]:
    """A process for each solver that can take part; a word about each that cannot."""
    ready: list[Process] = []
    try:
        for name in names:
            try:
                python = Path(sys.executable) if name == "poise" else peers_python()
                ready.append(Process(name, problem, python=python))
            except RuntimeError as absence:
                print(f"{absence} (make bench installs the peers)")
        yield ready
    finally:
        for process in ready:
            process.close()


def start_of(judge: Judge) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Hand, centre of mass and orientation of the head at the start."""
    q = judge.problem.start
    return judge.place(HAND, q).translation, judge.center(q), judge.place(HEAD, q).rotation


def rounds(contestants: list[Process], targets: Targets, count: int) -> dict[str, Timed]:
    """Every solver in turn, round after round, after one round that is not counted."""
    motions: dict[str, list[Motion]] = {solver.name: [] for solver in contestants}
    for _ in range(count + 1):
        for solver in contestants:
            motions[solver.name].append(solver.run(targets))
    return {name: timed(runs[1:]) for name, runs in motions.items()}


def timed(motions: list[Motion]) -> Timed:
    last = motions[-1]
    if not last.seconds.size:
        return Timed(last, np.full(3, np.nan), False)
    per_round = [(np.median(m.seconds), np.mean(m.seconds), np.percentile(m.seconds, 99)) for m in motions]
    return Timed(last, 1e3 * np.min(per_round, axis=0), all(np.array_equal(m.q, last.q) for m in motions))


def times_table(title: str, runs: dict[str, Timed]) -> None:
    heads = ("solver", "median", "mean", "99 %", f"median / {RIVAL}", "same bytes")
    table = Table(f"{title}: ms per step", *heads)
    rival = runs[RIVAL].milliseconds[0] if RIVAL in runs else np.nan
    for name, run in runs.items():
        ratio = run.milliseconds[0] / rival
        table.row(name, *run.milliseconds, f"{ratio:.2f}", "yes" if run.repeats else "no")


def errors_table(title: str, runs: dict[str, Timed], judge: Judge, targets: Targets) -> None:
    heads = ("feet m+rad", "centre mm", "hand mm", "gaze mrad", "change of dq", "over limits", "speed ratio")
    table = Table(f"{title}: errors, median / largest; of hand and gaze, median / last", "solver", *heads)
    for name, run in runs.items():
        if len(run.motion.q) > 1:
            table.row(name, *error_cells(judge.errors(run.motion.q, targets)))


def error_cells(errors: Errors) -> tuple[str, ...]:
    return (
        f"{np.median(errors.feet):.1e} / {errors.feet.max():.1e}",
        f"{np.median(errors.center):.2g} / {errors.center.max():.2g}",
        f"{np.median(errors.hand):.3g} / {errors.hand[-1]:.3g}",
        f"{np.median(errors.gaze):.3g} / {errors.gaze[-1]:.3g}",
        f"{np.median(errors.change):.1e} / {errors.change.max():.1e}",
        f"{errors.limit_excess:.1e}",
        f"{errors.speed_ratio:.4f}",
    )


def say_failures(runs: dict[str, Timed]) -> None:
    for name, run in runs.items():
        if run.motion.failure:
            print(f"{name} gave up: {run.motion.failure}")


if __name__ == "__main__":
    main()
