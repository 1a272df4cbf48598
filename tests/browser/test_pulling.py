"""The heart of the studio: press on a body and pull."""

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import poise

from .conftest import FIGURE_SHOWN
from .hands import inside_support, picture, pixel_of, positions, pull_gap, still, targets
from .test_studio import eventually

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

BODIES = [body.name for body in poise.load("human").bodies]
HAND = BODIES.index("right_hand")
FEET = [BODIES.index("left_foot"), BODIES.index("right_foot")]
SENTENCE = ".poise-status .text-body2"


def example(page: Page, name: str) -> None:
    """Choose an example, and wait until panels and stage both show it and it rests."""
    scene = page.locator(".poise-light").get_attribute("data-scene")
    page.get_by_role("button").filter(has_text="menu").click()
    page.locator(".q-menu").get_by_text(name, exact=True).click()
    expect(page.locator(".q-menu")).to_have_count(0)
    expect(page.locator(".poise-light")).not_to_have_attribute("data-scene", scene or "")
    step = int(page.locator(".poise-light").get_attribute("data-step") or 0)
    page.wait_for_function("step => window.poiseStage.step >= step", arg=step)
    assert eventually(page, lambda: still(page))


def light(page: Page) -> str:
    return page.locator(".poise-light").get_attribute("data-light") or ""


@pytest.fixture
def page(lasting_page: Page) -> Page:
    example(lasting_page, "Standing")
    return lasting_page


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
    assert eventually(page, lambda: pull_gap(page) < 1e-3)
    picture(page, screenshots / "pull.png")
    assert np.linalg.norm(positions(page)[HAND] - before[HAND]) > 0.3
    assert light(page) == "green"
    page.mouse.up()
    assert eventually(page, lambda: pull_gap(page) == np.inf)
    held = positions(page)
    assert eventually(page, lambda: still(page))
    assert positions(page) == pytest.approx(held, abs=1e-4)
    assert worst < 1e-3
    assert least > 0.0


def test_a_pull_far_out_of_reach_stays_calm_and_says_what_it_gave_way_to(page: Page, screenshots: Path) -> None:
    before = positions(page)
    page.mouse.move(340, 200)
    for _ in range(12):
        page.mouse.wheel(0, 240)
        page.wait_for_timeout(30)
    page.wait_for_timeout(600)
    x, y = pixel_of(page, HAND)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 280, y - 280, steps=15)
    assert eventually(page, lambda: still(page))
    picture(page, screenshots / "out_of_reach.png")
    assert pull_gap(page) > 2.0
    assert np.linalg.norm(positions(page)[FEET] - before[FEET], axis=1).max() < 1e-3
    assert inside_support(page) > 0.0
    assert eventually(page, lambda: light(page) == "orange")
    expect(page.locator(SENTENCE)).to_contain_text("The pull on the right hand gave way to")
    page.mouse.up()
    assert eventually(page, lambda: light(page) == "green")
    page.keyboard.press("f")


def test_swapped_priorities_make_the_other_hand_give_way(page: Page, screenshots: Path) -> None:
    example(page, "Two hands")
    assert eventually(page, lambda: [t["met"] for t in targets(page)] == [True, True, True, False])
    expect(page.locator(SENTENCE)).to_contain_text("Right hand gave way to")
    picture(page, screenshots / "two_hands.png")
    row = page.locator(".poise-task").filter(has_text="left hand")
    row.get_by_label("priority").fill("5")
    assert eventually(page, lambda: [t["met"] for t in targets(page)] == [True, True, False, True])
    expect(page.locator(SENTENCE)).to_contain_text("Left hand gave way to")
    names = page.locator(".poise-task .text-body2").all_inner_texts()
    assert names == ["left foot", "right foot", "balance", "right hand", "left hand"]


def test_a_page_that_is_reloaded_in_the_middle_of_a_pull_lets_go(page: Page) -> None:
    x, y = pixel_of(page, HAND)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 60, y - 90, steps=5)
    assert eventually(page, lambda: pull_gap(page) < 1.0)
    page.reload()
    page.wait_for_function(FIGURE_SHOWN)
    page.mouse.up()
    assert eventually(page, lambda: pull_gap(page) == np.inf)
    before = positions(page)
    x, y = pixel_of(page, HAND)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 20, y + 40, steps=5)
    assert eventually(page, lambda: np.linalg.norm(positions(page)[HAND] - before[HAND]) > 0.03)
    page.mouse.up()


def test_a_pull_is_undone_and_done_again(page: Page) -> None:
    before = positions(page)
    x, y = pixel_of(page, HAND)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 80, y - 80, steps=8)
    page.mouse.up()
    assert eventually(page, lambda: still(page))
    after = positions(page)
    page.keyboard.press("Control+z")
    assert eventually(page, lambda: np.allclose(positions(page), before, atol=1e-4))
    page.keyboard.press("Control+Shift+z")
    assert eventually(page, lambda: np.allclose(positions(page), after, atol=1e-3))


def test_a_target_is_dragged_and_the_foot_goes_with_it(page: Page) -> None:
    before = positions(page)
    foot = next(t for t in targets(page) if t["task"] == 0)
    x, y = page.evaluate(
        "at => window.poiseStage.views[0].pixel(window.poiseStage.camera.position.clone().fromArray(at))",
        foot["wanted"],
    )
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 30, y - 20, steps=6)
    page.mouse.up()
    assert eventually(page, lambda: np.linalg.norm(positions(page)[FEET[0]] - before[FEET[0]]) > 0.05)
    # On the way the feet, of one priority, share what is missing.
    assert eventually(page, lambda: np.linalg.norm(positions(page)[FEET[1]] - before[FEET[1]]) < 1e-3)


def test_a_double_click_pins_the_point(page: Page) -> None:
    page.mouse.dblclick(*pixel_of(page, HAND))
    expect(page.locator(".poise-task").filter(has_text="pinned right hand")).to_be_visible()
    assert eventually(page, lambda: len(targets(page)) == 3)
    page.locator(".poise-task").filter(has_text="pinned right hand").get_by_role("button").last.click()
    assert eventually(page, lambda: len(targets(page)) == 2)


def test_a_key_pins_the_point_under_the_pointer(page: Page) -> None:
    page.mouse.move(*pixel_of(page, HAND))
    page.keyboard.press("p")
    expect(page.locator(".poise-task").filter(has_text="pinned right hand")).to_be_visible()
    assert eventually(page, lambda: len(targets(page)) == 3)


def test_a_task_is_dragged_to_another_priority(page: Page) -> None:
    example(page, "Two hands")
    row = page.locator(".poise-task").filter(has_text="left hand")
    row.drag_to(page.locator(".poise-drop"), source_position={"x": 150, "y": 12})
    expect(page.get_by_text("Priority 5")).to_be_visible()
    names = page.locator(".poise-task .text-body2").all_inner_texts()
    assert names == ["left foot", "right foot", "balance", "right hand", "left hand"]
    assert eventually(page, lambda: [t["met"] for t in targets(page)] == [True, True, False, True])


def test_one_pulls_in_any_of_four_views(page: Page, screenshots: Path) -> None:
    page.keyboard.press("4")
    page.wait_for_timeout(500)
    picture(page, screenshots / "four_views.png")
    before = positions(page)
    x, y = pixel_of(page, HAND, view=1)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 30, y - 30, steps=6)
    assert eventually(page, lambda: pull_gap(page) < 1e-3)
    moved = positions(page)[HAND] - before[HAND]
    page.mouse.up()
    page.keyboard.press("4")
    assert np.linalg.norm(moved[:2]) > 0.1
