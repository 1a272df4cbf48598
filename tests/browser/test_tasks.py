"""The properties of a task, on the page."""

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from .hands import (
    choose_option,
    eventually,
    handles,
    let_go,
    new_scene,
    picture,
    pixel_of,
    positions,
    press_key,
    pull,
    said,
    settle,
    targets,
)
from .human import BODIES, FEET, HAND

pytestmark = pytest.mark.begins_with("Reach for a ball")

HEAD, UPPER_ARM = BODIES.index("head"), BODIES.index("right_upper_arm")


def show(page: Page, name: str) -> None:
    page.locator(".poise-task").get_by_text(name, exact=True).click()
    expect(page.get_by_label("Name", exact=True)).to_have_value(name)
    settle(page)


def test_axes_that_do_not_matter_are_free(page: Page, screenshots: Path) -> None:
    show(page, "right hand")
    assert eventually(page, lambda: len(handles(page)) == 3)
    with new_scene(page):
        page.get_by_label("x", exact=True).last.fill("-0.5")
    assert abs(targets(page)[-1]["wanted"][0] + 0.5) < 1e-3
    for axis in "xz":
        with new_scene(page):
            page.get_by_role("checkbox", name=axis, exact=True).click()
    assert targets(page)[-1]["met"]
    picture(page, screenshots / "task_form.png")
    before = positions(page)[HAND]
    pull(page, UPPER_ARM, (40, -20))
    settle(page)
    hand = next(t for t in targets(page) if t["task"] == 4)
    assert hand["got"][1] == pytest.approx(1.1, abs=1e-3)
    assert np.linalg.norm(positions(page)[HAND] - before) > 0.02
    let_go(page)


def test_a_task_is_about_a_point_that_is_picked(page: Page) -> None:
    show(page, "right hand")
    page.get_by_role("button", name="pick a point").click()
    assert said(page, "Click a point of the figure.")
    before = positions(page)
    with new_scene(page):
        page.mouse.click(*pixel_of(page, HEAD))
    expect(page.get_by_label("Site or body", exact=True)).to_have_value("head")
    assert np.linalg.norm(positions(page)[HEAD] - before[HEAD]) > 0.1
    assert np.linalg.norm(positions(page)[FEET] - before[FEET], axis=1).max() < 1e-3
    page.keyboard.press("Escape")
    page.locator("body").click(position={"x": 640, "y": 70})
    press_key(page, "Control+z")
    expect(page.get_by_label("Site or body", exact=True)).to_have_value("right_hand")


def test_joints_of_a_task_are_chosen_and_the_others_stay(page: Page) -> None:
    show(page, "right hand")
    with new_scene(page):
        choose_option(page, "Joints that may move", "Joints of its limb")
    with new_scene(page):
        page.get_by_label("Name", exact=True).fill("grasp")
    expect(page.locator(".poise-task").get_by_text("grasp", exact=True)).to_be_visible()
