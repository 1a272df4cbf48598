"""The motion filter: its limits, its style settings, its closed forms, and errors for wrong settings."""

import math

import numpy as np
import pytest

import poise
from poise.errors import FigureError, TaskError
from poise.kernels.motion.motion_filter import State, braking_time, moved, piece_extent, stop_extent, stop_profile
from poise.motion.filter.filter import MotionFilter
from poise.motion.filter.nutty import NuttyFilter

DEGREE = math.pi / 180.0
SERVO = {"velocity": 180 * DEGREE, "acceleration": 720 * DEGREE, "jerk": 7200 * DEGREE}
RANGE = {"lower": -90 * DEGREE, "upper": 90 * DEGREE}


def response(goal=60.0, rate=60.0, seconds=6.0, **settings):
    """Positions [degrees] after a step of the set-point."""
    motion = MotionFilter(**(SERVO | RANGE | settings))
    motion.reset(0.0)
    return motion.run(np.full(int(seconds * rate), goal * DEGREE), rate)[:, 0] / DEGREE


def settling_time(x, goal, rate, share=0.02):
    """Time from which the response stays within a share of the step [s]."""
    outside = np.nonzero(np.abs(x - goal) > share * abs(goal))[0]
    return (outside[-1] + 2) / rate if outside.size else 1.0 / rate


def fastest_settling(goal, share, rate):
    """Duration of the time-optimal motion from rest to rest, in closed form: accelerate, cruise, brake [s]."""
    V, A, J = 180.0, 720.0, 7200.0
    whole = goal / V + V / A + A / J
    # The end of the motion alone: the last `left` of distance are covered in the release of the brakes.
    left = (6.0 * share * goal / J) ** (1.0 / 3.0)
    return math.ceil((whole - left) * rate - 1e-9) / rate


@pytest.mark.parametrize("rate", [30.0, 60.0, 120.0, 240.0])
@pytest.mark.parametrize("goal", [60.0, 90.0])
@pytest.mark.parametrize("share", [0.02, 0.005, 0.001])
def test_a_step_settles_as_fast_as_any_motion_can(rate, goal, share):
    x = response(goal, rate)
    assert settling_time(x, goal, rate, share) <= fastest_settling(goal, share, rate) + 1.0 / rate
    assert x.max() <= goal * (1.0 + 1e-8)


def test_smoothness_slows_the_end_and_responsiveness_brings_it_back():
    times = [settling_time(response(smoothness=s, responsiveness=0.0), 60.0, 60.0) for s in (0.0, 0.6, 0.8, 1.0)]
    assert times == sorted(times)
    assert times[-1] > 4.0 * times[0]
    times = [settling_time(response(smoothness=0.8, responsiveness=r), 60.0, 60.0) for r in (0.0, 0.5, 0.9, 0.95)]
    assert times == sorted(times, reverse=True)
    assert times[-1] < times[0]


def test_beta_slows_only_near_the_limit():
    near, middle = (
        [settling_time(response(goal, seconds=30.0, beta=b), goal, 60.0) for b in (math.inf, 4.0, 1.0)]
        for goal in (85.0, 20.0)
    )
    assert near == sorted(near)
    assert near[-1] > 1.5 * near[0]
    assert middle[-1] < 1.2 * middle[0]


@pytest.mark.parametrize("rate", [30.0, 60.0, 120.0])
@pytest.mark.parametrize("bounce", [0.1, 0.3])
def test_a_bounce_overshoots_by_its_share_and_comes_to_rest(rate, bounce):
    x = response(bounce=bounce, rate=rate)
    assert 0.8 * bounce <= x.max() / 60.0 - 1.0 <= bounce
    assert abs(x[-1] - 60.0) < 1e-3
    beyond = response(80.0, bounce=bounce, rate=rate)
    assert beyond.max() <= 90.0 + 1e-9


def test_a_set_point_that_is_not_finite_keeps_the_last_one():
    motion = MotionFilter(**SERVO)
    motion.reset([0.0, 0.0])
    for setpoint in ([0.5, -0.5], [math.nan, -0.5], [math.inf, math.nan]):
        for _ in range(120):
            motion.step(setpoint, 1 / 60)
    assert np.allclose(motion.position, [0.5, -0.5], atol=1e-6)


def test_stop_profile_stops_and_its_extremes_are_those_of_its_samples():
    rng = np.random.default_rng(1)
    A, J = 2.0, 9.0
    for _ in range(300):
        state = State(rng.normal(), rng.normal(), rng.uniform(-A, A))
        stop = stop_profile(state.v, state.a, A, J)
        now, path = state, [state]
        for jerk, time in ((-J, stop.brake), (0.0, stop.hold), (J, stop.release)):
            path += [moved(now, stop.sign * jerk, t) for t in np.linspace(0.0, time, 400)]
            now = moved(now, stop.sign * jerk, time)
        assert abs(now.v) < 1e-12
        assert abs(now.a) < 1e-12
        extent = stop_extent(state, A, J)
        x, v = np.array([p.x for p in path]), np.array([p.v for p in path])
        assert np.allclose([extent.low, extent.high, extent.speed], [x.min(), x.max(), np.abs(v).max()], atol=1e-4)
        assert extent.low <= x.min() + 1e-12
        assert extent.high >= x.max() - 1e-12


