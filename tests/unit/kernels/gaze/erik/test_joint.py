"""ERIK's joint model against brute force."""

from __future__ import annotations

import math

import numpy as np
import pytest

import poise
from poise.chains.chain import chain_of
from poise.expressive.lalut import lalut_of, no_lalut
from poise.figure.model.pose import turn
from poise.kernels.chains.chain import Chain, pointing
from poise.kernels.gaze.erik import joint as joint
from poise.kernels.maths.quaternion import Quaternion, about, multiply
from poise.kernels.maths.vector import Vector

STRAIGHT = chain_of(poise.chain("YXZY", lengths=[0.1, 0.3, 0.3, 0.1], limits=[90, 180, (-100, 60), 45])).chain
OBLIQUE = chain_of(poise.chain(["y", (1, 0.4, 0.2), (0.1, -0.5, 1)], lengths=[0.1, 0.3, 0.3], limits=180)).chain
SWINGS = [(STRAIGHT, 1), (STRAIGHT, 2), (OBLIQUE, 1), (OBLIQUE, 2)]


def directions(count: int = 30) -> list[Vector]:
    drawn = np.random.default_rng(0).normal(size=(count, 3))
    return [Vector(*(row / np.linalg.norm(row)).tolist()) for row in drawn]


def after(chain: Chain, k: int, angle: float) -> Vector:
    """The segment after a swing, in the joint's frame."""
    return pointing(about(Vector(*chain.axis[k].tolist()), angle))


@pytest.mark.parametrize(("chain", "k"), SWINGS)
def test_a_swing_comes_as_near_to_the_latitude_as_its_hemisphere_and_limits_let_it(chain: Chain, k: int) -> None:
    """Checked by trying every tenth of a degree."""
    tried = np.radians(np.arange(-180.0, 180.05, 0.1))
    segments = np.array([after(chain, k, angle) for angle in tried])
    sides = np.array([joint.hemisphere_of(chain, k, Vector(*segment.tolist())) for segment in segments])
    for direction in directions():
        for side in (1, -1):
            angle = joint.swing_angle(chain, no_lalut(len(chain.role)), k, direction, side)
            assert chain.lower[k] <= angle <= chain.upper[k]
            missed = abs(after(chain, k, angle).y - direction.y)
            allowed = (tried >= chain.lower[k]) & (tried <= chain.upper[k]) & (sides == side)
            assert missed <= np.abs(segments[allowed, 1] - direction.y).min() + 1e-9


@pytest.mark.parametrize(("chain", "k"), SWINGS)
def test_the_table_says_what_solving_says(chain: Chain, k: int) -> None:
    solved, table = no_lalut(len(chain.role)), lalut_of(chain, 0.5)
    for direction in directions():
        for side in (1, -1):
            closed = after(chain, k, joint.swing_angle(chain, solved, k, direction, side)).y
            looked_up = after(chain, k, joint.swing_angle(chain, table, k, direction, side)).y
            assert looked_up == pytest.approx(closed, abs=1e-4)


def test_the_poles_have_a_table_entry_in_both_hemispheres() -> None:
    table = lalut_of(STRAIGHT, 1.0)
    for side in (0, 1):
        last = table.entries[1, side] - 1
        assert table.latitude[1, side, 0] == pytest.approx(0.0, abs=1e-15)
        assert table.latitude[1, side, last] == pytest.approx(1.0, abs=1e-15)
    assert table.angle[1, 0, 0] == pytest.approx(-math.pi)
    assert table.angle[1, 1, 0] == pytest.approx(math.pi)


@pytest.mark.parametrize(
    ("degrees", "safe"), [(30.0, 30.0), (100.0, -80.0), (-135.0, 45.0), (180.0, 0.0), (90.0, 90.0), (370.0, 10.0)]
)
def test_a_twister_out_of_range_turns_around(degrees: float, safe: float) -> None:
    assert joint.safe_twist(STRAIGHT, 0, math.radians(degrees)) == pytest.approx(math.radians(safe), abs=1e-12)


@pytest.mark.parametrize(
    ("degrees", "symmetric", "tip"), [(30.0, 0, 30.0), (100.0, 0, 45.0), (170.0, 1, -10.0), (100.0, 1, -45.0)]
)
def test_the_tip_turns_around_only_if_it_may_be_upside_down(degrees: float, symmetric: int, tip: float) -> None:
    angle = joint.tip_twist(STRAIGHT, math.radians(degrees), symmetric)
    assert angle == pytest.approx(math.radians(tip), abs=1e-12)


def test_a_joint_at_a_limit_steps_off_it_and_others_stay() -> None:
    low, high = STRAIGHT.lower[2], STRAIGHT.upper[2]
    assert joint.step_off_limit(STRAIGHT, 2, low, 0.02) == pytest.approx(low + 0.02)
    assert joint.step_off_limit(STRAIGHT, 2, high, 0.02) == pytest.approx(high - 0.02)
    assert joint.step_off_limit(STRAIGHT, 2, 0.3, 0.02) == 0.3
    assert joint.step_off_limit(STRAIGHT, 2, high + 0.1, 0.02) == high + 0.1


@pytest.mark.parametrize("degrees", [-170.0, -20.0, 0.0, 65.0, 180.0])
def test_twists_between_frames_with_one_direction(degrees: float) -> None:
    start = Quaternion(*turn((1, -2, 0.5), 77.0).tolist())
    target = multiply(start, about(Vector(0.0, 1.0, 0.0), math.radians(degrees)))
    assert math.cos(joint.twist_between(target, start)) == pytest.approx(math.cos(math.radians(degrees)), abs=1e-12)
    assert math.sin(joint.twist_between(target, start)) == pytest.approx(math.sin(math.radians(degrees)), abs=1e-12)


def test_the_twist_of_a_rotation_is_that_of_its_split() -> None:
    twist = about(Vector(0.0, 1.0, 0.0), 1.1)
    swing = about(Vector(math.sqrt(0.5), 0.0, math.sqrt(0.5)), 0.7)
    assert joint.twist_of(multiply(swing, twist)) == pytest.approx(1.1, abs=1e-14)
