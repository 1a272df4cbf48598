"""A studio that ends and is started again while a page is open."""

import socket
import tempfile
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from .conftest import FIGURE_SHOWN, Studio
from .hands import COMPILING, PATIENCE, until

ONE_TASK = """figure = "human"
start = "sitting"
[[task]]
kind = "position"
name = "the hand on the table"
site = "right_hand"
at = [-0.25, 0.8, 0.45]
"""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def test_a_page_says_that_the_studio_is_gone_and_comes_back_with_it_and_its_scene(
    browser: Browser, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("POISE_STATE_DIR", str(tmp_path))
    port = free_port()
    with tempfile.TemporaryFile() as remarks:
        first = Studio(remarks, port=port)
        context = browser.new_context(viewport={"width": 1000, "height": 700})
        context.set_default_timeout(1000.0 * PATIENCE)
        page = context.new_page()
        page.goto(first.door)
        until(page, FIGURE_SHOWN)
        offline = page.locator(".poise-offline")
        expect(offline).not_to_be_visible()
        answer = context.request.post(f"{first.address}studio/open?name=table.toml", data=ONE_TASK)
        assert answer.ok, answer.text()
        task = page.locator(".poise-task").get_by_text("the hand on the table", exact=True)
        expect(task).to_be_visible()
        page.evaluate("window.isOld = true")
        assert first.stop() == 0
        expect(page.get_by_text("Connection lost.")).to_be_visible()
        expect(offline).to_be_visible()
        second = Studio(remarks, port=port)
        assert second.address == first.address
        until(page, "() => !window.isOld")
        until(page, FIGURE_SHOWN)
        expect(page.get_by_text("Connection lost.")).not_to_be_visible()
        expect(offline).not_to_be_visible()
        expect(task).to_be_visible()
        expect(page.get_by_text("Every task is met.")).to_be_visible(timeout=1000.0 * COMPILING)
        context.close()
        assert second.stop() == 0
        remarks.seek(0)
        assert "Traceback" not in remarks.read().decode()
