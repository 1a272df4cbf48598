"""BWCD and CCD: every turn is the best one, limits hold, and reachable targets are reached."""

from __future__ import annotations

import math

import numpy as np
import pytest

import poise
from poise.chains.chain import chain_of
from poise.figure.model.pose import turn
from poise.kernels.chains.chain import tip_rotation
from poise.kernels.gaze.erik import descent as descent
from poise.kernels.gaze.erik.descent import Descent
from poise.kernels.gaze.measures import DIRECTED, FULL, Aim
from poise.kernels.maths.quaternion import Quaternion, about, multiply
from poise.kernels.maths.vector import Vector

CHAIN = chain_of(poise.chain("YXZXZY", lengths=[0.1, 0.3, 0.3, 0.3, 0.2, 0.1], limits=(-80, 110))).chain
LONG = Descent(sweeps=200, precision=1e-12, progress=1e-15)


def rotation(seed: int) -> Quaternion:
    drawn = np.random.default_rng(seed).normal(size=4)
    return Quaternion(*(drawn / np.linalg.norm(drawn)).tolist())


@pytest.mark.parametrize("kind", [FULL, DIRECTED])
@pytest.mark.parametrize("seed", range(8))
def test_no_other_turn_about_the_axis_comes_nearer(seed: int, kind: int) -> None:
    aim, tip = Aim(rotation(seed), kind), rotation(seed + 100)
    drawn = np.random.default_rng(seed).normal(size=3)
    axis = Vector(*(drawn / np.linalg.norm(drawn)).tolist())
    left = descent.squared_half_sine(aim, multiply(about(axis, descent.best_turn(aim, tip, axis)), tip))
    others = [
        descent.squared_half_sine(aim, multiply(about(axis, a), tip)) for a in np.linspace(-math.pi, math.pi, 721)
    ]
    assert left <= min(others) + 1e-12


def test_what_remains_is_the_sine_of_half_the_angle() -> None:
    tip = rotation(3)
    for degrees in (0.0, 10.0, 120.0, 180.0):
        away = multiply(tip, Quaternion(*turn("x", degrees).tolist()))
        for kind in (FULL, DIRECTED):
            expected = math.sin(0.5 * math.radians(degrees)) ** 2
            assert descent.squared_half_sine(Aim(away, kind), tip) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("kind", [FULL, DIRECTED])
@pytest.mark.parametrize("up", [True, False], ids=["climb", "descend"])
def test_reachable_targets_are_reached_within_limits(up: bool, kind: int) -> None:
    rng = np.random.default_rng(5)
    reached = 0
    for _ in range(40):
        aim = Aim(tip_rotation(CHAIN, rng.uniform(CHAIN.lower, CHAIN.upper)), kind)
        angles = rng.uniform(CHAIN.lower, CHAIN.upper)
        if up:
            descent.bwcd_solution(CHAIN, aim, LONG, angles)
        else:
            descent.ccd_solution(CHAIN, aim, LONG, 0.0, angles)
        assert (angles >= CHAIN.lower).all()
        assert (angles <= CHAIN.upper).all()
        reached += descent.squared_half_sine(aim, tip_rotation(CHAIN, angles)) < 1e-4
    assert reached >= 32


def test_warping_turns_the_lowest_joints_first_and_ignores_limits() -> None:
    chain = chain_of(poise.chain("YXXY", lengths=[0.1, 0.3, 0.3, 0.1], limits=10)).chain
    angles = np.zeros(4)
    aim = Aim(Quaternion(*turn("x", 80.0).tolist()), FULL)
    descent.bwcd_posture(chain, aim, Descent(5, 1e-12, 0.0), angles)
    np.testing.assert_allclose(np.degrees(angles), [0.0, 80.0, 0.0, 0.0], atol=1e-6)


def test_descending_starts_at_the_tip() -> None:
    chain = chain_of(poise.chain("YXXY", lengths=[0.1, 0.3, 0.3, 0.1])).chain
    angles = np.zeros(4)
    aim = Aim(Quaternion(*turn("x", 80.0).tolist()), DIRECTED)
    descent.ccd_solution(chain, aim, Descent(5, 1e-12, 0.0), 0.0, angles)
    np.testing.assert_allclose(np.degrees(angles), [0.0, 0.0, 80.0, 0.0], atol=1e-6)
