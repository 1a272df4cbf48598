"""Joint states for other programs: over a web socket, and over OSC."""

import asyncio
import json
import math
import socket
import time

import pytest
from fastapi import WebSocketDisconnect

import poise
from poise.errors import FigureError, TaskError
from poise.formats.osc import bundle, decode, encode
from poise.studio.control.osc_link import OscLink
from poise.studio.session.session import Session
from poise.studio.wire.joints import joint_routes, joint_states, put_joint_states


@pytest.fixture
def session() -> Session:
    return Session(poise.load("arm"))


def until(check: object, seconds: float = 20.0) -> bool:
    end = time.monotonic() + seconds
    while not check():  # type: ignore[operator]
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


class Program:
    """Another program's end of a web socket: says what it is told to, and records what it receives."""

    def __init__(self, *says: str) -> None:
        self.says, self.got = list(says), []

    async def accept(self) -> None:
        """Nothing to do."""

    async def receive_text(self) -> str:
        await asyncio.sleep(0.2)
        if not self.says:
            raise WebSocketDisconnect
        return self.says.pop(0)

    async def send_text(self, text: str) -> None:
        self.got.append(json.loads(text))


def test_a_web_socket_sends_all_joints_and_takes_some(session: Session) -> None:
    before = joint_states(session.state)
    name = next(iter(before))
    nonsense = ["", "[]", '{"joints": 3}', '{"joints": {"unknown": 1}}', json.dumps({"joints": {name: [1, 2]}})]
    wanted = [json.dumps({"joints": {name: 0.25, "unknown": 1.0}}), json.dumps({"joints": {name: [0.5]}})]
    program = Program(wanted[0], *nonsense, wanted[1])
    talk = joint_routes(session).routes[0].endpoint  # type: ignore[attr-defined]
    asyncio.run(talk(program))
    assert program.got[0] == {"figure": "arm", "joints": before}
    assert [row["joints"][name][0] for row in program.got[1:]] == pytest.approx([0.25, 0.5])
    session.undo()
    assert joint_states(session.state) == before


def test_values_stay_inside_limits_and_nonsense_changes_nothing(session: Session) -> None:
    name = next(iter(joint_states(session.state)))
    put_joint_states(session, {name: 1e6})
    assert session.state.figure.violations(session.state.posture) == []
    before = session.state
    for value in (math.nan, [1.0, 2.0], []):
        with pytest.raises(FigureError, match="none of these joints"):
            put_joint_states(session, {name: value})
    assert session.state is before


def test_osc_sends_after_every_change_and_takes_what_others_send(session: Session) -> None:
    name = next(iter(joint_states(session.state)))
    link = OscLink(session)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.1", 0))
        other.settimeout(20.0)
        link.start(other.getsockname(), 0)
        try:
            messages = decode(other.recv(65507))
            assert {m.address for m in messages} == {f"/arm/{joint}" for joint in joint_states(session.state)}
            other.sendto(b"nonsense", ("127.0.0.1", link.listens_at or 0))
            other.sendto(bundle([encode(f"/arm/{name}", [0.25])]), ("127.0.0.1", link.listens_at or 0))
            assert until(lambda: joint_states(session.state)[name] == pytest.approx([0.25], abs=1e-6))
            assert until(lambda: (f"/arm/{name}", pytest.approx((0.25,), abs=1e-6)) in decode(other.recv(65507)))
        finally:
            link.stop()
    assert link.listens_at is link.sends_to is None


def test_a_port_that_is_none_is_refused(session: Session) -> None:
    link = OscLink(session)
    with pytest.raises(TaskError, match=r"cannot listen for OSC on 127.*: a port is a whole number"):
        link.start(None, 70000)
    with pytest.raises(TaskError, match="cannot send OSC to 127"):
        link.start(("127.0.0.1", 70000), None)
    link.stop()
