"""What a solve costs besides its steps: constructing the solver, the solve's own overhead, the verdict, and memory.

python benchmarks/construction.py

Times are those that a tenth of the calls undercut. The steps are timed in the same run, as the time that `solve` spends
in the kernel `settle`.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from machine import describe
from results import Table

import poise
from poise import Hold, LookAt, MomentOfInertia, Position, Solver
from poise.engine import descent
from poise.tasks.task import Task

ROUNDS = 300
LOW = 10
"""Percentile of the times to print: a busy machine only adds to them."""
NEAR = {"arm": (0.0, -0.02, 0.0), "human": (0.03, 0.02, -0.03), "walker": (0.03, 0.02, -0.03)}
"""From a site's place in the neutral posture to a target in reach [m]."""
AWAY = {"arm": (0.1, -0.2, 0.0), "human": (0.05, 0.2, 0.2), "walker": (0.0, 0.08, 0.05)}
"""The same for a target in reach that is farther away: people then descend twice."""
FAR = ((3.0, 2.0, -3.0), (-3.0, 2.0, -3.0))
"""The same for targets that cannot both be reached [m]."""
SITES = {"arm": ["tip"], "human": ["left_hand", "right_hand"], "walker": ["left_foot", "right_foot"]}
IN_A_PROCESS = {
    "import poise": "import poise",
    "and load the human": "import poise; poise.load('human')",
    "and solve": "import poise; poise.solve(poise.load('human'), [poise.Position('right_hand', at=(-0.3, 1.2, 0.5))])",
}


def main() -> None:
    print(describe("numba", "numpy"))
    solves = (f"{where}: {what}" for where in ("near", "farther") for what in ("besides steps", "steps"))
    heads = ("figure", "tasks", "construct", *solves, "verdict", "out of reach: besides steps", "steps")
    table = Table("Solver and solves [µs]", *heads)
    for name, sites in SITES.items():
        table.row(*row(name, sites))
    table.row("human that stands", *row("human", SITES["human"], stand=True)[1:])
    table = Table(
        "Solves whose steps are replaced by their recorded ends [µs]", "figure", "near", "farther", "out of reach"
    )
    for name in SITES:
        table.row(name, *recorded_row(name))
    table.row("human that stands", *recorded_row("human", stand=True))
    table = Table("Another target for a task of the human", "kind", "µs")
    for kind in TARGETS:
        table.row(kind, target_time(kind))
    table = Table("Memory of a process", "after", "MB")
    for what, code in IN_A_PROCESS.items():
        table.row(what, resident_memory(code))


def row(name: str, sites: list[str], *, stand: bool = False) -> tuple[object, ...]:
    """One row of the table, for a human that has to keep standing or not."""
    figure = poise.load(name)
    there = {site: figure.pose_of(site, figure.neutral()).position for site in sites}
    met = [Position(site, at=place + NEAR[name]) for site, place in there.items()]
    away = [Position(site, at=place + AWAY[name]) for site, place in there.items()]
    unmet = [Position(site, at=place + away) for (site, place), away in zip(there.items(), FAR, strict=False)]
    solver = Solver(figure, met)
    rest = solver.settle(figure.neutral()).posture
    times = (
        low(lambda: Solver(figure, met)),
        *solve_times(figure, met, solved=True, stand=stand),
        *solve_times(figure, away, solved=True, stand=stand),
        low(lambda: solver.judge(rest)),
        *solve_times(figure, unmet, solved=False, stand=stand),
    )
    return name, len(sites), *times


def solve_times(figure: poise.Figure, tasks: list[Task], *, solved: bool, stand: bool) -> tuple[float, float]:
    """Time of a solve without its steps, and of its steps, those of trials for the verdict included [µs]."""
    settle, spent, times = descent.settle, [0.0], []

    def timed(*arguments: Any) -> tuple[int, float]:
        begin = time.perf_counter()
        found = settle(*arguments)
        spent[0] += time.perf_counter() - begin
        return found

    descent.settle = timed
    for _ in range(ROUNDS):
        spent[0] = 0.0
        begin = time.perf_counter()
        found = poise.solve(figure, tasks, stand=stand)
        times.append((time.perf_counter() - begin - spent[0], spent[0]))
    descent.settle = settle
    assert (found.status == "solved") is solved, found.report()
    overhead, steps = 1e6 * np.percentile(times, LOW, axis=0)
    return float(overhead), float(steps)


def recorded_row(name: str, *, stand: bool = False) -> tuple[float, ...]:
    """Times of solves whose every call of `settle` writes the answer of an earlier solve instead of taking steps.

    The processor's caches keep what Python needs, which steps otherwise push out of them, and a short time is rarely
    interrupted: so these times differ least between a busy machine and an idle one.
    """
    figure = poise.load(name)
    there = {site: figure.pose_of(site, figure.neutral()).position for site in SITES[name]}
    asked = [
        [Position(site, at=place + off) for (site, place), off in zip(there.items(), offsets, strict=False)]
        for offsets in ([NEAR[name]] * 2, [AWAY[name]] * 2, FAR)
    ]
    return tuple(recorded_time(figure, tasks, stand=stand) for tasks in asked)


def recorded_time(figure: poise.Figure, tasks: list[Task], *, stand: bool) -> float:
    """Time of a solve without its steps [µs]; the one of `examine`, for a verdict, is left in."""
    settle, ends = descent.settle, []

    def recording(engine: Any, q: np.ndarray, *stopping: Any) -> tuple[int, float]:
        found = settle(engine, q, *stopping)
        ends.append((q.copy(), found))
        return found

    def replaying(engine: Any, q: np.ndarray, *stopping: Any) -> tuple[int, float]:
        q[:], found = ends[played[0]]
        played[0] += 1
        return found

    played = [0]

    def solve() -> None:
        played[0] = 0
        poise.solve(figure, tasks, stand=stand)

    try:
        for _ in range(2):  # The second solve takes over the arrays of the first one.
            ends.clear()
            descent.settle = recording
            solve()
        descent.settle = replaying
        return low(solve)
    finally:
        descent.settle = settle


TARGETS: dict[str, tuple[Task, object]] = {
    "position": (Position("right_hand", at=(-0.3, 1.2, 0.5)), (0.1, 1.0, 0.3)),
    "direction of a gaze": (LookAt("eyes", direction=(0.0, 0.0, 1.0)), (0.1, 0.0, 1.0)),
    "moment of inertia": (MomentOfInertia("y", 1.0), 2.0),
    "held posture": (Hold("standing"), "waving"),
}


def target_time(name: str) -> float:
    """Time that another target of a kind takes [µs]."""
    task, value = TARGETS[name]
    solver = Solver(poise.load("human"), [task, Position("left_hand", at=(0.3, 1.2, 0.5), priority=2)])
    return low(lambda: solver.target(task, value))  # type: ignore[arg-type]


def low(call: Callable[[], object]) -> float:
    """Time of a call that a tenth of all calls undercut [µs]."""
    times = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return 1e6 * float(np.percentile(times, LOW))


def resident_memory(code: str) -> float:
    """Memory that a process of its own holds after running `code` [MB]."""
    code += "; from pathlib import Path; print(Path('/proc/self/status').read_text())"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    return int(re.findall(r"VmRSS:\s+(\d+) kB", said)[0]) / 1024.0


if __name__ == "__main__":
    if not Path("/proc/self/status").exists():
        raise SystemExit("this benchmark reads memory from /proc, which only Linux has.")
    main()
