"""The region in which supports without shares balance the centre of mass."""

from __future__ import annotations

import numpy as np
import pytest

import poise
from poise.figure.collision.soles import support_polygon
from poise.figure.model.figure import Figure
from poise.forces import Force, Support, acting_on
from poise.forces.reactions import Ground
from poise.forces.support_region import support_region

FEET = (Support("left_foot"), Support("right_foot"))


def human() -> Figure:
    return poise.load("human").with_floating_base()


def test_under_the_weight_alone_it_is_the_support_polygon() -> None:
    figure = human()
    room = support_region(acting_on(figure, FEET), figure.neutral(), np.zeros(3), 16)
    assert room.possible
    assert room.corners.shape == (16, 3)
    wanted = support_polygon(figure.neutral(), ["left_foot", "right_foot"]).corners
    ours = {tuple(np.round(corner[[0, 2]], 5)) for corner in room.corners}
    assert ours == {tuple(np.round(np.asarray(corner)[[0, 2]], 5)) for corner in wanted}


@pytest.mark.parametrize("push", [(0.0, -80.0, 0.0), (60.0, 0.0, 30.0), (0.0, 20.0, -50.0)])
def test_its_corners_are_just_balanced(push: tuple[float, float, float]) -> None:
    figure = human()
    acting = acting_on(figure, (*FEET, Force("right_hand", push)))
    ground = Ground(figure, figure.neutral(), acting)
    about = np.array([0.3, 1.0, 0.2])
    room = support_region(acting, figure.neutral(), about, 24)
    force, lever = np.array(push), figure.pose_of("right_hand", figure.neutral()).position - about
    weight = acting.weight
    moment = np.cross(lever, force) + np.cross(ground.center - about, weight)
    lean = about + np.cross(weight, moment) / (weight @ weight)
    middle = room.corners.mean(axis=0)
    for corner in room.corners:
        assert ground.react(ground.center + (corner - lean), shared=False)[0].rest <= 1e-5
        beyond = corner + 0.01 * (corner - middle) / np.linalg.norm(corner - middle)
        assert ground.react(ground.center + (beyond - lean), shared=False)[0].rest > 1e-4


def test_the_region_is_empty_for_a_force_that_friction_cannot_hold() -> None:
    figure = human()
    acting = acting_on(figure, (*FEET, Force("right_hand", (0.0, 0.0, -2000.0))))
    room = support_region(acting, figure.neutral(), np.zeros(3), 8)
    assert not room.possible
    assert np.ptp(room.corners, axis=0).max() > 100.0, "no edge is near"
