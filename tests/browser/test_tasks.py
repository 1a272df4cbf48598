"""The properties of a task, on the page."""

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from .hands import choose_option, drag, handles, picture, pixel_of, positions, still, targets
from .test_pulling import BODIES, FEET, HAND, example
from .test_studio import eventually

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

HEAD, UPPER_ARM = BODIES.index("head"), BODIES.index("right_upper_arm")


@pytest.fixture
def page(lasting_page: Page) -> Page:
    example(lasting_page, "Reach for a ball")
    return lasting_page


def show(page: Page, name: str) -> None:
    page.locator(".poise-task").get_by_text(name, exact=True).click()
    expect(page.get_by_label("name", exact=True)).to_have_value(name)


def test_axes_that_do_not_matter_are_free(page: Page, screenshots: Path) -> None:
    show(page, "right hand")
    assert eventually(page, lambda: len(handles(page)) == 3)
    page.get_by_label("x", exact=True).last.fill("-0.5")
    assert eventually(page, lambda: abs(targets(page)[-1]["wanted"][0] + 0.5) < 1e-3)
    page.get_by_role("checkbox", name="x", exact=True).click()
    page.get_by_role("checkbox", name="z", exact=True).click()
    assert eventually(page, lambda: targets(page)[-1]["met"])
    assert eventually(page, lambda: still(page))
    picture(page, screenshots / "task_form.png")
    before = positions(page)[HAND]
    drag(page, pixel_of(page, UPPER_ARM), (40, -20), hold=True)
    assert eventually(page, lambda: targets(page)[-1]["task"] == -1)
    assert eventually(page, lambda: still(page))
    hand = next(t for t in targets(page) if t["task"] == 4)
    assert hand["got"][1] == pytest.approx(1.1, abs=1e-3)
    assert np.linalg.norm(positions(page)[HAND] - before) > 0.02
    page.mouse.up()


def test_a_task_is_about_a_point_that_is_picked(page: Page) -> None:
    show(page, "right hand")
    page.get_by_role("button", name="pick a point").click()
    expect(page.get_by_text("Click a point of the figure.")).to_be_visible()
    before = positions(page)
    page.mouse.click(*pixel_of(page, HEAD))
    expect(page.get_by_label("of", exact=True)).to_have_value("head")
    assert eventually(page, lambda: np.linalg.norm(positions(page)[HEAD] - before[HEAD]) > 0.1)
    assert np.linalg.norm(positions(page)[FEET] - before[FEET], axis=1).max() < 1e-3
    page.keyboard.press("Escape")
    page.locator("body").click(position={"x": 640, "y": 70})
    page.keyboard.press("Control+z")
    expect(page.get_by_label("of", exact=True)).to_have_value("right_hand")


def test_joints_of_a_task_are_chosen_and_the_others_stay(page: Page) -> None:
    show(page, "right hand")
    choose_option(page, "joints that may move", "those of its limb")
    assert eventually(page, lambda: still(page))
    page.get_by_label("name", exact=True).fill("grasp")
    expect(page.locator(".poise-task").get_by_text("grasp", exact=True)).to_be_visible()
