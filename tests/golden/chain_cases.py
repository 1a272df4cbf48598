"""Cases of the chain solvers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import poise
from poise import chains
from tests.golden.questions import (
    Case,
    FloatArray,
    chain_solved,
    direction,
    gaze_target,
    packed,
    random_for,
    random_in_place,
    site_of,
    size_of,
    status_code,
)

POSITION_SOLVERS = ("ccd", "fabrik", "jacobian_transpose", "pseudoinverse", "dls", "sdls")
FACING_SOLVERS = ("ccd", "bwcd", "dls", "sdls", "pseudoinverse", "two_priority_dls")


def chain_positions() -> Iterator[Case]:
    """Chain solvers that bring a tip to a place."""

    def answer(solver: str, name: str, kind: str) -> FloatArray:
        figure, rng = poise.load(name).replaced(couplings=()), random_for("chain", name, kind)
        site = site_of(name)
        place = figure.pose_of(site, random_in_place(figure, rng)).position
        options: dict[str, Any] = {"tip": site, "max_iterations": 100}
        if kind == "out of reach":
            place = place + 2.0 * size_of(figure) * direction(rng)
        if kind in {"random start", "no limits"}:
            options |= {"start": random_in_place(figure, rng), "limits": kind == "random start"}
        return chain_solved(getattr(chains, solver)(figure, place, **options))

    for name in ("arm", "erik_c", "erik_g", "snake", "serial12", "human", "boxer"):
        for solver in POSITION_SOLVERS:
            if (name, solver) == ("serial12", "fabrik"):
                continue  # FABRIK has no slides.
            for kind in ("rest", "random start", "out of reach", "no limits"):
                yield f"{solver}, {name}: {kind}", partial(answer, solver, name, kind)


def chain_facing() -> Iterator[Case]:
    """Chain solvers that turn a tip."""

    def answer(solver: str, name: str, kind: str) -> FloatArray:
        figure, rng = poise.load(name), random_for("facing", name, kind)
        target = gaze_target(figure, kind, rng)
        found = getattr(chains, solver)(figure, target, start=figure.random(rng), max_iterations=100)
        return chain_solved(found)

    def as_posture(name: str) -> FloatArray:
        figure, rng = poise.load(name), random_for("posture form", name)
        target = gaze_target(figure, "direction", rng)
        return chain_solved(chains.bwcd(figure, target, form="posture", start=figure.random(rng)))

    for name in ("adelino", "erik_c", "erik_g"):
        for solver in FACING_SOLVERS:
            for kind in ("orientation", "direction"):
                yield f"{solver}, {name}: {kind}", partial(answer, solver, name, kind)
        yield f"bwcd of postures, {name}", partial(as_posture, name)
        yield f"ccd, {name}: point", partial(answer, "ccd", name, "point")


def circles() -> Iterator[Case]:
    """Circles on an arm and on a long planar chain."""

    def answer(name: str, keep: Any, seed: int) -> FloatArray:
        figure = poise.load(name) if name == "arm" else poise.chain("XXXXXXXX", lengths=[0.1] * 8)
        rng = random_for("circles", name, seed)
        place = figure.pose_of("tip", figure.random(rng)).position * (3.0 if seed == 2 else 1.0)
        found = chains.circles(figure, place, keep=keep, start=figure.random(rng))
        return np.concatenate([chain_solved(found), chains.circle_zones(figure)])

    for name in ("arm", "planar"):
        for keep in (None, "directions", "distances"):
            for seed in range(3):
                yield f"{name}, keep {keep}: {seed}", partial(answer, name, keep, seed)


def fabrik_trees() -> Iterator[Case]:
    """FABRIK with several end-points, and on points without joints."""

    def both_hands(seed: int) -> FloatArray:
        human, rng = poise.load("human").replaced(couplings=()), random_for("both hands", seed)
        posture = random_in_place(human, rng)
        targets = {hand: human.pose_of(hand, posture).position for hand in ("left_hand", "right_hand")}
        return chain_solved(chains.fabrik(human, targets, max_iterations=100))

    def points(kind: str) -> FloatArray:
        rng = random_for("points", kind)
        line = np.cumsum(rng.uniform(-0.3, 0.3, (6, 3)), axis=0)
        options: dict[str, Any] = {}
        target: Any = line[-1] + 0.1 * direction(rng)
        if kind == "tree":
            target, options = {4: line[4] + 0.03, 5: line[5] - 0.03}, {"parents": [-1, 0, 1, 2, 3, 2]}
        elif kind == "ring":
            target, options = {3: line[3] + 0.1 * direction(rng)}, {"closed": True}
        elif kind == "out of reach":
            target = 9.0 * direction(rng)
        found = chains.fabrik_points(line, target, **options)
        return packed(found.points, found.error, counts=[status_code(found), found.iterations])

    for seed in range(4):
        yield f"both hands {seed}", partial(both_hands, seed)
    for kind in ("line", "tree", "ring", "out of reach"):
        yield f"points: {kind}", partial(points, kind)
