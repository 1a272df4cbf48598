"""Hands stay out of the body and feet out of each other."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import poise
from poise.figure.model.builder import Builder, revolute
from poise.figure.model.pose import Pose
from poise.figure.model.shapes import Box, Capsule
from poise.motion.clip.contacts import Contacts
from poise.motion.report.report import measure
from poise.motion.report.training import self_depths
from poise.motion.retarget.build import Foot
from poise.motion.retarget.feet import FootPath
from poise.motion.retarget.feet_apart import CLEARANCE, sideways_shifts
from tests import real_data
from tests.unit.motion.retarget.performances import walking
from tests.unit.motion.retarget.stick_man import stepping
from tests.unit.motion.retarget.test_robots import EVERY_ROBOT, robot

ALONG_Y = (np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0)


def one_armed(breadth=0.3):
    """A box with an arm of three hinges and an elbow."""
    b = Builder("one_armed")
    b.body("trunk", shapes=[Box((breadth, 0.6, 0.2))])
    b.body("a", parent="trunk", joint=revolute("lift", "x", limits=(-3.0, 3.0), speed=50.0), at=(0.25, 0.2, 0.0))
    b.body("b", parent="a", joint=revolute("swing", "z", limits=(-3.0, 3.0), speed=50.0))
    upper = Capsule(0.04, 0.2, pose=Pose((0.0, -0.15, 0.0), ALONG_Y))
    b.body("upper", parent="b", joint=revolute("turn", "y", limits=(-3.0, 3.0), speed=50.0), shapes=[upper])
    fore = Capsule(0.04, 0.2, pose=Pose((0.0, -0.15, 0.0), ALONG_Y))
    elbow = revolute("elbow", "x", limits=(-2.5, 0.0), speed=50.0)
    b.body("fore", parent="upper", joint=elbow, at=(0.0, -0.3, 0.0), shapes=[fore])
    b.site("hand", "fore", at=(0.0, -0.3, 0.0))
    b.site("elbow", "fore")
    return b.build()


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 10, 183, 197, 198])
def test_a_hand_led_through_the_body_stays_out_of_it(seed):
    figure, rng = one_armed(), np.random.default_rng(seed)
    time = np.arange(90) / 30.0
    start, turns = rng.uniform(-0.5, 0.5, 4), rng.uniform(0.3, 1.0, 4)
    q = np.stack([
        start[0] + turns[0] * np.sin(2.0 * time), -0.6 + turns[1] * np.sin(1.5 * time + 1.0),
        start[2] + turns[2] * np.sin(time), -1.2 + 0.8 * np.sin(1.7 * time),
    ], axis=1)  # fmt: skip
    clip = poise.Clip(figure, q, 30.0)
    through = poise.retarget(clip, figure, {"upper": "upper", "fore": "elbow", "hand": "hand"}, solid=False)
    around = poise.retarget(clip, figure, {"upper": "upper", "fore": "elbow", "hand": "hand"})
    assert self_depths(through)[0].max() > 0.03
    assert self_depths(around)[0].max() < 0.01
    quality = measure(around)
    assert quality.violations == 0
    assert not quality.hurried
    assert not quality.spikes


def test_a_motion_that_never_touches_is_the_same_to_the_last_bit():
    figure = one_armed(breadth=0.05)
    q = np.zeros((20, 4))
    q[:, 0] = -0.5 - 0.5 * np.sin(np.arange(20) / 10.0)
    q[:, 3] = -0.3
    clip = poise.Clip(figure, q, 30.0)
    names = {"upper": "upper", "fore": "elbow", "hand": "hand"}
    np.testing.assert_array_equal(
        poise.retarget(clip, figure, names).q, poise.retarget(clip, figure, names, solid=False).q
    )


def foot(breadth=0.1):
    edge = np.array([0.0, 0.0, 0.12])
    return Foot("x", np.zeros(3), -edge, edge, "", np.zeros(3), Pose(), breadth, False, True, (-1.0, 1.0))


def path(x, z, yaw):
    turn = Rotation.from_rotvec(np.outer(yaw, (0.0, 1.0, 0.0)))
    place = np.stack([x, np.zeros_like(x), z], axis=1)
    return FootPath(place, yaw, np.zeros_like(x), np.ones_like(x), turn)


@pytest.mark.parametrize("crossed", [1.0, -1.0])
def test_footprints_that_overlap_are_moved_apart(crossed):
    frames = 60
    stands = {"left": np.ones(frames, dtype=bool), "right": np.ones(frames, dtype=bool)}
    stands["left"][25:35] = False
    still = np.zeros(frames)
    yaw = np.full(frames, 0.7)
    feet = {"left": path(still + crossed * 0.06, still, yaw), "right": path(still, still + 0.05, yaw)}
    build = {"left": foot(), "right": foot(0.14)}
    contacts = Contacts(stands, stands)
    shifts = sideways_shifts(build, feet, contacts)
    moved = {side: feet[side]._replace(place=feet[side].place + shifts[side]) for side in feet}
    assert (
        sideways_shifts(build, moved, contacts) is None
        or max(np.abs(s).max() for s in sideways_shifts(build, moved, contacts).values()) < 1e-9
    )
    across = np.array([np.cos(0.7), 0.0, -np.sin(0.7)])
    gap = (moved["left"].place - moved["right"].place) @ across
    assert np.all(crossed * gap > 0.12 + CLEARANCE - 1e-9)


def test_footprints_one_behind_the_other_stay():
    stands = {"left": np.ones(3, dtype=bool), "right": np.ones(3, dtype=bool)}
    still = np.zeros(3)
    feet = {"left": path(still, still, still), "right": path(still, still + 0.3, still)}
    assert sideways_shifts({"left": foot(), "right": foot()}, feet, Contacts(stands, stands)) is None


@pytest.mark.parametrize("name", EVERY_ROBOT)
def test_robots_do_not_touch_themselves(name):
    """Judged by MuJoCo, on a stick man who walks and, where there are any, on recordings that did before."""
    pytest.importorskip("mujoco")
    from tests.self_contacts import Judge

    figure, clips = robot(name), [stepping(frames=40), walking(rate=30.0)]
    if real_data.IS_HERE:
        clips += [poise.load_clip(real_data.BVH / name) for name in ("cmu/02_01.bvh", "animated_drawings/dab.bvh")]
    judge = None
    for clip in clips:
        motion = poise.retarget(clip, figure)
        judge = judge or Judge(motion.figure)
        for posture in motion:
            assert not judge.deep(posture)
