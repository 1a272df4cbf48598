"""The first page of the studio, as a person meets it."""

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect

import poise

from .conftest import FIGURE_SHOWN, Studio
from .hands import DRAWN, box_of, choose_figure, choose_option, eventually, settle, until

FINGERTIP = poise.load("hand").bodies.index("index_distal")


def canvas(page: Page) -> np.ndarray:
    """(h, w, 3) pixels of the viewport, once it has settled."""
    settle(page)
    until(page, DRAWN)
    data = page.locator(".poise-viewport canvas").screenshot()
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(int)


def share_drawn(pixels: np.ndarray) -> float:
    """How much of the viewport is not its background."""
    background = pixels[2, 2]
    return float((np.abs(pixels - background).max(axis=2) > 40).mean())


def body(page: Page, number: int) -> list[float]:
    """World position of a body in the viewport."""
    return page.evaluate(f"window.poiseStage.bodies[{number}].position.toArray()")  # type: ignore[no-any-return]


def drag_slider(page: Page, joint: str, share: float) -> None:
    """Drag the slider of a joint's first freedom to a share of its length."""
    page.get_by_placeholder("find a joint").fill(joint)
    expect(page.locator(".poise-panels .text-weight-medium:visible")).to_have_text([joint])
    box = box_of(page, page.locator(".poise-slider:visible").first)
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] / 2, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * share, y, steps=8)
    page.mouse.up()


def test_the_human_stands_in_the_viewport(page: Page, screenshots: Path) -> None:
    pixels = canvas(page)
    page.screenshot(path=screenshots / "human.png")
    assert 0.05 < share_drawn(pixels) < 0.6
    width = pixels.shape[1]
    middle = pixels[:, int(0.4 * width) : int(0.6 * width)]
    assert share_drawn(np.concatenate([pixels[:4, : middle.shape[1]], middle])) > 0.2
    assert page.evaluate("window.poiseStage.figure.name") == "human"
    expect(page.get_by_text("50 degrees of freedom · 70 kg")).to_be_visible()


def test_a_slider_moves_the_figure(page: Page, screenshots: Path) -> None:
    choose_figure(page, "adelino")
    before, tip = canvas(page), body(page, 5)
    drag_slider(page, "lean", 0.9)
    assert eventually(page, lambda: np.linalg.norm(np.subtract(body(page, 5), tip)) > 0.05)
    after = canvas(page)
    page.screenshot(path=screenshots / "slider.png")
    assert (np.abs(after - before).max(axis=2) > 40).mean() > 0.005


def test_a_named_posture_can_be_chosen(page: Page) -> None:
    choose_figure(page, "adelino")
    adelino = poise.load("adelino")
    for posture in ("surprised", "sad"):
        choose_option(page, "Posture", posture)
        head = adelino.pose_of(adelino.bodies[5].name, posture).position
        assert eventually(page, lambda head=head: np.allclose(body(page, 5), head, atol=1e-5))


def test_loops_and_other_worlds_are_drawn_too(page: Page, screenshots: Path) -> None:
    for name in ("stewart", "walker", "arm"):
        choose_figure(page, name)
        assert share_drawn(canvas(page)) > 0.03, name
        page.screenshot(path=screenshots / f"{name}.png")


def test_dark_and_light(page: Page, screenshots: Path) -> None:
    light = canvas(page)[2, 2].mean()
    page.get_by_role("button").filter(has_text="contrast").click()
    until(page, "() => document.body.classList.contains('body--dark')")
    dark = canvas(page)[2, 2].mean()
    page.screenshot(path=screenshots / "dark.png")
    assert light > 200
    assert dark < 60


def test_the_view_turns_and_comes_back(page: Page) -> None:
    eye = "window.poiseStage.camera.position.toArray()"
    before = page.evaluate(eye)
    box = box_of(page, page.locator(".poise-viewport canvas"))
    page.mouse.move(box["x"] + 100, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(box["x"] + 400, box["y"] + 200, steps=6)
    page.mouse.up()
    assert eventually(page, lambda: np.linalg.norm(np.subtract(page.evaluate(eye), before)) > 0.5)
    page.get_by_role("button").filter(has_text="center_focus_strong").click()
    assert eventually(page, lambda: page.evaluate(eye) == pytest.approx(before, abs=1e-3))


def test_two_pages_stay_in_step(page: Page, studio: Studio) -> None:
    other = page.context.new_page()
    other.goto(studio.address)
    until(other, FIGURE_SHOWN)
    page.bring_to_front()
    choose_figure(page, "hand")
    until(other, "() => window.poiseStage.figure.name === 'hand'")
    expect(other.get_by_label("Figure", exact=True)).to_have_value("hand")
    before = body(page, FINGERTIP)
    drag_slider(page, "wrist", 0.8)
    assert eventually(page, lambda: np.linalg.norm(np.subtract(body(page, FINGERTIP), before)) > 1e-2)
    # A page in the background gets its frames late.
    assert eventually(page, lambda: body(other, FINGERTIP) == body(page, FINGERTIP))


def test_strangers_stay_outside(browser: Browser, studio: Studio) -> None:
    stranger = browser.new_context()
    page = stranger.new_page()
    answer = page.goto(studio.address)
    assert answer is not None
    assert answer.status == 403
    assert "the key is missing" in answer.text()
    outcome = page.evaluate(
        """address => new Promise(resolve => {
            const socket = new WebSocket(address);
            socket.onopen = () => resolve("open");
            socket.onerror = () => resolve("refused");
        })""",
        studio.address.replace("http", "ws") + "studio/stream",
    )
    assert outcome == "refused"
    stranger.close()
