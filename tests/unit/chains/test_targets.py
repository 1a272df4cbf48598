"""Orientations, directions and points to face."""

from __future__ import annotations

import math

import numpy as np
import pytest

import poise
from poise.chains.targets import gaze
from poise.errors import TaskError
from poise.figure.model.pose import Pose, turn
from poise.kernels.gaze.measures import DIRECTED, FULL

UP = {"y": np.array([0.0, 1.0, 0.0]), "z": np.array([0.0, 0.0, 1.0])}
ORIGIN = np.zeros(3)


@pytest.mark.parametrize("up", ["y", "z"])
@pytest.mark.parametrize("direction", [(1, 0.3, 0.5), (0, 1, 0), (0, -1, 0), (0, 0, 1), (-1, -2, -3)])
def test_facing_points_the_tip_along_the_direction(direction: tuple[float, ...], up: str) -> None:
    aim = poise.facing(direction, roll=0.7).aim(UP[up], ORIGIN)
    wanted = np.array(direction) / np.linalg.norm(direction)
    np.testing.assert_allclose(Pose(rotation=aim.rotation).matrix[:, 1], wanted, atol=1e-15)
    assert aim.kind == FULL


def test_facing_forward_is_a_tilt_about_x_and_roll_turns_about_the_direction() -> None:
    level = poise.facing("z").aim(UP["y"], ORIGIN).rotation
    np.testing.assert_allclose(level, turn("x", 90.0), atol=1e-15)
    rolled = poise.facing("z", roll=0.5).aim(UP["y"], ORIGIN).rotation
    np.testing.assert_allclose((Pose(rotation=level) @ Pose(rotation=turn("y", math.degrees(0.5)))).rotation, rolled)


def test_any_roll_is_a_direction_only() -> None:
    assert poise.facing("x", roll=None).aim(UP["y"], ORIGIN).kind == DIRECTED


def test_a_point_is_faced_from_where_the_eye_is() -> None:
    aim = poise.at([1.0, 2.0, 3.0]).aim(UP["y"], np.array([0.0, 2.0, 3.0]))
    np.testing.assert_allclose(Pose(rotation=aim.rotation).matrix[:, 1], [1, 0, 0], atol=1e-15)
    there = poise.at([1.0, 2.0, 3.0]).aim(UP["y"], np.array([1.0, 2.0, 3.0]))
    assert np.isfinite(there.rotation).all()


def test_orientations_may_be_quaternions_or_poses() -> None:
    q = turn((1, 2, 3), 40.0)
    for target in (q, q.tolist(), Pose(rotation=q)):
        np.testing.assert_allclose(gaze(target).aim(UP["y"], ORIGIN).rotation, q)


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        ((2.0, 0.0, 0.0, 0.0), r"an orientation must be a unit quaternion; the length of \(2, 0, 0, 0\) is 2\."),
        ((math.nan, 0.0, 0.0, 1.0), r"an orientation must be 4 finite numbers, not \[nan"),
        ((0.0, 0.0, 0.0, 0.0), r"an orientation is the zero quaternion"),
        ((1.0, 0.0), r"an orientation must be 4 numbers"),
        ("up there", r"'up there' is no orientation: give a unit quaternion"),
    ],
)
def test_bad_orientations_are_one_sentence(target: object, sentence: str) -> None:
    with pytest.raises(TaskError, match=sentence):
        gaze(target)  # type: ignore[arg-type]


def test_bad_directions_points_and_rolls_are_one_sentence() -> None:
    with pytest.raises(TaskError, match=r"the direction to face has no direction"):
        poise.facing([0, 0, 0])
    with pytest.raises(TaskError, match=r"the direction to face must be 3 finite numbers"):
        poise.facing([math.nan, 0, 1])
    with pytest.raises(TaskError, match=r"the point to look at must be 3 numbers"):
        poise.at([0, 1])
    with pytest.raises(TaskError, match=r"a roll must be a finite number of radians, not inf"):
        poise.facing("x", roll=math.inf)
