"""The page around the view: sliders that stay, notices, tooltips, names of buttons, keys and fingers."""

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from .conftest import Studio
from .hands import (
    SENTENCE,
    box_of,
    enter,
    eventually,
    new_scene,
    open_menu,
    pixel_at,
    pixel_of,
    said,
    settle,
    tab,
    targets,
    until,
)
from .human import BODIES

pytestmark = pytest.mark.begins_with("Standing")

TWO_ON_ONE_HAND = """figure = "human"
start = "standing"
[[task]]
kind = "position"
name = "first"
site = "right_hand"
at = [-0.3, 1.0, 0.3]
[[task]]
kind = "position"
name = "second"
site = "right_hand"
at = [-0.3, 1.0, 0.3]
priority = 2
"""
CHOSEN = "() => JSON.stringify(window.poiseStage.selection.what)"


def open_scene(page: Page, studio: Studio, text: str) -> None:
    with new_scene(page):
        answer = page.context.request.post(f"{studio.address}studio/open?name=scene.toml", data=text)
        assert answer.ok, answer.text()


def test_sliders_stay_where_they_are_when_the_pointer_comes(page: Page) -> None:
    tab(page, "Joints")
    slider = page.locator(".poise-panels .poise-slider").nth(7)
    page.mouse.move(600, 400)
    before = box_of(page, slider)
    page.mouse.move(before["x"] + 20.0, before["y"] + 5.0)
    until(page, "() => document.querySelector('.poise-panels .q-scrollarea').matches(':hover')")
    assert box_of(page, slider) == before


def test_a_notice_covers_neither_undo_nor_the_sentence_and_can_be_closed(page: Page, studio: Studio) -> None:
    page.evaluate("window.poiseKeep('/studio/motion.csv')")
    notice = page.locator(".q-notification")
    expect(notice).to_contain_text("retarget a clip first")
    lowest = page.locator(".poise-status").bounding_box()
    assert lowest is not None
    assert box_of(page, notice)["y"] >= lowest["y"] + lowest["height"]
    notice.get_by_role("button", name="Close").click()
    expect(notice).to_have_count(0)


def test_tooltips_of_the_top_bar_do_not_cover_the_sentence(page: Page) -> None:
    for button in page.locator(".poise-modes .q-btn").all():
        button.hover()
        tip = page.locator(".q-tooltip:visible")
        expect(tip).to_have_count(1)
        line = box_of(page, page.locator(SENTENCE))
        assert box_of(page, tip)["y"] >= line["y"] + line["height"]
        page.mouse.move(600, 600)
        expect(tip).to_have_count(0)


def test_marks_in_the_same_place_are_picked_one_after_the_other(page: Page, studio: Studio) -> None:
    open_scene(page, studio, TWO_ON_ONE_HAND)
    at = pixel_at(page, targets(page)[0]["wanted"])
    chosen = []
    for _ in range(4):
        before = page.evaluate(CHOSEN)
        page.mouse.click(*at)
        until(page, f"before => ({CHOSEN})() !== before", before)
        chosen.append(page.evaluate(CHOSEN))
    assert {'{"task":0}', '{"task":1}'} <= set(chosen)
    assert len(set(chosen[:2])) == 2
    while page.evaluate(CHOSEN) != '{"task":1}':  # now the second is dragged, and the first stays
        page.mouse.click(*at)
    still = next(t["wanted"] for t in targets(page) if t["task"] == 0)
    page.mouse.move(*at)
    page.mouse.down()
    page.mouse.move(at[0] + 40.0, at[1] - 30.0, steps=4)
    page.mouse.up()
    moved = lambda: next(np.linalg.norm(np.subtract(t["wanted"], still)) for t in targets(page) if t["task"] == 1)  # noqa: E731
    assert eventually(page, lambda: moved() > 0.02)
    np.testing.assert_allclose(next(t["wanted"] for t in targets(page) if t["task"] == 0), still, atol=1e-6)


def test_the_figure_is_in_the_middle_again_after_a_mode(page: Page) -> None:
    page.keyboard.press("f")
    middle = "() => window.poiseStage.views[0].controls.target.toArray()"
    before = page.evaluate(middle)
    enter(page, "retarget")
    until(page, f"before => Math.hypot(...({middle})().map((value, k) => value - before[k])) > 0.1", before)
    enter(page, "pose")
    until(page, f"before => Math.hypot(...({middle})().map((value, k) => value - before[k])) < 0.03", before)
    settle(page)


def test_arrow_keys_nudge_the_selected_target(page: Page, studio: Studio) -> None:
    open_scene(page, studio, TWO_ON_ONE_HAND)
    start = np.array(targets(page)[0]["wanted"])
    page.mouse.click(*pixel_at(page, start))
    until(page, f"() => ({CHOSEN})() !== 'null'")
    task = page.evaluate("window.poiseStage.selection.what.task")
    place = lambda: np.array(next(t["wanted"] for t in targets(page) if t["task"] == task))  # noqa: E731
    page.keyboard.press("ArrowUp")
    assert eventually(page, lambda: np.allclose(place() - start, [0.0, 0.01, 0.0], atol=1e-5))
    page.keyboard.press("Shift+ArrowUp")
    assert eventually(page, lambda: np.allclose(place() - start, [0.0, 0.11, 0.0], atol=1e-5))


def test_a_posture_is_mirrored_copied_pasted_and_kept_by_keys_and_menu(page: Page) -> None:
    tab(page, "Joints")
    left, right = (page.locator(f"input[aria-label^='{side} elbow']").first for side in ("left", "right"))
    rest = left.input_value()
    right.fill("70")
    right.press("Enter")
    assert eventually(page, lambda: right.input_value().startswith("70"))
    page.mouse.click(400, 120)  # keys go to the view
    page.keyboard.press("Control+c")
    assert said(page, "The posture is copied")
    page.keyboard.press("m")
    assert eventually(page, lambda: left.input_value().startswith("70") and right.input_value() == rest)
    page.keyboard.press("Control+v")
    assert eventually(page, lambda: right.input_value().startswith("70") and left.input_value() == rest)
    open_menu(page).get_by_text("Posture", exact=True).click()
    page.get_by_text("Keep under a name …", exact=True).click()
    page.get_by_label("Name of the posture", exact=True).fill("bent arm")
    with new_scene(page):
        page.get_by_role("button", name="Keep", exact=True).click()
    page.get_by_label("Posture", exact=True).click()
    expect(page.get_by_role("option", name="bent arm", exact=True)).to_be_visible()
    page.keyboard.press("Escape")


def test_a_finger_that_stays_opens_the_menu_and_one_that_moves_pulls(page: Page) -> None:
    fingers = page.context.new_cdp_session(page)

    def touch(kind: str, *at: float) -> None:
        points = [{"x": at[0], "y": at[1]}] if at else []
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    x, y = pixel_of(page, BODIES.index("thorax"))
    touch("touchStart", x, y)
    menu = page.locator(".q-menu")
    expect(menu.get_by_text("Pin this point", exact=True)).to_be_visible()
    touch("touchEnd")
    page.keyboard.press("Escape")
    expect(menu).to_have_count(0)
    assert not [t for t in targets(page) if t["task"] < 0]
    x, y = pixel_of(page, BODIES.index("right_hand"))
    touch("touchStart", x, y)
    for k in range(1, 6):
        touch("touchMove", x + 12.0 * k, y - 12.0 * k)
    assert eventually(page, lambda: any(t["task"] < 0 for t in targets(page)))
    touch("touchEnd")
    assert eventually(page, lambda: not any(t["task"] < 0 for t in targets(page)))
    settle(page)
