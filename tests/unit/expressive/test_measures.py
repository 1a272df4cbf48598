"""The errors against the papers' formulas, evaluated on positions and quaternions."""

from __future__ import annotations

import math

import numpy as np
import pytest

import poise
from poise.chains.chain import chain_of
from poise.errors import TaskError
from poise.expressive.measures import Weights, errors_of, scoring_of
from poise.figure.model.pose import FloatArray, Pose, turn
from poise.kernels.gaze import measures
from poise.kernels.gaze.measures import DIRECTED, FULL, Aim
from poise.kernels.maths.quaternion import Quaternion


def aim_at(rotation: FloatArray, kind: int = FULL) -> Aim:
    return Aim(Quaternion(*rotation.tolist()), kind)


@pytest.mark.parametrize("name", ["erik_a", "erik_c", "erik_d", "erik_g"])
def test_posture_error_is_equation_21_on_positions(name: str) -> None:
    figure = poise.load(name)
    limb = chain_of(figure)
    scoring = scoring_of(limb, Weights(aggravation=1.3))
    solution, posture = figure.random(1), figure.random(2)

    def directions(at: poise.Posture) -> FloatArray:
        joints = [figure.pose_of(body.name, at).position for body in figure.bodies if body.name != "base"]
        segments = np.diff([*joints, figure.pose_of("tip", at).position], axis=0)
        return np.array([[0.0, 1.0, 0.0], *(segments / np.linalg.norm(segments, axis=1)[:, None])])

    bent = np.sum(directions(solution)[:-1] * directions(solution)[1:], axis=1)
    wanted = np.sum(directions(posture)[:-1] * directions(posture)[1:], axis=1)
    swings = limb.chain.role == 0
    powers = 1.3 ** np.arange(swings.sum())
    expected = (powers * np.abs(bent - wanted)[swings] / 2).sum() / powers.sum()
    errors = errors_of(limb, scoring, aim_at(turn("x", 30.0)), solution, posture)
    assert errors.posture == pytest.approx(expected, abs=1e-14)
    assert errors.combined == pytest.approx(errors.orientation + 0.2 * errors.posture, abs=1e-16)


@pytest.mark.parametrize("degrees", [0.0, 1.0, 90.0, 180.0])
def test_orientation_error_of_a_residual_turn(degrees: float) -> None:
    limb = chain_of(poise.load("erik_c"))
    scoring = scoring_of(limb, Weights(symmetric=False))
    start = turn((1, 2, 3), 50.0)
    tip = Quaternion(*(Pose(rotation=start) @ Pose(rotation=turn((0.3, -1, 2), degrees))).rotation.tolist())
    expected = math.sqrt(2.0) * math.sin(math.radians(degrees) / 4.0)
    assert measures.orientation_error(scoring, aim_at(start), tip) == pytest.approx(expected, abs=1e-15)
    minus = Quaternion(-tip.w, -tip.x, -tip.y, -tip.z)
    assert measures.orientation_error(scoring, aim_at(start), minus) == pytest.approx(expected, abs=1e-15)


def test_a_symmetric_tip_may_be_upside_down_and_a_direction_has_any_roll() -> None:
    limb = chain_of(poise.load("erik_c"))
    symmetric, strict = (scoring_of(limb, Weights(symmetric=value)) for value in (True, False))
    start = turn((1, 2, 3), 50.0)
    flipped = Quaternion(*(Pose(rotation=start) @ Pose(rotation=turn("y", 180.0))).rotation.tolist())
    assert measures.orientation_error(symmetric, aim_at(start), flipped) == pytest.approx(0.0, abs=1e-15)
    assert measures.orientation_error(strict, aim_at(start), flipped) == pytest.approx(1.0, abs=1e-15)
    rolled = Quaternion(*(Pose(rotation=start) @ Pose(rotation=turn("y", 77.0))).rotation.tolist())
    assert measures.orientation_error(strict, aim_at(start, DIRECTED), rolled) == pytest.approx(0.0, abs=1e-8)


def test_the_shape_error_sees_signs_that_the_posture_error_does_not() -> None:
    figure = poise.load("erik_c")
    limb = chain_of(figure)
    scoring = scoring_of(limb, Weights())
    aim = aim_at(turn("x", 30.0))
    c_shape, s_shape = figure.posture([0, 0.5, 0.5, 0.3, 0]), figure.posture([0, 0.5, -0.5, 0.3, 0])
    turned_body = figure.posture([0, -0.5, -0.5, -0.3, 0])
    assert errors_of(limb, scoring, aim, s_shape, c_shape).posture == pytest.approx(0.0, abs=1e-15)
    assert errors_of(limb, scoring, aim, s_shape, c_shape).shape > 0.05
    assert errors_of(limb, scoring, aim, turned_body, c_shape).shape == pytest.approx(0.0, abs=1e-15)


def test_the_shape_error_sees_a_twister_in_mid_chain_without_its_mirror() -> None:
    figure = poise.load("erik_g")
    limb = chain_of(figure)
    scoring = scoring_of(limb, Weights())
    aim = aim_at(turn("x", 30.0))
    wanted = figure.posture([0, 0.5, 0.2, 0.3, 0.4, 0.1, 0.6, 0])
    mirrored = figure.posture([0.2, -0.5, -0.2, -0.3, 0.4, -0.1, -0.6, 0.9])
    assert errors_of(limb, scoring, aim, mirrored, wanted).shape == pytest.approx(0.0, abs=1e-15)
    twisted = figure.posture([0.2, -0.5, -0.2, -0.3, -0.4, -0.1, -0.6, 0.9])
    powers = 1.5 ** np.arange(6)
    expected = powers[3] / powers.sum() * (1 - math.cos(0.8)) / 2
    assert errors_of(limb, scoring, aim, twisted, wanted).shape == pytest.approx(expected, abs=1e-14)
    assert errors_of(limb, scoring, aim, twisted, wanted).posture == pytest.approx(0.0, abs=1e-15)


def test_weights_that_rank_nothing_are_refused() -> None:
    with pytest.raises(TaskError, match=r"the weight of the posture error must be a number from 0 up, not -1"):
        Weights(posture=-1)
    with pytest.raises(TaskError, match=r"the aggravation must be a positive number, not nan"):
        Weights(aggravation=math.nan)
