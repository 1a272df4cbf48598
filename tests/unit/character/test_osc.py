"""A character over OSC: messages in, frames out, and messages of the wrong shape."""

import socket
import struct
import time
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import poise
from poise.character import Character
from poise.errors import FormatError, TaskError
from poise.figure.model.posture import Posture
from poise.formats.osc import bundle, decode, encode
from poise.motion.clip.clip import Clip
from poise.motion.filter.filter import MotionFilter

LAMP = poise.load("adelino")


class Straight:
    def __init__(self):
        self.faced = []

    def solve(self, posture, orientation, previous=None):
        self.faced.append(orientation)
        return SimpleNamespace(posture=Posture(LAMP, posture.q.copy()))


@pytest.fixture
def stage():
    solver = Straight()
    clips = {"nod": Clip(LAMP, np.zeros((60, 5)) + 0.1, 30.0, "nod")}
    fast = MotionFilter(velocity=1e3, acceleration=1e5, jerk=1e8)
    live = Character(LAMP, solver=solver, clips=clips, filter=fast, on_event=lambda _: None)
    ear = live.listen(0)
    mouth = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    mouth.connect(("127.0.0.1", ear.port))
    mouth.settimeout(5.0)
    yield SimpleNamespace(live=live, solver=solver, mouth=mouth, ear=ear)
    mouth.close()
    ear.close()


def heard(stage, packet):
    """Send a packet, then one that always gets a reply: when that reply arrives, the first packet has been handled."""
    stage.mouth.send(packet)
    stage.mouth.send(encode("/ping"))
    answers = [decode(stage.mouth.recv(4096))[0].arguments[0]]
    while "no OSC message /ping" not in answers[-1]:
        answers.append(decode(stage.mouth.recv(4096))[0].arguments[0])
    return answers[:-1]


def run(live, seconds=1.0):
    return [frame.q for frame in live.frames(60, seconds=seconds, realtime=False)][-1]


def test_every_message_does_what_it_says(stage):
    assert heard(stage, encode("/hold", ["sad", 0.1])) == []
    assert np.allclose(run(stage.live), LAMP.posture("sad").q, atol=1e-6)
    assert heard(stage, encode("/adelino/hold", ["happy"])) == []
    assert np.allclose(run(stage.live), LAMP.posture("happy").q, atol=1e-6)
    assert heard(stage, encode("/posture", [0.1, 0.2, 0.3, 0.4, 0.5])) == []
    assert np.allclose(run(stage.live), [0.1, 0.2, 0.3, 0.4, 0.5], atol=1e-5)
    assert heard(stage, bundle([encode("/face", [1.0, 0.0, 0.0]), encode("/idle", [0.0])])) == []
    run(stage.live)
    assert np.allclose(stage.solver.faced[-1].direction, [1, 0, 0])
    assert heard(stage, encode("/face", [1, 0, 0, 0])) == []
    run(stage.live)
    assert np.allclose(stage.solver.faced[-1].rotation, [1, 0, 0, 0])
    assert heard(stage, encode("/at", [1.0, 2.0, 3.0])) == []
    run(stage.live)
    assert np.allclose(stage.solver.faced[-1].point, [1, 2, 3])
    assert heard(stage, encode("/free")) == []
    count = len(stage.solver.faced)
    assert heard(stage, encode("/play", ["nod", 1])) == []
    assert np.allclose(run(stage.live), 0.1, atol=1e-6)
    assert len(stage.solver.faced) == count
    assert heard(stage, encode("/stop")) == []
    assert np.allclose(run(stage.live), [0.1, 0.2, 0.3, 0.4, 0.5], atol=1e-5)


