"""NiceGUI's `user` fixture, run by anyio's plugin, and the studio's page for it to visit."""

import pytest
from nicegui import ui
from nicegui.testing import User
from nicegui.testing.user_plugin import user

from poise.figures import built_in
from poise.studio.control.modes import Modes
from poise.studio.server.page import StudioPage
from poise.studio.session.session import Session

from .visitor import Story, Visit, Visitor

__all__ = ["user"]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "nicegui_main_file: the program whose pages the `user` fixture visits")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def visit(user: User) -> Visit:
    async def visited(story: Story, figure: str = "human") -> None:
        modes = Modes(Session(built_in(figure)))
        ui.page("/")(lambda: StudioPage(modes.session, modes) and None)
        await user.open("/")
        await story(Visitor(user, modes), modes.session)

    return visited
