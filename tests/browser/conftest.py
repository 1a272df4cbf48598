"""A studio in a process of its own, and a real Chromium to look at it."""

import contextlib
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from poise.formats.scene_toml.write import scene_text
from poise.studio.scenes.openings import EXAMPLE_SCENES
from tests.optional import chromium

from .hands import NOTICES, PATIENCE, example, settle, tab, until

expect.set_options(timeout=1000.0 * PATIENCE)

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
BLIND = """window.poiseBlind = true;
Object.defineProperty(window, "poiseStage", {
    get() { return this.keptStage; },
    set(stage) {
        const render = stage.render.bind(stage);
        stage.render = () => (window.poiseBlind ? (stage.drawn = stage.step) : render());
        this.keptStage = stage;
    },
});"""
"""Lets the stage do everything but draw, which is slow in software and which most tests do not look at."""
STANDING = scene_text(EXAMPLE_SCENES["Standing"]())
"""The scene that every page begins with."""
FIGURE_SHOWN = "() => window.poiseStage && window.poiseStage.frames > 0"


# Playwright keeps an event loop running, which other modules' tests may not find.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield started
        started.close()


class Studio:
    """A running studio."""

    def __init__(self, remarks: IO[bytes], port: int = 0) -> None:
        command = [sys.executable, "-m", "poise", "studio", "--no-browser", "--port", str(port)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=remarks, text=True)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.fullmatch(r"poise studio: (http://127\.0\.0\.1:\d+/)\?key=(\S+)\n", line)
        assert found, f"the studio said {line!r}"
        self.address, self.key = found.groups()

    @property
    def door(self) -> str:
        """The address that lets one in."""
        return f"{self.address}?key={self.key}"

    def stop(self) -> int:
        """End the studio as Ctrl-C does, and return its exit code."""
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(timeout=PATIENCE)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code


@pytest.fixture(scope="session")
def studio() -> Iterator[Studio]:
    """One studio for all tests: what they leave is put away when the next page is opened."""
    with tempfile.TemporaryFile() as remarks:
        running = Studio(remarks)
        yield running
        code = running.stop()
        remarks.seek(0)
        assert "Traceback" not in remarks.read().decode()
        assert code == 0


def _foreign(address: str, own: str) -> list[str]:
    """The address, if the page should not ask for it."""
    return [] if address.startswith((own, "data:", "blob:")) else [f"the page asks for {address}"]


@contextlib.contextmanager
def opened(browser: Browser, studio: Studio, *, draws: bool, size: tuple[int, int] = (1280, 800)) -> Iterator[Page]:
    """A page on the studio, on which nothing goes wrong; it draws always, or for pictures only."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]})
    context.set_default_timeout(1000.0 * PATIENCE)
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda asked: errors.extend(_foreign(asked.url, studio.address)))
    page.add_init_script(NOTICES)
    if not draws:
        page.add_init_script(BLIND)
    context.request.get(studio.door)
    context.request.post(f"{studio.address}studio/open?name=standing.toml", data=STANDING)
    page.goto(studio.door)
    until(page, FIGURE_SHOWN)
    settle(page)
    yield page
    context.close()
    assert errors == []


@pytest.fixture(scope="module")
def lasting_page(browser: Browser, studio: Studio) -> Iterator[Page]:
    """One page for all tests of a module."""
    with opened(browser, studio, draws=False) as found:
        yield found


@pytest.fixture
def page(request: pytest.FixtureRequest, browser: Browser, studio: Studio) -> Iterator[Page]:
    """A page of its own that draws; with the mark `begins_with`, the module's page, which shows the example."""
    begins = request.node.get_closest_marker("begins_with")
    if begins is None:
        with opened(browser, studio, draws=True) as found:
            yield found
        return
    found = request.getfixturevalue("lasting_page")
    if begins.args:
        example(found, begins.args[0])
    if "tab" in begins.kwargs:
        tab(found, begins.kwargs["tab"])
    yield found


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all tests of this folder; one process runs them, because they share a studio."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker("browser")
            item.add_marker(pytest.mark.xdist_group("browser"))


@pytest.fixture
def screenshots() -> Path:
    """Where pictures of the page are kept for people to look at."""
    folder = Path(tempfile.gettempdir()) / "poise-screenshots"
    folder.mkdir(exist_ok=True)
    return folder
