"""Servo maps, the governor, robots by name, files of servos, dry runs, OSC."""

import math
import socket

import numpy as np
import pytest

import poise
from poise.errors import FigureError, FormatError, RobotError
from poise.formats.osc import decode
from poise.robots import Robot, Servo, connect
from poise.robots.governor import Governor
from poise.robots.serial_line import parsed_line
from poise.robots.servo import allowed, value_of
from poise.robots.servo_file import read_servos

LAMP = poise.load("adelino")


def test_a_servo_map_turns_angles_into_ticks_and_back():
    servo = Servo("turn", 3, sign=-1, zero=0.1, ticks=(1000, 2000), travel=math.pi)
    governor = Governor(LAMP, [servo], slow=1.0)
    assert governor.nearest(np.array([0.1])).tolist() == [1500]
    assert governor.nearest(np.array([0.1 + math.pi / 4])).tolist() == [1250]
    assert value_of(servo, 1250) == pytest.approx(0.1 + math.pi / 4)


def test_limits_are_the_narrowest_and_no_whole_tick_lies_beyond():
    servo = Servo("turn", 3, lower=-0.5, upper=9.0)
    low, high, speed = allowed(servo, LAMP)
    assert value_of(servo, low) >= -0.5 > value_of(servo, low - 1)
    assert value_of(servo, high) <= math.pi / 2
    assert speed == pytest.approx(6.0 * 1856 / math.pi)
    assert allowed(Servo("turn", 3, speed=1.0), LAMP).speed == pytest.approx(1856 / math.pi)
    with pytest.raises(RobotError, match="no tick of 1000 … 1100 is inside the joint's limits"):
        allowed(Servo("turn", 3, zero=9.0, ticks=(1000, 1100), travel=0.1), LAMP)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"sign": 2}, "the sign is 1 or -1, not 2"),
        ({"channel": -1}, "pin or id from 0 up, not -1"),
        ({"ticks": (2000, 1000)}, "the smaller first"),
        ({"ticks": (1000.5, 2000)}, "two whole numbers"),
        ({"travel": 0.0}, "travel must be above 0"),
        ({"lower": 1.0, "upper": 1.0}, "is not below its upper limit"),
        ({"speed": 0.0}, "speed must be above 0"),
        ({"speed": math.nan}, "speed must be above 0"),
    ],
)
def test_a_servo_that_means_nothing_is_refused(change, sentence):
    with pytest.raises(RobotError, match=sentence):
        Servo(**({"joint": "turn", "channel": 3} | change))


class Silent:
    """A driver that takes everything."""

    name = "a silent device"

    def open(self, servos):
        return [None] * len(servos)

    def arm(self, ticks):
        pass

    def send(self, ticks, values):
        pass

    def poll(self, now):
        return ()

    def close(self):
        pass


def test_servos_of_a_robot_are_checked():
    with pytest.raises(RobotError, match=r"no joint 'trun' for channel 3\. Did you mean 'turn'"):
        Robot(LAMP, Silent(), [Servo("trun", 3)])
    with pytest.raises(RobotError, match="has a servo already"):
        Robot(LAMP, Silent(), [Servo("turn", 3), Servo("lean", 3)])
    with pytest.raises(RobotError, match="at least one servo"):
        Robot(LAMP, Silent(), [])
    human = poise.load("human")
    ball = next(joint.name for joint in human.joints if joint.kind == "ball")
    with pytest.raises(RobotError, match="is ball"):
        Robot(human, Silent(), [Servo(ball, 3)])
    with pytest.raises(RobotError, match="the watchdog of a robot must be a positive number, not 0"):
        Robot(LAMP, Silent(), [Servo("turn", 3)], watchdog=0)
    with pytest.raises(FigureError, match="Did you mean 'neutral'"):
        Robot(LAMP, Silent(), [Servo("turn", 3)], safe="nuetral")


@pytest.mark.parametrize(
    ("where", "sentence"),
    [
        ("firmta:/dev/x", "Did you mean 'firmata'"),
        ("/dev/ttyACM0", "names no robot"),
        ("firmata:", "names no robot"),
        ("serial:/dev/x@fast", "a number of baud such as 57600, not 'fast'"),
        ("serial:/dev/x@0", "positive speed in baud"),
        ("osc:9000", "a host and a port such as osc:127.0.0.1:9000"),
        ("osc:here:70000", "from 1 to 65535"),
    ],
)
def test_robots_that_have_no_such_name(where, sentence):
    with pytest.raises(RobotError, match=sentence):
        connect(where, LAMP)


