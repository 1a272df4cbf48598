"""Robots on emulated devices: frames arrive unchanged; cables are unplugged, lines are noisy, answers are late."""

import math
import os
import time

import numpy as np
import pytest

import poise
from poise.errors import RobotError
from poise.robots import Robot, Servo, connect
from poise.robots.dynamixel import DynamixelDriver
from poise.robots.firmata import FirmataDriver
from poise.robots.serial_line import SerialLineDriver
from tests.unit.robots.emulated import Arduino, DynamixelBus, TextBoard, until

pytest.importorskip("serial", reason="robots on serial lines need pyserial")
pytestmark = pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals are a POSIX thing")

LAMP = poise.load("adelino")
JOINTS = LAMP.joints.names
PINS = (2, 3, 4, 5, 20)
"""Pins of the servos; the last one needs the extended message."""


def hobby_servos():
    return [Servo(joint, pin, sign=1 if k % 2 else -1) for k, (joint, pin) in enumerate(zip(JOINTS, PINS, strict=True))]


def bus_servos():
    return [Servo(joint, k + 1, ticks=(0, 4095), travel=2 * math.pi) for k, joint in enumerate(JOINTS)]


class Recorder:
    """A driver that records all commands and passes them on to another driver."""

    def __init__(self, driver):
        self.driver, self.sent = driver, []

    def __getattr__(self, name):
        return getattr(self.driver, name)

    def send(self, ticks, values):
        taken = self.driver.send(ticks, values)
        if taken:
            self.sent.append(list(ticks))
        return taken


def news(said):
    """The events without the warning about servos that cannot be measured."""
    return [sentence for sentence in said if "cannot measure its servos" not in sentence]


def sweep(robot, seconds=0.6):
    start = time.monotonic()
    while (t := time.monotonic() - start) < seconds:
        robot.write(0.6 * np.sin(3.0 * t + np.arange(5)))
        time.sleep(0.01)


def test_an_arduino_gets_every_frame_as_sent(plugged):
    board = Arduino()
    driver = Recorder(FirmataDriver(str(plugged(board).path)))
    with Robot(LAMP, driver, hobby_servos(), slow=3.0, rate=100) as robot:
        sweep(robot, 2.0)
    assert until(lambda: len(board.moves) == 5 * (len(driver.sent) + 1), 2.0)
    assert board.modes == dict.fromkeys(PINS, 4)
    assert board.pulses == dict.fromkeys(PINS, (544, 2400))
    decoded = [board.moves[k : k + 5] for k in range(5, len(board.moves), 5)]
    assert decoded == [list(zip(PINS, ticks, strict=True)) for ticks in driver.sent]
    assert len(driver.sent) > 30
    assert len({tuple(ticks) for ticks in driver.sent}) > 10


def test_a_dynamixel_bus_gets_every_frame_as_sent_and_starts_where_it_is(plugged):
    bus = DynamixelBus(range(1, 6))
    bus.tables[2][132:136] = (2300).to_bytes(4, "little")
    driver = Recorder(DynamixelDriver(str(plugged(bus).path)))
    with Robot(LAMP, driver, bus_servos(), slow=3.0, rate=100) as robot:
        sweep(robot)
    assert until(lambda: len(bus.goals) == len(driver.sent) + 5, 2.0)
    assert bus.broken == 0
    assert all(table[64] == 1 for table in bus.tables.values())
    assert [bus.goals[k][k + 1] for k in range(5)] == [2048, 2300, 2048, 2048, 2048]
    assert [list(goal.values()) for goal in bus.goals[5:]] == driver.sent
    assert abs(driver.sent[0][1] - 2300) < 100


def test_a_text_board_gets_every_frame_as_sent(plugged):
    board = TextBoard()
    servos = [Servo(joint, k) for k, joint in enumerate(JOINTS)]
    driver = Recorder(SerialLineDriver(str(plugged(board).path)))
    with Robot(LAMP, driver, servos, slow=3.0, rate=100) as robot:
        sweep(robot, 0.3)
    assert until(lambda: len(board.lines) == len(driver.sent), 2.0)
    assert board.lines == [" ".join(f"{k}:{tick}" for k, tick in enumerate(ticks)) for ticks in driver.sent]


@pytest.mark.parametrize("kind", ["firmata", "dynamixel", "serial"])
def test_a_cable_that_comes_out_is_said_once_and_waited_for(plugged, kind):
    board = {"firmata": Arduino, "dynamixel": lambda: DynamixelBus(range(1, 6)), "serial": TextBoard}[kind]()
    cable = plugged(board)
    said = []
    robot = connect(f"{kind}:{cable.path}", LAMP, slow=3.0, retry=0.1, on_event=said.append)
    with robot:
        assert until(lambda: (robot.write(LAMP.posture("happy")), robot.state == "following")[1])
        cable.unplug()
        assert until(lambda: robot.state == "lost")
        for _ in range(20):
            robot.write(LAMP.posture("sad"))
            time.sleep(0.01)
        cable.plug()
        assert until(lambda: (robot.write(LAMP.posture("sad")), robot.state == "following")[1])
        assert until(
            lambda: (
                robot.write(LAMP.posture("sad")),
                np.allclose(list(robot.commands.values()), LAMP.posture("sad").q, atol=0.01),
            )[1]
        )
    assert len(said) == 3 - (kind == "dynamixel"), said
    lost, back = news(said)
    assert "was disconnected" in lost
    assert back.endswith("is back.")


