"""Live retargeting: streams frame by frame, with gaps and nonsense, and turnings against scipy."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import poise
from poise.errors import TaskError
from poise.motion.live.follower import Point, PostureFollower
from poise.motion.live.turning import Rotated
from poise.motion.report.report import measure
from tests.unit.motion.retarget.stick_man import stepping
from tests.unit.motion.retarget.test_robots import robot

RATE = 60.0


def stream():
    return stepping(frames=240)


def follower(figure, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return poise.LiveRetarget(figure, stream()[:60], **options)


@pytest.mark.parametrize("name", ["g1", "talos", pytest.param("h1", marks=pytest.mark.real_data)])
def test_a_stream_is_followed_with_still_feet_inside_all_limits(name):
    live, clip = follower(robot(name)), stream()
    quality = measure(live.follow(clip))
    assert quality.violations == 0
    assert not quality.hurried
    assert quality.skate.max(initial=0.0) < 1e-3
    assert quality.penetration.max() < 2e-3
    assert quality.airborne < 0.2 * len(clip)
    assert quality.tracking.mean() < 0.05


def test_people_with_balls_for_joints_and_toes_follow_too():
    live = follower(poise.load("human"))
    quality = measure(live.follow(stream()))
    assert quality.violations == 0
    assert quality.skate.max(initial=0.0) < 1e-3
    assert quality.tracking.mean() < 0.04


def test_steps_depend_on_nothing_but_the_stream():
    live, clip = follower(robot("g1")), stream()
    first = live.follow(clip)
    assert np.array_equal(live.follow(clip).q, first.q)
    assert np.array_equal(follower(robot("g1")).follow(clip).q, first.q)


def test_a_gap_is_held_and_rejoined_smoothly():
    clip = stream()
    live = follower(robot("g1"))
    whole = live.follow(clip)
    usual = np.abs(whole.velocity[:, 6:]).max()
    live.reset()
    gap = range(90, 150)
    q = np.array([live.step(None if i in gap else frame, 1.0 / clip.rate).q for i, frame in enumerate(clip.q)])
    held = poise.Motion(live.figure, q, clip.rate)
    speed = np.abs(held.velocity)
    assert speed[120:148, 6:].max() < 0.05, "the posture is held"
    assert speed[:, 6:].max() < 2.0 * usual, "nothing jumps when the stream comes back"
    assert speed[:, :3].max() < 2.0 * np.abs(whole.velocity[:, :3]).max()
    away = [whole.figure.difference(whole[i], held[i])[6:] for i in range(len(clip) - 30, len(clip))]
    assert np.abs(away).max() < 0.3, "in the end it follows as if nothing had been missing"


def test_a_performer_who_is_somewhere_else_after_a_gap_goes_on_here():
    clip = stream()
    live = follower(robot("g1"))
    elsewhere = clip.q.copy()
    elsewhere[120:, :3] += [2.0, 0.0, -1.5]
    q = np.array([live.step(frame, 1.0 / clip.rate).q for frame in elsewhere])
    speed = np.abs(poise.Motion(live.figure, q, clip.rate).velocity)
    assert speed[:, :3].max() < 2.0


def test_frames_that_are_no_numbers_count_as_missing():
    clip = stream()
    live = follower(robot("g1"))
    neutral = live.step(np.full(clip.figure.nq, np.nan))
    assert np.allclose(neutral.q, live.figure.neutral().q)
    for frame in clip.q[:50]:
        live.step(frame)
    posture = live.step(np.full(clip.figure.nq, np.inf))
    assert not live.figure.violations(posture)
    with pytest.raises(TaskError, match="a frame of this stream"):
        live.step([1.0, 2.0])
    with pytest.raises(TaskError, match="dt"):
        live.step(clip[0], -1.0)


turns = st.lists(st.floats(-3.0, 3.0), min_size=3, max_size=3).filter(lambda v: 1e-6 < np.linalg.norm(v) < 3.1)


@given(turns, turns)
def test_turnings_are_those_of_scipy(a, b):
    ours, theirs = Rotated.by_vector(np.array(a)), Rotation.from_rotvec(a)
    assert np.allclose(ours.matrix, theirs.as_matrix(), atol=1e-12)
    assert np.allclose(ours.as_rotvec(), a, atol=1e-9)
    both = ours * Rotated.by_vector(np.array(b)).inv()
    other = theirs * Rotation.from_rotvec(b).inv()
    assert np.allclose(both.matrix, other.as_matrix(), atol=1e-12)
    assert np.isclose(both.magnitude(), other.magnitude(), atol=1e-7)
    assert np.allclose(Rotated.of_quaternion(both.quaternion()).matrix, both.matrix, atol=1e-12)
    yaw_pitch = Rotation.from_euler("YX", [a[0], a[1]]).as_matrix()
    assert np.allclose(Rotated.by_yaw_and_pitch(a[0], a[1]).matrix, yaw_pitch, atol=1e-12)


@given(st.floats(1e-4, 0.5), st.floats(0.01, 0.2))
def test_a_follower_takes_the_same_way_in_steps_of_any_length(dt, lag):
    """x(t) is exact: one long step ends where many short ones do."""
    one, many = Point(np.zeros(3), lag), Point(np.zeros(3), lag)
    one.velocity[:] = many.velocity[:] = [1.0, -2.0, 0.5]
    target = np.array([1.0, 2.0, 3.0])
    one.step(target, dt)
    for _ in range(10):
        many.step(target, dt / 10)
    assert np.allclose(one.place, many.place, atol=1e-9)
    assert np.allclose(one.velocity, many.velocity, atol=1e-8)


def test_a_posture_follower_comes_to_rest_at_its_target():
    human = poise.load("human")
    begin, end = human.neutral(), human.random(3)
    smooth = PostureFollower(human, begin._q, 0.02)
    for _ in range(60):
        q = smooth.step(end._q, 1.0 / 60.0)
    assert np.abs(human.difference(human.posture(q), end)).max() < 1e-6
