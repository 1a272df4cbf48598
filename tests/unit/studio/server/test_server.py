import asyncio
from collections.abc import Awaitable, Callable

import pytest
import uvicorn

from poise.studio.server.server import _Server


def test_solving_starts_when_the_server_has_and_ends_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    class Solving:
        def start(self) -> None:
            done.append("solves")

        def stop(self) -> None:
            done.append("rests")

    def noted(word: str) -> Callable[..., Awaitable[None]]:
        async def note(self: uvicorn.Server, sockets: object = None) -> None:
            done.append(word)

        return note

    monkeypatch.setattr(uvicorn.Server, "startup", noted("serves"))
    monkeypatch.setattr(uvicorn.Server, "shutdown", noted("ends"))
    server = _Server(uvicorn.Config("nothing"), [Solving()])  # type: ignore[list-item]
    asyncio.run(server.startup())
    asyncio.run(server.shutdown())
    assert done == ["serves", "solves", "rests", "ends"]
