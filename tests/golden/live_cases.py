"""Cases of `poise.Solver`, one step per frame."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import poise
from poise import CenterOfMass, Equilibrium, Frame, Gradient, Hold, LeastTorque, Orientation, Position, Support
from tests.golden.questions import (
    FEET,
    FIGURES,
    Case,
    FloatArray,
    packed,
    random_for,
    random_posture,
    rounded_path,
    site_of,
    size_of,
    solved,
)
from tests.golden.solve_cases import human_tasks
from tests.scenarios import HUMAN, scenario, stance


def live() -> Iterator[Case]:
    """Every figure follows a moving target one step per frame, with and without speed limits."""

    def answer(name: str, dt: float | None) -> FloatArray:
        figure, site, rng = poise.load(name), site_of(name), random_for("live", name)
        posture = figure.neutral()
        place = figure.pose_of(site, posture).position
        task = Position(site, at=place)
        solver = poise.Solver(figure, [task, Hold(posture, priority=2)], dt=dt)
        seen = []
        for k, target in enumerate(rounded_path(place, 0.3 * size_of(figure), rng, 48)):
            solver.target(task, target)
            posture = solver.step(posture)
            seen += [posture.q] if k % 12 == 11 else []
        return packed(seen, figure.pose_of(site, posture).position)

    def settled(name: str) -> FloatArray:
        figure, site, rng = poise.load(name), site_of(name), random_for("settled", name)
        task = Position(site, at=figure.pose_of(site, random_posture(figure, rng)).position)
        solver = poise.Solver(figure, [task])
        posture = figure.neutral()
        for _ in range(3):
            posture = solver.step(posture)
        solver.target(task, figure.pose_of(site, random_posture(figure, rng)).position)
        return solved(solver.settle(posture, max_steps=40))

    def with_python(kind: str) -> FloatArray:
        human, rng = poise.load("human"), random_for("live", kind)
        posture = human.posture("standing")
        place = human.pose_of("right_hand", posture).position
        task = Position("right_hand", at=place, priority=3)
        tasks = [*(Frame(foot, human.pose_of(foot, posture)) for foot in FEET), task]
        options: dict[str, dict[str, Any]] = {
            "custom": {"tasks": [*tasks, *human_tasks(human, rng)["custom with its Jacobian"]]},
            "gradient": {"tasks": tasks, "criteria": [Gradient(lambda p: human.difference("standing", p))]},
            "least torque": {"tasks": tasks, "criteria": [LeastTorque()], "forces": [Support(foot) for foot in FEET]},
            "equilibrium": {"tasks": [*tasks, Equilibrium(priority=2)], "forces": [Support(foot) for foot in FEET]},
        }
        solver = poise.Solver(human, **options[kind])
        for target in rounded_path(place, 0.4, rng, 20):
            solver.target(task, target)
            posture = solver.step(posture)
        return packed(posture.q)

    for kind in ("custom", "gradient", "least torque", "equilibrium"):
        yield f"human follows: {kind}", partial(with_python, kind)
    for name in FIGURES:
        yield f"{name} follows", partial(answer, name, None)
        yield f"{name} follows within its speed", partial(answer, name, 1.0 / 60.0)
        yield f"{name} settles", partial(settled, name)


def live_scenarios() -> Iterator[Case]:
    """The human live on three levels while targets go out of reach, oppose each other or jump."""

    def answer(seed: int) -> FloatArray:
        human = poise.load("human")
        posture = human.posture("standing")
        asked = scenario(seed, stance(human, posture, HUMAN), frames=80)
        center = CenterOfMass(at=asked.center[0], axes="xz", priority=2)
        hand = Position("right_hand", at=asked.hand[0], priority=3)
        head = Orientation("eyes", rotation=asked.gaze[0], priority=3, weight=0.5)
        feet = [Frame(foot, human.pose_of(foot, posture)) for foot in FEET]
        solver = poise.Solver(human, [*feet, center, hand, head], dt=0.01 if seed >= 4 else None)
        seen = []
        for k in range(80):
            for task, value in ((center, asked.center[k]), (hand, asked.hand[k]), (head, asked.gaze[k])):
                solver.target(task, value)
            posture = solver.step(posture)
            seen += [posture.q] if k % 16 == 15 else []
        return packed(seen)

    for seed in range(8):
        yield f"scenario {seed}", partial(answer, seed)