@pytest.mark.parametrize(
    ("packet", "sentence"),
    [
        (encode("/hold"), "/hold takes a posture's name and perhaps a blend [s], not nothing."),
        (encode("/hold", [3.0]), "/hold takes a posture's name"),
        (encode("/hold", ["sda"]), "Did you mean 'sad'"),
        (encode("/hold", ["sad", float("nan")]), "blend must be a number of seconds"),
        (encode("/face", [1.0, 2.0]), "a direction x y z or a quaternion w x y z, not 1.0 2.0."),
        (encode("/face", ["left"]), "not 'left'"),
        (encode("/face", [float("nan"), 0.0, 1.0]), "the direction to face"),
        (encode("/at", [1.0, 2.0, b"x"]), "takes a point x y z"),
        (encode("/posture", [1.0]), "takes 5 joint values"),
        (encode("/play", ["waltz"]), "has no clip 'waltz'"),
        (encode("/idle", [7.0]), "between 0 and 1"),
        (encode("/stop", [1]), "/stop takes nothing, not 1."),
        (encode("/haold", ["sad"]), "no OSC message /haold. Did you mean '/hold'"),
        (b"nonsense", "must start with an address"),
        (b"/face\0\0\0,fff\0\0\0\0\0\0\0\0", "ends in the middle of a value"),
        (b"abc", "a multiple of 4 bytes, not 3"),
    ],
)
def test_messages_of_the_wrong_shape_are_answered_and_change_nothing(stage, packet, sentence):
    before = run(stage.live, 0.1)
    (answer,) = heard(stage, packet)
    assert sentence in answer
    assert sentence in " ".join(stage.live.events)
    assert np.array_equal(run(stage.live, 0.3), before)


def test_frames_are_sent_as_bundles(stage):
    receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    receiver.bind(("127.0.0.1", 0))
    receiver.settimeout(5.0)
    out = stage.live.send_to("127.0.0.1", receiver.getsockname()[1])
    sent = [frame.q for frame in stage.live.frames(60, seconds=0.1, realtime=False)]
    got = [decode(receiver.recv(4096)) for _ in sent]
    assert [[m.address for m in frame] for frame in got] == [[f"/adelino/{j}" for j in LAMP.joints.names]] * len(sent)
    assert np.allclose([[m.arguments[0] for m in frame] for frame in got], sent, atol=1e-6)
    out.close()
    receiver.close()
    run(stage.live, 0.1)
    assert stage.live.outputs == []


def test_ports_and_hosts_that_are_not_there(stage):
    with pytest.raises(TaskError, match="cannot listen for OSC on 127"):
        stage.live.listen(stage.ear.port)
    with pytest.raises(TaskError, match="cannot listen"):
        stage.live.listen(70000)
    with pytest.raises(TaskError, match="the host is not known"):
        stage.live.send_to("no.such.host.invalid", 9000)
    for port in (0, -3, 70000, "out"):
        with pytest.raises(TaskError, match=r"cannot send OSC to 127.*a port is a whole number from 1 to 65535"):
            stage.live.send_to("127.0.0.1", port)
    with pytest.raises(TaskError, match="a port is a whole number from 0 to 65535"):
        stage.live.listen("in")


def test_it_listens_while_frames_run(stage):
    stage.mouth.send(encode("/hold", ["sad", 0.0]))
    end = time.monotonic() + 10.0
    for frame in stage.live.frames(rate=100):
        if np.allclose(frame.q, LAMP.posture("sad").q, atol=1e-4) or time.monotonic() > end:
            break
    assert np.allclose(stage.live.posture.q, LAMP.posture("sad").q, atol=1e-4)


arguments = st.one_of(
    st.floats(width=32, allow_nan=False),
    st.integers(-(2**63), 2**63 - 1),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])),
    st.binary(),
    st.booleans(),
    st.none(),
)


@given(st.lists(st.lists(arguments, max_size=6), min_size=1, max_size=4))
def test_what_is_encoded_is_decoded(packets):
    decoded = decode(bundle(encode("/x/y", row) for row in packets))
    assert [list(message.arguments) for message in decoded] == packets


@given(st.binary(max_size=64), st.booleans())
def test_garbage_is_a_format_error_or_a_message(data, in_bundle):
    packet = b"#bundle\0" + bytes(8) + struct.pack(">i", len(data)) + data if in_bundle else b"/face\0\0\0," + data
    try:
        decode(packet)
    except FormatError as problem:
        assert str(problem).endswith(".")
