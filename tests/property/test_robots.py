"""A servo never jumps: no command leaves its limits or its speed, in any order of events, with every driver."""

import math

import numpy as np
import pytest

import poise
from poise.robots import Robot, Servo
from tests.property.servo_events import KINDS, play, play_many
from tests.unit.robots.silent import Silent

LAMP = poise.load("adelino")
SLOW = 0.6


@pytest.mark.parametrize(
    ("kind", "sequences"), [("memory", 1000), ("firmata", 400), ("dynamixel", 200), ("serial", 400), ("osc", 400)]
)
def test_no_command_jumps_in_any_order_of_events(kind, sequences):
    counts, largest = play(kind, range(sequences))
    assert counts["commands"] > 20 * sequences
    assert min(counts[state] for state in ("starting", "following", "safe", "lost", "closed")) > sequences
    assert 0.9 < largest <= 1.0, "the judge must have seen servos move as fast as they may"
    assert (counts["outside"] > 0) == (kind in ("memory", "dynamixel")), "only what is measured is found outside limits"


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_no_command_jumps_in_a_million_sequences(kind):
    counts, largest = play_many(kind, 1_000_000 if kind == "memory" else 50_000)
    assert counts["commands"] > 1_000_000
    assert largest <= 1.0


def test_a_start_and_the_way_to_safety_are_slow():
    now = [0.0]
    device = Silent()
    servos = [Servo(joint, k, ticks=(0, 4095), travel=2 * math.pi) for k, joint in enumerate(LAMP.joints.names)]
    robot = Robot(LAMP, device, servos, slow=SLOW, watchdog=0.5, on_event=lambda _: None, clock=lambda: now[0])
    slow_runs = []
    for k in range(600):
        now[0] += 0.02
        if k < 300:
            robot.write(LAMP.posture("happy"))
        robot.tick()
        slow_runs.append(robot.state != "following")
    assert robot.state == "safe"
    rows = np.array(device.sent)
    steps = np.abs(np.diff(rows, axis=0)).max(axis=1)
    slow_steps = slow_runs[1:]
    most = SLOW * 0.02 * 4095 / (2 * math.pi)
    assert steps[slow_steps].max() <= most
    assert steps[slow_steps].max() >= math.floor(most)
    caught_up = int(np.argmin(slow_steps))
    happy = [servo.middle + servo.scale * value for servo, value in zip(servos, LAMP.posture("happy").q, strict=True)]
    assert np.abs(rows[caught_up] - happy).max() <= SLOW * 0.1 * 4095 / (2 * math.pi) + 1
    ramp = 6.0 * 0.02 * 4095 / (2 * math.pi) * 0.02 / 0.5
    assert (steps[caught_up : caught_up + 10] <= most + ramp * np.arange(1, 11)).all()


def test_a_target_that_never_rests_is_caught():
    now = [0.0]
    robot = Robot(LAMP, Silent(), [Servo(j, k) for k, j in enumerate(LAMP.joints.names)], clock=lambda: now[0])
    for _ in range(500):
        now[0] += 0.02
        robot.write(0.8 * np.sin(2.5 * now[0] + np.arange(5)))
        robot.tick()
    assert robot.state == "following"
