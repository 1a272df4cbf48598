import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from poise.kernels.maths.quaternion import (
    Quaternion,
    SwingTwist,
    about,
    angle_of,
    columns,
    conjugate,
    direct_rotation,
    direction_swing,
    from_columns,
    from_rotation_vector,
    from_swing_twist,
    multiply,
    rotate,
    swing_direction,
    swing_twist_rates,
    to_rotation_vector,
    to_swing_twist,
    unit,
)
from poise.kernels.maths.vector import Vector, angle_between, cross, dot, length, normalized, orthogonal, subtract
from tests.unit.kernels.maths.regimes import directions, rotations, vectors

Z = Vector(0.0, 0.0, 1.0)


def scipy_rotation(q: Quaternion) -> Rotation:
    return Rotation.from_quat([q.x, q.y, q.z, q.w])


@given(rotations, rotations)
def test_product_is_composition(a, b):
    ours = scipy_rotation(multiply(a, b))
    assert (ours.inv() * scipy_rotation(a) * scipy_rotation(b)).magnitude() < 1e-7


@given(rotations, vectors)
def test_rotate_equals_the_matrix(q, v):
    assert np.allclose(rotate(q, v), scipy_rotation(q).apply(v), atol=1e-12)


@given(rotations)
def test_columns_are_the_matrix_and_back(q):
    x, y, z = columns(q)
    assert np.allclose(np.array([x, y, z]).T, scipy_rotation(q).as_matrix(), atol=1e-13)
    assert angle_of(multiply(conjugate(q), from_columns(x, y, z))) < 1e-7


@given(rotations)
def test_logarithm_undoes_the_exponential(q):
    v = to_rotation_vector(q)
    assert length(v) <= math.pi + 1e-12
    back = from_rotation_vector(v)
    sign = 1.0 if back.w * q.w + back.x * q.x + back.y * q.y + back.z * q.z >= 0 else -1.0
    assert np.allclose(np.array(back) * sign, q, atol=1e-12)


@given(st.floats(1e-300, 1e-4), directions)
def test_small_rotation_vectors_keep_all_their_digits(size, axis):
    v = to_rotation_vector(from_rotation_vector(Vector(size * axis.x, size * axis.y, size * axis.z)))
    assert length(v) == pytest.approx(size, rel=1e-12)


@given(directions, directions)
def test_direct_rotation_arrives_and_is_the_smallest(a, b):
    q = direct_rotation(a, b)
    assert length(subtract(rotate(q, a), b)) < 1e-14
    assert angle_of(q) == pytest.approx(angle_between(a, b), abs=1e-7)


@given(directions, st.floats(0.0, 1e-3), directions)
def test_direct_rotation_arrives_near_half_a_turn(a, angle, side):
    axis = normalized(cross(a, side))
    if length(cross(a, side)) < 1e-3:
        return
    b = rotate(about(axis, math.pi - angle), a)
    q = direct_rotation(a, b)
    assert length(subtract(rotate(q, a), b)) < 1e-13
    assert abs(dot(Vector(q.x, q.y, q.z), a)) < 1e-7


@given(directions)
def test_direct_rotation_to_the_opposite_direction(a):
    b = Vector(-a.x, -a.y, -a.z)
    q = direct_rotation(a, b)
    assert length(subtract(rotate(q, a), b)) < 1e-14
    assert angle_of(q) == pytest.approx(math.pi)


@given(directions)
def test_orthogonal_is_a_unit_vector_at_right_angles(a):
    b = orthogonal(a)
    assert abs(dot(a, b)) < 1e-15
    assert length(b) == pytest.approx(1.0, abs=1e-15)


def test_degenerate_input_gives_harmless_values():
    assert normalized(Vector(0.0, 0.0, 0.0)) == Vector(0.0, 0.0, 0.0)
    assert unit(Quaternion(0.0, 0.0, 0.0, 0.0)) == Quaternion(1.0, 0.0, 0.0, 0.0)
    assert unit(Quaternion(2.0, 0.0, 0.0, 0.0)) == Quaternion(1.0, 0.0, 0.0, 0.0)


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
