"""The live character: requests, blending, gaze, clips, idle motion, and a solver that may fail."""

import math
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

import poise
from poise.character import Character
from poise.character.idle import Idle
from poise.character.script import Held, Played, Script
from poise.errors import FigureError, TaskError
from poise.figure.model.posture import Posture
from poise.motion.clip.clip import Clip
from poise.motion.filter.filter import MotionFilter

LAMP = poise.load("adelino")
FAST = MotionFilter(velocity=1e3, acceleration=1e5, jerk=1e8)


class StandIn:
    """A solver that turns the first joint to the heading of the target."""

    def __init__(self):
        self.asked = []

    def solve(self, posture, orientation, previous=None):
        self.asked.append((posture, orientation, previous))
        q = posture.q.copy()
        direction = orientation.direction if orientation.direction is not None else np.array([0.0, 0.0, 1.0])
        q[0] = np.clip(math.atan2(direction[0], direction[2]), -math.pi / 2, math.pi / 2)
        return SimpleNamespace(posture=Posture(LAMP, q))


def wave(rate=30.0, seconds=2.0):
    q = np.zeros((round(seconds * rate) + 1, 5))
    q[:, 2] = 0.5 * np.sin(2.0 * np.pi * np.arange(len(q)) / rate)
    q[:, 3] = 0.2
    return Clip(LAMP, q, rate, "wave")


def run(live, seconds, rate=60.0):
    return np.array([frame.q for frame in live.frames(rate, seconds=seconds, realtime=False)])


def still(**settings):
    return Character(LAMP, solver=StandIn(), on_event=lambda _: None, **settings)


def test_it_starts_and_stays_in_its_posture():
    q = run(still(posture="sad"), 0.5)
    assert len(q) == 30
    assert np.allclose(q, LAMP.posture("sad").q)


def test_hold_blends_and_arrives():
    live = still(filter=FAST)
    live.hold("curious", blend=0.5)
    q = run(live, 1.0)
    start, end = LAMP.neutral().q, LAMP.posture("curious").q
    assert np.allclose(q[-1], end, atol=1e-6)
    assert np.allclose(q[14], 0.5 * (start + end), atol=0.02)
    assert (np.diff(q[:, 3]) >= -1e-9).all()


def test_a_wish_in_the_middle_of_a_blend_starts_from_there():
    live = still(filter=FAST)
    live.hold("happy", blend=1.0)
    first = run(live, 0.5)
    live.hold("sad", blend=1.0)
    second = run(live, 1.5)
    assert np.abs(second[0] - first[-1]).max() < 0.02
    assert np.allclose(second[-1], LAMP.posture("sad").q, atol=1e-6)


def test_face_is_asked_of_the_solver_with_the_posture_that_is_held():
    live = still(filter=FAST, posture="sad")
    live.face([1.0, 0.3, 0.5])
    q = run(live, 0.5)
    assert q[-1, 0] == pytest.approx(math.atan2(1.0, 0.5), abs=1e-6)
    posture, orientation, previous = live._target_solver.prepare().asked[-1]
    assert np.allclose(posture.q, LAMP.posture("sad").q)
    assert orientation.roll is None
    assert np.allclose(previous.posture.q, q[-1], atol=1e-6)
    live.face(None)
    assert np.allclose(run(live, 0.5)[-1], LAMP.posture("sad").q, atol=1e-6)


@pytest.mark.parametrize("target", ["x", [1, 0, 0], poise.facing("x"), poise.at([1, 0.5, 0]), [1, 0, 0, 0]])
def test_every_kind_of_target_is_taken(target):
    live = still()
    live.face(target)
    run(live, 0.1)
    assert live._target_solver.failures == 0


def test_a_clip_is_played_towards_the_gaze_and_then_the_posture_comes_back():
    live = still(filter=FAST, posture="sad")
    live.face("x")
    live.play(wave(), blend=0.2)
    q = run(live, 2.0)
    assert np.allclose(q[20:, 0], math.pi / 2, atol=1e-6)
    expected = 0.5 * np.sin(2.0 * np.pi * np.arange(1, 121) / 60.0)
    assert np.allclose(q[20:, 2], expected[20:], atol=0.02)
    live.face(None)
    assert np.allclose(run(live, 1.0)[-1], LAMP.posture("sad").q, atol=1e-6)


