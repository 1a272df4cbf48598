"""The random scenarios are what they promise: the same from the same seed, moving, then still."""

from __future__ import annotations

import numpy as np
import pytest

import poise
from tests.scenarios import FRAMES, HUMAN, KINDS, MOVING, Evaluation, Scenario, rotate, scenario, stance


@pytest.fixture(scope="module")
def at() -> Evaluation:
    figure = poise.load("human")
    return stance(figure, figure.neutral(), HUMAN)


def test_a_stance_is_read_from_a_figure(at: Evaluation) -> None:
    assert at.up @ at.head > at.up @ at.shoulder > at.up @ at.hand
    assert np.allclose(at.faces, [0.0, 0.0, 1.0], atol=1e-12)
    assert at.up.tolist() == [0.0, 1.0, 0.0]


@pytest.mark.parametrize("seed", range(8))
def test_the_same_seed_gives_the_same_scenario(at: Evaluation, seed: int) -> None:
    once, again, other = scenario(seed, at), scenario(seed, at), scenario(seed + len(KINDS), at)
    assert once.kind == again.kind == other.kind
    for mine, same in zip(once[1:], again[1:], strict=True):
        assert np.array_equal(mine, same)
        assert len(mine) == FRAMES
    assert not np.array_equal(once.hand, other.hand)


@pytest.mark.parametrize("seed", range(200))
def test_targets_move_smoothly_then_stand_still(at: Evaluation, seed: int) -> None:
    asked = scenario(seed, at)
    for values in asked[1:]:
        assert np.isfinite(values).all()
        assert np.ptp(values[MOVING:], axis=0).max() < 1e-12
    assert np.allclose(np.linalg.norm(asked.gaze, axis=1), 1.0, atol=1e-12)
    if asked.kind != "jump":
        assert steps(asked, at).max() < 0.05
    assert np.linalg.norm(asked.hand[-1] - at.hand) > 1e-3


@pytest.mark.parametrize("seed", range(4))
def test_looking_at_the_point_is_facing_along_the_gaze(at: Evaluation, seed: int) -> None:
    asked = scenario(seed, at)
    for gaze, look in zip(asked.gaze[::50], asked.look[::50], strict=True):
        assert np.allclose(at.head + 2.0 * rotate(gaze, np.array(HUMAN.faces)), look, atol=1e-12)


def steps(asked: Scenario, at: Evaluation) -> np.ndarray:
    """How far the hand's target goes from frame to frame [m]."""
    return np.linalg.norm(np.diff(np.vstack((at.hand, asked.hand)), axis=0), axis=1)
