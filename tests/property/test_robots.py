"""No command ever leaves a servo's limits or its speed, whatever is written and whatever the device does."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import poise
from poise.robots import DeviceLostError, Robot, Servo

LAMP = poise.load("adelino")
SLOW = 0.6


class Spiteful:
    """A device that goes away when it likes and turns up elsewhere."""

    name = "a spiteful device"

    def __init__(self, rng, clock, spite=1.0):
        self.rng, self.clock, self.spite = rng, clock, spite
        self.runs = []

    def open(self, servos):
        if self.rng.random() < 0.3 * self.spite:
            raise DeviceLostError("not yet.")
        self.runs.append([])
        known = self.rng.random(len(servos)) < 0.5 * self.spite
        return [int(self.rng.integers(-5000, 9000)) if told else None for told in known]

    def arm(self, ticks):
        self.runs[-1].append((self.clock(), list(ticks)))

    def send(self, ticks, values):
        if self.rng.random() < 0.01 * self.spite:
            raise DeviceLostError("gone.")
        self.runs[-1].append((self.clock(), list(ticks)))

    def poll(self, now):
        if self.rng.random() < 0.01 * self.spite:
            raise DeviceLostError("silent.")
        return ()

    def close(self):
        pass


def random_servo(rng, joint, channel):
    low = int(rng.integers(-3000, 3000))
    return Servo(
        joint,
        channel,
        sign=int(rng.choice([-1, 1])),
        zero=rng.uniform(-0.3, 0.3),
        ticks=(low, low + int(rng.integers(100, 5000))),
        travel=rng.uniform(1.5, 7.0),
        lower=rng.uniform(-2.0, -0.1),
        upper=rng.uniform(0.1, 2.0),
        speed=10.0 ** rng.uniform(-2.0, 1.5),
    )


def hostile_frame(rng, previous):
    kind = rng.integers(0, 8)
    odd = (
        rng.choice([math.nan, math.inf, -math.inf, 1e300, 1e49, 0.0], 5),
        {"turn": rng.normal(0.0, 100.0)},
        "a posture",
        rng.normal(size=rng.integers(0, 9)),
        {"no such joint": 1.0},
        -previous,
    )
    return odd[kind] if kind < len(odd) else rng.uniform(-4.0, 4.0, 5)


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32 - 1))
def test_commands_stay_inside_limits_and_speeds(seed):
    rng = np.random.default_rng(seed)
    now = [0.0]
    servos = [random_servo(rng, joint, k) for k, joint in enumerate(LAMP.joints.names)]
    device = Spiteful(rng, lambda: now[0])
    robot = Robot(LAMP, device, servos, slow=SLOW, retry=0.05, on_event=lambda _: None, clock=lambda: now[0])
    frame = np.zeros(5)
    for _ in range(300):
        now[0] += rng.choice([0.0, 1e-4, 0.005, 0.02, 0.02, 0.02, 0.3, 2.0])
        if rng.random() < 0.7:
            written = hostile_frame(rng, frame)
            robot.write(written)
            frame = written if isinstance(written, np.ndarray) and written.shape == (5,) else frame
        robot.tick(now[0])
    assert sum(map(len, device.runs)) > 20
    for run in device.runs:
        judge(servos, run)


def judge(servos, run):
    """Limits in joint values from the map's definition; speeds from the times of the commands."""
    bounds = LAMP.compiled.bounds
    for k, servo in enumerate(servos):
        scale = servo.sign * (servo.ticks[1] - servo.ticks[0]) / servo.travel
        changed_at = last_time = run[0][0]
        last = run[0][1][k]
        for time, ticks in run:
            tick = ticks[k]
            value = servo.zero + (tick - 0.5 * sum(servo.ticks)) / scale
            assert isinstance(tick, int)
            assert servo.ticks[0] <= tick <= servo.ticks[1]
            assert max(servo.lower, bounds.lower[k]) - 1e-9 <= value <= min(servo.upper, bounds.upper[k]) + 1e-9
            if tick != last:
                speed = min(servo.speed, 6.0) * abs(scale)
                most = speed * (time - last_time)
                assert abs(tick - last) <= most + 1e-6 or (
                    abs(tick - last) == 1 and speed * (time - changed_at) + 1e-6 >= 1
                )
                changed_at = time
            last, last_time = tick, time


def test_a_start_and_the_way_to_safety_are_slow():
    now = [0.0]
    device = Spiteful(np.random.default_rng(3), lambda: now[0], spite=0.0)
    servos = [Servo(joint, k, ticks=(0, 4095), travel=2 * math.pi) for k, joint in enumerate(LAMP.joints.names)]
    robot = Robot(LAMP, device, servos, slow=SLOW, watchdog=0.5, on_event=lambda _: None, clock=lambda: now[0])
    slow_runs = []
    for k in range(600):
        now[0] += 0.02
        if k < 300:
            robot.write(LAMP.posture("happy"))
        robot.tick(now[0])
        slow_runs.append(robot.state != "following")
    assert robot.state == "safe"
    (run,) = device.runs
    steps = np.abs(np.diff(np.array([row for _, row in run]), axis=0)).max(axis=1)
    most = SLOW * 0.02 * 4095 / (2 * math.pi)
    assert steps[slow_runs].max() <= most
    assert steps[slow_runs].max() >= math.floor(most)
    caught_up = int(np.argmin(slow_runs))
    ramp = 6.0 * 0.02 * 4095 / (2 * math.pi) * 0.02 / 0.5
    assert (steps[caught_up : caught_up + 10] <= most + ramp * np.arange(1, 11)).all()