def test_a_loop_goes_on_until_it_is_stopped():
    live = still(filter=FAST, clips={"wave": wave()})
    live.play("wave", loop=True)
    q = run(live, 9.0)
    assert np.abs(q[-120:, 2]).max() == pytest.approx(0.5, abs=0.01)
    live.stop()
    assert np.allclose(run(live, 1.0)[-1], LAMP.neutral().q, atol=1e-6)


def test_idle_life_is_small_repeatable_and_off_by_default():
    assert np.ptp(run(still(), 2.0), axis=0).max() == 0.0
    first, second = (run(still(idle=1.0, seed=3), 10.0) for _ in range(2))
    assert np.array_equal(first, second)
    assert 0.01 < np.ptp(first, axis=0).max() < 0.1
    assert not np.array_equal(first, run(still(idle=1.0, seed=4), 10.0))
    most = max(np.abs(Idle(5, 1).at(t)).max() for t in np.linspace(0.0, 100.0, 5000))
    assert most <= math.radians(2.7)


class Broken:
    """A solver that fails in every way, one after the other, between valid results."""

    def __init__(self):
        self.calls = 0

    def solve(self, posture, orientation, previous=None):
        self.calls += 1
        kind = self.calls % 7
        if kind == 1:
            raise ZeroDivisionError("division by zero")
        if kind == 2:
            return SimpleNamespace(posture=Posture(LAMP, np.full(5, math.nan)))
        if kind == 3:
            return SimpleNamespace(posture=Posture(LAMP, np.zeros(4)))
        if kind == 4:
            return None
        if kind == 5:
            return SimpleNamespace(posture=Posture(LAMP, np.full(5, 1e6)))
        return SimpleNamespace(posture=posture)


def test_a_solver_that_fails_never_stops_or_jerks_the_output():
    said = []
    live = Character(LAMP, solver=Broken(), on_event=said.append)
    live.face("x")
    for name in ("sad", "happy", "shy"):
        live.hold(name)
        q = run(live, 2.0)
        assert np.isfinite(q).all()
        assert all(LAMP.violations(row) == [] for row in q[::20])
        assert np.abs(np.diff(q, 3, axis=0)).max() * 60.0**3 <= 800.0 * (1 + 1e-6)
    assert said[0] == "the solver failed, the last posture is held: ZeroDivisionError: division by zero."
    assert "the solver works again." in said


def test_whoever_is_told_of_events_may_fail_too():
    def told(sentence):
        raise RuntimeError("no ears")

    live = Character(LAMP, solver=Broken(), on_event=told)
    live.face("x")
    assert len(run(live, 0.5)) == 30


def test_outputs_get_every_frame_and_may_fail():
    live = still()
    got = []
    live.outputs += [got.append, lambda frame: 1 / 0]
    q = run(live, 0.5)
    assert [tuple(frame.q) for frame in got] == [tuple(row) for row in q]
    assert list(live.events) == ["an output failed: ZeroDivisionError: division by zero"]


def test_frames_in_real_time_follow_wishes_from_other_threads():
    live = still(filter=FAST)
    names = ["sad", "happy", "curious", "shy"]
    threads = [threading.Thread(target=lambda n=n: [live.hold(n, blend=0.01) for _ in range(50)]) for n in names]
    with live:
        frames = live.frames(rate=200)
        first = next(frames)
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        live.hold("angry", blend=0.05)
        end = time.monotonic() + 20.0
        while time.monotonic() < end and not np.allclose(next(frames).q, LAMP.posture("angry").q, atol=1e-3):
            pass
        frames.close()
    assert np.allclose(first.q, LAMP.neutral().q)
    assert np.allclose(live.posture.q, LAMP.posture("angry").q, atol=1e-3)


