"""Clips: checks, slices, times between frames, other rates, positions."""

import pickle

import numpy as np
import pytest

from poise.errors import FigureError
from poise.figure.model.builder import Builder, ball, free, revolute
from poise.figure.model.pose import turn
from poise.figure.model.posture import Posture
from poise.motion.clip.clip import Clip


def puppet():
    builder = Builder("puppet")
    builder.body("hips", joint=free("base"))
    builder.body("chest", parent="hips", joint=ball("spine"), at=(0.0, 0.5, 0.0))
    builder.body("arm", parent="chest", joint=revolute("shoulder", "z"), at=(0.2, 0.4, 0.0))
    builder.site("hand", "arm", at=(0.6, 0.0, 0.0))
    return builder.build()


FIGURE = puppet()


def frame(x=0.0, spine=(1.0, 0.0, 0.0, 0.0), shoulder=0.0):
    return [x, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, *spine, shoulder]


def swing(frames=5, rate=10.0):
    return Clip(FIGURE, [frame(x=i, shoulder=0.1 * i) for i in range(frames)], rate, "swing")


def test_length_duration_and_times():
    clip = swing()
    assert len(clip) == 5
    assert clip.duration == pytest.approx(0.4)
    assert np.allclose(clip.times, [0.0, 0.1, 0.2, 0.3, 0.4])
    assert clip.name == "swing"


def test_a_frame_is_a_posture_of_the_figure():
    posture = swing()[-1]
    assert isinstance(posture, Posture)
    assert posture.figure is FIGURE
    assert posture["shoulder"] == pytest.approx(0.4)


def test_a_frame_outside_the_clip_is_an_index_error():
    with pytest.raises(IndexError, match="frame 5 is outside this clip, which has 5 frames"):
        swing()[5]


def test_a_slice_is_a_clip_with_the_same_bytes():
    part = swing()[1:4]
    assert isinstance(part, Clip)
    assert part.rate == 10.0
    assert part.q.tobytes() == swing().q[1:4].tobytes()


def test_a_step_keeps_the_speed_of_the_motion():
    half = swing()[::2]
    assert half.rate == 5.0
    assert half.duration == pytest.approx(swing().duration)
    assert swing()[::-1][0] == swing()[-1]


def test_iterating_gives_every_posture():
    assert [posture["shoulder"] for posture in swing()] == pytest.approx([0.0, 0.1, 0.2, 0.3, 0.4])


