"""Cases of solvers that hold a posture while the tip faces a target, and of the character."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

import poise
from poise import Clip, Figure, MotionFilter
from tests.golden.questions import ERIKS, Case, FloatArray, gaze_target, gazes, packed, random_for, size_of

GAZING = (*ERIKS, "adelino", "snake")
TARGETS = ("orientation", "direction", "point", "faced by a posture")


def batch(solver: Callable[[Figure], Any], name: str) -> FloatArray:
    """Many orientations for one posture."""
    figure, rng = poise.load(name), random_for("batch", name)
    targets = [gaze_target(figure, "orientation", rng) for _ in range(12)]
    return gazes(solver(figure).solve_batch(figure.random(rng), targets))


def tracked(solver: Any, path: str, frames: int, shown: int) -> FloatArray:
    """Every so many frames of a gaze that moves."""
    figure = solver.figure
    rng = random_for("tracked", figure.name, path)
    wanted, angle = figure.random(rng), {"above": 1.1, "below": 1.9}.get(path, 1.3)
    first = float(rng.uniform(0.0, 6.0))
    results, last = [], None
    for k in range(frames):
        heading = first + math.radians(2.0 * k)
        way = np.array([math.sin(angle) * math.sin(heading), math.cos(angle), math.sin(angle) * math.cos(heading)])
        target = poise.at(0.8 * size_of(figure) * way, roll=None) if path == "point" else poise.facing(way)
        last = solver.solve(wanted, target, previous=last)
        results.append(last)
    return gazes(results[shown - 1 :: shown])


def erik() -> Iterator[Case]:
    """ERIK of 2019: single answers, settings, weights and a batch."""
    settings = {
        "as printed": poise.ErikSettings(as_printed=True),
        "looked up": poise.ErikSettings(lalut=True, lalut_step=5.0),
        "without tricks": poise.ErikSettings(offset_trick=False, ccd_trick=False, avoid_edges=False),
        "strict": poise.ErikSettings(threshold=0.001, iterations=40),
    }

    def single(name: str, kind: str) -> FloatArray:
        figure, rng = poise.load(name), random_for("erik", name, kind)
        return gazes([poise.Erik(figure).solve(figure.random(rng), gaze_target(figure, kind, rng))])

    def with_settings(name: str, kind: str) -> FloatArray:
        figure, rng = poise.load(name), random_for("erik settings", name, kind)
        weights = poise.Weights(symmetric=kind != "strict")
        solver = poise.Erik(figure, settings=settings[kind], weights=weights)
        return gazes(solver.solve(figure.random(rng), gaze_target(figure, "orientation", rng)) for _ in range(4))

    for name in GAZING:
        for kind in TARGETS:
            yield f"{name}: {kind}", partial(single, name, kind)
    for name in ("erik_c", "erik_g", "adelino"):
        for kind in settings:
            yield f"{name}: {kind}", partial(with_settings, name, kind)
        yield f"{name}: batch", partial(batch, poise.Erik, name)


def erik_2017() -> Iterator[Case]:
    """ERIK of 2017: each frame goes on from the one before."""

    def answer(name: str, path: str) -> FloatArray:
        return tracked(poise.Erik(poise.load(name), variant="2017"), path, 24, 6)

    for name in (*ERIKS, "adelino"):
        for path in ("above", "below"):
            yield f"{name}: {path}", partial(answer, name, path)


def expressive() -> Iterator[Case]:
    """`poise.Expressive`: single answers, settings, weights and batches."""
    settings = {
        "one start": poise.ExpressiveSettings(starts=1, steps=2, restarts=0),
        "papers' error": poise.ExpressiveSettings(blend=1.0),
        "own error": poise.ExpressiveSettings(blend=0.0, starts=5),
    }

    def single(name: str, kind: str) -> FloatArray:
        figure, rng = poise.load(name), random_for("expressive", name, kind)
        return gazes([poise.Expressive(figure).solve(figure.random(rng), gaze_target(figure, kind, rng))])

    def with_settings(name: str, kind: str) -> FloatArray:
        figure, rng = poise.load(name), random_for("expressive settings", name, kind)
        solver = poise.Expressive(figure, settings=settings[kind], weights=poise.Weights(symmetric=False))
        return gazes(solver.solve(figure.random(rng), gaze_target(figure, "orientation", rng)) for _ in range(4))

    for name in (*GAZING, "serial12"):
        for kind in TARGETS:
            yield f"{name}: {kind}", partial(single, name, kind)
    for name in ("erik_c", "erik_g", "adelino"):
        for kind in settings:
            yield f"{name}: {kind}", partial(with_settings, name, kind)
        yield f"{name}: batch", partial(batch, poise.Expressive, name)


def expressive_tracked() -> Iterator[Case]:
    """`poise.Expressive` frame by frame: a turn above and below the horizon, and around a near point."""

    def answer(name: str, path: str) -> FloatArray:
        return tracked(poise.Expressive(poise.load(name)), path, 120, 20)

    for name in GAZING:
        for path in ("above", "below", "point"):
            yield f"{name}: {path}", partial(answer, name, path)


def character() -> Iterator[Case]:
    """A character that holds, looks, plays and breathes in simulated time."""

    def answer(name: str, rate: float) -> FloatArray:
        figure, rng = poise.load(name), random_for("character", name)
        swing = 0.3 * np.sin(np.linspace(0, 12, 60))[:, None] * rng.normal(size=figure.nq)
        clip = Clip(figure, figure.clamp(figure.neutral()).q + swing, rate=30, name="swing")
        lively = MotionFilter(velocity=6, acceleration=40, jerk=800)
        live = poise.Character(figure, filter=lively, clips={"swing": clip}, idle=0.3, seed=3)
        script: Mapping[int, Callable[[], None]] = {
            5: partial(live.hold, figure.random(rng)),
            20: partial(live.face, [1.0, 0.3, 0.5]),
            45: partial(live.play, "swing"),
            70: partial(live.face, poise.at([0.2, 0.6, 0.7])),
            95: partial(live.hold, figure.neutral(), blend=0.1),
        }
        seen = []
        for k, frame in enumerate(live.frames(rate=rate, seconds=120 / rate, realtime=False)):
            seen += [frame.q] if k % 20 == 19 else []
            script.get(k, int)()
        return packed(seen, live.wished.q, counts=[live.solves])

    for name in ("adelino", "snake", "erik_c", "erik_g"):
        for rate in (60.0, 30.0):
            yield f"{name} at {rate:g} frames a second", partial(answer, name, rate)
