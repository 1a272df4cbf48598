"""The view of notebooks in a real browser without a network: it draws, turns and plays."""

import numpy as np
import pytest

import poise
from poise.pictures import viewer

pytestmark = pytest.mark.browser


@pytest.fixture
def shown(browser, tmp_path):
    """Opens what is shown in a page without a network; returns it and the errors that its scripts report."""

    def open_page(content: str):
        file = tmp_path / "page.html"
        file.write_text(content, encoding="utf-8")
        context = browser.new_context(viewport={"width": 600, "height": 460}, offline=True)
        page = context.new_page()
        errors = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.goto(file.as_uri())
        return page, errors

    return open_page


def pixels(page) -> bytes:
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return page.screenshot()


def test_a_figure_is_drawn_and_turned(shown):
    page, errors = shown(viewer.page(poise.load("human").view()))
    first = pixels(page)
    page.mouse.move(300, 200)
    page.mouse.down()
    page.mouse.move(380, 220, steps=3)
    page.mouse.up()
    turned = pixels(page)
    page.mouse.wheel(0, -300)
    nearer = pixels(page)
    page.keyboard.press("ArrowLeft")
    assert len({first, turned, nearer, pixels(page)}) == 4
    assert not page.locator("form").is_visible()
    assert not errors


def test_a_motion_is_played_and_sought(shown):
    lamp = poise.load("adelino")
    clip = poise.Clip(lamp, np.linspace(lamp.posture("sad").q, lamp.posture("happy").q, 61), 30.0)
    page, errors = shown(viewer.page(clip.view()))
    assert page.locator("output").inner_text() == "0.00 s"
    first = pixels(page)
    page.get_by_label("Frame").fill("60")
    assert page.locator("output").inner_text() == "2.00 s"
    assert pixels(page) != first
    page.get_by_role("button", name="Play").click()
    page.wait_for_function("document.querySelector('output').textContent > '0.10 s'")
    page.get_by_role("button", name="Pause").click()
    assert page.get_by_role("button", name="Play").is_visible()
    assert not errors


def test_a_notebook_s_frame_draws_too(shown):
    page, errors = shown(f"<!doctype html><body>{poise.load('adelino')._repr_html_()}</body>")
    frame = page.frames[1]
    frame.wait_for_selector("canvas")
    assert frame.evaluate("() => Boolean(document.querySelector('canvas').getContext('webgl2'))")
    assert not errors