def test_nothing_changes_a_clip():
    given = np.array([frame()])
    clip = Clip(FIGURE, given, 60)
    given[0, 0] = 7.0
    assert clip.q[0, 0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        clip.q[0, 0] = 1.0


def test_quaternions_are_made_unit():
    clip = Clip(FIGURE, [frame(spine=(0.0, 3.0, 4.0, 0.0))], 60)
    assert np.allclose(clip[0]["spine"], [0.0, 0.6, 0.8, 0.0])


def test_between_frames_it_interpolates():
    posture = swing().at(0.25)
    assert posture["shoulder"] == pytest.approx(0.25)
    assert posture["base"][0] == pytest.approx(2.5)


def test_rotations_go_the_short_way_whatever_the_sign_of_the_quaternion():
    clip = Clip(FIGURE, [frame(spine=turn("x", 10)), frame(spine=-turn("x", 50))], 1.0)
    middle = clip.at(0.5)["spine"]
    assert abs(middle @ turn("x", 30)) == pytest.approx(1.0, abs=1e-12)


def test_rotation_speed_is_steady_between_frames():
    clip = Clip(FIGURE, [frame(spine=turn("y", 0)), frame(spine=turn("y", 160))], 1.0)
    for share in (0.1, 0.25, 0.9):
        assert abs(clip.at(share)["spine"] @ turn("y", 160 * share)) == pytest.approx(1.0, abs=1e-12)


def test_before_and_after_the_clip_its_ends_hold():
    clip = swing()
    assert clip.at(-3.0) == clip[0]
    assert clip.at(99.0) == clip[-1]


def test_frames_are_met_exactly():
    clip = swing(rate=24.0)
    for i in range(len(clip)):
        assert np.allclose(clip.at(i / 24.0).q, clip.q[i], atol=1e-12)


@pytest.mark.parametrize("time", [np.nan, np.inf])
def test_a_time_must_be_finite(time):
    with pytest.raises(FigureError, match="finite number of seconds"):
        swing().at(time)


def test_resampling_covers_the_same_time():
    clip = swing(frames=11, rate=10.0).resampled(25.0)
    assert clip.rate == 25.0
    assert len(clip) == 26
    assert clip.q[:, -1] == pytest.approx(np.arange(26) / 25.0)
    assert clip.name == "swing"


def test_resampling_to_the_same_rate_changes_nothing():
    assert swing().resampled(10.0) == swing()


def test_a_clip_of_one_frame():
    clip = swing(frames=1)
    assert clip.duration == 0.0
    assert clip.at(0.5) == clip[0]
    assert len(clip.resampled(120.0)) == 1


def test_positions_of_all_bodies_and_sites():
    clip = swing()
    positions = clip.positions()
    assert positions.shape == (5, 4, 3)
    for i, posture in enumerate(clip):
        for row, name in enumerate(("hips", "chest", "arm", "hand")):
            assert np.array_equal(positions[i, row], FIGURE.pose_of(name, posture).position)


def test_positions_of_some():
    assert np.array_equal(swing().positions(["hand", "hips"]), swing().positions()[:, [3, 0]])


def test_positions_of_a_name_that_is_not_there():
    with pytest.raises(FigureError, match="Did you mean 'hand'"):
        swing().positions(["hnad"])


def test_positions_of_a_bare_string():
    with pytest.raises(FigureError, match="list of names"):
        swing().positions("hand")


def test_equal_clips_are_equal_and_others_not():
    assert swing() == swing()
    assert hash(swing()) == hash(swing())
    assert swing() != swing(rate=11.0)
    assert swing() != swing(frames=4)
    assert swing() != "swing"


def test_pickled_and_back():
    copy = pickle.loads(pickle.dumps(swing()))
    assert copy == swing()
    assert not copy.q.flags.writeable


def test_repr():
    assert repr(swing()) == "Clip('swing' of 'puppet', 5 frames at 10/s)"


@pytest.mark.parametrize(
    ("q", "rate", "sentence"),
    [
        (np.zeros((3, 4)), 60, r"has the shape \(frames, 12\), not \(3, 4\)"),
        (np.zeros(12), 60, r"has the shape \(frames, 12\), not \(12,\)"),
        (np.empty((0, 12)), 60, "at least one frame"),
        ([["a"] * 12], 60, "array of numbers"),
        ([frame(), frame(shoulder=np.nan)], 60, "frame 1 of the clip has the value nan in joint 'shoulder'"),
        ([frame(x=np.inf)], 60, "frame 0 of the clip has the value inf in joint 'base'"),
        ([frame(spine=(0.0, 0.0, 0.0, 0.0))], 60, "for joint 'spine'; its length must be positive"),
        ([frame(spine=(1e300, 1e300, 0.0, 0.0))], 60, "for joint 'spine'; its length must be positive"),
        ([frame()], 0.0, "positive number of frames per second, not 0.0"),
        ([frame()], -24.0, "positive number of frames per second"),
        ([frame()], np.nan, "positive number of frames per second"),
        ([frame()], np.inf, "positive number of frames per second"),
    ],
)
def test_wrong_values_are_refused(q, rate, sentence):
    with pytest.raises(FigureError, match=sentence):
        Clip(FIGURE, q, rate)


def test_an_empty_slice_is_refused():
    with pytest.raises(FigureError, match="at least one frame"):
        swing()[5:]
