"""First frames from which a person jumps into the motion."""

import numpy as np
import pytest

import poise
from poise.motion.clip.calibration_pose import without_calibration_pose
from tests.unit.motion.retarget.stick_man import stepping


def with_first_frame(clip, place):
    """The clip after one frame in the neutral posture, at a place."""
    first = clip.figure.neutral().q.copy()
    first[:3] = place
    return poise.Clip(clip.figure, np.vstack([first, clip.q]), clip.rate, clip.name)


def test_a_calibration_pose_gets_the_second_posture():
    clip = stepping(frames=30)
    found = without_calibration_pose(with_first_frame(clip, (2.0, 1.0, 0.5)))
    assert len(found) == 31
    np.testing.assert_array_equal(found.q[0], clip.q[0])
    np.testing.assert_array_equal(found.q[1:], clip.q)


@pytest.mark.parametrize("clip", [stepping(frames=30), stepping(frames=3), stepping(frames=1)])
def test_other_clips_are_unchanged(clip):
    assert without_calibration_pose(clip) is clip


def test_fast_motion_is_no_calibration_pose():
    clip = stepping(frames=30)
    q = clip.q.copy()
    q[:, 0] += 0.4 * np.arange(30)
    running = poise.Clip(clip.figure, q, clip.rate)
    assert without_calibration_pose(running) is running


def test_a_motion_is_as_if_the_pose_were_not_there():
    human, clip = poise.load("human"), stepping(frames=20)
    held = poise.Clip(clip.figure, np.vstack([clip.q[:1], clip.q]), clip.rate, clip.name)
    motion = poise.retarget(with_first_frame(clip, (2.0, 1.0, 0.5)), human)
    np.testing.assert_array_equal(motion.q, poise.retarget(held, human).q)
