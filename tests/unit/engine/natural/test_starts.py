"""Other postures to start from: those of people who are not upright, and standing for solid ones."""

from __future__ import annotations

import numpy as np
import pytest

import poise
from poise import Frame, Pose, Position
from poise.engine.natural.motion import LikelyPerson
from poise.engine.natural.starts import standing_there, turned_postures

FEET = ("left_foot", "right_foot")
POINTS = ("left_hand", "right_hand", "head")
HUMAN = poise.load("human")


def turned(name: str, axis: str, angle: float) -> poise.Posture:
    """A named posture turned as a whole, about a horizontal axis through the pelvis."""
    posture = HUMAN.posture(name)
    base = np.asarray(posture["base"])
    half = np.radians(angle) / 2
    turn = Pose(rotation=(np.cos(half), *(np.sin(half) * np.eye(3)["xyz".index(axis)])))
    moved = turn @ Pose((0.0, 0.0, 0.0), base[3:])
    return posture.changed({"base": (*base[:3], *moved.rotation)})


def handles(posture: poise.Posture) -> list[poise.Task]:
    feet = [Frame(foot, HUMAN.pose_of(foot, posture)) for foot in FEET]
    return [*feet, *(Position(point, HUMAN.pose_of(point, posture).position, priority=2) for point in POINTS)]


@pytest.mark.parametrize(
    ("name", "axis", "angle"),
    [
        *(("standing", axis, angle) for axis in "xz" for angle in (90.0, -90.0)),
        *(("crouching", "z", angle) for angle in (90.0, -90.0, 180.0)),
    ],
)
def test_people_who_are_not_upright_are_found(name: str, axis: str, angle: float) -> None:
    real = turned(name, axis, angle)
    result = poise.solve(HUMAN, handles(real))
    assert result.status == "solved"
    for part in ("pelvis", "thorax"):
        gap = HUMAN.pose_of(part, result.posture).position - HUMAN.pose_of(part, real).position
        assert np.linalg.norm(gap) < 0.1


def test_people_with_level_feet_are_upright() -> None:
    start = HUMAN.frames("standing")
    model = LikelyPerson(HUMAN)
    given = {foot: start[foot] for foot in FEET} | {"right_hand": np.array([0.0, 0.0, 3.0])}
    assert not list(turned_postures(HUMAN, lambda asked: model.likely(asked, start), given))


def test_the_first_posture_tried_is_near_the_handles() -> None:
    real = HUMAN.frames(turned("crouching", "z", 120.0))
    model = LikelyPerson(HUMAN)
    given = {foot: real[foot] for foot in FEET} | {point: real[point].position for point in POINTS}
    found = HUMAN.frames(next(turned_postures(HUMAN, lambda asked: model.likely(asked, real), given)))
    for point in POINTS:
        assert np.linalg.norm(found[point].position - real[point].position) < 0.4


def test_a_person_stands_where_the_feet_should_be() -> None:
    turn = Pose((1.0, 0.2, -3.0), (np.cos(1.0), 0.0, np.sin(1.0), 0.0))
    feet = {foot: turn @ HUMAN.pose_of(foot, "standing") for foot in FEET}
    stands = HUMAN.frames(standing_there(HUMAN, feet))
    for foot in FEET:
        np.testing.assert_allclose(stands[foot].position, feet[foot].position, atol=1e-9)
        np.testing.assert_allclose(stands[foot].matrix, feet[foot].matrix, atol=1e-9)
