"""Floors that are not flat: boxes to stand on, maps of heights, stairs."""

import numpy as np
import pytest

import poise
from poise.errors import TaskError
from poise.motion.report.report import measure
from poise.motion.retarget.floor import Floor, Top, levels
from tests.unit.motion.retarget.stick_man import stepping
from tests.unit.motion.retarget.test_robots import robot


def test_the_highest_box_counts_and_outside_the_floor_is_flat():
    floor = Floor((Top((1.0, 0.0), (0.5, 1.0), 0.2), Top((1.0, 0.0), (0.2, 0.2), 0.5, np.pi / 4)))
    assert np.allclose(floor.at([[1.2, 0.0], [1.0, 0.13], [1.0, 0.2], [2.0, 0.0]]), [0.2, 0.5, 0.2, 0.0])


def test_a_map_is_interpolated_between_its_points():
    floor = Floor(heights=np.array([[0.0, 0.0], [0.1, 0.3]]), corner=(-1.0, 2.0), spacing=0.5)
    assert np.allclose(floor.at([[-1.0, 2.0], [-0.5, 2.5], [-0.75, 2.25], [5.0, 5.0]]), [0.0, 0.3, 0.1, 0.0])


@pytest.mark.parametrize("wrong", [{"boxes": [((0, 0), (0, 1), 1)]}, {"heights": np.zeros(3)}, {"heights": [[np.nan]]}])
def test_nonsense_is_refused(wrong):
    with pytest.raises(TaskError):
        Floor(**wrong)


def test_a_foot_in_the_air_clears_what_is_on_its_way():
    under, stands = np.zeros(90), np.ones(90, dtype=np.bool_)
    stands[30:60], under[42:48] = False, 0.1
    height = levels(under, stands, 30.0)
    assert np.all(height[42:48] > 0.09)
    assert np.all(height[stands] == 0.0)
    assert np.abs(np.diff(height, n=2)).max() < 0.05


@pytest.mark.parametrize("name", ["g1", "human"])
def test_a_foot_stands_on_a_box(name):
    figure = poise.load("human") if name == "human" else robot(name)
    clip = stepping(frames=90)
    flat = poise.retarget(clip, figure)
    place = next(lock for site, lock in flat.track.locks.items() if "left" in site).mean(axis=(0, 1))
    up = np.abs(flat.figure.up_vector) > 0.5
    box = Top(tuple(place[~up]), (0.5, 0.5) if name == "human" else (0.5, 0.2), 0.08)
    motion = poise.retarget(clip, figure, floor=Floor((box,)))
    quality = measure(motion)
    heights = [lock[..., up].min() - motion.track.ground for lock in motion.track.locks.values()]
    assert motion.track.contacts.standing("left").any()
    assert max(heights) == pytest.approx(0.08, abs=1e-3)
    assert quality.skate.max(initial=0.0) < 1e-3
    assert quality.penetration.max() < 1e-3
    assert quality.violations == 0
    base = motion.q[:, up.argmax()].mean() - flat.q[:, up.argmax()].mean()
    assert 0.0 < base < 0.08, "the body rises with its feet"


def test_a_flat_floor_of_height_0_changes_nothing():
    clip, figure = stepping(frames=40), poise.load("human")
    assert np.array_equal(poise.retarget(clip, figure, floor=Floor()).q, poise.retarget(clip, figure).q)
