"""A simulated user of the studio's page, without a browser; the tests tick the session themselves."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from nicegui import ui
from nicegui.element import Element
from nicegui.testing import User

from poise.studio.control.modes import Modes
from poise.studio.panels.viewport import Viewport
from poise.studio.server.page import PAGE_UPDATE_INTERVAL
from poise.studio.session.session import Session

Story = Callable[["Visitor", Session], Awaitable[None]]


class Visit(Protocol):
    """Runs a test function (a story) on a page that shows a figure."""

    async def __call__(self, story: Story, figure: str = "human") -> None: ...


class Visitor:
    """A simulated user of the page."""

    def __init__(self, user: User, modes: Modes) -> None:
        self.user, self.modes = user, modes

    async def wait(self) -> None:
        await asyncio.sleep(1.5 * PAGE_UPDATE_INTERVAL)

    async def tab(self, name: str) -> None:
        self.user.find(marker=f"tab {name}").click()
        await self.wait()

    def field(self, marker: str, kind: type[Element] = ui.element, within: str = "") -> Any:
        """The only field with exactly this marker."""
        near = self.user.find(kind=kind, marker=marker).elements
        found = [each for each in near if set(each._markers) == set(marker.split())]
        found = [each for each in found if not within or any(within.split() == a._markers for a in each.ancestors())]
        assert len(found) == 1, f"{len(found)} fields are called {marker}"
        return found[0]

    async def enter(self, marker: str, value: Any, kind: type[Element] = ui.element, within: str = "") -> None:
        """Enter a value in the only field with exactly this marker."""
        with self.user:
            self.field(marker, kind, within).value = value
        await self.wait()

    async def click(self, marker: str) -> None:
        self.user.find(marker=marker).click()
        await self.wait()

    async def switch(self, mode: str) -> None:
        """Click the button of a mode, and wait until the page is in it: its figure is built in another thread."""
        self.user.find(marker=f"mode {mode}").click()
        await self.until(lambda: self.modes.mode.name == mode)
        await self.wait()

    async def hear(self, event: str, **args: Any) -> None:
        """Trigger an event of the viewport."""
        self.user.find(Viewport).trigger(event, args)
        await self.wait()

    async def until(self, check: Callable[[], bool], seconds: float = 300.0) -> None:
        """Tick the session until a condition holds; a solver that compiles may take a while."""
        for _ in range(int(seconds / 0.05)):
            self.modes.session.tick()
            await asyncio.sleep(0.05)
            if check():
                return
        raise AssertionError("it does not come to be so")
