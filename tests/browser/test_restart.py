"""A studio that ends and is started again while a page is open."""

import tempfile
from urllib.parse import urlparse

from playwright.sync_api import Browser, expect

from .conftest import FIGURE_SHOWN, Studio
from .hands import COMPILING, PATIENCE, until


def test_a_page_says_that_the_studio_is_gone_and_comes_back_with_it(browser: Browser) -> None:
    with tempfile.TemporaryFile() as remarks:
        first = Studio(remarks)
        context = browser.new_context(viewport={"width": 1000, "height": 700})
        context.set_default_timeout(1000.0 * PATIENCE)
        page = context.new_page()
        page.goto(first.door)
        until(page, FIGURE_SHOWN)
        page.evaluate("window.isOld = true")
        assert first.stop() == 0
        expect(page.get_by_text("Connection lost.")).to_be_visible()
        second = Studio(remarks, port=int(urlparse(first.address).port or 0))
        assert second.address == first.address
        until(page, "() => !window.isOld")
        until(page, FIGURE_SHOWN)
        expect(page.get_by_text("Connection lost.")).not_to_be_visible()
        expect(page.get_by_text("Every task is met.")).to_be_visible(timeout=1000.0 * COMPILING)
        context.close()
        assert second.stop() == 0
        remarks.seek(0)
        assert "Traceback" not in remarks.read().decode()