def test_every_joint_has_a_servo_by_default():
    assert [(s.joint, s.channel) for s in connect("firmata:/x", LAMP).servos] == [
        ("turn", 2),
        ("lean", 3),
        ("bend", 4),
        ("tilt", 5),
        ("twist", 6),
    ]
    assert connect("dynamixel:/x@1000000", LAMP).servos[0].channel == 1
    middle = connect("dynamixel:/x", LAMP).servos[0]
    assert value_of(middle, 2048) == pytest.approx(0.0, abs=1e-3)


def test_a_dry_run_prints_what_would_be_sent():
    lines = []
    robot = connect("firmata:/dev/nowhere", LAMP, dry_run=True, say=lines.append)
    robot.tick(0.0)
    robot.write(LAMP.posture("happy"))
    robot.tick(0.02)
    robot.tick(0.04)
    assert "turn +0.0° → 2:1472" in lines[0]
    assert len(lines) >= 2
    assert robot.driver.name == "dry run of firmata (firmata on /dev/nowhere)"


def test_osc_sends_one_bundle_of_joint_values():
    receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    receiver.bind(("127.0.0.1", 0))
    receiver.settimeout(5.0)
    robot = connect(f"osc:127.0.0.1:{receiver.getsockname()[1]}", LAMP)
    robot.tick(0.0)
    messages = decode(receiver.recv(4096))
    receiver.close()
    assert [message.address for message in messages] == [f"/adelino/{name}" for name in LAMP.joints.names]
    assert np.allclose([message.arguments[0] for message in messages], LAMP.neutral().q, atol=1e-5)
    for _ in range(3):
        robot.tick(0.1)
    robot.stop()
    with pytest.raises(RobotError, match=r"the host 'no\.such\.host\.invalid' is not known"):
        connect("osc:no.such.host.invalid:9000", LAMP).start()


def test_a_file_of_servos(tmp_path):
    path = tmp_path / "lamp.servos.toml"
    path.write_text(
        'safe = "sad"\n[[servo]]\njoint = "turn"\nchannel = 9\nsign = -1\n'
        "zero = 5\nlower = -80\nupper = 80\nspeed = 200\n",
        encoding="utf-8",
    )
    robot = connect("firmata:/x", LAMP, path)
    (servo,) = robot.servos
    assert (servo.channel, servo.sign, servo.ticks) == (9, -1, (544, 2400))
    assert servo.lower == pytest.approx(math.radians(-80))
    assert servo.speed == pytest.approx(math.radians(200))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[[servo]]\njoint = ", "this is no TOML"),
        ('[[servo]]\njoint = "turn"', "needs a channel"),
        ('[[servo]]\njoint = "trun"\nchannel = 1', "Did you mean 'turn'"),
        ('[[servo]]\njoint = "turn"\nchannel = 1\nsing = 1', "Did you mean 'sign'"),
        ('[[servo]]\njoint = "turn"\nchannel = 1\nspeed = "fast"', "speed is a number, not 'fast'"),
        ('[[servo]]\njoint = "turn"\nchannel = 1\nticks = 5', "ticks are two whole numbers"),
        ('[[servo]]\njoint = "turn"\nchannel = 1.5', "pin or id from 0 up, not 1.5"),
        ('safe = "sda"', "Did you mean 'sad'"),
        ("servo = 3", r"tables that start with \[\[servo\]\]"),
        ('mode = "x"', "has no 'mode'"),
    ],
)
def test_files_of_servos_that_are_wrong(tmp_path, text, sentence):
    path = tmp_path / "wrong.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=sentence) as error:
        read_servos(path, LAMP, {})
    assert str(error.value).startswith(str(path))


def test_a_missing_file_of_servos(tmp_path):
    with pytest.raises(FormatError, match="cannot be read: no such file"):
        read_servos(tmp_path / "nothing.toml", LAMP, {})


def test_text_lines_are_read_back():
    assert parsed_line("0:1500 1:988") == {0: 1500, 1: 988}
    with pytest.raises(RobotError, match="no line of servos"):
        parsed_line("0=1500")


def test_a_driver_that_fails_in_a_way_nobody_thought_of_is_lost_and_tried_again():
    class Odd(Silent):
        def poll(self, now):
            if now < 0.5:
                raise ZeroDivisionError("odd")
            return ()

    said = []
    robot = Robot(LAMP, Odd(), [Servo("turn", 3)], retry=0.2, on_event=said.append, clock=lambda: 0.0)
    for now in np.arange(0.0, 1.0, 0.02):
        robot.tick(float(now))
    assert robot.state == "safe"
    assert said[0] == "a silent device failed: ZeroDivisionError: odd. Trying again every 0.2 s."
    assert said[-1] == "a silent device is back."
