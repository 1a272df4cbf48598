"""A servo never jumps: the change between two commands that an emulated board receives is limited in all situations."""

import math
import os
import signal
import time
from contextlib import ExitStack

import pytest

import poise
from poise.cli import play
from poise.robots import connect
from tests.unit.robots.emulated import Arduino, DynamixelBus, TextBoard, until

pytest.importorskip("serial", reason="robots on serial lines need pyserial")
pytestmark = pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals are a POSIX thing")

LAMP = poise.load("adelino")
FRAME = 0.1
"""Longest elapsed time that one command may use [s]."""
CAUTIOUS = 1.0
"""Speed of a joint without a limit [rad/s]."""
BOARDS = {"firmata": Arduino, "dynamixel": lambda: DynamixelBus(range(1, 7)), "serial": TextBoard}


@pytest.fixture(scope="module")
def arm(tmp_path_factory):
    """An arm from an MJCF file without speed limits."""
    path = tmp_path_factory.mktemp("arm") / "arm.xml"
    joints = [("pan", "0 0 1"), ("lift", "0 1 0"), ("elbow", "0 1 0"), ("wrist", "0 1 0"), ("roll", "1 0 0")]
    opened = "".join(
        f'<body name="{name}_link" pos="0.1 0 0"><joint name="{name}" axis="{axis}" range="-1.5 1.5"/>'
        '<geom size="0.01" mass="0.1"/>'
        for name, axis in joints
    )
    path.write_text(
        f'<mujoco model="arm"><compiler angle="radian"/><worldbody>{opened}{"</body>" * 5}</worldbody></mujoco>'
    )
    figure = poise.load(path)
    assert all(math.isinf(joint.speed) for joint in figure.joints)
    return figure


def jump(robot, device, since=0):
    """The largest change from one command to the next [rad]."""
    scales = {servo.channel: abs(servo.scale) for servo in robot.servos}
    last, worst = {}, 0.0
    for number, (_, channel, tick) in enumerate(list(device.log)):
        if number >= since and channel in last:
            worst = max(worst, abs(tick - last[channel]) / scales[channel])
        last[channel] = tick
    return worst


def keep_writing(robot, posture, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        robot.write(posture)
        time.sleep(0.01)


def follow(robot, posture):
    assert until(lambda: (robot.write(posture), robot.state == "following")[1])


@pytest.mark.parametrize("kind", BOARDS)
def test_a_figure_without_speeds_starts_slowly(plugged, arm, kind):
    board = BOARDS[kind]()
    said = []
    robot = connect(f"{kind}:{plugged(board).path}", arm, on_event=said.append)
    with robot:
        start = time.monotonic()
        keep_writing(robot, 0.7 * arm.posture([1.0] * 5).q, 1.5)
        seconds = time.monotonic() - start
        moved = max(robot.commands.values())
    assert 0.1 < moved <= 0.6 * (seconds + FRAME)
    assert jump(robot, board) <= 0.6 * FRAME + 0.01
    assert any("57° a second for pan, lift, elbow, wrist, roll" in sentence for sentence in said)


@pytest.mark.parametrize("kind", BOARDS)
def test_a_new_posture_and_the_watchdog_are_no_jump(plugged, arm, kind):
    board = BOARDS[kind]()
    robot = connect(f"{kind}:{plugged(board).path}", arm, watchdog=0.2, on_event=lambda _: None)
    with robot:
        follow(robot, arm.posture([0.1] * 5))
        keep_writing(robot, arm.posture([-1.4] * 5), 0.6)
        assert jump(robot, board) <= CAUTIOUS * FRAME + 0.01
        assert until(lambda: robot.state == "safe")
        time.sleep(0.3)
    assert jump(robot, board) <= CAUTIOUS * FRAME + 0.01


@pytest.mark.parametrize("kind", BOARDS)
def test_a_cable_that_is_plugged_in_again_goes_on_where_the_servos_are(plugged, kind):
    board = BOARDS[kind]()
    cable = plugged(board)
    robot = connect(f"{kind}:{cable.path}", LAMP, slow=3.0, retry=0.1, on_event=lambda _: None)
    with robot:
        follow(robot, LAMP.posture("happy"))
        keep_writing(robot, LAMP.posture("happy"), 0.3)
        if kind == "dynamixel":
            for who, goal in {channel: tick for _, channel, tick in board.log}.items():
                board.tables[who][132:136] = goal.to_bytes(4, "little")
        before = len(board.log)
        cable.unplug()
        assert until(lambda: robot.state == "lost")
        cable.plug()
        assert until(lambda: len(board.log) > before + 10)
    assert jump(robot, board, before) <= 3.0 * FRAME + 0.01


def test_a_servo_outside_its_limits_comes_back_slowly(plugged, arm):
    bus = DynamixelBus(range(1, 7))
    bus.tables[2][132:136] = (3500).to_bytes(4, "little")
    robot = connect(f"dynamixel:{plugged(bus).path}", arm, on_event=lambda _: None)
    with robot:
        keep_writing(robot, arm.neutral(), 0.5)
    goals = [tick for _, channel, tick in bus.log if channel == 2]
    assert abs(3500 - goals[0]) <= 0.6 * FRAME * 4096 / (2 * math.pi)
    assert jump(robot, bus) <= 0.6 * FRAME + 0.01
    assert goals == sorted(goals, reverse=True)


def test_ctrl_c_stops_a_robot_before_anything_else_ends(plugged):
    board = TextBoard()
    before = signal.getsignal(signal.SIGINT)
    outputs = []
    with ExitStack() as open_things:
        play._connect(open_things, LAMP, outputs, f"serial:{plugged(board).path}", None, dry_run=False)
        robot = outputs[0].__self__
        follow(robot, LAMP.neutral())
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        assert robot.state == "closed"
        time.sleep(0.1)
        count = len(board.lines)
        time.sleep(0.7)
        assert len(board.lines) == count, "it does not go to its safe posture either"
    assert signal.getsignal(signal.SIGINT) is before


def test_half_a_line_does_not_run_into_the_first_one_after_it(plugged):
    board = TextBoard()
    board.hear(b"0:1500 1")
    with connect(f"serial:{plugged(board).path}", LAMP, on_event=lambda _: None):
        assert until(lambda: len(board.lines) > 3)
    assert {channel for _, channel, _ in board.log} == set(range(5))
