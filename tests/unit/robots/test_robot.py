"""Servo maps, the governor, robots from addresses, servo files, dry runs and OSC."""

import math
import socket
from unittest import mock

import numpy as np
import pytest

import poise
from poise.errors import FigureError, FormatError, RobotError
from poise.figure.model.builder import Builder, prismatic, revolute
from poise.formats.osc import decode
from poise.robots import DeviceLostError, Robot, Servo, connect, dynamixel
from poise.robots.governor import Governor
from poise.robots.port import Port
from poise.robots.servo import CAUTIOUS_SLIDE, CAUTIOUS_TURN, allowed, value_of
from poise.robots.servo_file import read_servos
from tests.unit.robots.emulated import until
from tests.unit.robots.silent import Silent

LAMP = poise.load("adelino")


def test_a_servo_map_turns_angles_into_ticks_and_back():
    servo = Servo("turn", 3, sign=-1, zero=0.1, ticks=(1000, 2000), travel=math.pi)
    governor = Governor(LAMP, [servo], 1.0, np.zeros(1))
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


def test_servos_of_a_robot_are_checked():
    with pytest.raises(RobotError, match=r"no joint 'trun' for channel 3\. Did you mean 'turn'"):
        Robot(LAMP, Silent(), [Servo("trun", 3)])
    with pytest.raises(RobotError, match="has a servo already"):
        Robot(LAMP, Silent(), [Servo("turn", 3), Servo("lean", 3)])
    with pytest.raises(RobotError, match="at least one servo"):
        Robot(LAMP, Silent(), [])
    human = poise.load("human")
    ball = next(joint.name for joint in human.joints if joint.kind == "ball")
    with pytest.raises(RobotError, match="is a ball joint"):
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
    now = [0.0]
    robot = connect("firmata:/dev/nowhere", LAMP, dry_run=True, say=lines.append, clock=lambda: now[0])
    robot.tick()
    robot.write(LAMP.posture("happy"))
    for now[0] in (0.02, 0.04):
        robot.tick()
    assert "turn +0.0° → 2:1472" in lines[0]
    assert len(lines) >= 2
    assert robot.driver.name == "dry run of firmata (firmata on /dev/nowhere)"


def test_osc_sends_one_bundle_of_joint_values():
    receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    receiver.bind(("127.0.0.1", 0))
    receiver.settimeout(5.0)
    robot = connect(f"osc:127.0.0.1:{receiver.getsockname()[1]}", LAMP)
    robot.tick()
    messages = decode(receiver.recv(4096))
    receiver.close()
    assert [message.address for message in messages] == [f"/adelino/{name}" for name in LAMP.joints.names]
    assert np.allclose([message.arguments[0] for message in messages], LAMP.neutral().q, atol=1e-5)
    for _ in range(3):
        robot.tick()
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
        ("[[servo]]\njoint = ", r":2: is not TOML"),
        ('[[servo]]\njoint = "turn"', r":1: the servo of joint 'turn' has no 'channel'"),
        ('[[servo]]\njoint = "trun"\nchannel = 1', "Did you mean 'turn'"),
        ('[[servo]]\njoint = "turn"\nchannel = 1\nsing = 1', "Did you mean 'sign'"),
        ('[[servo]]\njoint = "turn"\nchannel = 1\nspeed = "fast"', r":4: 'speed' .* must be a number, not 'fast'"),
        ('[[servo]]\njoint = "turn"\nchannel = 1\nticks = 5', r":4: 'ticks' .* must be 2 numbers in brackets"),
        ('[servo]\njoint = "turn"\nchannel = 1', r"write \[\[servo\]\], not \[servo\]"),
        ('[[servo]]\njoint = "turn"\nchannel = 1\nspeed = -3', r":4: 'speed' .* must be above 0, not -3"),
        ('[[servo]]\njoint = "turn"\nchannel = 1\nlower = 80\nupper = -80', r":4: .* 80 not below .* -80"),
        ('[[servo]]\njoint = "turn"\nchannel = 1\nlower = 1e999', r":4: 'lower' .* must be a number, not inf"),
        ('\n[[servo]]\njoint = "turn"\nchannel = 1\n[[servo]]\njoint = "turn"\nchannel = 2', r":5: .* already"),
        ('[[servo]]\njoint = "turn"\nchannel = 1.5', "pin or id from 0 up, not 1.5"),
        ('safe = "sda"', "Did you mean 'sad'"),
        ("servo = 3", "must be an array, not 3"),
        ('mode = "x"', "unknown key 'mode'"),
    ],
)
def test_files_of_servos_that_are_wrong(tmp_path, text, sentence):
    path = tmp_path / "wrong.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=sentence) as error:
        read_servos(path, LAMP, {})
    assert str(error.value).startswith(str(path))


