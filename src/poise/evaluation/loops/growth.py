"""Time per frame as a function of the frame rate and of the number of bodies."""

from __future__ import annotations

import io
import time
from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure as Sheet

from poise.engine.solver import Solver
from poise.evaluation.loops.evaluation import built, run
from poise.figure.model.builder import revolute
from poise.figure.model.figure import Figure
from poise.figures.mechanisms.mechanism import Mechanism
from poise.tasks.place import Position

RATES = (30.0, 60.0, 120.0, 300.0, 600.0, 1200.0)
"""Frame rates [1/s]."""
RUNGS = (1, 2, 4, 8, 16)
"""Numbers of rungs of the ladders."""
LADDER_FRAMES = 60
"""Number of frames over which the median is taken."""

Curve = list[tuple[float, float]]
"""Pairs of the varied quantity and the time per frame [ms]."""


def time_against_rate(seconds: float, rates: Sequence[float] = RATES) -> Curve:
    """The dancer's time per frame at several frame rates [Schumacher et al. 2021, fig. 6c]."""
    return [(rate, run(built("Dancer"), seconds, rate).milliseconds) for rate in rates]


def time_against_bodies(rungs: Sequence[int] = RUNGS) -> Curve:
    """Time per frame of ladders whose top moves, against their number of bodies."""
    return [_timed_ladder(ladder(count)) for count in rungs]


def ladder(rungs: int) -> Figure:
    """A figure of stacked parallelograms, each with a motor and a loop."""
    m = Mechanism("ladder", "A ladder of parallelograms.", "rung_0")
    for k in range(rungs):
        left, right, top = (f"{part}_{k + 1}" for part in ("left", "right", "rung"))
        for link in (left, right, top):
            m.link(link, [], 1.0)
        low, high = 0.5 * k, 0.5 * (k + 1)
        m.motor(revolute(f"motor_{k}", "z"), f"rung_{k}", left, at=(0.0, low, 0.0))
        m.hinge(revolute(f"pivot_{k}", "z"), f"rung_{k}", right, at=(1.0, low, 0.0))
        m.hinge(revolute(f"pin_{k}", "z"), left, top, at=(0.0, high, 0.0))
        m.hinge(revolute(f"close_{k}", "z"), right, top, at=(1.0, high, 0.0))
    m.site("top", f"rung_{rungs}", (0.5, 0.5 * rungs, 0.0))
    return m.build()


def _timed_ladder(figure: Figure) -> tuple[float, float]:
    """Number of bodies and median time per frame of a ladder whose top moves sideways."""
    task = Position("top", at=figure.pose_of("top", figure.neutral()).position, axes="x")
    rest = np.asarray(task.at, dtype=np.float64)
    solver, posture, times = Solver(figure, [task]), figure.neutral(), []
    for k in range(LADDER_FRAMES):
        solver.target(task, rest + np.array([0.1 * np.sin(0.05 * k), 0.0, 0.0]))
        begin = time.thread_time()
        posture = solver.step(posture)
        times.append(time.thread_time() - begin)
    return float(len(figure.bodies)), 1e3 * float(np.median(times))


def drawn(rates: Curve, bodies: Curve) -> bytes:
    """Both curves as a PNG file."""
    sheet = Sheet(figsize=(9.0, 3.2), layout="constrained")
    for axes, curve, label in zip(
        sheet.subplots(1, 2), (rates, bodies), ("frames per second (dancer)", "bodies (ladders)"), strict=True
    ):
        axes.plot(*np.array(curve).T, "o-", color="#1f5fd0")
        axes.set(xlabel=label, ylabel="ms per frame", xlim=(0.0, None), ylim=(0.0, None))
        axes.grid(alpha=0.3)
    picture = io.BytesIO()
    sheet.savefig(picture, format="png", dpi=110)
    return picture.getvalue()
