"""Reaching down to a shelf, looked at, with a hand on the hip and in balance, in at most ten actions."""

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from .hands import (
    LIGHT,
    choose_option,
    drag,
    inside_support,
    new_scene,
    picture,
    pixel_at,
    pixel_of,
    positions,
    settle,
    targets,
)
from .human import BODIES, HAND

HIP = (0.15, 0.97, 0.08)
"""A point of the view where the left hip is seen [m]."""
SHELF = 0.35
"""Height of the shelf [m]."""


def place(page: Page, task: int) -> np.ndarray:
    return np.array(next(each["wanted"] for each in targets(page) if each["task"] == task))


def newest(page: Page) -> int:
    return max(each["task"] for each in targets(page))


def pin(page: Page, body: int) -> int:
    """Double-click a body; returns the number of the task."""
    with new_scene(page):
        page.mouse.dblclick(*pixel_of(page, body))
    return newest(page)


def drag_mark(page: Page, task: int, to: np.ndarray, *, snaps: bool) -> None:
    start, end = pixel_at(page, place(page, task)), pixel_at(page, to)
    if snaps:
        page.keyboard.down("Alt")
    with new_scene(page):
        drag(page, start, (end[0] - start[0], end[1] - start[1]), steps=8)
    if snaps:
        page.keyboard.up("Alt")
    settle(page)


@pytest.mark.begins_with("Standing")
def test_ten_actions_reach_to_a_shelf(page: Page, screenshots: Path) -> None:
    page.evaluate("window.poiseStage.selection.choose(null)")
    left = pin(page, BODIES.index("left_hand"))  # 1
    drag_mark(page, left, np.array(HIP), snaps=True)  # 2
    page.locator(".poise-task").get_by_text("pinned left hand", exact=True).click()  # 3
    with new_scene(page):
        choose_option(page, "Relative to", "pelvis")  # 4 and 5: the list, and the part in it
    right = pin(page, HAND)  # 6
    before = place(page, right)
    drag_mark(page, right, before + np.array((0.0, SHELF - before[1], 0.25)), snaps=False)  # 7
    page.mouse.click(*pixel_of(page, BODIES.index("head")), button="right")  # 8
    with new_scene(page):
        page.locator(".q-menu").get_by_text("Add task: look at", exact=True).click()  # 9
    gaze = newest(page)
    drag_mark(page, gaze, place(page, right), snaps=True)  # 10
    picture(page, screenshots / "shelf.png")
    expect(page.locator(LIGHT)).to_have_attribute("data-light", "green")
    assert inside_support(page) > 0.0
    assert place(page, right)[1] == pytest.approx(SHELF, abs=0.08)
    assert place(page, gaze) == pytest.approx(place(page, right), abs=1e-5)
    hand, pelvis = positions(page)[[BODIES.index("left_hand"), BODIES.index("pelvis")]]
    assert np.linalg.norm(hand - pelvis) < 0.25
