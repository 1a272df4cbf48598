"""`poise serve` as other programs meet it: a process, an address, a web socket."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from urllib.parse import urlsplit

import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from poise.service.wire import pack, unpack
from tests.unit.service.people import person

PATIENCE = 120.0
"""Time to wait for an answer [s]."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    command = [sys.executable, "-m", "poise", "serve", "--until-stdin-closes"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        assert server.stdin is not None
        about = json.loads(server.stdout.readline())
        assert about["protocol"] == 1
        assert about["key"] in about["address"]
        yield about["address"]
        server.stdin.close()  # as it is when the calling program ends
        assert server.wait(PATIENCE) == 0
    with pytest.raises(OSError):
        connect(about["address"])


def ask(client: ClientConnection, **message: object) -> dict:
    client.send(json.dumps(message))
    return json.loads(client.recv(PATIENCE))


def test_the_key_and_the_path_are_wanted(address):
    for wrong in (address[:-1], address.split("?")[0]):
        with pytest.raises(InvalidStatus) as refused:
            connect(wrong)
        assert refused.value.response.status_code == 403
        assert b"the key is missing" in refused.value.response.body
    with pytest.raises(InvalidStatus):
        connect(address, origin="http://evil.example")
    with pytest.raises(InvalidStatus):
        connect(address.replace("/poise?", "/other?"))


def test_messages_are_answered_in_their_own_form(address):
    with connect(address) as client:
        assert ask(client, id="a", do="hello")["id"] == "a"
        client.send("nonsense")
        assert "is not JSON" in json.loads(client.recv(PATIENCE))["error"]
        figure = ask(client, do="figure", bones=person())["figure"]
        client.send(pack({"do": "pose", "figure": figure, "give": ["world"]}, binary=True))
        answer = client.recv(PATIENCE)
        assert isinstance(answer, bytes)
        assert unpack(answer)["heads"].shape == (60, 3)


def test_solves_that_pile_up_are_all_answered_and_the_last_target_counts(address):
    with connect(address) as client:
        figure = ask(client, do="figure", bones=person())["figure"]
        ask(
            client,
            do="tasks",
            figure=figure,
            tasks=[{"kind": "position", "site": "hand.L", "at": [0.7, 0, 1.4], "name": "hand"}],
        )
        for k in range(40):
            client.send(
                json.dumps({"id": k, "do": "solve", "figure": figure, "targets": {"hand": [0.7, -0.01 * k, 1.4]}})
            )
        answers = [json.loads(client.recv(PATIENCE)) for _ in range(40)]
        assert {answer["id"] for answer in answers} == set(range(40))
        assert "rotations" in next(answer for answer in answers if answer["id"] == 39)
        bones = ask(client, do="settle", figure=figure, give=["world"])["heads"]
        names = [bone["name"] for bone in person()]
        np.testing.assert_allclose(bones[names.index("hand.L")], [0.7, -0.39, 1.4], atol=1e-5)


def test_a_client_sees_only_its_own_figures(address):
    with connect(address) as first, connect(address) as second:
        figure = ask(first, do="figure", built_in="arm")["figure"]
        assert "there is no figure" in ask(second, do="pose", figure=figure)["error"]


def test_a_client_does_not_wait_for_a_long_clip_of_another(address):
    with connect(address) as first, connect(address) as second:
        ask(first, do="figure", bones=person())
        source = ask(first, do="figure", bones=person())["figure"]
        turns = np.zeros((300, 60, 4))
        turns[:, :, 0] = 1.0
        clip = {"rate": 60.0, "rotations": turns, "locations": {"hips": np.zeros((300, 3))}}
        first.send(pack({"do": "retarget", "figure": 1, "from": source, "clip": clip}, binary=True))
        figure = ask(second, do="figure", bones=person())["figure"]
        ask(second, do="pose", figure=figure)
        with pytest.raises(TimeoutError):
            first.recv(0.0)
        answer = first.recv(PATIENCE)
        assert isinstance(answer, bytes)
        assert len(unpack(answer)["clip"]["rotations"]) == 300


def test_what_servos_would_do_is_told_as_an_event(address):
    with connect(address) as client:
        figure = ask(client, do="figure", built_in="arm")["figure"]
        client.send(json.dumps({"do": "servos", "figure": figure, "to": "firmata:/dev/none"}))
        told, wanted = set(), {"servos", "dry run"}
        while not wanted <= told:
            message = json.loads(client.recv(PATIENCE))
            told.add(message.get("event") or message["do"])


def test_a_client_that_breaks_off_does_no_harm(address):
    with connect(address) as client:
        ask(client, do="figure", built_in="arm")
        client.socket.shutdown(socket.SHUT_RDWR)
        with pytest.raises((ConnectionClosed, OSError)):
            client.recv(PATIENCE)
    with connect(address) as other:
        assert ask(other, do="hello")["protocol"] == 1


PARENT = """
import subprocess, sys, time
command = [sys.executable, "-m", "poise", "serve", "--until-stdin-closes"]
server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
print(server.stdout.readline(), end="", flush=True)
time.sleep(600)
"""


def test_the_server_ends_with_its_parent_however_that_ends():
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        address = json.loads(parent.stdout.readline())["address"]
        with connect(address) as client:
            assert ask(client, do="hello")["protocol"] == 1
            parent.kill()
            with pytest.raises((ConnectionClosed, OSError)):
                client.recv(PATIENCE)  # the server says goodbye, or is gone
    place = urlsplit(address)
    for _ in range(1000):
        try:
            socket.create_connection((str(place.hostname), int(place.port or 0)), 1.0).close()
        except OSError:
            return
        time.sleep(0.1)
    pytest.fail("the server still listens")