def test_a_missing_file_of_servos(tmp_path):
    with pytest.raises(FormatError, match="does not exist"):
        read_servos(tmp_path / "nothing.toml", LAMP, {})


def test_a_driver_that_fails_in_a_way_nobody_thought_of_is_lost_and_tried_again():
    class Odd(Silent):
        def poll(self, now):
            if now < 0.5:
                raise ZeroDivisionError("odd")
            return ()

    said, clock = [], [0.0]
    robot = Robot(LAMP, Odd(), [Servo("turn", 3)], retry=0.2, on_event=said.append, clock=lambda: clock[0])
    for clock[0] in np.arange(0.0, 1.0, 0.02):
        robot.tick()
    assert robot.state == "safe"
    assert said[1:] == [
        "a silent device failed: ZeroDivisionError: odd. Trying again every 0.2 s.",
        *["a silent device is back.", "a silent device failed: ZeroDivisionError: odd. Trying again every 0.2 s."] * 2,
        "a silent device is back.",
    ]


def own_arm():
    """A figure without speed limits."""
    b = Builder("own")
    b.body("foot")
    b.body("stem", parent="foot", joint=revolute("turn", "y", (-1.5, 1.5)))
    b.body("head", parent="stem", joint=prismatic("slide", "y", (-0.2, 0.2)), at=(0, 0.2, 0))
    return b.build()


class Timed:
    """A robot whose clock and cycles the test controls."""

    def __init__(self, figure, servos, driver=None, **options):
        self.now, self.said = 0.0, []
        self.driver = driver or Silent()
        self.robot = Robot(
            figure,
            self.driver,
            servos,
            clock=lambda: self.now,
            on_event=options.pop("on_event", self.said.append),
            **options,
        )

    def cycle(self, step=0.02, posture=None):
        self.now += step
        if posture is not None:
            self.robot.write(posture)
        self.robot.tick()
        return self.driver.sent[-1] if self.driver.sent else None


def test_without_a_speed_limit_a_cautious_one_is_assumed_and_said_once():
    arm = own_arm()
    servos = [Servo("turn", 0), Servo("slide", 1, travel=0.4)]
    timed = Timed(arm, servos, retry=0.01)
    assert [servo.speed for servo in timed.robot.servos] == [CAUTIOUS_TURN, CAUTIOUS_SLIDE]
    for _ in range(3):
        timed.cycle()
        timed.robot.stop()
        timed.robot._stop.clear()
    assert [sentence for sentence in timed.said if "speed" in sentence and "limit" in sentence] == [
        "joints without a speed limit get a cautious one: 57° a second for turn and 0.1 m/s for slide; "
        "set speeds in a servo file."
    ]
    assert Timed(arm, [Servo("turn", 0, speed=3.0)]).robot.servos[0].speed == 3.0
    assert Timed(LAMP, [Servo("turn", 0)]).robot.servos[0].speed == 6.0


@pytest.mark.parametrize("step", [0.0, -1.0, -1e9, 1e9, math.inf, math.nan])
def test_a_clock_that_runs_oddly_earns_one_longest_frame_at_most(step):
    timed = Timed(own_arm(), [Servo("turn", 0)])
    timed.cycle()
    before = timed.cycle(0.02, [1.0, 0.0])
    after = timed.cycle(step, [1.0, 0.0])
    most = 0.1 * 0.6 * 1856 / math.pi
    assert 0 <= after[0] - before[0] <= (most if step > 0 else 0)
    timed.now = 0.0
    for _ in range(100):
        timed.cycle(0.02, [1.0, 0.0])
    assert timed.driver.sent[-1][0] > after[0] + 100, "it goes on by whatever the clock says next"


