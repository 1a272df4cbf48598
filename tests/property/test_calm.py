"""Calm: whatever is asked, postures stay legal, joints keep their speed, and rest comes when targets rest."""

from __future__ import annotations

import sysconfig
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import poise
from poise import CenterOfMass, Frame, Hold, Orientation, Position, Solver
from poise.kernels.body.clamp import clamp
from tests.scenarios import DT, FRAMES, HUMAN, MOVING, TALOS, Names, scenario, stance
from tests.strategies import Recipe, figures, wild_postures

OPEN = Recipe(bodies=8, loops=0, ball_couplings=True, odd_names=False)
REST = 1e-4
"""Largest step of a joint that counts as rest [rad or m]."""
LATER = 500
"""Further frames that a figure may take to come to rest."""
NOWHERE = np.empty(0)
STILL = 30
"""Frames of rest that are enough."""
NOISE = 1e-6
"""Growth of the distance from a target in one step that counts as numerical noise [m]."""
SEEDS = 200
ROBOTS = Path(sysconfig.get_path("purelib")) / "cmeel.prefix/share/example-robot-data/robots"
TALOS_FILE = ROBOTS / "talos_data/robots/talos_reduced.urdf"
CROUCH = {"leg_{}_3_joint": -0.45, "leg_{}_4_joint": 0.9, "leg_{}_5_joint": -0.45, "arm_{}_4_joint": -1.0}


def human() -> tuple[poise.Figure, poise.Posture]:
    figure = poise.load("human").with_floating_base()
    return figure, figure.neutral()


def talos() -> tuple[poise.Figure, poise.Posture]:
    """The robot of example-robot-data with bent knees and elbows."""
    if not TALOS_FILE.is_file():
        pytest.skip("Talos is not here: example-robot-data is not installed")
    figure = poise.load(TALOS_FILE).with_floating_base()
    bent = {name.format(side): value for name, value in CROUCH.items() for side in ("left", "right")}
    return figure, figure.clamp(bent)


@cache
def figure_of(which: str) -> tuple[poise.Figure, poise.Posture, Names]:
    return (*human(), HUMAN) if which == "human" else (*talos(), TALOS)


class Watch:
    """Steps a solver and checks every posture it makes."""

    def __init__(self, figure: poise.Figure, solver: Solver, start: poise.Posture) -> None:
        self.figure, self.solver, self.posture = figure, solver, start
        self.fastest = np.array([joint.speed for joint in figure.joints for _ in range(joint.nv)])
        self.moved: list[float] = []

    def step(self) -> None:
        after = self.solver.step(self.posture)
        assert np.isfinite(after.q).all()
        legal = after._q.copy()
        if clamp(self.figure.compiled.bounds, NOWHERE, legal) != 1 or np.abs(legal - after.q).max() > 1e-9:
            assert self.figure.violations(after) == []
        step = self.figure.difference(self.posture, after)
        assert (np.abs(step) <= self.fastest * DT * (1.0 + 1e-6) + 1e-9).all()
        self.posture = after
        self.moved.append(float(np.abs(step).max()))

    def rests(self) -> bool:
        return max(self.moved[-STILL:]) <= REST


@pytest.mark.parametrize("which", ["human", "talos"])
@pytest.mark.parametrize("block", range(10))
def test_every_scenario_comes_to_rest(which: str, block: int) -> None:
    figure, start, names = figure_of(which)
    restless = []
    for seed in range(block * SEEDS // 10, (block + 1) * SEEDS // 10):
        asked = scenario(seed, stance(figure, start, names))
        center = CenterOfMass(at=asked.center[0], priority=2)
        hand = Position(names.hand, at=asked.hand[0], priority=3)
        gaze = Orientation(names.head, asked.gaze[0], priority=4)
        feet = [Frame(foot, figure.pose_of(foot, start), priority=1) for foot in names.feet]
        solver = Solver(figure, [*feet, center, hand, gaze, Hold(start, priority=5, gain=0.1)], dt=DT)
        watch = Watch(figure, solver, start)
        for k in range(FRAMES + LATER):
            if k <= MOVING:
                for task, targets in ((center, asked.center), (hand, asked.hand), (gaze, asked.gaze)):
                    solver.target(task, targets[k])
            watch.step()
            if k >= FRAMES and watch.rests():
                break
        if not watch.rests():
            restless.append((seed, asked.kind, max(watch.moved[-STILL:])))
    assert not restless


@settings(max_examples=60, deadline=None)
@given(figures(OPEN), st.integers(0, 2**32 - 1), st.data())
def test_a_target_dragged_far_beyond_reach_and_back(figure: poise.Figure, seed: int, data: st.DataObject) -> None:
    assume(figure.nv > 0)
    rng = np.random.default_rng(seed)
    body = figure.bodies.names[-1]
    start = data.draw(wild_postures(figure))
    home = np.array(figure.pose_of(body, figure.clamp(start)).position)
    away = rng.normal(size=3)
    out = home + 3.0 * (1.0 + np.linalg.norm(home)) * away / np.linalg.norm(away)
    task = Position(body, at=home)
    solver = Solver(figure, [task], dt=DT)
    watch = Watch(figure, solver, solver.step(start))
    first = outmost = watch.posture

    def missed(posture: poise.Posture, target: np.ndarray) -> float:
        return float(np.linalg.norm(figure.pose_of(body, posture).position - target))

    for k in range(60):
        target = home + np.sin(np.pi * min(k, 40) / 40) * (out - home)
        solver.target(task, target)
        before = missed(watch.posture, target)
        watch.step()
        assert missed(watch.posture, target) <= before + NOISE
        if k == 20:
            outmost = watch.posture
    could = poise.solve(figure, [Position(body, at=out)], start=first).posture
    assert missed(outmost, out) < missed(first, out) or missed(could, out) > missed(first, out) - NOISE


@settings(max_examples=60, deadline=None)
@given(figures(OPEN), st.integers(0, 2**32 - 1))
def test_contradictions_come_to_rest(figure: poise.Figure, seed: int) -> None:
    assume(figure.nv > 0)
    rng = np.random.default_rng(seed)
    bodies = [str(rng.choice(figure.bodies.names)) for _ in range(3)]
    tasks = [Position(body, at=rng.normal(size=3) * 2.0, priority=1 + i % 2) for i, body in enumerate(bodies)]
    tasks += [Position(bodies[0], at=rng.normal(size=3) * 2.0)]
    solver = Solver(figure, tasks)
    posture, moved = figure.random(rng), []
    for _ in range(500):
        after = solver.step(posture)
        assert figure.violations(after) == []
        moved.append(float(np.abs(figure.difference(posture, after)).max()))
        posture = after
        if len(moved) > 40 and max(moved[-STILL:]) <= REST:
            break
    assert max(moved[-STILL:]) <= REST
