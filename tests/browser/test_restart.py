"""A studio that ends and is started again while a page is open."""

import tempfile
from urllib.parse import urlparse

import pytest
from playwright.sync_api import Browser, expect

from .conftest import FIGURE_SHOWN, Studio

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


def test_a_page_says_that_the_studio_is_gone_and_comes_back_with_it(browser: Browser) -> None:
    with tempfile.TemporaryFile() as remarks:
        first = Studio(remarks)
        context = browser.new_context(viewport={"width": 1000, "height": 700})
        page = context.new_page()
        page.goto(first.door)
        page.wait_for_function(FIGURE_SHOWN)
        page.evaluate("window.isOld = true")
        assert first.stop() == 0
        expect(page.get_by_text("Connection lost.")).to_be_visible()
        second = Studio(remarks, port=int(urlparse(first.address).port or 0))
        assert second.address == first.address
        page.wait_for_function(f"!window.isOld && {FIGURE_SHOWN}", timeout=60_000)
        expect(page.get_by_text("Connection lost.")).not_to_be_visible()
        expect(page.get_by_text("Every task is met.")).to_be_visible()
        context.close()
        assert second.stop() == 0
        remarks.seek(0)
        assert "Traceback" not in remarks.read().decode()
