"""The output clock: it is steady, skips ticks that have passed, and frames continue from where they were."""

import time
from types import SimpleNamespace

import numpy as np
import pytest

import poise
from poise import Character, MotionFilter
from poise.character import clock
from poise.character.clock import FrameClock


@pytest.fixture
def hours(monkeypatch):
    """A clock that advances only when the code sleeps, or as the test says."""
    now = SimpleNamespace(time=5.0)

    def sleep(seconds):
        now.time += seconds

    monkeypatch.setattr(clock, "time", SimpleNamespace(monotonic=lambda: now.time, sleep=sleep))
    return now


def test_ticks_are_multiples_of_the_period_whatever_happens_between_them(hours):
    ticks = FrameClock(rate=100.0)
    late = []
    for busy in (0.0, 0.003, 0.0099, 0.012, 0.0):
        late.append(ticks.wait())
        hours.time += busy
    assert late == pytest.approx([0.0, 0.0, 0.0, 0.0, 0.002], abs=1e-9)
    assert ticks.missed == 0
    assert ticks.wait() == pytest.approx(0.0, abs=1e-9)
    assert hours.time == pytest.approx(5.05)


def test_ticks_that_nobody_waited_for_are_left_out_and_counted(hours):
    ticks = FrameClock(rate=100.0)
    ticks.wait()
    hours.time += 0.057
    assert ticks.wait() == pytest.approx(0.007, abs=1e-9)
    assert ticks.missed == 4
    assert ticks.wait() == pytest.approx(0.0, abs=1e-9)
    assert hours.time == pytest.approx(5.06)


def test_a_deadline_that_is_missed_neither_stops_nor_jerks_the_output():
    lamp, rate = poise.load("adelino"), 100.0
    live = Character(lamp, filter=MotionFilter(velocity=2.0, acceleration=10.0, jerk=100.0), posture="sleepy")
    live.hold("proud", blend=0.0)
    q = []
    with live:
        for count, frame in enumerate(live.frames(rate=rate)):
            q.append(frame.q)
            if count in (10, 11, 25):
                time.sleep(0.15)
            if count == 400:
                break
    assert np.allclose(q[-1], lamp.posture("proud").q, atol=1e-3)
    moved = np.diff(q, axis=0) * rate
    assert np.abs(moved[10:12]).max() > 0.1
    # Differences of frames are means of derivatives, so that what bounds these bounds them.
    for order, limit in enumerate((2.0, 10.0, 100.0)):
        assert np.abs(np.diff(moved, n=order, axis=0) * rate**order).max() <= limit * (1.0 + 1e-6)
