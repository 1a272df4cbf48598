"""Chain solvers on the same random targets: success, iterations, time and smoothness, one table per figure.

Reachable targets are tip positions of random legal postures; unreachable ones lie beyond the stretched limb. Every
solver starts from the same random legal posture and keeps the limits. For unreachable targets, the table has the error
beyond that of `poise.reach`. For smoothness, the tip is dragged along a closed curve of 400 reachable positions, each
solve starting from the result of the last one: largest and mean turn of any joint per frame, and frames in which the
target was not reached. Times are processor times of the whole call from Python. Circles is measured only on figures
whose joints, except a turntable, move in one plane.

Run: python benchmarks/chains.py [targets per figure]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from machine import describe

import poise
from poise import chains
from poise.chains import ChainResult

SOLVERS: dict[str, Callable[..., ChainResult]] = {
    "CCD": chains.ccd,
    "FABRIK": chains.fabrik,
    "circles, directions kept": partial(chains.circles, keep="directions"),
    "circles, distances kept": partial(chains.circles, keep="distances"),
    "DLS": chains.dls,
    "SDLS": chains.sdls,
    "pseudoinverse": chains.pseudoinverse,
    "transpose": chains.jacobian_transpose,
}
FIGURES = {
    "arm, 4 hinges": lambda: poise.load("arm"),
    "8 parallel hinges": lambda: poise.chain("Z" * 8, lengths=[0.2] * 8, limits=90),
    "erik_c, 5 hinges": lambda: poise.load("erik_c"),
    "erik_g, 8 hinges": lambda: poise.load("erik_g"),
}
PLANAR = ("arm, 4 hinges", "8 parallel hinges")
FRAMES = 400
"""Of the curve along which a tip is dragged."""


@dataclass(frozen=True)
class Row:
    """Results of one solver on one figure."""

    solver: str
    success: float
    iterations: float
    micros: float
    slowest: float
    beyond: float
    largest: float
    mean: float
    missed: float

    def __str__(self) -> str:
        """One line of a table."""
        return (
            f"| {self.solver} | {100 * self.success:.1f} % | {self.iterations:.0f} | {self.micros:.0f} / "
            f"{self.slowest:.0f} | {1000 * self.beyond:.0f} | {self.largest:.1f}° | {self.mean:.2f}° | "
            f"{100 * self.missed:.0f} % |"
        )


HEAD = """| solver | success | iterations | µs, median / p99 | beyond nearest, mm | largest turn | mean turn | missed |
|---|---|---|---|---|---|---|---|"""


def targets(figure: poise.Figure, count: int) -> Iterator[tuple[np.ndarray, np.ndarray, poise.Posture]]:
    """A reachable target, an unreachable one, and a start posture."""
    rng = np.random.default_rng(11)
    first = figure.moving_joints[0]
    center = figure.pose_of(
        next(joint.child for joint in figure.joints if joint.name == first), figure.neutral()
    ).position
    reach = max(float(np.linalg.norm(figure.pose_of("tip", figure.random(rng)).position - center)) for _ in range(500))
    for _ in range(count):
        near = figure.pose_of("tip", figure.random(rng)).position
        way = near - center
        far = center + way / np.linalg.norm(way) * reach * rng.uniform(1.3, 2.0)
        yield near, far, figure.random(rng)


def curve(figure: poise.Figure) -> tuple[np.ndarray, poise.Posture]:
    """(FRAMES, 3) positions of the tip while every joint oscillates at its own frequency, and the first posture."""
    low, high = figure.compiled.bounds.lower, figure.compiled.bounds.upper
    t = np.linspace(0.0, 2.0 * np.pi, FRAMES, endpoint=False)
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    phase = np.arange(figure.nq)
    q = middle + 0.25 * half + 0.2 * half * np.sin(t[:, None] + phase)
    return np.array([figure.pose_of("tip", row).position for row in q]), figure.posture(q[0])


def measure(name: str, figure: poise.Figure, count: int) -> Row:
    """One row of the table."""
    solver = SOLVERS[name]
    solver(figure, figure.pose_of("tip", figure.random(0)).position)
    met, iterations, seconds, beyond = [], [], [], []
    for near, far, start in targets(figure, count):
        began = time.thread_time()
        result = solver(figure, near, start=start)
        seconds.append(time.thread_time() - began)
        met.append(result.status == "solved")
        iterations.append(result.iterations)
        best = poise.reach(figure, "tip", far, start=start, restarts=4).position_error
        beyond.append(solver(figure, far, start=start).error - best)
        assert figure.violations(result.posture) == []
    largest, mean, missed = drag(solver, figure)
    micros = 1e6 * np.array(seconds)
    return Row(
        name,
        float(np.mean(met)),
        float(np.mean(iterations)),
        float(np.median(micros)),
        float(np.percentile(micros, 99)),
        float(np.mean(beyond)),
        largest,
        mean,
        missed,
    )


def drag(solver: Callable[..., ChainResult], figure: poise.Figure) -> tuple[float, float, float]:
    """Largest and mean turn per frame [degrees], and the share of frames that missed."""
    places, posture = curve(figure)
    steps, missed = [], []
    for place in places[1:]:
        result = solver(figure, place, start=posture)
        steps.append(np.abs(np.degrees(result.posture.q - posture.q)).max())
        missed.append(result.status != "solved")
        posture = result.posture
    return float(np.max(steps)), float(np.mean(steps)), float(np.mean(missed))


def main(count: int) -> None:
    """All tables."""
    print(describe("numba", "numpy"))
    for title, make in FIGURES.items():
        print(f"\n**{title}, {count} targets of each kind**\n\n{HEAD}")
        figure = make()
        for name in SOLVERS:
            if not name.startswith("circles") or title in PLANAR:
                print(measure(name, figure, count), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
