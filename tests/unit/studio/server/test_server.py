import asyncio
from collections.abc import Awaitable, Callable

import pytest
import uvicorn
from nicegui import app as nicegui_app

from poise.studio.server import server as server_module
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


def test_pages_that_are_closed_at_one_moment_are_freed_by_one_search(monkeypatch: pytest.MonkeyPatch) -> None:
    searches: list[int] = []
    monkeypatch.setattr(server_module.gc, "collect", lambda: searches.append(len(searches)))

    async def close(pages: int) -> None:
        for _ in range(pages):
            for handler in nicegui_app._delete_handlers:
                handler()
        await asyncio.sleep(0)

    async def started(self: uvicorn.Server, sockets: object = None) -> None:
        pass

    monkeypatch.setattr(uvicorn.Server, "startup", started)
    monkeypatch.setattr(nicegui_app, "_delete_handlers", [])

    async def use() -> None:
        await _Server(uvicorn.Config("nothing"), []).startup()
        await close(20)
        await close(1)

    asyncio.run(use())
    assert searches == [0, 1]
