import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.kernels.maths.quaternion import Quaternion, angle_of, conjugate, from_rotation_vector, multiply, rotate
from poise.kernels.maths.swing_twist import (
    SwingTwist,
    direction_swing,
    from_swing_twist,
    swing_direction,
    swing_twist_rates,
    to_swing_twist,
)
from poise.kernels.maths.vector import Vector
from tests.unit.kernels.maths.regimes import directions, rotations

Z = Vector(0.0, 0.0, 1.0)


@given(rotations)
def test_split_recomposes(q):
    split = to_swing_twist(q)
    assert angle_of(multiply(conjugate(q), from_swing_twist(split))) < 1e-7
    assert math.hypot(split.x, split.y) <= math.pi + 1e-12
    assert -math.pi <= split.twist <= math.pi


@given(rotations)
def test_swing_alone_points_the_limb(q):
    split = to_swing_twist(q)
    assert np.allclose(swing_direction(split.x, split.y), rotate(q, Z), atol=1e-7)


@given(st.floats(-math.pi, math.pi))
def test_pure_twist_has_no_swing(angle):
    split = to_swing_twist(Quaternion(math.cos(angle / 2), 0.0, 0.0, math.sin(angle / 2)))
    assert (split.x, split.y) == (0.0, 0.0)
    assert split.twist == pytest.approx(angle)


@given(directions)
def test_direction_and_swing_are_inverse(d):
    assert np.allclose(swing_direction(*direction_swing(d)), d, atol=1e-12)


def test_the_singular_direction_has_a_swing_of_half_a_turn_and_no_twist():
    split = to_swing_twist(Quaternion(0.0, 1.0, 0.0, 0.0))
    assert math.hypot(split.x, split.y) == pytest.approx(math.pi)
    assert split.twist == 0.0
    assert direction_swing(Vector(0.0, 0.0, -1.0)) == (math.pi, 0.0)


@given(
    st.floats(-2.0, 2.0),
    st.floats(-2.0, 2.0),
    st.floats(-3.0, 3.0),
)
def test_rates_equal_finite_differences(x, y, twist):
    split = SwingTwist(x, y, twist)
    q = from_swing_twist(split)
    rows = np.array(swing_twist_rates(split))
    h = 1e-6
    for k in range(3):
        step = Vector(*(h * (i == k) for i in range(3)))
        back = Vector(*(-h * (i == k) for i in range(3)))
        ahead = np.array(to_swing_twist(multiply(q, from_rotation_vector(step))))
        behind = np.array(to_swing_twist(multiply(q, from_rotation_vector(back))))
        assert np.allclose(rows[:, k], (ahead - behind) / (2 * h), atol=1e-7)
