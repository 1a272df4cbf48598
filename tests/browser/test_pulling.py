"""The heart of the studio: press on a body and pull."""

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from .conftest import FIGURE_SHOWN
from .hands import (
    DISTANCE,
    SENTENCE,
    box_of,
    drag_target,
    eventually,
    example,
    inside_support,
    let_go,
    new_scene,
    picture,
    pixel_at,
    pixel_of,
    positions,
    press_key,
    pull,
    pull_gap,
    pull_on,
    settle,
    targets,
    until,
)
from .human import FEET, HAND

pytestmark = pytest.mark.begins_with("Standing")


def light(page: Page) -> str:
    return page.locator(".poise-light").get_attribute("data-light") or ""


def test_a_hand_follows_while_the_feet_stay_and_the_weight_stays_over_them(page: Page, screenshots: Path) -> None:
    before = positions(page)
    x, y = pixel_of(page, HAND)
    page.mouse.move(x, y)
    page.mouse.down()
    worst, least = 0.0, np.inf
    for k in range(1, 21):
        page.mouse.move(x - 6 * k, y - 8 * k)
        now = positions(page)
        worst = max(worst, float(np.linalg.norm(now[FEET] - before[FEET], axis=1).max()))
        least = min(least, inside_support(page))
    pull_on(page, (x - 120, y - 160), steps=1)
    settle(page)
    picture(page, screenshots / "pull.png")
    assert pull_gap(page) < 1e-3
    assert np.linalg.norm(positions(page)[HAND] - before[HAND]) > 0.3
    assert light(page) == "green"
    held = positions(page)
    let_go(page)
    assert positions(page) == pytest.approx(held, abs=1e-4)
    assert worst < 1e-3
    assert least > 0.0


def test_a_pull_far_out_of_reach_stays_calm_and_says_what_it_gave_way_to(page: Page, screenshots: Path) -> None:
    before, near = positions(page), page.evaluate(DISTANCE)
    page.mouse.move(340, 200)
    for _ in range(12):
        page.mouse.wheel(0, 240)
    # One turn of the wheel by 100 is a step back by a twentieth, however many come at once.
    assert eventually(page, lambda: page.evaluate(DISTANCE) == pytest.approx(near / 0.95**28.8, rel=0.01))
    pull(page, HAND, (-280, -280), steps=15)
    settle(page)
    picture(page, screenshots / "out_of_reach.png")
    assert pull_gap(page) > 2.0
    assert np.linalg.norm(positions(page)[FEET] - before[FEET], axis=1).max() < 1e-3
    assert inside_support(page) > 0.0
    assert light(page) == "orange"
    expect(page.locator(SENTENCE)).to_contain_text("The pull on the right hand gave way to")
    let_go(page)
    assert light(page) == "green"
    page.keyboard.press("f")  # frames the figure as it is now, with its arm in the air
    assert eventually(page, lambda: 0.9 * near < page.evaluate(DISTANCE) < 2.0 * near)
    view = box_of(page, page.locator(".poise-viewport"))
    for place in positions(page):
        x, y = pixel_at(page, place)
        assert view["x"] < x < view["x"] + view["width"] and view["y"] < y < view["y"] + view["height"]


def test_swapped_priorities_make_the_other_hand_give_way(page: Page, screenshots: Path) -> None:
    example(page, "Two hands")
    assert [t["met"] for t in targets(page)] == [True, True, True, False]
    expect(page.locator(SENTENCE)).to_contain_text("Right hand gave way to")
    picture(page, screenshots / "two_hands.png")
    row = page.locator(".poise-task").filter(has_text="left hand")
    with new_scene(page):
        row.get_by_label("priority").fill("5")
    assert [t["met"] for t in targets(page)] == [True, True, False, True]
    expect(page.locator(SENTENCE)).to_contain_text("Left hand gave way to")
    names = page.locator(".poise-task .text-body2").all_inner_texts()
    assert names == ["left foot", "right foot", "balance", "right hand", "left hand"]


def test_a_page_that_is_reloaded_in_the_middle_of_a_pull_lets_go(page: Page) -> None:
    pull(page, HAND, (-60, -90))
    page.reload()
    until(page, FIGURE_SHOWN)
    let_go(page)
    before = positions(page)
    pull(page, HAND, (20, 40))
    settle(page)
    assert np.linalg.norm(positions(page)[HAND] - before[HAND]) > 0.03
    let_go(page)


def test_a_pull_is_undone_and_done_again(page: Page) -> None:
    before = positions(page)
    pull(page, HAND, (-80, -80))
    settle(page)
    let_go(page)
    after = positions(page)
    press_key(page, "Control+z")
    assert positions(page) == pytest.approx(before, abs=1e-4)
    press_key(page, "Control+Shift+z")
    assert positions(page) == pytest.approx(after, abs=1e-3)


def test_a_target_is_dragged_and_the_foot_goes_with_it(page: Page) -> None:
    before = positions(page)
    drag_target(page, 0, (30, -20))
    settle(page)
    assert np.linalg.norm(positions(page)[FEET[0]] - before[FEET[0]]) > 0.05
    assert np.linalg.norm(positions(page)[FEET[1]] - before[FEET[1]]) < 1e-3


def test_a_double_click_pins_the_point(page: Page) -> None:
    with new_scene(page):
        page.mouse.dblclick(*pixel_of(page, HAND))
    assert len(targets(page)) == 3
    pinned = page.locator(".poise-task").filter(has_text="pinned right hand")
    with new_scene(page):
        pinned.get_by_role("button").last.click()
    expect(pinned).to_have_count(0)
    assert len(targets(page)) == 2


def test_a_key_pins_the_point_under_the_pointer(page: Page) -> None:
    page.mouse.move(*pixel_of(page, HAND))
    press_key(page, "p")
    expect(page.locator(".poise-task").filter(has_text="pinned right hand")).to_be_visible()
    assert len(targets(page)) == 3


def test_a_task_is_dragged_to_another_priority(page: Page) -> None:
    example(page, "Two hands")
    row = page.locator(".poise-task").filter(has_text="left hand")
    with new_scene(page):
        row.drag_to(page.locator(".poise-drop"), source_position={"x": 150, "y": 12})
    expect(page.get_by_text("Priority 5")).to_be_visible()
    names = page.locator(".poise-task .text-body2").all_inner_texts()
    assert names == ["left foot", "right foot", "balance", "right hand", "left hand"]
    assert [t["met"] for t in targets(page)] == [True, True, False, True]


def test_one_pulls_in_any_of_four_views(page: Page, screenshots: Path) -> None:
    page.keyboard.press("4")
    until(page, "() => window.poiseStage.four")
    picture(page, screenshots / "four_views.png")
    before = positions(page)
    pull(page, HAND, (-30, -30), view=1)
    settle(page)
    moved = positions(page)[HAND] - before[HAND]
    assert pull_gap(page) < 1e-3
    assert np.linalg.norm(moved[:2]) > 0.1
    let_go(page)
    page.keyboard.press("4")
    until(page, "() => !window.poiseStage.four")
