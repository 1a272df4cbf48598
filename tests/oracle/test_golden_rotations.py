"""Rotation kernels against scipy and against values of scipy and pytransform3d, including near 0 and π."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from poise.figure.model.pose import from_matrix, to_matrix
from poise.kernels.maths.quaternion import (
    Quaternion,
    about,
    angle_of,
    conjugate,
    from_rotation_vector,
    multiply,
    to_rotation_vector,
)
from poise.kernels.maths.vector import Vector
from tests import real_data

GOLDEN = real_data.FOLDER / "golden_rotations"

X, Y, Z = Vector(1.0, 0.0, 0.0), Vector(0.0, 1.0, 0.0), Vector(0.0, 0.0, 1.0)


ANGLES = [0.0, 1e-12, 1e-7, 1e-3, 0.5, 2.0, np.pi - 1e-3, np.pi - 1e-7]


def rotations():
    """Rotations by small and large angles about random axes, as scipy has them."""
    axes = np.random.default_rng(6).normal(size=(20, 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    return [Rotation.from_rotvec(angle * axis) for angle in ANGLES for axis in axes]


def test_conversions_are_those_of_scipy():
    for known in rotations():
        expected = known.as_quat(scalar_first=True)
        q = from_matrix(known.as_matrix())
        assert np.allclose(q * np.sign(q @ expected), expected, atol=1e-12)
        assert np.allclose(to_matrix(Quaternion(*expected)), known.as_matrix(), atol=1e-13)
        vector = known.as_rotvec()
        assert np.allclose(to_matrix(from_rotation_vector(Vector(*vector))), known.as_matrix(), atol=1e-12)
        assert np.allclose(to_rotation_vector(Quaternion(*expected)), vector, atol=1e-9)


def test_angles_and_products_are_those_of_scipy():
    every = rotations()
    for a, b in zip(every, every[7:] + every[:7], strict=True):
        one, other = (Quaternion(*each.as_quat(scalar_first=True)) for each in (a, b))
        assert np.allclose(to_matrix(multiply(one, other)), (a * b).as_matrix(), atol=1e-13)
        assert angle_of(multiply(conjugate(one), other)) == pytest.approx((a.inv() * b).magnitude(), abs=1e-7)


@pytest.mark.parametrize("angles", np.random.default_rng(7).uniform(-np.pi, np.pi, (5, 3)).tolist())
def test_euler_angles_are_those_of_scipy(angles):
    z, y, x = angles
    q = multiply(multiply(about(Z, z), about(Y, y)), about(X, x))
    assert np.allclose(to_matrix(q), Rotation.from_euler("ZYX", angles).as_matrix(), atol=1e-13)


@pytest.mark.real_data
def test_matrix_to_quaternion_and_back():
    golden = np.load(GOLDEN / "rotmat_to_quat.npz")
    for matrix, expected in zip(golden["rotmat"], golden["quat_wxyz"], strict=True):
        q = from_matrix(matrix)
        assert np.allclose(q * np.sign(q @ expected), expected, atol=1e-12)
        assert np.allclose(to_matrix(q), matrix, atol=1e-12)


@pytest.mark.real_data
def test_matrix_to_rotation_vector():
    golden = np.load(GOLDEN / "rotmat_to_axisangle.npz")
    for matrix, expected in zip(golden["rotmat"], golden["rotvec"], strict=True):
        v = np.array(to_rotation_vector(Quaternion(*from_matrix(matrix))))
        near_half_turn = abs(np.linalg.norm(expected) - np.pi) < 1e-6
        assert np.allclose(v, expected, atol=1e-9) or (near_half_turn and np.allclose(v, -expected, atol=1e-6))


@pytest.mark.real_data
def test_euler_angles():
    golden = np.load(GOLDEN / "euler_zyx_to_rotmat.npz")
    for (z, y, x), matrix in zip(golden["euler"], golden["rotmat"], strict=True):
        q = multiply(multiply(about(Z, z), about(Y, y)), about(X, x))
        assert np.allclose(to_matrix(q), matrix, atol=1e-13)


@pytest.mark.real_data
def test_exponential_of_rotation_vectors_from_zero_to_half_a_turn():
    golden = np.load(GOLDEN / "se3_exp_log.npz")
    for twist, transform in zip(golden["twist"], golden["transform"], strict=True):
        assert np.allclose(to_matrix(from_rotation_vector(Vector(*twist[:3]))), transform[:3, :3], atol=1e-12)


@pytest.mark.real_data
def test_angle_between_rotations():
    golden = np.load(GOLDEN / "rotation_geodesic.npz")
    for a, b, angle in zip(golden["rotmat_a"], golden["rotmat_b"], golden["angle"], strict=True):
        turn = multiply(conjugate(Quaternion(*from_matrix(a))), Quaternion(*from_matrix(b)))
        assert angle_of(turn) == pytest.approx(angle, abs=1e-7)
