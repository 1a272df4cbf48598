"""The client of the Blender add-on, without Blender: its web socket, and how it starts and ends poise."""

import importlib
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from websockets.sync.server import ServerConnection, serve

from tests.unit.service.people import person

ADDON = Path(__file__).parents[3] / "blender"
pytestmark = pytest.mark.skipif(not ADDON.is_dir(), reason="the add-on is not part of source distributions")


@pytest.fixture(scope="module")
def addon() -> Iterator[ModuleType]:
    """The folder of the add-on as a package, without the module that needs Blender."""
    package = ModuleType("blender_addon")
    package.__path__ = [str(ADDON)]
    sys.modules["blender_addon"] = package
    yield package
    for name in [name for name in sys.modules if name.partition(".")[0] == "blender_addon"]:
        del sys.modules[name]


@pytest.fixture(scope="module")
def websocket(addon: ModuleType) -> ModuleType:
    return importlib.import_module("blender_addon.websocket")


@pytest.fixture(scope="module")
def client(addon: ModuleType) -> ModuleType:
    return importlib.import_module("blender_addon.client")


@pytest.fixture
def address() -> Iterator[str]:
    """A server that says back what it hears, or does what it is told."""

    def answer(connection: ServerConnection) -> None:
        for message in connection:
            if message == "ping":
                connection.ping(b"hello").wait(10.0)
                connection.send("ponged")
            elif message == "parts":
                connection.send(iter(["a", "b" * 200, "c" * 70_000]))
            elif message == "close":
                connection.close()
            else:
                connection.send(message)

    def refuse(connection: ServerConnection, request: object) -> object:
        wrong = "wrong" in request.path  # type: ignore[attr-defined]
        return connection.respond(403, "the key is missing.\n") if wrong else None

    with serve(answer, "127.0.0.1", 0, process_request=refuse, max_size=None) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"ws://127.0.0.1:{server.socket.getsockname()[1]}/path?key=value"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("size", [0, 1, 125, 126, 127, 65535, 65536, 1_000_000])
def test_messages_of_every_size_come_back(websocket, address, size):
    socket = websocket.WebSocket(address)
    text, data = "ä" * (size // 2) + "x" * (size % 2), os.urandom(size)
    for message in (text, data):
        socket.send(message)
        assert socket.receive(30.0) == message
    socket.close()


def test_pings_are_answered_and_fragments_joined(websocket, address):
    socket = websocket.WebSocket(address)
    socket.send("ping")
    assert socket.receive(30.0) == "ponged"
    socket.send("parts")
    assert socket.receive(30.0) == "a" + "b" * 200 + "c" * 70_000
    assert socket.receive(0.01) is None
    socket.close()


def test_the_end_of_a_connection_is_said(websocket, address):
    socket = websocket.WebSocket(address)
    socket.send("close")
    with pytest.raises(websocket.ConnectionLostError, match="has closed the connection"):
        socket.receive(30.0)
    with pytest.raises(websocket.ConnectionLostError, match="is lost"):
        socket.send("more")
    socket.close()


def test_refusals_are_said(websocket, address):
    with pytest.raises(websocket.ConnectionLostError, match=r"the server refuses: the key is missing\."):
        websocket.WebSocket(address.replace("path", "wrong"))
    with pytest.raises(websocket.ConnectionLostError, match="nothing answers"):
        websocket.WebSocket("ws://127.0.0.1:1/")
    with pytest.raises(websocket.ConnectionLostError, match="is no address"):
        websocket.WebSocket("http://127.0.0.1/")


def test_masks_are_those_of_the_standard(websocket):
    # RFC 6455, 5.7: a masked "Hello"
    assert websocket.masked(b"Hello", bytes.fromhex("37fa213d")) == bytes.fromhex("7f9f4d5158")


def test_the_client_starts_asks_and_ends_poise(client):
    poise = client.Client(f'"{sys.executable}" -m poise')
    assert poise.is_alive
    figure = poise.ask(do="figure", bones=person())
    now = poise.ask(
        do="pose", figure=figure["figure"], pose={"rotations": np.tile([1.0, 0, 0, 0], (60, 1))}, give=["world"]
    )
    assert now["heads"].shape == (60, 3)
    with pytest.raises(client.ReportedError, match="there is no figure 7"):
        poise.ask(do="pose", figure=7)
    poise.send({"do": "pose", "figure": 9})  # nobody waits for its answer
    assert poise.ask(do="hello")["protocol"] == 1
    process = poise._process
    poise.stop()
    poise.stop()
    assert process.returncode == 0
    with pytest.raises(client.ReportedError, match="has been stopped"):
        poise.ask(do="hello")


def test_a_program_that_is_no_poise_is_said(client):
    with pytest.raises(client.ReportedError, match="cannot be started"):
        client.Client("/no/such/poise")
    with pytest.raises(client.ReportedError, match="is not a poise that can serve"):
        client.Client(f'"{sys.executable}" -c "print(1)"')


def test_poise_that_is_not_on_the_path_is_said(client, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(client.ReportedError, match=r"pip install 'poise\[serve\]'"):
        client.found_command()
