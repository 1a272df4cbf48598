"""The report of a retargeting in a real browser: every picture is there, and nothing is asked of any network."""

import pytest
from playwright.sync_api import Browser, expect

from poise.evaluation.retarget.report import write_report
from tests.unit.motion.report.test_report import standing


@pytest.mark.parametrize("width", [1280, 420])
def test_the_page_opens_from_a_file_and_fits(browser: Browser, tmp_path, width):
    motion = standing()
    path = write_report(motion, motion, tmp_path / "report.html")
    page = browser.new_page(viewport={"width": width, "height": 900})
    asked, said = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.goto(path.as_uri())
    sizes = page.evaluate("[...document.images].map((image) => [image.complete, image.naturalWidth])")
    assert len(sizes) == 4
    assert all(complete and natural > 300 for complete, natural in sizes)
    assert {url.split(":")[0] for url in asked} <= {"file", "data"}
    assert not said
    page.get_by_text("All joints in numbers").click()
    expect(page.get_by_role("cell", name="swing", exact=True)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()