def test_a_solver_that_hangs_is_said_to_be_late_and_the_output_goes_on():
    release = threading.Event()

    class Slow:
        def solve(self, posture, orientation, previous=None):
            release.wait(30.0)
            return SimpleNamespace(posture=posture)

    said = []
    live = Character(LAMP, solver=Slow(), on_event=said.append)
    live.face("x")
    count = 0
    for frame in live.frames(rate=100):
        count += 1
        assert np.allclose(frame.q, LAMP.neutral().q)
        if said:
            break
    release.set()
    assert count > 20
    assert said == ["the solver has been running for 0.5 s; the last posture is held."]


def test_one_reader_at_a_time_and_frames_that_end():
    live = still()
    frames = live.frames(realtime=False)
    next(frames)
    with pytest.raises(TaskError, match="one reader at a time"):
        next(live.frames(realtime=False))
    frames.close()
    assert len(list(live.frames(60, seconds=0.25, realtime=False))) == 15


@pytest.mark.parametrize(
    ("ask", "error", "sentence"),
    [
        (lambda live: live.hold("curius"), FigureError, "Did you mean 'curious'"),
        (lambda live: live.hold([math.nan] * 5), FigureError, "has the value"),
        (lambda live: live.hold([0.0] * 4), FigureError, "has 5 numbers"),
        (lambda live: live.hold("sad", blend=math.nan), TaskError, "blend must be a number of seconds from 0 up"),
        (lambda live: live.hold("sad", blend=-1), TaskError, "from 0 up, not -1"),
        (lambda live: live.hold("sad", blend="slowly"), TaskError, "from 0 up, not 'slowly'"),
        (lambda live: live.face(poise.at([math.nan, 0, 1])), TaskError, "the point to look at must be 3 finite"),
        (lambda live: live.face([math.nan, 0, 1]), TaskError, "the direction to face"),
        (lambda live: live.face([0, 0, 0]), TaskError, "has no direction"),
        (lambda live: live.face([2, 0, 0, 0]), TaskError, "must be a unit quaternion"),
        (lambda live: live.face("up"), TaskError, "one of x, y, z"),
        (lambda live: live.face([1, 2]), TaskError, "orientation"),
        (lambda live: live.face(object()), TaskError, "is no orientation"),
        (lambda live: live.play("waltz"), FigureError, "this character has no clip 'waltz'. Did you mean 'waltz2'"),
        (lambda live: live.play(5), FigureError, "5 is no clip"),
        (lambda live: live.play(wave(), blend=-1.0), TaskError, "blend must be"),
        (lambda live: live.play(Clip(poise.load("arm"), np.zeros((2, poise.load("arm").nq)), 30, "grab")), FigureError,
         "clip 'grab' is of figure 'arm'"),
        (lambda live: live.idle(2.0), TaskError, "idle must be between 0 and 1"),
        (lambda live: live.idle("much"), TaskError, "idle must be between 0 and 1, not 'much'"),
        (lambda live: next(live.frames(rate=0)), TaskError, "rate of a character must be a positive number"),
        (lambda live: next(live.frames(seconds=-1)), TaskError, "from 0 up"),
        (lambda live: next(live.frames(seconds="long")), TaskError, "length of frames .* from 0 up, not 'long'"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_said_and_changes_nothing(ask, error, sentence):
    live = still(clips={"waltz2": wave()})
    before = run(live, 0.2)
    with pytest.raises(error, match=sentence):
        ask(live)
    assert np.array_equal(run(live, 0.5)[-1], before[-1])


def test_figures_that_cannot_be_characters_are_refused():
    with pytest.raises(FigureError, match="'human' has couplings: left_hamstrings"):
        Character(poise.load("human"))
    with pytest.raises(FigureError, match="'four_bar' has loops"):
        Character(poise.load("four_bar"))
    with pytest.raises(FigureError, match="has couplings"):
        Character(poise.load("hand"))
    with pytest.raises(TaskError, match="'adelino' is no figure"):
        Character("adelino")
    with pytest.raises(TaskError, match="solver_rate"):
        Character(LAMP, solver_rate=0)
    with pytest.raises(TaskError, match="'smooth' is no motion filter"):
        Character(LAMP, filter="smooth")


def test_script_is_continuous_and_a_clip_ends_where_it_should():
    a, b = np.zeros(2), np.ones(2)
    script = Script(Held(b), a, 1.0, 2.0)
    assert np.allclose(script.at(0.0), a)
    assert np.allclose(script.at(2.0), 0.5)
    assert np.allclose(script.at(3.0), b)
    assert np.allclose(Script(Held(b), a, 1.0, 0.0).at(1.0), b)
    clip = Played(np.array([[0.0], [1.0], [2.0]]), 2.0, 10.0, False, Held(np.array([5.0])), 1.0)
    assert clip.at(9.0) == 0.0
    assert clip.at(10.25) == 0.5
    assert clip.at(11.0) == 2.0
    assert clip.at(11.5) == pytest.approx(3.5)
    assert clip.at(99.0) == 5.0
    one = Played(np.array([[3.0]]), 2.0, 0.0, True, Held(np.array([3.0])), 0.0)
    assert one.at(7.0) == 3.0


def test_a_gaze_that_is_given_up_is_reported_with_the_reason_and_so_is_its_return() -> None:
    """Below the horizon no way round the back of this lamp holds the gaze."""
    events: list[str] = []
    live = Character(LAMP, posture="sad", on_event=events.append)
    frames = live.frames(60.0, realtime=False)
    for f in range(720):
        heading = math.radians(f)
        live.face([math.sin(heading), -0.9, math.cos(heading)])
        next(frames)
    for _ in range(180):
        next(frames)
    given_up = [event for event in events if event.startswith("the gaze is given up")]
    assert 1 <= len(given_up) <= 8
    assert all("side" in event for event in given_up)
    assert events[-1] == "the target is faced again."


def test_a_target_out_of_reach_is_reported() -> None:
    events: list[str] = []
    figure = poise.chain("YXXY", lengths=[0.1] * 4, limits=30)
    live = Character(figure, on_event=events.append)
    live.face([0.0, -1.0, 0.2])
    run(live, 3.0)
    assert events == ["the target cannot be faced within the limits of the joints."]


@pytest.mark.parametrize("holds", ["gaze", "balanced", "expression"])
def test_targets_that_jump_and_postures_that_change_are_followed_live(holds: str) -> None:
    live = Character(LAMP, holds=holds, on_event=lambda _: None)  # type: ignore[arg-type]
    rng = np.random.default_rng(4)
    for posture in ("happy", "sad", "shy"):
        live.hold(posture)
        direction = rng.normal(size=3)
        direction[1] = abs(direction[1])
        live.face(direction)
        run(live, 4.0)
        tip = LAMP.pose_of("tip", live.posture)
        assert tip.matrix[:, 1] @ direction / np.linalg.norm(direction) > math.cos(math.radians(1.0))


@pytest.mark.parametrize("solver", [poise.Expressive, poise.Erik], ids=["expressive", "erik"])
def test_both_solvers_hold_the_gaze(solver):
    live = Character(LAMP, solver=solver(LAMP), posture="sad", on_event=lambda _: None)
    direction = np.array([0.6, 0.3, 0.7]) / np.linalg.norm([0.6, 0.3, 0.7])
    live.face(direction)
    run(live, 2.0)
    tip = LAMP.pose_of("tip", live.posture)
    assert math.degrees(math.acos(min(1.0, tip.matrix[:, 1] @ direction))) < 3.0
    assert not live.events


def test_a_point_almost_within_reach_is_watched_while_a_clip_plays():
    live = Character(LAMP, posture="happy", on_event=lambda _: None)
    live.play(wave(), loop=True)
    missed = []
    for k, _ in enumerate(live.frames(60.0, seconds=6.0, realtime=False)):
        ball = np.array([0.7 * math.sin(0.013 * k), 0.45, 0.7 * math.cos(0.013 * k)])
        tip = LAMP.pose_of("tip", live.wished)
        sight = (ball - tip.position) / np.linalg.norm(ball - tip.position)
        missed.append(math.degrees(math.acos(min(1.0, tip.matrix[:, 1] @ sight))))
        live.face(poise.at(ball, roll=None))
    assert np.percentile(missed[60:], 95) < 3.0