def test_commands_that_the_device_did_not_take_are_not_counted():
    class Busy(Silent):
        busy = False

        def send(self, ticks, values):
            return not self.busy and super().send(ticks, values)

    timed = Timed(own_arm(), [Servo("turn", 0)], Busy())
    last = [timed.cycle(0.02, [1.0, 0.0]) for _ in range(5)][-1]
    timed.driver.busy = True
    for _ in range(100):
        timed.cycle(0.02, [1.0, 0.0])
    timed.driver.busy = False
    assert timed.cycle(0.02, [1.0, 0.0])[0] - last[0] <= 0.1 * 1.0 * 1856 / math.pi


def test_servos_that_cannot_be_measured_are_switched_on_one_after_another():
    class Gradual(Silent):
        arming_gap = 0.2

        def open(self, servos):
            self.armed = []

        def arm(self, number, tick):
            self.armed.append((timed.now, number))

    timed = Timed(LAMP, [Servo(joint, k) for k, joint in enumerate(LAMP.joints.names)], Gradual())
    while not timed.driver.sent:
        timed.cycle()
    times = [when for when, _ in timed.driver.armed]
    assert [number for _, number in timed.driver.armed] == [0, 1, 2, 3, 4]
    assert np.diff(times).min() >= 0.2 - 1e-9


def test_a_robot_goes_on_where_it_was_after_a_stop_and_where_it_is_told():
    servos = [Servo(joint, k) for k, joint in enumerate(LAMP.joints.names)]
    timed = Timed(LAMP, servos)
    happy = timed.robot._governor.nearest(LAMP.posture("happy").q).tolist()
    timed.robot.start(at="happy")
    timed.robot.stop()
    assert timed.driver.sent in ([], [happy])
    timed.robot.start()
    timed.robot.stop()
    assert all(ticks == happy for ticks in timed.driver.sent)
    assert not any("cannot measure its servos" in sentence for sentence in timed.said)


def test_nothing_is_sent_once_a_robot_is_stopped_not_even_by_the_cycle_that_stops_it():
    def stop(sentence):
        if "safe posture." in sentence:
            timed.robot.stop()

    timed = Timed(LAMP, [Servo("turn", 0)], watchdog=0.1, on_event=stop)
    for _ in range(5):
        timed.cycle(0.02, LAMP.neutral())
    assert timed.robot.state == "following"
    count = len(timed.driver.sent)
    timed.cycle(0.2)
    assert timed.robot.state == "closed"
    for _ in range(50):
        timed.cycle(0.02, LAMP.posture("happy"))
    assert len(timed.driver.sent) == count


def test_stopping_in_an_event_of_the_robots_own_thread_does_not_wait_for_itself():
    class Failing(Silent):
        def poll(self, now):
            raise DeviceLostError("gone.")

    robot = Robot(LAMP, Failing(), [Servo("turn", 0)], on_event=lambda sentence: "gone" in sentence and robot.stop())
    robot.start()
    assert until(lambda: robot.state == "closed")
    robot.stop()
    assert robot._thread is None


def test_a_dynamixel_servo_keeps_the_speed_limit_that_was_assumed():
    (servo,) = Timed(own_arm(), [Servo("turn", 1, ticks=(0, 4095), travel=2 * math.pi)]).robot.servos
    assert dynamixel._profile_velocity(servo) == 41, "1 rad/s in units of 0.229 turns a minute"
    assert dynamixel._profile_velocity(Servo("turn", 1)) == 32767
    assert dynamixel._profile_velocity(Servo("turn", 1, speed=1e-9)) == 1


def test_frames_do_not_pile_up_for_a_device_that_does_not_read():
    class Line:
        out_waiting = 0

        def write(self, data):
            self.out_waiting += len(data)
            return len(data)

    port = Port("/dev/imagined", 57600)
    port._line = Line()
    with mock.patch("poise.robots.port._POSIX", False):
        assert [port.write_newest(b"0123456789") for _ in range(5)] == [True, False, False, False, False]
        assert port.stuck_for() > 0.0
        port._line.out_waiting = 3
        assert port.write_newest(b"0123456789")
    assert port.stuck_for() == 0.0
