"""A client's connection, with a web socket and a solver that do as they are told."""

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from poise.service.connection import Connection


class Wire:
    """A web socket whose messages are put into a queue."""

    def __init__(self) -> None:
        self.arriving: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.sent: list[dict[str, Any]] = []
        self._grown = asyncio.Condition()

    def say(self, **message: object) -> None:
        self.arriving.put_nowait({"type": "websocket.receive", "text": json.dumps(message)})

    def leave(self) -> None:
        self.arriving.put_nowait({"type": "websocket.disconnect"})

    async def accept(self) -> None: ...

    async def receive(self) -> dict[str, Any]:
        return await self.arriving.get()

    async def send_text(self, text: str) -> None:
        async with self._grown:
            self.sent.append(json.loads(text))
            self._grown.notify_all()

    async def answers(self, count: int) -> list[dict[str, Any]]:
        async with self._grown:
            await self._grown.wait_for(lambda: len(self.sent) >= count)
            return self.sent


def talk(say: Callable[[Wire, threading.Event], Awaitable[None]]) -> Connection:
    """A conversation while the solver is busy until an event is set; returns the connection after the end."""

    async def run() -> Connection:
        free = threading.Event()
        with ThreadPoolExecutor(max_workers=1) as solver:
            solver.submit(free.wait)
            wire = Wire()
            connection = Connection(wire, solver)  # type: ignore[arg-type]
            running = asyncio.create_task(connection.run())
            await say(wire, free)
            free.set()
            wire.leave()
            await running
        return connection

    return asyncio.run(asyncio.wait_for(run(), 60.0))


def test_servos_stop_without_waiting_for_other_answers():
    async def say(wire: Wire, free: threading.Event) -> None:
        wire.say(id=1, do="hello")
        wire.say(id=2, do="stop", figure=1)
        assert [answer["id"] for answer in await wire.answers(1)] == [2]
        free.set()
        assert [answer["id"] for answer in await wire.answers(2)] == [2, 1]

    talk(say)


def test_of_solves_that_wait_the_newest_is_answered_by_a_posture():
    async def say(wire: Wire, free: threading.Event) -> None:
        wire.say(id=0, do="hello")  # on its way to the solver, so that the solves wait
        for number in (1, 2, 3):
            wire.say(id=number, do="solve", figure=1, targets={"hand": [0, 0, number]})
        first = await wire.answers(2)
        assert first == [{"id": number, "do": "solve", "replaced": True} for number in (1, 2)]
        free.set()
        assert [answer["id"] for answer in await wire.answers(4)] == [1, 2, 0, 3]

    talk(say)


def test_a_client_that_has_gone_leaves_nothing():
    async def say(wire: Wire, free: threading.Event) -> None:
        free.set()
        wire.say(do="figure", built_in="arm")
        wire.say(do="servos", figure=1, to="firmata:/dev/none")
        while not any(answer.get("do") == "servos" for answer in wire.sent):
            await wire.answers(len(wire.sent) + 1)

    connection = talk(say)
    assert not connection._requests._figures
    assert not connection._requests.servos._robots