def test_extremes_of_a_frame_are_those_of_its_samples():
    rng = np.random.default_rng(2)
    for _ in range(300):
        state, j, t = State(*rng.normal(size=3)), rng.choice([0.0, rng.normal(0.0, 5.0)]), rng.uniform(0.01, 3.0)
        path = [moved(state, j, s) for s in np.linspace(0.0, t, 2000)]
        x, v = np.array([p.x for p in path]), np.array([p.v for p in path])
        extent = piece_extent(state, j, t)
        assert np.allclose([extent.low, extent.high, extent.speed], [x.min(), x.max(), np.abs(v).max()], atol=1e-4)


@pytest.mark.parametrize("v", [0.05, 0.3, 1.0, 3.0])
def test_braking_time_is_distance_over_speed(v):
    A, J = 2.0, 9.0
    distance = stop_extent(State(0.0, v, 0.0), A, J).high
    assert braking_time(distance, 10.0, A, J) == pytest.approx(distance / v)
    assert braking_time(distance, 0.5 * v, A, J) == pytest.approx(distance / (0.5 * v))


def test_within_takes_limits_and_speeds_of_the_figure():
    lamp = poise.load("adelino")
    motion = MotionFilter(velocity=10, acceleration=40, jerk=800).within(lamp)
    assert np.allclose(motion.limits.velocity, 6.0)
    assert np.allclose(motion.limits.upper, np.pi / 2)
    with pytest.raises(FigureError, match="joint 'base' of figure 'human' is free"):
        MotionFilter(1, 1, 1).within(poise.load("human"))
    with pytest.raises(
        TaskError, match=r"overlap those of joint 'turn' of figure 'adelino', which moves between -1\.57"
    ):
        MotionFilter(1, 1, 1, lower=2.0, upper=3.0).within(poise.load("adelino"))


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"jerk": 0.0}, "jerk of a motion filter must be above 0 and finite, not 0.0"),
        ({"velocity": -1.0}, "velocity of a motion filter must be above 0"),
        ({"acceleration": math.inf}, "acceleration of a motion filter must be above 0 and finite"),
        ({"velocity": math.nan}, "velocity of a motion filter is a number"),
        ({"velocity": "fast"}, "velocity of a motion filter is a number"),
        ({"lower": 1.0, "upper": -1.0}, "lower limit 1 is above its upper limit -1: exchange them"),
        ({"smoothness": 1.1}, "smoothness of a motion filter must be from 0 to 1"),
        ({"responsiveness": 1.0}, "must be from 0 to below 1"),
        ({"beta": 0.0}, "beta of a motion filter must be above 0"),
        ({"bounce": 0.95}, "bounce of a motion filter must be from 0 to 0.9"),
        ({"velocity": [1, 2], "jerk": [1, 2, 3]}, "different numbers of joints: velocity 2, jerk 3"),
    ],
)
def test_wrong_settings_raise_one_sentence(settings, sentence):
    with pytest.raises(TaskError, match=sentence):
        MotionFilter(**(SERVO | settings))


def test_wrong_calls_raise_one_sentence():
    motion = MotionFilter(**(SERVO | RANGE))
    with pytest.raises(TaskError, match="call reset"):
        motion.step(0.0, 0.01)
    with pytest.raises(TaskError, match="must be inside its limits: value 1 is 2"):
        motion.reset([0.0, 2.0])
    motion.reset([0.0, 0.1])
    with pytest.raises(TaskError, match="takes 2 set-points"):
        motion.step([1.0, 2.0, 3.0], 0.01)
    for dt in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(TaskError, match="must be above 0 and at most 1000 s"):
            motion.step(0.0, dt)
    with pytest.raises(TaskError, match="rate of a motion filter"):
        motion.run([0.0], 0.0)


def test_the_printed_equations_run_away_and_their_consistent_reading_breaks_jerk():
    steps = np.full(600, 60 * DEGREE)
    settings = {**SERVO, **RANGE, "responsiveness": 0.5}
    literal = NuttyFilter(**settings, reading="literal").run(steps, 60.0)
    assert np.abs(literal).max() > 10.0 * 90 * DEGREE
    jumps = np.repeat(np.random.default_rng(0).uniform(-1.5, 1.5, 40), 30)
    x = NuttyFilter(**settings).run(jumps, 60.0)
    assert np.abs(np.diff(x, 1)).max() * 60.0 <= SERVO["velocity"]
    assert np.abs(np.diff(x, 3)).max() * 60.0**3 > 1.5 * SERVO["jerk"]


def test_the_literal_reading_slows_down_from_half_the_width_of_the_range_on():
    """The printed Ω compares the position itself with half the width, which is the middle only of a range from 0."""
    settings = {"velocity": 3.0, "acceleration": 12.0, "jerk": 120.0, "reading": "literal"}
    from_zero = NuttyFilter(**settings, lower=0.0, upper=2.0)
    shifted = NuttyFilter(**settings, lower=-1.0, upper=1.0)
    assert from_zero._slowed(1.0, 1.5, from_zero._half) == pytest.approx(0.75)
    assert shifted._slowed(1.0, 0.5, shifted._half) == 1.0
    assert shifted._slowed(1.0, 0.5, shifted.lower + shifted._half) == pytest.approx(0.75)