@pytest.mark.parametrize("kind", ["firmata", "dynamixel"])
def test_garbage_on_the_line_changes_nothing(plugged, kind):
    board = Arduino() if kind == "firmata" else DynamixelBus(range(1, 6))
    cable = plugged(board)
    rng = np.random.default_rng(0)
    said = []
    with connect(f"{kind}:{cable.path}", LAMP, slow=3.0, on_event=said.append) as robot:
        for _ in range(250):
            cable.say(rng.integers(0, 256, 60, dtype=np.uint8).tobytes())
            robot.write(LAMP.posture("happy"))
            time.sleep(0.01)
        assert robot.state == "following"
    assert news(said) == []


@pytest.mark.parametrize("kind", ["firmata", "dynamixel"])
def test_answers_that_come_late_are_waited_for(plugged, kind):
    board = Arduino() if kind == "firmata" else DynamixelBus(range(1, 6))
    cable = plugged(board)
    board.delay = 0.15
    with connect(f"{kind}:{cable.path}", LAMP, slow=3.0) as robot:
        assert until(lambda: (robot.write(LAMP.posture("happy")), robot.state == "following")[1])
        for _ in range(60):
            robot.write(LAMP.posture("happy"))
            time.sleep(0.01)
        assert robot.state == "following"
        assert news([event.sentence for event in robot.events]) == []


@pytest.mark.parametrize("driver", [FirmataDriver, DynamixelDriver])
def test_a_device_that_falls_silent_is_lost_and_found(plugged, driver):
    board = Arduino() if driver is FirmataDriver else DynamixelBus(range(1, 6))
    cable = plugged(board)
    servos = hobby_servos() if driver is FirmataDriver else bus_servos()
    said = []
    with Robot(LAMP, driver(str(cable.path), patience=0.8), servos, retry=0.1, on_event=said.append) as robot:
        board.mute = True
        assert until(lambda: robot.state == "lost")
        board.mute = False
        assert until(lambda: robot.state != "lost")
    assert "has not answered for" in news(said)[0]
    assert said[-1].endswith("is back.")


def test_a_device_that_stops_reading_loses_whole_frames_only(plugged):
    board = TextBoard()
    cable = plugged(board)
    servos = [Servo(joint, k) for k, joint in enumerate(JOINTS)]
    driver = SerialLineDriver(str(cable.path), patience=30.0)
    with Robot(LAMP, driver, servos, slow=3.0, rate=1000) as robot:
        board.deaf = True
        for _ in range(150):
            robot.write(LAMP.posture("happy"))
            time.sleep(0.01)
        board.deaf = False
        seen = len(board.lines)
        assert until(lambda: len(board.lines) > seen + 200)
    assert all(len(line.split()) == 5 for line in board.lines)


def test_left_alone_it_goes_to_its_safe_posture_slowly(plugged):
    board = Arduino()
    said = []
    where = f"firmata:{plugged(board).path}"
    robot = connect(where, LAMP, slow=2.0, watchdog=0.1, safe="sad", on_event=said.append)
    with robot:
        assert until(lambda: (robot.write(LAMP.posture("happy")), robot.state == "following")[1])
        assert until(lambda: robot.state == "safe")
        assert until(lambda: np.allclose(list(robot.commands.values()), LAMP.posture("sad").q, atol=0.01))
    assert "cannot measure its servos: they are switched on in the safe posture" in said[0]
    assert "goes to its safe posture" in said[1]
    assert len(said) == 2


def test_what_is_not_there_is_said_in_one_sentence(plugged, tmp_path):
    with pytest.raises(RobotError, match=r"there is no port .*nothing\. Ports:"):
        connect(f"firmata:{tmp_path}/nothing", LAMP).start()
    with pytest.raises(RobotError, match="not a serial port that can be opened"):
        connect(f"serial:{tmp_path}", LAMP).start()
    cable = plugged(TextBoard())
    with pytest.raises(RobotError, match=r"did not answer as Firmata within 0\.3 s: load the sketch StandardFirmata"):
        FirmataDriver(str(cable.path), patience=0.3).open(hobby_servos())
    with pytest.raises(RobotError, match=r"no servo answers as id 1 \(joint 'turn'\): check its id"):
        DynamixelDriver(str(cable.path)).open(bus_servos())
    bus = DynamixelBus(range(1, 6))
    bus.tables[3][11] = 1
    with pytest.raises(RobotError, match=r"'bend' \(id 3\) is in velocity mode: set its operating mode to 3"):
        DynamixelDriver(str(plugged(bus).path)).open(bus_servos())


def test_a_line_in_use_is_said(plugged):
    cable = plugged(TextBoard())
    with (
        connect(f"serial:{cable.path}", LAMP),
        pytest.raises(RobotError, match=r"in use by another program|may not be opened"),
    ):
        connect(f"serial:{cable.path}", LAMP).start()


def test_a_servo_that_is_overloaded_is_named_once(plugged):
    bus = DynamixelBus(range(1, 6))
    said = []
    with connect(f"dynamixel:{plugged(bus).path}", LAMP, slow=3.0, on_event=said.append) as robot:
        bus.ill.add(3)
        assert until(lambda: (robot.write(LAMP.neutral()), said)[1])
        for _ in range(100):
            robot.write(LAMP.neutral())
            time.sleep(0.01)
    assert len(said) == 1
    assert said[0].startswith("servo of joint 'bend' (id 3) warns of too much load")
